// Cells of rows that somebody else holds: their states are known here, and what is counted is asked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "bits/cell_counts.hpp"
#include "bits/table.hpp"

namespace isinglass {

// Rows of each cell by the states of some columns: cells x states of the first x states of the second ...
struct CellQuestion {
  std::vector<std::size_t> by;
  std::vector<double> counts = {};
};

class Cells;

// Whoever asks the holder of the rows about cells; the answers come all at once.
class CellAsker {
 public:
  virtual ~CellAsker() = default;
  virtual void ask(const Cells& cells, std::span<CellQuestion> questions) = 0;
};

// A support with more cells than are counted elsewhere; its message is the number of the target.
class TooManyCells : public std::runtime_error {
 public:
  explicit TooManyCells(std::size_t target) : std::runtime_error(std::to_string(target)) {}
};

// Cells are in the order of `CellMasks` and `CellNumbers`: by the states of the support, the last state
// first. `own` are the cells whose part this is: the asker has to know them.
class RemoteCells {
 public:
  static constexpr std::size_t kMost = 1 << 20;  // cells

  RemoteCells(const Table& table, CellAsker* asker) : table_(&table), asker_(asker) {}

  bool used() const { return asker_ != nullptr; }

  void start(std::size_t target, CellCounts& cells) {
    kept_.clear();
    cells.by_state.resize(cells.width);
    for (std::size_t a = 0; a < cells.width; ++a)
      cells.by_state[a] = table_->marginal(table_->state(target, static_cast<int>(a)));
    cells.totals.assign(1, std::accumulate(cells.by_state.begin(), cells.by_state.end(), 0.0));
  }

  // Splits the cells by some columns: by several at once, while what is asked for is small. Returns by how
  // many of them.
  std::size_t split(const Cells& own, std::span<const std::size_t> columns, std::size_t target,
                    CellCounts& cells) {
    std::size_t count = 0, parts = 1;  // of each cell
    for (std::size_t next; count < columns.size(); ++count, parts = next) {
      next = parts * static_cast<std::size_t>(table_->states(columns[count]));
      if (count > 0 && cells.size() * next > kSmall) break;
      if (cells.size() * next > kMost) throw TooManyCells(target);
    }
    columns = columns.first(count);
    CellQuestion question{{columns.begin(), columns.end()}};
    question.by.push_back(target);
    asker_->ask(own, {&question, 1});
    take_parts(columns, parts, question.counts, cells);
    kept_.clear();
    return count;
  }

  // Merges cells that differ in one member of the support only.
  void merge(std::size_t member, CellCounts& cells) {
    const std::size_t k = cells.members, m = cells.width;
    std::map<std::vector<std::uint8_t>, std::vector<double>, std::greater<>> merged;
    for (std::size_t s = 0; s < cells.size(); ++s) {
      const std::span<const std::uint8_t> codes = cells.codes_of(s);
      std::vector<std::uint8_t> fewer(codes.begin(), codes.end());
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(member));
      std::vector<double>& counts = merged[fewer];
      counts.resize(m, 0.0);
      for (std::size_t a = 0; a < m; ++a) counts[a] += cells.by_state[s * m + a];
    }
    cells.codes.clear();
    cells.by_state.clear();
    cells.totals.clear();
    cells.parents.clear();
    for (const auto& [codes, counts] : merged) {
      cells.codes.insert(cells.codes.end(), codes.begin(), codes.end());
      cells.by_state.insert(cells.by_state.end(), counts.begin(), counts.end());
      cells.totals.push_back(std::accumulate(counts.begin(), counts.end(), 0.0));
    }
    cells.members = k - 1;
    kept_.clear();
  }

  // Rows of each cell in each state of a column.
  void count_states(const Cells& own, const CellCounts& cells, std::size_t column, double* out) const {
    const std::size_t one[] = {column};
    expect(own, cells, one);
    const std::vector<double>& counts = kept_.at(column);
    std::copy(counts.begin(), counts.end(), out);
  }

  // Columns whose states will be counted in this order: if the first is not known, it is asked for together
  // with others that come next.
  void expect(const Cells& own, const CellCounts& cells, std::span<const std::size_t> columns) const {
    if (columns.empty() || kept_.contains(columns.front())) return;
    kept_.clear();
    std::vector<CellQuestion> questions;
    std::size_t size = 0;
    for (const std::size_t column : columns) {
      size += cells.size() * static_cast<std::size_t>(table_->states(column));
      if (!questions.empty() && size > kSmall) break;
      questions.push_back({{column}});
    }
    asker_->ask(own, questions);
    for (CellQuestion& question : questions) kept_[question.by.front()] = std::move(question.counts);
  }

 private:
  static constexpr std::size_t kSmall = 1 << 16;  // counts that are asked for at once

  // The occupied ones of all parts.
  void take_parts(std::span<const std::size_t> columns, std::size_t parts, const std::vector<double>& counts,
                  CellCounts& cells) const {
    const std::size_t m = cells.width;
    CellCounts found{cells.members + columns.size(), m, {}, {}, {}, {}};
    for (std::size_t s = 0; s < cells.size(); ++s)
      for (std::size_t part = parts; part-- > 0;) {
        const auto first = counts.begin() + static_cast<std::ptrdiff_t>((s * parts + part) * m);
        const double total = std::accumulate(first, first + static_cast<std::ptrdiff_t>(m), 0.0);
        if (!(total > 0)) continue;
        const std::span<const std::uint8_t> before = cells.codes_of(s);
        found.codes.insert(found.codes.end(), before.begin(), before.end());
        std::size_t left = part, size = parts;
        for (const std::size_t column : columns) {
          size /= static_cast<std::size_t>(table_->states(column));
          found.codes.push_back(static_cast<std::uint8_t>(left / size));
          left %= size;
        }
        found.by_state.insert(found.by_state.end(), first, first + static_cast<std::ptrdiff_t>(m));
        found.totals.push_back(total);
        found.parents.push_back(static_cast<std::uint32_t>(s));
      }
    cells = std::move(found);
  }

  const Table* table_;  // pointers, so that cells can be copied back
  CellAsker* asker_;
  mutable std::unordered_map<std::size_t, std::vector<double>> kept_;  // counts by state, by column
};

}  // namespace isinglass

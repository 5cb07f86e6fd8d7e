// Who counts: searches ask for counts of sets of rows, and whoever holds the rows answers.
//
// All that a search asks of the rows is one of three: the cells of a column and its support (`Cells`), the
// counts of a state against all others, and those of a set of cells against them. Each is a sum over
// rows, so counts of blocks of rows add.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bits/cells.hpp"
#include "bits/table.hpp"
#include "counting/counts.hpp"
#include "counting/tiles.hpp"

namespace isinglass {

// A set of rows in words: those of a state, or those in some cells of a column and its support.
struct RowSet {
  std::size_t state = 0;
  const Cells* cells = nullptr;               // none for a state
  const std::vector<char>* chosen = nullptr;  // which of the cells
};

// Counts of a set, wanted for every state but the first of each column; in units, see counts.hpp.
struct CountRequest {
  RowSet set;
  std::byte* counts;
  // Where rows are elsewhere, what else is asked of their holder: counts of some states only, or of each cell
  // by the states of some columns. Answers go to `some`.
  std::span<const std::size_t> states = {};
  std::span<const std::size_t> by = {};
  double* some = nullptr;
};

class Counter {
 public:
  explicit Counter(const Table& table)
      : table_(table), states_(table.first(table.columns())), size_(size_of_counts(table)) {}
  virtual ~Counter() = default;

  const Table& table() const { return table_; }
  // States but the first of each column; how large a count is.
  std::size_t states() const { return states_; }
  CountSize size() const { return size_; }

  // Whom cells have to ask about rows that are elsewhere; nobody, where they are here.
  virtual CellAsker* asker() { return nullptr; }

  // Returns when all that is requested is counted.
  virtual void count(std::span<const CountRequest> requests) { count_all(requests); }

  // Rough counts for some states only, sets x states, as many times the unit.
  virtual void count_some(std::span<const RowSet> sets, std::span<const std::size_t> states, double* out) {
    std::vector<Words> rows(sets.size());
    for (std::size_t k = 0; k < sets.size(); ++k) sets[k].cells->rows_of(*sets[k].chosen, rows[k]);
    table_.count_sets(rows, states, out);
  }

 protected:
  // From the bits of the table, tile by tile.
  virtual void count_all(std::span<const CountRequest> requests) const {
    const SetsInPlanes sets = in_planes(requests);
    for (const CountRequest& request : requests)
      std::fill_n(request.counts, states_ * static_cast<std::size_t>(size_), std::byte{0});
    count_tiles(table_, sets.rows(), 0, states_,
                [&](std::size_t first, std::size_t states, const std::uint32_t* counts) {
                  for (const CountRequest& request : requests)
                    for (std::size_t plane = 0; plane < table_.planes(); ++plane, counts += states)
                      store_counts(counts, states, static_cast<int>(plane), size_, request.counts, first);
                });
  }

 private:
  SetsInPlanes in_planes(std::span<const CountRequest> requests) const {
    SetsInPlanes sets(table_, requests.size());
    Words rows;
    for (const CountRequest& request : requests) {
      const RowSet& set = request.set;
      if (set.cells) set.cells->rows_of(*set.chosen, rows);
      sets.add(set.cells ? rows.data() : table_.row(set.state));
    }
    return sets;
  }

  const Table& table_;
  std::size_t states_;
  CountSize size_;
};

}  // namespace isinglass

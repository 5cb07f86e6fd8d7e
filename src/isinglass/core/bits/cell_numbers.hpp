// Cells by number, when they are many or weights have to be summed: each row of the table knows its own.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/vectors.hpp"
#include "bits/cell_counts.hpp"
#include "bits/cell_masks.hpp"
#include "bits/sums_by_code.hpp"
#include "bits/table.hpp"
#include "bits/weighted_cells.hpp"

namespace isinglass {

class CellNumbers {
 public:
  explicit CellNumbers(const Table& table) : table_(&table) {}

  // The numbers of cells that were rows of bits.
  void take(const CellMasks& masks, std::size_t cells) {
    cell_of_.assign(table_->rows(), 0);
    for (std::size_t s = 0; s < cells; ++s)
      for (std::size_t w = 0; w < table_->words(); ++w)
        for (Word word = masks.of(s)[w]; word; word &= word - 1)
          cell_of_[w * 64 + static_cast<std::size_t>(std::countr_zero(word))] = static_cast<std::uint32_t>(s);
    by_cell_.clear();
  }

  const std::vector<std::uint32_t>& of_rows() const { return cell_of_; }

  // New cells are numbered as rows of bits are: by old cell, the last state of the column first. So their
  // order does not depend on that of the rows.
  void split(std::size_t column, std::size_t target, CellCounts& cells) {
    const auto m = static_cast<std::size_t>(table_->states(column));
    const std::uint8_t* column_codes = table_->codes(column);
    std::vector<std::uint32_t> number(cells.size() * m, 0);
    for (std::size_t i = 0; i < table_->rows(); ++i) number[cell_of_[i] * m + column_codes[i]] = 1;
    std::vector<std::uint8_t> codes;
    std::uint32_t found = 0;
    cells.parents.clear();
    for (std::size_t old = 0; old < cells.size(); ++old)
      for (std::size_t c = m; c-- > 0;) {
        if (!number[old * m + c]) continue;
        number[old * m + c] = found++;
        const std::span<const std::uint8_t> before = cells.codes_of(old);
        codes.insert(codes.end(), before.begin(), before.end());
        codes.push_back(static_cast<std::uint8_t>(c));
        cells.parents.push_back(static_cast<std::uint32_t>(old));
      }
    for (std::size_t i = 0; i < table_->rows(); ++i) cell_of_[i] = number[cell_of_[i] * m + column_codes[i]];
    by_cell_.clear();
    cells.codes.swap(codes);
    cells.totals.resize(found);
    tabulate(target, cells);
  }

  // Rows of each cell by state of the target, and in all.
  void tabulate(std::size_t target, CellCounts& cells) const {
    const std::size_t m = cells.width;
    cells.by_state.assign(cells.size() * m, 0.0);
    count_states(target, cells.by_state.data());
    for (std::size_t s = 0; s < cells.size(); ++s)
      cells.totals[s] = std::accumulate(&cells.by_state[s * m], &cells.by_state[0] + (s + 1) * m, 0.0);
  }

  // Adds the rows of each cell in each state of a column.
  void count_states(std::size_t column, double* out) const {
    const auto m = static_cast<std::size_t>(table_->states(column));
    const std::uint8_t* codes = table_->codes(column);
    for (std::size_t i = 0; i < table_->rows(); ++i) out[cell_of_[i] * m + codes[i]] += table_->weight(i);
  }

  // Cells by state of a column, each with its rows and the probabilities of the cell: what `weigh_cells`
  // makes of all counts, where these would be many more than rows.
  void weigh_rows(std::size_t column, const double* probabilities, std::size_t width, std::size_t cells,
                  std::vector<WeightedCells>& by_state) const {
    const auto m = static_cast<std::size_t>(table_->states(column));
    if (by_cell_.empty()) sort_rows(cells);
    by_state.resize(m);
    const std::uint8_t* codes = table_->codes(column);
    for (std::size_t c = 0; c < m; ++c) by_state[c].reset(width, table_->rows_in(column, c));
    std::vector<double> rows(m, 0.0);
    for (std::size_t k = 0, next; k < by_cell_.size(); k = next) {
      const std::uint32_t cell = cell_of_[by_cell_[k]];
      for (next = k; next < by_cell_.size() && cell_of_[by_cell_[next]] == cell; ++next)
        rows[codes[by_cell_[next]]] += table_->weight(by_cell_[next]);
      for (; k < next; ++k) {
        double& own = rows[codes[by_cell_[k]]];
        if (own > 0) by_state[codes[by_cell_[k]]].add(own, probabilities + cell * width);
        own = 0;
      }
    }
    for (WeightedCells& of_state : by_state) of_state.fill_lanes();
  }

  // Adds the sums over the rows of each state of a column of some functions of the cell.
  void add_sums(std::size_t column, std::span<const double> of_cell, std::size_t functions,
                double* out) const {
    const auto m = static_cast<std::size_t>(table_->states(column));
    const ByCode rows{table_->rows(), table_->codes(column), cell_of_.data(), table_->weights()};
    if (sum_by_code(rows, m, functions, of_cell.data(), out)) return;
    for (std::size_t i = 0; i < rows.rows; ++i)
      add_multiple(out + rows.codes[i] * functions, table_->weight(i), &of_cell[cell_of_[i] * functions],
                   functions);
  }

  // Adds the rows of chosen cells.
  void rows_of(std::span<const char> chosen, Words& out) const {
    for (std::size_t i = 0; i < table_->rows(); ++i)
      out[i / 64] |= static_cast<Word>(chosen[cell_of_[i]]) << (i % 64);
  }

 private:
  // By counting.
  void sort_rows(std::size_t cells) const {
    std::vector<std::uint32_t> begin(cells + 1, 0);
    for (const std::uint32_t cell : cell_of_) ++begin[cell + 1];
    for (std::size_t s = 0; s < cells; ++s) begin[s + 1] += begin[s];
    by_cell_.resize(cell_of_.size());
    for (std::size_t i = 0; i < cell_of_.size(); ++i)
      by_cell_[begin[cell_of_[i]]++] = static_cast<std::uint32_t>(i);
  }

  const Table* table_;                          // a pointer, so that cells can be copied back
  std::vector<std::uint32_t> cell_of_;          // for each row
  mutable std::vector<std::uint32_t> by_cell_;  // rows in the order of their cells, once somebody asks
};

}  // namespace isinglass

// The occupied cells of a support: rows with equal neighbours, counted once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/vectors.hpp"
#include "bits/cell_counts.hpp"
#include "bits/cell_masks.hpp"
#include "bits/cell_numbers.hpp"
#include "bits/cell_view.hpp"
#include "bits/remote_cells.hpp"
#include "bits/table.hpp"
#include "bits/weighted_cells.hpp"

namespace isinglass {

// While there are few cells each is a row of bits; when there are many, or weights have to be summed, each
// row of the table knows the number of its cell; where rows are elsewhere, their holder is asked. There are
// never more cells than rows, and their order is the same in all three: by the states of the support, in the
// order in which its columns came, the last state first.
class Cells {
 public:
  static constexpr std::size_t kFewCells = 1024, kMostMasks = 512;

  Cells(const Table& table, std::size_t target, CellAsker* asker = nullptr)
      : table_(&table), target_(target), masks_(table), numbers_(table), remote_(table, asker) {
    reset();
  }

  // Starts anew for another target; what was allocated is kept.
  void set_target(std::size_t target) {
    target_ = target;
    reset();
  }

  std::size_t target() const { return target_; }
  std::size_t size() const { return cells_.size(); }
  bool few() const { return size() <= kFewCells; }
  const std::vector<std::size_t>& support() const { return support_; }
  // State of the i-th member of the support in a cell.
  int code(std::size_t cell, std::size_t i) const { return cells_.codes[cell * support_.size() + i]; }
  double total(std::size_t cell) const { return cells_.totals[cell]; }
  const double* totals() const { return cells_.totals.data(); }
  // Rows of a cell in which the target has that state.
  double count(std::size_t cell, int state) const {
    return cells_.by_state[cell * width() + static_cast<std::size_t>(state)];
  }
  std::size_t width() const { return static_cast<std::size_t>(table_->states(target_)); }

  // Cells grow finer as columns are added, until they start anew: then they are of another age. Which of
  // the cells before the last addition each is a part of. (Cells that are put back have their old age;
  // between a removal and its refusal nobody asks.)
  std::size_t age() const { return age_; }
  std::span<const std::uint32_t> parents() const { return cells_.parents; }

  void add(std::size_t column) {
    if (remote_.used()) return add_remote({&column, 1});
    const auto m = static_cast<std::size_t>(table_->states(column));
    if (by_bits_ && size() * m > kMostMasks) number_rows();
    by_bits_ ? masks_.split(column, target_, cells_) : numbers_.split(column, target_, cells_);
    support_.push_back(column);
    cells_.members = support_.size();
  }

  void remove(std::size_t column) {
    if (remote_.used()) return remove_remote(column);
    std::vector<std::size_t> kept;
    for (const std::size_t t : support_)
      if (t != column) kept.push_back(t);
    become(kept);
  }

  // Starts anew, unless only columns are to be added.
  void become(const std::vector<std::size_t>& support) {
    const bool grown =
        support_.size() <= support.size() && std::equal(support_.begin(), support_.end(), support.begin());
    if (!grown) reset();
    if (remote_.used()) return add_remote(std::span(support).subspan(support_.size()));
    for (std::size_t i = support_.size(); i < support.size(); ++i) add(support[i]);
  }

  // Words or rows looked at, about, when the cells are split by a column of two states.
  std::size_t work_to_split() const {
    const bool by_bits = remote_.used() ? size() <= kMostMasks : by_bits_;
    return by_bits ? size() * table_->words() : 8 * table_->rows();
  }

  // Columns that will be split by, in this order: whoever holds the rows counts for several at once.
  void expect(std::span<const std::size_t> columns) const {
    if (remote_.used()) remote_.expect(*this, cells_, columns);
  }
  bool remote() const { return remote_.used(); }

  // Cells by state of a column: how many rows of each, with the probabilities of the cell.
  void split(std::size_t column, const double* probabilities, std::vector<WeightedCells>& by_state) const {
    const auto m = static_cast<std::size_t>(table_->states(column));
    if (!by_bits_ && !remote_.used() && size() * m > table_->rows())  // cells of hardly more than one row
      return numbers_.weigh_rows(column, probabilities, width(), size(), by_state);
    std::vector<double> counts;
    split_counts(column, counts);
    weigh_cells(counts, m, probabilities, width(), by_state);
  }

  // Rows of each cell in each state of a column: cells x states.
  void split_counts(std::size_t column, std::vector<double>& out) const {
    out.assign(size() * static_cast<std::size_t>(table_->states(column)), 0.0);
    if (remote_.used()) return remote_.count_states(*this, cells_, column, out.data());
    by_bits_ ? masks_.count_states(column, cells_.totals, out.data())
             : numbers_.count_states(column, out.data());
  }

  // Sums over the rows of each state of a column of some functions of the cell, given cell by cell.
  void sums_by_state(std::size_t column, std::span<const double> of_cell, std::size_t functions,
                     std::vector<double>& out) const {
    const auto m = static_cast<std::size_t>(table_->states(column));
    out.assign(m * functions, 0.0);
    if (!by_bits_ && !remote_.used()) return numbers_.add_sums(column, of_cell, functions, out.data());
    std::vector<double> counts;
    split_counts(column, counts);
    for (std::size_t s = 0; s < size(); ++s)
      for (std::size_t c = 0; c < m; ++c)
        add_multiple(&out[c * functions], counts[s * m + c], &of_cell[s * functions], functions);
  }

  CellView view() const {
    CellView view{size(), static_cast<int>(width()), {}, cells_.codes.data(), cells_.by_state.data()};
    for (const std::size_t t : support_) {
      view.states.push_back(table_->states(t));
      view.answers.push_back(table_->answers(t));
    }
    return view;
  }

  // States of the support in each cell, and rows of each by state of the target.
  const CellCounts& counts() const { return cells_; }

  // The number of the cell of each row.
  std::vector<std::uint32_t> numbers() const {
    if (!by_bits_) return numbers_.of_rows();
    CellNumbers numbers(*table_);
    numbers.take(masks_, size());
    return numbers.of_rows();
  }

  // Rows in the cells for which `chosen` holds, as bits.
  void rows_of(std::span<const char> chosen, Words& out) const {
    out.assign(table_->words(), 0);
    by_bits_ ? masks_.rows_of(chosen, out) : numbers_.rows_of(chosen, out);
  }

 private:
  void reset() {
    ++age_;
    support_.clear();
    cells_.parents.clear();
    cells_.codes.clear();
    cells_.members = 0;
    cells_.width = width();
    by_bits_ = true;
    if (remote_.used()) return remote_.start(target_, cells_);
    masks_.start(target_, cells_);
    if (table_->countable()) return;
    number_rows();
    numbers_.tabulate(target_, cells_);
  }

  void add_remote(std::span<const std::size_t> columns) {
    while (!columns.empty()) {
      const std::size_t taken = remote_.split(*this, columns, target_, cells_);
      support_.insert(support_.end(), columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(taken));
      columns = columns.subspan(taken);
    }
  }

  void remove_remote(std::size_t column) {
    ++age_;
    const auto at = std::ranges::find(support_, column);
    remote_.merge(static_cast<std::size_t>(at - support_.begin()), cells_);
    support_.erase(at);
  }

  void number_rows() {
    numbers_.take(masks_, size());
    masks_.clear();
    by_bits_ = false;
  }

  const Table* table_;  // a pointer, so that cells can be copied back
  std::size_t target_;
  std::size_t age_ = 0;
  std::vector<std::size_t> support_;
  CellCounts cells_;
  bool by_bits_ = true;
  CellMasks masks_;
  CellNumbers numbers_;
  RemoteCells remote_;
};

}  // namespace isinglass

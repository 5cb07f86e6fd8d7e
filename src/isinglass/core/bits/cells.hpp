// The occupied cells of a support: rows with equal neighbours, counted once.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/vectors.hpp"
#include "bits/cell_view.hpp"
#include "bits/table.hpp"
#include "bits/weighted_cells.hpp"

namespace isinglass {

// Rows with a code, a cell and a weight each.
struct ByCode {
  std::size_t rows;
  const std::uint8_t* codes;
  const std::uint32_t* cell;
  const double* weights;  // none: all one
};

// Sums over the rows of each code of kFunctions functions of the cell. Every other row has sums of its
// own, so that rows need not wait for each other.
template <std::size_t kFunctions>
ISINGLASS_INLINE inline void sum_few_by_code(const ByCode& by, const double* of_cell, double* even,
                                             double* odd) {
  const auto add = [&](std::size_t i, double* sums) ISINGLASS_INLINE {
    const double *values = of_cell + by.cell[i] * kFunctions, weight = by.weights ? by.weights[i] : 1.0;
    sums += by.codes[i] * kFunctions;
    for (std::size_t f = 0; f < kFunctions; ++f) sums[f] += weight * values[f];
  };
  std::size_t i = 0;
  for (; i + 2 <= by.rows; i += 2) {
    add(i, even);
    add(i + 1, odd);
  }
  if (i < by.rows) add(i, even);
}

// The same for as many functions as targets of two to five states have; false for other numbers.
ISINGLASS_INLINE inline bool sum_by_code_loop(const ByCode& by, std::size_t codes, std::size_t functions,
                                              const double* of_cell, double* out) {
  double odd[256 * 14];
  std::fill_n(odd, codes * std::min<std::size_t>(functions, 14), 0.0);
  switch (functions) {
    case 2:
      sum_few_by_code<2>(by, of_cell, out, odd);
      break;
    case 5:
      sum_few_by_code<5>(by, of_cell, out, odd);
      break;
    case 9:
      sum_few_by_code<9>(by, of_cell, out, odd);
      break;
    case 14:
      sum_few_by_code<14>(by, of_cell, out, odd);
      break;
    default:
      return false;
  }
  for (std::size_t k = 0; k < codes * functions; ++k) out[k] += odd[k];
  return true;
}
inline constexpr Vectorised<sum_by_code_loop> sum_by_code;

// The bits that two rows have in common. Returns whether there are any.
ISINGLASS_INLINE inline bool meet_loop(const Word* a, const Word* b, std::size_t words, Word* out) {
  Word any = 0;
  for (std::size_t w = 0; w < words; ++w) any |= out[w] = a[w] & b[w];
  return any != 0;
}
inline constexpr Vectorised<meet_loop> meet;

// The bits of a row that another one does not have. Returns whether there are any.
ISINGLASS_INLINE inline bool leave_loop(const Word* a, const Word* b, std::size_t words, Word* out) {
  Word any = 0;
  for (std::size_t w = 0; w < words; ++w) any |= out[w] = a[w] & ~b[w];
  return any != 0;
}
inline constexpr Vectorised<leave_loop> leave;

// Adds the bits of four rows to those of another.
ISINGLASS_INLINE inline void join_loop(const Word* a, const Word* b, const Word* c, const Word* d,
                                       std::size_t words, Word* out) {
  for (std::size_t w = 0; w < words; ++w) out[w] |= (a[w] | b[w]) | (c[w] | d[w]);
}
inline constexpr Vectorised<join_loop> join;

// While there are few cells each is a row of bits, and everything is a popcount; when there are
// many, or weights have to be summed, each row of the table knows the number of its cell. There are
// never more cells than rows.
class Cells {
 public:
  static constexpr std::size_t kFewCells = 1024, kMostMasks = 512;

  Cells(const Table& table, std::size_t target) : table_(&table), target_(target) { reset(); }

  // Starts anew for another target; what was allocated is kept.
  void set_target(std::size_t target) {
    target_ = target;
    reset();
  }

  std::size_t target() const { return target_; }
  std::size_t size() const { return totals_.size(); }
  bool few() const { return size() <= kFewCells; }
  const std::vector<std::size_t>& support() const { return support_; }
  // State of the i-th member of the support in a cell.
  int code(std::size_t cell, std::size_t i) const { return codes_[cell * support_.size() + i]; }
  double total(std::size_t cell) const { return totals_[cell]; }
  const double* totals() const { return totals_.data(); }
  // Rows of a cell in which the target has that state.
  double count(std::size_t cell, int state) const {
    return counts_[cell * width() + static_cast<std::size_t>(state)];
  }
  std::size_t width() const { return static_cast<std::size_t>(table_->states(target_)); }

  // Cells grow finer as columns are added, until they start anew: then they are of another age. Which of
  // the cells before the last addition each is a part of. (Cells that are put back have their old age;
  // between a removal and its refusal nobody asks.)
  std::size_t age() const { return age_; }
  std::span<const std::uint32_t> parents() const { return parents_; }

  void add(std::size_t column) {
    const auto m = static_cast<std::size_t>(table_->states(column));
    if (by_bits_ && size() * m > kMostMasks) number_rows();
    by_bits_ ? split_bits(column) : split_rows(column);
    support_.push_back(column);
  }

  void remove(std::size_t column) {
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
    for (std::size_t i = support_.size(); i < support.size(); ++i) add(support[i]);
  }

  // Words or rows looked at, about, when the cells are split by a column of two states.
  std::size_t work_to_split() const { return by_bits_ ? size() * table_->words() : 8 * table_->rows(); }

  // Cells by state of a column: how many rows of each, with the probabilities of the cell.
  void split(std::size_t column, const double* probabilities, std::vector<WeightedCells>& by_state) const {
    const auto m = static_cast<std::size_t>(table_->states(column));
    if (by_bits_ || size() * m <= table_->rows()) {
      std::vector<double> counts;
      split_counts(column, counts);
      weigh(counts, m, probabilities, width(), by_state);
      return;
    }
    // Cells of hardly more than one row each: row by row.
    by_state.resize(m);
    const std::uint8_t* codes = table_->codes(column);
    for (std::size_t c = 0; c < m; ++c) by_state[c].reset(width(), table_->rows_in(column, c));
    for (std::size_t i = 0; i < table_->rows(); ++i)
      by_state[codes[i]].add(table_->weight(i), probabilities + cell_of_[i] * width());
    for (WeightedCells& cells : by_state) cells.fill_lanes();
  }

  // The same from the rows of each cell in each of m states, as they were counted.
  static void weigh(std::span<const double> counts, std::size_t m, const double* probabilities,
                    std::size_t width, std::vector<WeightedCells>& by_state) {
    by_state.resize(m);
    switch (width) {
      case 2:
        return weigh_for<2>(counts, probabilities, width, by_state);
      case 3:
        return weigh_for<3>(counts, probabilities, width, by_state);
      case 4:
        return weigh_for<4>(counts, probabilities, width, by_state);
      default:
        return weigh_for<0>(counts, probabilities, width, by_state);
    }
  }

  // Rows of each cell in each state of a column: cells x states. What is counted by bits is whole, and
  // differences are exact.
  void split_counts(std::size_t column, std::vector<double>& out) const {
    const auto m = static_cast<std::size_t>(table_->states(column));
    out.assign(size() * m, 0.0);
    if (by_bits_) {
      for (std::size_t s = 0; s < size(); ++s) {
        out[s * m] = totals_[s];
        for (std::size_t c = 1; c < m; ++c)
          out[s * m] -= out[s * m + c] = table_->count(mask(s), table_->bits(column, static_cast<int>(c)));
      }
      return;
    }
    const std::uint8_t* codes = table_->codes(column);
    for (std::size_t i = 0; i < table_->rows(); ++i) out[cell_of_[i] * m + codes[i]] += table_->weight(i);
  }

  // Sums over the rows of each state of a column of some functions of the cell, given cell by cell.
  void sums_by_state(std::size_t column, std::span<const double> of_cell, std::size_t functions,
                     std::vector<double>& out) const {
    const auto m = static_cast<std::size_t>(table_->states(column));
    out.assign(m * functions, 0.0);
    const auto add = [&](double rows, std::size_t cell, std::size_t c) {
      add_multiple(&out[c * functions], rows, &of_cell[cell * functions], functions);
    };
    if (!by_bits_) {
      const ByCode rows{table_->rows(), table_->codes(column), cell_of_.data(), table_->weights()};
      if (!sum_by_code(rows, m, functions, of_cell.data(), out.data()))
        for (std::size_t i = 0; i < rows.rows; ++i) add(table_->weight(i), cell_of_[i], rows.codes[i]);
      return;
    }
    std::vector<double> counts;
    split_counts(column, counts);
    for (std::size_t s = 0; s < size(); ++s)
      for (std::size_t c = 0; c < m; ++c) add(counts[s * m + c], s, c);
  }

  CellView view() const {
    CellView view{size(), static_cast<int>(width()), {}, codes_.data(), counts_.data()};
    for (const std::size_t t : support_) {
      view.states.push_back(table_->states(t));
      view.answers.push_back(table_->answers(t));
    }
    return view;
  }

  // The number of the cell of each row.
  void number(std::vector<std::uint32_t>& out) const {
    if (!by_bits_) {
      out = cell_of_;
      return;
    }
    out.assign(table_->rows(), 0);
    for (std::size_t s = 0; s < size(); ++s) write_number(s, out);
  }

  // Rows in the cells for which `chosen` holds, as bits.
  void rows_of(std::span<const char> chosen, Words& out) const {
    out.assign(table_->words(), 0);
    if (by_bits_) {  // the fewer ones are put together
      const bool few = 2 * static_cast<std::size_t>(std::count(chosen.begin(), chosen.end(), 1)) <= size();
      const Word* four[4];
      std::size_t found = 0;
      for (std::size_t s = 0; s < size(); ++s) {
        if ((chosen[s] != 0) != few) continue;
        four[found++ % 4] = mask(s);
        if (found % 4 == 0) join(four[0], four[1], four[2], four[3], table_->words(), out.data());
      }
      for (; found % 4; --found)
        join(four[found % 4 - 1], out.data(), out.data(), out.data(), table_->words(), out.data());
      if (!few) leave(table_->all(), out.data(), table_->words(), out.data());
      return;
    }
    for (std::size_t i = 0; i < table_->rows(); ++i)
      out[i / 64] |= static_cast<Word>(chosen[cell_of_[i]]) << (i % 64);
  }

 private:
  // For a target of that many states; zero stands for any.
  template <std::size_t kWidth>
  static void weigh_for(std::span<const double> counts, const double* probabilities, std::size_t width,
                        std::vector<WeightedCells>& by_state) {
    const std::size_t m = by_state.size(), cells = counts.size() / m, step = kWidth ? kWidth : width;
    for (std::size_t c = 0; c < m; ++c) {
      by_state[c].reset(step, cells);
      for (std::size_t s = 0; s < cells; ++s)
        by_state[c].add_if_any<kWidth>(counts[s * m + c], probabilities + s * step);
      by_state[c].fill_lanes();
    }
  }

  const Word* mask(std::size_t cell) const { return masks_.data() + cell * table_->words(); }

  void reset() {
    ++age_;
    parents_.clear();
    support_.clear();
    codes_.clear();
    by_bits_ = true;
    masks_.resize(std::max(masks_.size(), table_->words()));
    std::copy_n(table_->all(), table_->words(), masks_.begin());
    counts_.resize(width());
    totals_.resize(1);
    count_bits(mask(0), counts_.data(), totals_.data());
    if (table_->countable()) return;
    number_rows();
    tabulate_rows();
  }

  // The rows of each new cell are counted, but those of the last of each old one: these are the rest.
  void split_bits(std::size_t column) {
    const std::size_t words = table_->words(), k = support_.size(), m = width();
    const int states = table_->states(column);
    const std::size_t most = size() * static_cast<std::size_t>(states);
    new_masks_.resize(std::max(new_masks_.size(), most * words));
    std::vector<double> counts(most * m), totals(most);
    std::vector<std::uint8_t> codes(most * (k + 1));
    parents_.resize(most);
    std::size_t found = 0;
    for (std::size_t s = 0; s < size(); ++s) {
      double* left = &counts_[s * m];
      for (int c = states; c-- > 0;) {
        Word* rows = &new_masks_[found * words];
        if (!meet(mask(s), table_->bits(column, c), words, rows)) continue;
        std::copy_n(codes_.data() + s * k, k, &codes[found * (k + 1)]);
        codes[found * (k + 1) + k] = static_cast<std::uint8_t>(c);
        parents_[found] = static_cast<std::uint32_t>(s);
        double *own = &counts[found * m], *total = &totals[found];
        ++found;
        if (c == 0) {
          std::copy_n(left, m, own);
          *total = totals_[s];
          continue;
        }
        count_bits(rows, own, total);
        for (std::size_t a = 0; a < m; ++a) left[a] -= own[a];
        totals_[s] -= *total;
      }
    }
    parents_.resize(found);
    codes.resize(found * (k + 1));
    counts.resize(found * m);
    totals.resize(found);
    masks_.swap(new_masks_);
    codes_.swap(codes);
    counts_.swap(counts);
    totals_.swap(totals);
  }

  // Rows of a cell by state of the target, and in all.
  void count_bits(const Word* rows, double* counts, double* total) const {
    counts[0] = *total = table_->count(rows, table_->all());
    for (std::size_t a = 1; a < width(); ++a)
      counts[0] -= counts[a] = table_->count(rows, table_->bits(target_, static_cast<int>(a)));
  }

  void number_rows() {
    number(cell_of_);
    masks_.clear();
    by_bits_ = false;
  }

  void write_number(std::size_t cell, std::vector<std::uint32_t>& of_row) const {
    for (std::size_t w = 0; w < table_->words(); ++w)
      for (Word word = mask(cell)[w]; word; word &= word - 1)
        of_row[w * 64 + static_cast<std::size_t>(std::countr_zero(word))] = static_cast<std::uint32_t>(cell);
  }

  void split_rows(std::size_t column) {
    const auto m = static_cast<std::size_t>(table_->states(column));
    const std::size_t k = support_.size();
    const std::uint8_t* column_codes = table_->codes(column);
    constexpr std::uint32_t kNone = 0xffffffff;
    std::vector<std::uint32_t> number(size() * m, kNone);
    std::vector<std::uint8_t> codes;
    std::uint32_t cells = 0;
    parents_.clear();
    for (std::size_t i = 0; i < table_->rows(); ++i) {
      const std::size_t old = cell_of_[i];
      std::uint32_t& renamed = number[old * m + column_codes[i]];
      if (renamed == kNone) {
        renamed = cells++;
        codes.insert(codes.end(), codes_.begin() + static_cast<std::ptrdiff_t>(old * k),
                     codes_.begin() + static_cast<std::ptrdiff_t>((old + 1) * k));
        codes.push_back(column_codes[i]);
        parents_.push_back(static_cast<std::uint32_t>(old));
      }
      cell_of_[i] = renamed;
    }
    codes_.swap(codes);
    totals_.resize(cells);
    tabulate_rows();
  }

  // Rows of each cell by state of the target, and in all.
  void tabulate_rows() {
    const std::size_t m = width();
    counts_.assign(size() * m, 0.0);
    const std::uint8_t* codes = table_->codes(target_);
    for (std::size_t i = 0; i < table_->rows(); ++i) counts_[cell_of_[i] * m + codes[i]] += table_->weight(i);
    for (std::size_t s = 0; s < size(); ++s)
      totals_[s] = std::accumulate(&counts_[s * m], &counts_[0] + (s + 1) * m, 0.0);
  }

  const Table* table_;  // a pointer, so that cells can be copied back
  std::size_t target_;
  std::size_t age_ = 0;
  std::vector<std::uint32_t> parents_;
  std::vector<std::size_t> support_;
  std::vector<std::uint8_t> codes_;  // cells x support
  std::vector<double> totals_, counts_;
  bool by_bits_ = true;
  Words masks_, new_masks_;             // cells x words and more, while there are few
  std::vector<std::uint32_t> cell_of_;  // for each row, when there are many
};

}  // namespace isinglass

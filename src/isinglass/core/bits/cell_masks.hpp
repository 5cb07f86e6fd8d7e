// Cells as rows of bits, while they are few: everything is a popcount.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/dispatch.hpp"
#include "bits/cell_counts.hpp"
#include "bits/table.hpp"

namespace isinglass {

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

// One row of bits per cell. What is counted by bits is whole, and differences are exact.
class CellMasks {
 public:
  explicit CellMasks(const Table& table) : table_(&table) {}

  const Word* of(std::size_t cell) const { return masks_.data() + cell * table_->words(); }

  // All rows in one cell; what was allocated is kept.
  void start(std::size_t target, CellCounts& cells) {
    masks_.resize(std::max(masks_.size(), table_->words()));
    std::copy_n(table_->all(), table_->words(), masks_.begin());
    cells.by_state.resize(cells.width);
    cells.totals.resize(1);
    count(of(0), target, cells.width, cells.by_state.data(), cells.totals.data());
  }

  void clear() { masks_.clear(); }

  // The rows of each new cell are counted, but those of the last of each old one: these are the rest.
  void split(std::size_t column, std::size_t target, CellCounts& cells) {
    const std::size_t words = table_->words(), k = cells.members, m = cells.width;
    const int states = table_->states(column);
    const std::size_t most = cells.size() * static_cast<std::size_t>(states);
    new_masks_.resize(std::max(new_masks_.size(), most * words));
    std::vector<double> counts(most * m), totals(most);
    std::vector<std::uint8_t> codes(most * (k + 1));
    cells.parents.resize(most);
    std::size_t found = 0;
    for (std::size_t s = 0; s < cells.size(); ++s) {
      double* left = &cells.by_state[s * m];
      for (int c = states; c-- > 0;) {
        Word* rows = &new_masks_[found * words];
        if (!meet(of(s), table_->bits(column, c), words, rows)) continue;
        std::copy_n(cells.codes.data() + s * k, k, &codes[found * (k + 1)]);
        codes[found * (k + 1) + k] = static_cast<std::uint8_t>(c);
        cells.parents[found] = static_cast<std::uint32_t>(s);
        double *own = &counts[found * m], *total = &totals[found];
        ++found;
        if (c == 0) {
          std::copy_n(left, m, own);
          *total = cells.totals[s];
          continue;
        }
        count(rows, target, m, own, total);
        for (std::size_t a = 0; a < m; ++a) left[a] -= own[a];
        cells.totals[s] -= *total;
      }
    }
    cells.parents.resize(found);
    codes.resize(found * (k + 1));
    counts.resize(found * m);
    totals.resize(found);
    masks_.swap(new_masks_);
    cells.codes.swap(codes);
    cells.by_state.swap(counts);
    cells.totals.swap(totals);
  }

  // Rows of each cell in each state of a column.
  void count_states(std::size_t column, std::span<const double> totals, double* out) const {
    const auto m = static_cast<std::size_t>(table_->states(column));
    for (std::size_t s = 0; s < totals.size(); ++s) {
      out[s * m] = totals[s];
      for (std::size_t c = 1; c < m; ++c)
        out[s * m] -= out[s * m + c] = table_->count(of(s), table_->bits(column, static_cast<int>(c)));
    }
  }

  // The rows of chosen cells: the fewer ones, chosen or not, are put together.
  void rows_of(std::span<const char> chosen, Words& out) const {
    const std::size_t size = chosen.size();
    const bool few = 2 * static_cast<std::size_t>(std::count(chosen.begin(), chosen.end(), 1)) <= size;
    const Word* four[4];
    std::size_t found = 0;
    for (std::size_t s = 0; s < size; ++s) {
      if ((chosen[s] != 0) != few) continue;
      four[found++ % 4] = of(s);
      if (found % 4 == 0) join(four[0], four[1], four[2], four[3], table_->words(), out.data());
    }
    for (; found % 4; --found)
      join(four[found % 4 - 1], out.data(), out.data(), out.data(), table_->words(), out.data());
    if (!few) leave(table_->all(), out.data(), table_->words(), out.data());
  }

 private:
  // Rows of a cell by state of the target, and in all.
  void count(const Word* rows, std::size_t target, std::size_t width, double* counts, double* total) const {
    counts[0] = *total = table_->count(rows, table_->all());
    for (std::size_t a = 1; a < width; ++a)
      counts[0] -= counts[a] = table_->count(rows, table_->bits(target, static_cast<int>(a)));
  }

  const Table* table_;       // a pointer, so that cells can be copied back
  Words masks_, new_masks_;  // cells x words and more
};

}  // namespace isinglass

// The cells of a column's neighbours in a table of codes: rows with equal neighbours share one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/dispatch.hpp"
#include "joint/layout.hpp"

namespace isinglass {

// The rows of a table as codes, column by column, and what each row counts, as a share of all.
struct CodedRows {
  const std::uint8_t* codes;
  std::size_t rows;
  std::span<const double> weights;

  std::uint8_t at(std::size_t i, std::size_t j) const { return codes[j * rows + i]; }
  const std::uint8_t* column(std::size_t j) const { return codes + j * rows; }
};

// Rows whose code is a state stay as they are seen; a code beyond is a missing value.
ISINGLASS_INLINE inline void mark_seen_loop(const std::uint8_t* codes, std::size_t rows, std::uint8_t last,
                                            std::uint8_t* seen) {
  for (std::size_t i = 0; i < rows; ++i) seen[i] &= codes[i] <= last;
}
inline constexpr Vectorised<mark_seen_loop> mark_seen;

// Keys of so many states become keys of one column more; missing values are taken for the last state.
ISINGLASS_INLINE inline void extend_keys_loop(const std::uint8_t* codes, std::size_t rows,
                                              std::uint32_t states, std::uint32_t* keys) {
  const auto last = static_cast<std::uint8_t>(states - 1);
  for (std::size_t i = 0; i < rows; ++i) keys[i] = keys[i] * states + std::min(codes[i], last);
}
inline constexpr Vectorised<extend_keys_loop> extend_keys;

struct JointCells {
  std::vector<std::uint8_t> seen;     // of each row, whether the column and all its neighbours are
  std::vector<std::uint32_t> of_row;  // the cell of each row that is seen
  std::vector<std::uint32_t> first;   // the first row of each cell

  JointCells(const JointLayout& layout, const CodedRows& table, std::size_t r)
      : seen(table.rows, 1), of_row(table.rows, 0) {
    const auto last = [&](std::size_t j) { return static_cast<std::uint8_t>(layout.states(j) - 1); };
    mark_seen(table.column(r), table.rows, last(r), seen.data());
    for (const auto& edge : layout.edges_of(r))
      mark_seen(table.column(edge.other), table.rows, last(edge.other), seen.data());
    const std::size_t few = kFewKeys + 4 * table.rows;
    std::size_t keys = 1;
    for (const auto& edge : layout.edges_of(r)) {
      const std::size_t m = layout.states(edge.other);
      if (keys * m > few) keys = number(keys);
      extend_keys(table.column(edge.other), table.rows, static_cast<std::uint32_t>(m), of_row.data());
      keys *= m;
    }
    number(keys);
  }

 private:
  static constexpr std::size_t kFewKeys = 4096;  // and a few per row, before they are numbered again

  // Keys that occur are numbered in the order of the rows. Returns how many there are.
  std::size_t number(std::size_t keys) {
    constexpr std::uint32_t kNone = ~std::uint32_t{0};
    std::vector<std::uint32_t> known(keys, kNone);
    first.clear();
    for (std::size_t i = 0; i < of_row.size(); ++i) {
      if (!seen[i]) continue;
      std::uint32_t& cell = known[of_row[i]];
      if (cell == kNone) {
        cell = static_cast<std::uint32_t>(first.size());
        first.push_back(static_cast<std::uint32_t>(i));
      }
      of_row[i] = cell;
    }
    return first.size();
  }
};

}  // namespace isinglass

// Columns of small integers to codes: which values occur, and the rows in numbers of them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "threads.hpp"

namespace isinglass {

struct Factors {
  std::vector<std::uint8_t> codes;         // column-major
  std::vector<std::int64_t> least;         // smallest value of each column
  std::vector<std::array<std::int64_t, 256>> counts;  // rows of least, least + 1, ...
  bool fits = true;                        // false: some column spans more than 256 values
};

// Codes count the values that occur, not those in between.
inline void close_gaps(std::uint8_t* codes, std::size_t rows, const std::array<std::int64_t, 256>& counts) {
  std::array<std::uint8_t, 256> number{};
  std::uint8_t next = 0;
  bool gaps = false;
  for (std::size_t value = 0; value < 256; ++value)
    if (counts[value]) {
      gaps = gaps || next != value;
      number[value] = next++;
    }
  if (!gaps) return;
  for (std::size_t i = 0; i < rows; ++i) codes[i] = number[codes[i]];
}

// `at(i, j)` is read in blocks of columns, so that either layout of the table is read well.
template <class Value>
Factors factorise_integers(const Value* data, std::size_t rows, std::size_t columns, std::int64_t row_stride,
                           std::int64_t column_stride, unsigned threads) {
  constexpr std::size_t kBlock = 64;
  Factors out{std::vector<std::uint8_t>(rows * columns), std::vector<std::int64_t>(columns), {}, true};
  out.counts.resize(columns);
  std::atomic<bool> fits{true};
  share_out((columns + kBlock - 1) / kBlock, threads, [&](std::size_t block) {
    const std::size_t first = block * kBlock, width = std::min(kBlock, columns - first);
    const auto at = [&](std::size_t i, std::size_t j) {
      return data[static_cast<std::int64_t>(i) * row_stride + static_cast<std::int64_t>(first + j) * column_stride];
    };
    std::array<Value, kBlock> least{}, most{};
    for (std::size_t j = 0; j < width; ++j) least[j] = most[j] = at(0, j);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < width; ++j) {
        const Value value = at(i, j);
        least[j] = std::min(least[j], value);
        most[j] = std::max(most[j], value);
      }
    for (std::size_t j = 0; j < width; ++j) {
      out.least[first + j] = static_cast<std::int64_t>(least[j]);
      out.counts[first + j].fill(0);
      if (static_cast<std::uint64_t>(most[j]) - static_cast<std::uint64_t>(least[j]) > 255) fits = false;
    }
    if (!fits) return;
    constexpr std::size_t kRows = 256;  // a square of this size stays in the nearest cache
    for (std::size_t start = 0; start < rows; start += kRows)
      for (std::size_t j = 0; j < width; ++j) {
        std::uint8_t* codes = &out.codes[(first + j) * rows];
        auto& counts = out.counts[first + j];
        for (std::size_t i = start; i < std::min(start + kRows, rows); ++i)
          ++counts[codes[i] = static_cast<std::uint8_t>(at(i, j) - least[j])];
      }
    for (std::size_t j = 0; j < width; ++j) close_gaps(&out.codes[(first + j) * rows], rows, out.counts[first + j]);
  });
  out.fits = fits;
  return out;
}

}  // namespace isinglass

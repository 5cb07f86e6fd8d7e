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
  std::vector<std::uint8_t> codes;                    // column-major
  std::vector<std::int64_t> least;                    // smallest value of each column
  std::vector<std::array<std::int64_t, 256>> counts;  // rows of least, least + 1, ...
  bool fits = true;                                   // false: some column spans more than 256 values
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

// A table of integers in either layout, or any view of one.
template <class Value>
struct IntegerTable {
  const Value* data;
  std::size_t rows, columns;
  std::int64_t row_stride, column_stride;

  const Value* cell(std::size_t i, std::size_t j) const {
    return data + static_cast<std::int64_t>(i) * row_stride + static_cast<std::int64_t>(j) * column_stride;
  }
};

// Smallest and largest value of some columns, read in the order in which they lie.
template <class Value>
void extremes(const IntegerTable<Value>& table, std::size_t first, std::size_t width, Value* least,
              Value* most) {
  for (std::size_t j = 0; j < width; ++j) least[j] = most[j] = *table.cell(0, first + j);
  const auto widen = [](Value value, Value& low, Value& high) {
    low = std::min(low, value);
    high = std::max(high, value);
  };
  if (table.column_stride == 1) {
    for (std::size_t i = 0; i < table.rows; ++i) {
      const Value* row = table.cell(i, first);
      for (std::size_t j = 0; j < width; ++j) widen(row[j], least[j], most[j]);
    }
    return;
  }
  for (std::size_t j = 0; j < width; ++j) {
    const Value* column = table.cell(0, first + j);
    Value low = least[j], high = most[j];
    if (table.row_stride == 1)
      for (std::size_t i = 0; i < table.rows; ++i) widen(column[i], low, high);
    else
      for (std::size_t i = 0; i < table.rows; ++i) widen(*table.cell(i, first + j), low, high);
    least[j] = low;
    most[j] = high;
  }
}

// Differences to the smallest value, from row `start` to `stop`.
template <class Value>
void subtract(const IntegerTable<Value>& table, std::size_t j, std::size_t start, std::size_t stop,
              Value least, std::uint8_t* codes) {
  const Value* column = table.cell(0, j);
  const std::int64_t stride = table.row_stride;
  if (stride == 1)
    for (std::size_t i = start; i < stop; ++i) codes[i] = static_cast<std::uint8_t>(column[i] - least);
  else
    for (std::size_t i = start; i < stop; ++i)
      codes[i] = static_cast<std::uint8_t>(column[static_cast<std::int64_t>(i) * stride] - least);
}

inline void tally(const std::uint8_t* codes, std::size_t start, std::size_t stop, bool two_values,
                  std::array<std::int64_t, 256>& counts) {
  if (!two_values) {
    for (std::size_t i = start; i < stop; ++i) ++counts[codes[i]];
    return;
  }
  unsigned ones = 0;
  for (std::size_t i = start; i < stop; ++i) ones += codes[i];
  counts[1] += ones;
  counts[0] += static_cast<std::int64_t>(stop - start) - ones;
}

template <class Value>
Factors factorise_integers(const IntegerTable<Value>& table, unsigned threads) {
  constexpr std::size_t kColumns = 64, kRows = 256;  // a tile of this size stays in the nearest cache
  const std::size_t rows = table.rows, columns = table.columns;
  Factors out{std::vector<std::uint8_t>(rows * columns), std::vector<std::int64_t>(columns), {}, true};
  out.counts.resize(columns);
  std::atomic<bool> fits{true};
  share_out((columns + kColumns - 1) / kColumns, threads, [&](std::size_t block) {
    const std::size_t first = block * kColumns, width = std::min(kColumns, columns - first);
    std::array<Value, kColumns> least{}, most{};
    extremes(table, first, width, least.data(), most.data());
    for (std::size_t j = 0; j < width; ++j) {
      out.least[first + j] = static_cast<std::int64_t>(least[j]);
      out.counts[first + j].fill(0);
      if (static_cast<std::uint64_t>(most[j]) - static_cast<std::uint64_t>(least[j]) > 255) fits = false;
    }
    if (!fits) return;
    for (std::size_t start = 0; start < rows; start += kRows)
      for (std::size_t j = 0; j < width; ++j) {
        const std::size_t stop = std::min(start + kRows, rows);
        std::uint8_t* codes = &out.codes[(first + j) * rows];
        subtract(table, first + j, start, stop, least[j], codes);
        tally(codes, start, stop, most[j] - least[j] == 1, out.counts[first + j]);
      }
    for (std::size_t j = 0; j < width; ++j)
      close_gaps(&out.codes[(first + j) * rows], rows, out.counts[first + j]);
  });
  out.fits = fits;
  return out;
}

}  // namespace isinglass

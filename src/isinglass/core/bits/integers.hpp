// Columns of small integers to codes: which values occur, and the rows in numbers of them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/threads.hpp"

namespace isinglass {

// Bytes that nobody sets to zero first.
struct RawAllocator : std::allocator<std::uint8_t> {
  template <class U>
  struct rebind {
    using other = RawAllocator;
  };
  template <class U>
  void construct(U*) {}
};
using RawBytes = std::vector<std::uint8_t, RawAllocator>;

struct Factors {
  RawBytes codes;                                     // column-major
  std::vector<std::int64_t> least;                    // smallest value of each column
  std::vector<std::array<std::int64_t, 256>> counts;  // rows of least, least + 1, ...
  bool fits = true;                                   // false: some column spans more than 256 values
};

// Codes count the values that occur, not those in between.
inline void number_consecutively(std::uint8_t* codes, std::size_t rows,
                                 const std::array<std::int64_t, 256>& counts) {
  std::vector<std::uint8_t> values;
  for (std::size_t value = 0; value < 256; ++value)
    if (counts[value]) values.push_back(static_cast<std::uint8_t>(value));
  if (values.empty() || values.back() + 1u == values.size()) return;
  if (values.size() == 2) {
    for (std::size_t i = 0; i < rows; ++i) codes[i] = codes[i] != 0;
    return;
  }
  std::array<std::uint8_t, 256> number{};
  for (std::size_t k = 0; k < values.size(); ++k) number[values[k]] = static_cast<std::uint8_t>(k);
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
void extremes(const IntegerTable<Value>& table, std::size_t first, std::size_t width, Value* __restrict least,
              Value* __restrict most) {
  for (std::size_t j = 0; j < width; ++j) least[j] = most[j] = *table.cell(0, first + j);
  const auto widen = [](Value value, Value& low, Value& high) {
    low = std::min(low, value);
    high = std::max(high, value);
  };
  if (table.column_stride == 1) {
    for (std::size_t i = 0; i < table.rows; ++i) {
      const Value* row = table.cell(i, first);
      for (std::size_t j = 0; j < width; ++j) {
        least[j] = row[j] < least[j] ? row[j] : least[j];
        most[j] = row[j] > most[j] ? row[j] : most[j];
      }
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

// Bytes of x less those of y, each by itself.
inline std::uint64_t subtract_bytes(std::uint64_t x, std::uint64_t y) {
  constexpr std::uint64_t kHigh = 0x8080808080808080;
  return ((x | kHigh) - (y & ~kHigh)) ^ ((x ^ ~y) & kHigh);
}

// Eight rows of eight bytes to eight columns: pairs of bytes, of twos and of fours change indices.
inline void transpose_bytes(std::array<std::uint64_t, 8>& x) {
  constexpr std::array<std::uint64_t, 3> kMasks{0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff};
  for (std::size_t level = 0; level < 3; ++level) {
    const std::size_t apart = std::size_t{1} << level, bits = 8 * apart;
    for (std::size_t i = 0; i < 8; ++i) {
      if (i & apart) continue;
      const std::uint64_t swapped = ((x[i] >> bits) ^ x[i + apart]) & kMasks[level];
      x[i + apart] ^= swapped;
      x[i] ^= swapped << bits;
    }
  }
}

// The same for eight columns of bytes that lie side by side, eight rows at a time.
template <class Value>
void subtract_eight(const IntegerTable<Value>& table, std::size_t j, std::size_t start, std::size_t stop,
                    const Value* least, std::uint8_t* codes) {
  std::size_t i = start;
  if constexpr (std::endian::native == std::endian::little)
    for (; i + 8 <= stop; i += 8) {
      std::array<std::uint64_t, 8> block;
      for (std::size_t k = 0; k < 8; ++k) std::memcpy(&block[k], table.cell(i + k, j), 8);
      transpose_bytes(block);
      for (std::size_t k = 0; k < 8; ++k) {
        block[k] =
            subtract_bytes(block[k], 0x0101010101010101 * std::uint64_t{static_cast<std::uint8_t>(least[k])});
        std::memcpy(codes + k * table.rows + i, &block[k], 8);
      }
    }
  for (std::size_t k = 0; k < 8; ++k) subtract(table, j + k, i, stop, least[k], codes + k * table.rows);
}

// Rows of each value. A few values are counted one by one, in bytes: there are fewer than 256 rows.
inline void count_values(const std::uint8_t* codes, std::size_t start, std::size_t stop, std::size_t spread,
                         std::array<std::int64_t, 256>& counts) {
  constexpr std::size_t kFew = 4;
  if (spread > kFew || stop - start > 255) {
    for (std::size_t i = start; i < stop; ++i) ++counts[codes[i]];
    return;
  }
  auto rest = static_cast<std::int64_t>(stop - start);
  for (std::size_t value = 1; value <= spread; ++value) {
    const auto wanted = static_cast<std::uint8_t>(value);
    std::uint8_t found = 0;
    for (std::size_t i = start; i < stop; ++i)
      found = static_cast<std::uint8_t>(found + static_cast<std::uint8_t>(codes[i] == wanted));
    counts[value] += found;
    rest -= found;
  }
  counts[0] += rest;
}

template <class Value>
Factors factorise_integers(const IntegerTable<Value>& table, unsigned threads) {
  constexpr std::size_t kColumns = 256, kRows = 128;  // a tile of bytes stays in the nearest cache
  const std::size_t rows = table.rows, columns = table.columns;
  Factors out;
  out.codes.resize(rows * columns);
  out.least.resize(columns);
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
    for (std::size_t start = 0; start < rows; start += kRows) {
      const std::size_t stop = std::min(start + kRows, rows);
      std::size_t j = 0;
      if (sizeof(Value) == 1 && table.column_stride == 1)
        for (; j + 8 <= width; j += 8)
          subtract_eight(table, first + j, start, stop, &least[j], &out.codes[(first + j) * rows]);
      for (; j < width; ++j)
        subtract(table, first + j, start, stop, least[j], &out.codes[(first + j) * rows]);
      for (j = 0; j < width; ++j)
        count_values(&out.codes[(first + j) * rows], start, stop,
                     static_cast<std::size_t>(most[j] - least[j]), out.counts[first + j]);
    }
    for (std::size_t j = 0; j < width; ++j)
      number_consecutively(&out.codes[(first + j) * rows], rows, out.counts[first + j]);
  });
  out.fits = fits;
  return out;
}

}  // namespace isinglass

// Sums over what a sparse matrix stores; nothing is centred.
//
// A matrix is a list of vectors, its columns or its rows, as scipy's csc_array and csr_array have them. Sums
// for all columns are taken column by column, or over a few rows of the same matrix kept row by row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/threads.hpp"

namespace isinglass {

// Columns (or rows) one after the other: values, where they are, and where each begins.
template <class Value, class Index>
struct Stored {
  const Value* values;
  const Index *places, *begin;
  std::size_t count, length;  // vectors, and the length of each
};

// Stored entries for which a thread is worthwhile: they are read here and there, so that fewer do.
inline constexpr std::size_t kOneThreadStored = 1 << 18;

// Sums over the stored entries x of each column: of x a, x b and x^2 b, where a and b are one number per row.
template <class Value, class Index>
std::vector<double> stored_moments(const Stored<Value, Index>& X, const double* a, const double* b,
                                   unsigned threads) {
  std::vector<double> sums(3 * X.count), both(2 * X.length);
  for (std::size_t i = 0; i < X.length; ++i) {  // side by side, so that one fetch brings both
    both[2 * i] = a[i];
    both[2 * i + 1] = b[i];
  }
  constexpr std::size_t kPiece = 1024;
  const auto entries = static_cast<std::size_t>(X.begin[X.count]);
  share_out((X.count + kPiece - 1) / kPiece, worthwhile(threads, entries, kOneThreadStored),
            [&](std::size_t piece) {
              const std::size_t last = std::min(X.count, (piece + 1) * kPiece);
              for (std::size_t j = piece * kPiece; j < last; ++j) {
                double once_a = 0, once_b = 0, twice = 0;
                for (Index at = X.begin[j]; at < X.begin[j + 1]; ++at) {
                  const double* const own = both.data() + 2 * static_cast<std::size_t>(X.places[at]);
                  const double x = static_cast<double>(X.values[at]), weighted = x * own[1];
                  once_a += x * own[0];
                  once_b += weighted;
                  twice += weighted * x;
                }
                sums[j] = once_a;
                sums[X.count + j] = once_b;
                sums[2 * X.count + j] = twice;
              }
            });
  return sums;
}

// The same sums over a few rows of a matrix kept row by row, columns in increasing order; a and b have one
// number per such row. A column's sums lie side by side, so that one fetch brings all. Without b they are
// those of x a alone.
template <bool kBoth, class Value, class Index>
std::vector<double> moments_of_rows(const Stored<Value, Index>& X, const std::int64_t* rows,
                                    std::size_t count, const double* a, const double* b, unsigned threads) {
  constexpr std::size_t kSums = kBoth ? 3 : 1;
  std::size_t entries = 0;
  for (std::size_t i = 0; i < count; ++i)
    entries += static_cast<std::size_t>(X.begin[rows[i] + 1] - X.begin[rows[i]]);
  std::vector<double> sums(kSums * X.length);
  const unsigned pieces = worthwhile(threads, entries, kOneThreadStored);
  const std::size_t width = (X.length + pieces - 1) / pieces;
  share_out(pieces, pieces, [&](std::size_t piece) {  // each takes some columns, of all rows
    const std::size_t first = piece * width, last = std::min(X.length, first + width);
    for (std::size_t i = 0; i < count; ++i) {
      const Index *from = X.places + X.begin[rows[i]], *const end = X.places + X.begin[rows[i] + 1];
      if (piece > 0) from = std::lower_bound(from, end, static_cast<Index>(first));
      const Value* value = X.values + (from - X.places);
      for (; from != end && static_cast<std::size_t>(*from) < last; ++from, ++value) {
        double* const own = sums.data() + kSums * static_cast<std::size_t>(*from);
        const double x = static_cast<double>(*value);
        own[0] += x * a[i];
        if constexpr (kBoth) {
          const double weighted = x * b[i];
          own[1] += weighted;
          own[2] += weighted * x;
        }
      }
    }
  });
  return sums;
}

// For a matrix kept row by row: where the entries of each column are, in increasing order. With it a column
// is found without a second copy of what is stored.
template <class Index>
struct ColumnPlaces {
  std::vector<Index> begin, places;  // where each column begins among the places
  std::vector<Index> row_at;         // the row of every so many entries
};
inline constexpr std::size_t kRowsEvery = 64;

template <class Value, class Index>
ColumnPlaces<Index> column_places(const Stored<Value, Index>& X) {
  const auto entries = static_cast<std::size_t>(X.begin[X.count]);
  ColumnPlaces<Index> found{std::vector<Index>(X.length + 2), std::vector<Index>(entries), {}};
  Index* const next = found.begin.data() + 1;  // where the next entry of a column goes
  for (std::size_t at = 0; at < entries; ++at) ++next[X.places[at] + 1];
  for (std::size_t j = 1; j <= X.length; ++j) next[j] += next[j - 1];
  for (std::size_t at = 0; at < entries; ++at)
    found.places[static_cast<std::size_t>(next[X.places[at]]++)] = static_cast<Index>(at);
  found.begin.pop_back();
  for (std::size_t row = 0; row < X.count; ++row)
    while (kRowsEvery * found.row_at.size() < static_cast<std::size_t>(X.begin[row + 1]))
      found.row_at.push_back(static_cast<Index>(row));
  found.row_at.push_back(static_cast<Index>(X.count) - 1);
  return found;
}

// The row of an entry.
template <class Index>
Index row_of(Index at, const Index* begin, const Index* row_at) {
  const Index* const near = row_at + static_cast<std::size_t>(at) / kRowsEvery;
  return static_cast<Index>(std::upper_bound(begin + near[0] + 1, begin + near[1] + 1, at) - begin - 1);
}

// The smallest values of all columns, then the largest; what is not stored is zero.
template <class Value, class Index>
std::vector<double> stored_extremes(const Stored<Value, Index>& X) {
  std::vector<double> extremes(2 * X.count);
  for (std::size_t j = 0; j < X.count; ++j) {
    const auto stored = static_cast<std::size_t>(X.begin[j + 1] - X.begin[j]);
    if (X.length == 0) continue;
    Value low = stored < X.length ? Value{0} : X.values[X.begin[j]], high = low;
    for (Index at = X.begin[j]; at < X.begin[j + 1]; ++at) {
      low = std::min(low, X.values[at]);
      high = std::max(high, X.values[at]);
    }
    extremes[j] = static_cast<double>(low);
    extremes[X.count + j] = static_cast<double>(high);
  }
  return extremes;
}

// The same of a matrix kept row by row; `begin` is where its columns begin among `ColumnPlaces`.
template <class Value, class Index>
std::vector<double> extremes_of_rows(const Stored<Value, Index>& X, const Index* begin) {
  std::vector<double> extremes(2 * X.length);
  double *const low = extremes.data(), *const high = low + X.length;
  for (std::size_t j = 0; j < X.length; ++j) {
    const bool everywhere = static_cast<std::size_t>(begin[j + 1] - begin[j]) == X.count && X.count > 0;
    low[j] = everywhere ? std::numeric_limits<double>::infinity() : 0.0;
    high[j] = -low[j];
  }
  for (Index at = 0; at < X.begin[X.count]; ++at) {
    const auto j = static_cast<std::size_t>(X.places[at]);
    low[j] = std::min(low[j], static_cast<double>(X.values[at]));
    high[j] = std::max(high[j], static_cast<double>(X.values[at]));
  }
  return extremes;
}

}  // namespace isinglass

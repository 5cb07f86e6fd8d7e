// Sums over what a sparse matrix stores; nothing is centred.
//
// A matrix is a list of vectors, its columns or its rows, as scipy's csc_array and csr_array have them. Sums
// for all columns are taken column by column, or over a few rows of the same matrix kept row by row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
  share_out((X.count + kPiece - 1) / kPiece, threads, [&](std::size_t piece) {
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

// The same sums over a few rows of a matrix kept row by row; a and b have one number per such row.
template <class Value, class Index>
std::vector<double> moments_of_rows(const Stored<Value, Index>& X, const std::int64_t* rows,
                                    std::size_t count, const double* a, const double* b) {
  constexpr std::size_t kWide = 4;  // a column's sums lie in one line of the cache
  std::vector<double> wide(kWide * X.length), sums(3 * X.length);
  for (std::size_t i = 0; i < count; ++i) {
    const double own_a = a[i], own_b = b[i];
    const auto row = static_cast<std::size_t>(rows[i]);
    for (Index at = X.begin[row]; at < X.begin[row + 1]; ++at) {
      double* const own = wide.data() + kWide * static_cast<std::size_t>(X.places[at]);
      const double x = static_cast<double>(X.values[at]), weighted = x * own_b;
      own[0] += x * own_a;
      own[1] += weighted;
      own[2] += weighted * x;
    }
  }
  for (std::size_t j = 0; j < X.length; ++j)
    for (std::size_t at = 0; at < 3; ++at) sums[at * X.length + j] = wide[kWide * j + at];
  return sums;
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

}  // namespace isinglass

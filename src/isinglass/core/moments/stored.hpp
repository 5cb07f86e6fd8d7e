// The same sums for the columns of a sparse matrix: of what is stored, nothing is centred.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/threads.hpp"

namespace isinglass {

// Columns one after the other, as scipy's csc_array has them.
template <class Value, class Index>
struct StoredColumns {
  const Value* values;
  const Index *rows, *begin;
  std::size_t columns;
};

// Sums over the stored entries x of each column: of x a, x b and x^2 b, where a and b are one number per row.
template <class Value, class Index>
std::vector<double> stored_moments(const StoredColumns<Value, Index>& X, const double* a, const double* b,
                                   unsigned threads) {
  std::vector<double> sums(3 * X.columns);
  constexpr std::size_t kPiece = 1024;
  share_out((X.columns + kPiece - 1) / kPiece, threads, [&](std::size_t piece) {
    const std::size_t last = std::min(X.columns, (piece + 1) * kPiece);
    for (std::size_t j = piece * kPiece; j < last; ++j) {
      double once_a = 0, once_b = 0, twice = 0;
      for (Index at = X.begin[j]; at < X.begin[j + 1]; ++at) {
        const double x = static_cast<double>(X.values[at]), weighted = x * b[X.rows[at]];
        once_a += x * a[X.rows[at]];
        once_b += weighted;
        twice += weighted * x;
      }
      sums[j] = once_a;
      sums[X.columns + j] = once_b;
      sums[2 * X.columns + j] = twice;
    }
  });
  return sums;
}

}  // namespace isinglass

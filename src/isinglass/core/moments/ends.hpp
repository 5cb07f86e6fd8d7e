// The smallest and the largest value of each column of a matrix of numbers, in one pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "base/dispatch.hpp"
#include "base/threads.hpp"
#include "moments/moments.hpp"

namespace isinglass {

// Rows that are compared before the ends of a column are fetched again.
inline constexpr std::size_t kEndRows = 4;

// Of some columns, over a few rows. `doubt` turns into NaN where a value is NaN or infinite.
template <class Value>
ISINGLASS_INLINE inline void widen_ends_loop(const Value* const* x, double* __restrict low,
                                             double* __restrict high, double* __restrict doubt,
                                             std::size_t count) {
  const Value *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
  for (std::size_t j = 0; j < count; ++j) {
    const Value a = x0[j], b = x1[j], c = x2[j], d = x3[j];
    const Value least_a = a < b ? a : b, least_c = c < d ? c : d, most_a = a < b ? b : a,
                most_c = c < d ? d : c;
    const double least = least_a < least_c ? least_a : least_c, most = most_a < most_c ? most_c : most_a;
    low[j] = least < low[j] ? least : low[j];
    high[j] = most > high[j] ? most : high[j];
    doubt[j] += ((a - a) + (b - b)) + ((c - c) + (d - d));
  }
}
template <class Value>
inline constexpr Vectorised<widen_ends_loop<Value>> widen_ends;

template <class Value>
void ends_by_row(const Matrix<Value>& X, std::size_t first, std::size_t count, double* low, double* high,
                 double* doubt) {
  for (std::size_t row = 0; row < X.rows; row += kEndRows) {
    const Value* x[kEndRows];
    for (std::size_t i = 0; i < kEndRows; ++i)  // the last row again, if there are too few
      x[i] = X.data + std::min(row + i, X.rows - 1) * X.columns + first;
    widen_ends<Value>(x, low + first, high + first, doubt + first, count);
  }
}

// The same of one column that is stored without gaps: its stretches take the place of columns.
template <class Value>
void ends_by_column(const Matrix<Value>& X, std::size_t first, std::size_t count, double* low, double* high,
                    double* doubt) {
  constexpr std::size_t kLanes = 64;
  for (std::size_t j = first; j < first + count; ++j) {
    const Value* column = X.data + j * X.rows;
    double lows[kLanes], highs[kLanes], doubts[kLanes] = {};
    std::fill_n(lows, kLanes, low[j]);
    std::fill_n(highs, kLanes, high[j]);
    std::size_t row = 0;
    const auto widen = [&](std::size_t lanes) {
      const Value* x[kEndRows];
      for (std::size_t i = 0; i < kEndRows; ++i) x[i] = column + row + i * lanes;
      widen_ends<Value>(x, lows, highs, doubts, lanes);
      row += kEndRows * lanes;
    };
    while (row + kEndRows * kLanes <= X.rows) widen(kLanes);
    while (row + kEndRows <= X.rows) widen(1);
    for (; row < X.rows; ++row) {
      const Value* x[kEndRows] = {column + row, column + row, column + row, column + row};
      widen_ends<Value>(x, lows, highs, doubts, 1);
    }
    low[j] = *std::min_element(lows, lows + kLanes);
    high[j] = *std::max_element(highs, highs + kLanes);
    for (const double one : doubts) doubt[j] += one;
  }
}

// All smallest values, then all largest ones; NaN where a column has a value that is not finite.
template <class Value>
std::vector<double> column_ends(const Matrix<Value>& X, unsigned threads) {
  std::vector<double> ends(2 * X.columns), doubt(X.columns);
  double *low = ends.data(), *high = low + X.columns;
  std::fill_n(low, X.columns, std::numeric_limits<double>::infinity());
  threads = worthwhile(threads, X.rows * X.columns, kOneThread);
  std::fill_n(high, X.columns, -std::numeric_limits<double>::infinity());
  const std::size_t width = std::clamp<std::size_t>((X.columns + threads - 1) / threads, 1, kMostColumns);
  share_out((X.columns + width - 1) / width, threads, [&](std::size_t tile) {
    const std::size_t first = tile * width, count = std::min(width, X.columns - first);
    (X.by_row ? ends_by_row<Value> : ends_by_column<Value>)(X, first, count, low, high, doubt.data());
  });
  for (std::size_t j = 0; j < X.columns; ++j)
    if (!(doubt[j] == 0)) low[j] = high[j] = std::numeric_limits<double>::quiet_NaN();
  return ends;
}

}  // namespace isinglass

// Sums over the rows of a matrix of numbers, for all of its columns in one pass.
//
// Of each column less its centre: the products with some vectors, and those of its squares with others. A
// regression's slopes and curvatures are such sums. A part of the matrix is converted, centred and used for
// all vectors while it is in the cache, so that a pass costs little more than to read the matrix.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/dispatch.hpp"
#include "base/threads.hpp"
#include "base/vectors.hpp"

namespace isinglass {

template <class Value>
struct Matrix {
  const Value* data;
  std::size_t rows, columns;
  bool by_row;  // or column by column
};

// Vectors of one number per row, one after the other.
struct RowVectors {
  const double* data;
  std::size_t count, rows;

  const double* operator[](std::size_t at) const { return data + at * rows; }
};

// Rows are read in long pieces, which is how memory is fastest; but the sums of a piece stay in the cache.
inline constexpr std::size_t kMostColumns = 1024, kTileRows = 4, kStretch = 1024;

// Numbers of a matrix for which a thread is worthwhile: it reads them in about two milliseconds.
inline constexpr std::size_t kOneThread = 1 << 22;

// part = values - centre.
template <class Value>
ISINGLASS_INLINE inline void less_centre_loop(const Value* values, const double* centre, double* part,
                                              std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) part[j] = static_cast<double>(values[j]) - centre[j];
}
template <class Value>
inline constexpr Vectorised<less_centre_loop<Value>> less_centre;

template <class Value>
ISINGLASS_INLINE inline void less_number_loop(const Value* values, double centre, double* part,
                                              std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) part[i] = static_cast<double>(values[i]) - centre;
}
template <class Value>
inline constexpr Vectorised<less_number_loop<Value>> less_number;

ISINGLASS_INLINE inline void square_all_loop(double* part, std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) part[j] *= part[j];
}
inline constexpr Vectorised<square_all_loop> square_all;

// Whether the second vector of `once` is the one of `twice`: a slope and one curvature per row.
inline bool slope_and_curvature(const RowVectors& once, const RowVectors& twice) {
  return once.count == 2 && twice.count == 1 && std::equal(once[1], once[1] + once.rows, twice[0]);
}

// sums += the rows of a tile times their numbers.
ISINGLASS_INLINE inline void add_tile_loop(const double* tile, const double* numbers, double* sums,
                                           std::size_t count) {
  const double *a = tile, *b = a + count, *c = b + count, *d = c + count;
  const double u = numbers[0], v = numbers[1], w = numbers[2], x = numbers[3];
  for (std::size_t j = 0; j < count; ++j) sums[j] += (u * a[j] + v * b[j]) + (w * c[j] + x * d[j]);
}
inline constexpr Vectorised<add_tile_loop> add_tile;

// The case that matters most, without a tile between: sums of a and b times x, and of b times its square,
// over eight rows, so that the sums are fetched rarely.
inline constexpr std::size_t kThreeRows = 8;

template <class Value>
ISINGLASS_INLINE inline void add_three_loop(const Value* const* x, const double* centre, const double* a,
                                            const double* b, double* __restrict once_a,
                                            double* __restrict once_b, double* __restrict twice,
                                            std::size_t count) {
  const Value *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3], *x4 = x[4], *x5 = x[5], *x6 = x[6], *x7 = x[7];
  const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], a4 = a[4], a5 = a[5], a6 = a[6], a7 = a[7];
  const double b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3], b4 = b[4], b5 = b[5], b6 = b[6], b7 = b[7];
  for (std::size_t j = 0; j < count; ++j) {
    const double c = centre[j];
    double sum_a = 0, sum_b = 0, squares = 0;
    const auto add = [&](Value value, double own_a, double own_b) ISINGLASS_INLINE {
      const double d = static_cast<double>(value) - c, e = own_b * d;
      sum_a += own_a * d;
      sum_b += e;
      squares += e * d;
    };
    add(x0[j], a0, b0);
    add(x1[j], a1, b1);
    add(x2[j], a2, b2);
    add(x3[j], a3, b3);
    add(x4[j], a4, b4);
    add(x5[j], a5, b5);
    add(x6[j], a6, b6);
    add(x7[j], a7, b7);
    once_a[j] += sum_a;
    once_b[j] += sum_b;
    twice[j] += squares;
  }
}
template <class Value>
inline constexpr Vectorised<add_three_loop<Value>> add_three;

// Columns first, ..., first + count - 1 of a matrix that is stored row by row.
template <class Value>
void moments_by_row(const Matrix<Value>& X, const double* centre, RowVectors once, RowVectors twice,
                    std::size_t first, std::size_t count, double* sums) {
  std::vector<double> tile(kTileRows * count);
  std::size_t row = 0;
  if (slope_and_curvature(once, twice))
    for (; row + kThreeRows <= X.rows; row += kThreeRows) {
      const Value* x[kThreeRows];
      for (std::size_t i = 0; i < kThreeRows; ++i) x[i] = X.data + (row + i) * X.columns + first;
      add_three<Value>(x, centre + first, once[0] + row, once[1] + row, sums + first,
                       sums + X.columns + first, sums + 2 * X.columns + first, count);
    }
  for (; row < X.rows; row += kTileRows) {
    const std::size_t height = std::min(kTileRows, X.rows - row);
    for (std::size_t i = 0; i < kTileRows; ++i) {
      double* part = tile.data() + i * count;
      if (i < height)
        less_centre<Value>(X.data + (row + i) * X.columns + first, centre + first, part, count);
      else
        std::fill_n(part, count, 0.0);
    }
    const auto add = [&](const RowVectors& vectors, double* out) {
      for (std::size_t at = 0; at < vectors.count; ++at) {
        double numbers[kTileRows] = {};
        std::copy_n(vectors[at] + row, height, numbers);
        add_tile(tile.data(), numbers, out + at * X.columns + first, count);
      }
    };
    add(once, sums);
    if (twice.count == 0) continue;
    square_all(tile.data(), tile.size());
    add(twice, sums + once.count * X.columns);
  }
}

// Sums of x times a, x times b and x^2 times b over some rows of one column, for `add_three`'s case.
template <class Value>
ISINGLASS_INLINE inline void three_sums_loop(const Value* x, double centre, const double* a, const double* b,
                                             std::size_t count, double* sums) {
  double lanes[3][kSumLanes] = {};
  std::size_t i = 0;
  const auto add = [&](std::size_t row, std::size_t lane) ISINGLASS_INLINE {
    const double d = static_cast<double>(x[row]) - centre, e = b[row] * d;
    lanes[0][lane] += a[row] * d;
    lanes[1][lane] += e;
    lanes[2][lane] += e * d;
  };
  for (; i + kSumLanes <= count; i += kSumLanes)
    for (std::size_t lane = 0; lane < kSumLanes; ++lane) add(i + lane, lane);
  for (std::size_t lane = 0; i < count; ++i, ++lane) add(i, lane);
  for (std::size_t at = 0; at < 3; ++at) sums[at] = total_of_lanes(lanes[at]);
}
template <class Value>
inline constexpr Vectorised<three_sums_loop<Value>> three_sums;

// The same for a matrix that is stored column by column.
template <class Value>
void moments_by_column(const Matrix<Value>& X, const double* centre, RowVectors once, RowVectors twice,
                       std::size_t first, std::size_t count, double* sums) {
  std::vector<double> part(kStretch);
  const bool three = slope_and_curvature(once, twice);
  for (std::size_t j = first; j < first + count; ++j) {
    if (three) {
      double of_column[3];
      three_sums<Value>(X.data + j * X.rows, centre[j], once[0], once[1], X.rows, of_column);
      for (std::size_t at = 0; at < 3; ++at) sums[at * X.columns + j] = of_column[at];
      continue;
    }
    for (std::size_t row = 0; row < X.rows; row += kStretch) {
      const std::size_t length = std::min(kStretch, X.rows - row);
      less_number<Value>(X.data + j * X.rows + row, centre[j], part.data(), length);
      for (std::size_t at = 0; at < once.count; ++at)
        sums[at * X.columns + j] += dot(once[at] + row, part.data(), length);
      if (twice.count == 0) continue;
      square_all(part.data(), length);
      for (std::size_t at = 0; at < twice.count; ++at)
        sums[(once.count + at) * X.columns + j] += dot(twice[at] + row, part.data(), length);
    }
  }
}

// All sums, vector by vector: those of `once`, then those of `twice` with the squares.
template <class Value>
std::vector<double> column_moments(const Matrix<Value>& X, const double* centre, RowVectors once,
                                   RowVectors twice, unsigned threads) {
  std::vector<double> sums((once.count + twice.count) * X.columns);
  threads = worthwhile(threads, X.rows * X.columns, kOneThread);
  // A column's sums do not depend on who its neighbours in a tile are.
  const std::size_t width = std::clamp<std::size_t>((X.columns + threads - 1) / threads, 1, kMostColumns);
  share_out((X.columns + width - 1) / width, threads, [&](std::size_t tile) {
    const std::size_t first = tile * width, count = std::min(width, X.columns - first);
    (X.by_row ? moments_by_row<Value> : moments_by_column<Value>)(X, centre, once, twice, first, count,
                                                                  sums.data());
  });
  return sums;
}

}  // namespace isinglass

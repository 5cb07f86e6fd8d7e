// Small dense symmetric systems, lower triangles stored row by row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "base/vectors.hpp"

namespace isinglass {

// LAPACK's routines for positive matrices, lent by whoever has them; large systems are theirs. Lower
// triangles by rows are upper triangles by columns, which is how LAPACK sees them.
struct Lapack {
  using Routine = void (*)(char* half, int* size, double* a, int* leading, int* info);
  Routine factorise = nullptr, invert = nullptr;

  static constexpr std::size_t kLarge = 150;

  bool takes(std::size_t size) const { return factorise && size >= kLarge; }

  static bool run(Routine routine, double* a, std::size_t size) {
    char half = 'U';
    int n = static_cast<int>(size), info = 0;
    routine(&half, &n, a, &n, &info);
    return info == 0;
  }
};

inline Lapack& lapack() {
  static Lapack lent;
  return lent;
}

// Takes the product of one row with each of some others, so many numbers apart, from as many entries.
ISINGLASS_INLINE inline void take_products_loop(const double* row, const double* others, std::size_t apart,
                                                std::size_t length, std::size_t count, double* entries) {
  for (std::size_t j = 0; j < count; ++j, others += apart) {
    double sum[8] = {};
    std::size_t k = 0;
    for (; k + 8 <= length; k += 8)
      for (std::size_t l = 0; l < 8; ++l) sum[l] += row[k + l] * others[k + l];
    for (std::size_t l = 0; k < length; ++k, ++l) sum[l] += row[k] * others[k];
    entries[j] -= ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
}
inline constexpr Vectorised<take_products_loop> take_products;

// Cholesky factor of the lower triangle of `a` (+ extra on the diagonal), in place. False if not positive.
inline bool factorise(std::span<double> a, std::size_t size, double extra) {
  constexpr std::size_t kBlock = 48;
  if (extra > 0)
    for (std::size_t i = 0; i < size; ++i) a[i * size + i] += extra;
  if (lapack().takes(size)) return Lapack::run(lapack().factorise, a.data(), size);
  for (std::size_t start = 0; start < size; start += kBlock) {
    const std::size_t stop = std::min(start + kBlock, size);
    for (std::size_t j = start; j < stop; ++j) {
      double* row = &a[j * size];
      for (std::size_t k = start; k < j; ++k) row[j] -= row[k] * row[k];
      if (!(row[j] > 0) || !std::isfinite(row[j])) return false;
      row[j] = std::sqrt(row[j]);
      for (std::size_t i = j + 1; i < size; ++i) {
        double* other = &a[i * size];
        double sum = other[j];
        for (std::size_t k = start; k < j; ++k) sum -= other[k] * row[k];
        other[j] = sum / row[j];
      }
    }
    // The rest of the matrix, less the outer product of the panel: where the time goes.
    for (std::size_t i = stop; i < size; ++i)
      take_products(&a[i * size + start], &a[stop * size + start], size, stop - start, i + 1 - stop,
                    &a[i * size + stop]);
  }
  return true;
}

ISINGLASS_INLINE inline void substitute_loop(const double* factor, std::size_t size, double* x, bool both) {
  for (std::size_t i = 0; i < size; ++i) {
    double sum = 0;
    if (i < kSumLanes)
      for (std::size_t k = 0; k < i; ++k) sum += factor[i * size + k] * x[k];
    else
      sum = dot_loop(factor + i * size, x, i);
    x[i] = (x[i] - sum) / factor[i * size + i];
  }
  for (std::size_t i = size; both && i-- > 0;) {
    x[i] /= factor[i * size + i];
    add_multiple_loop(x, -x[i], factor + i * size, i);
  }
}
inline constexpr Vectorised<substitute_loop> substitute_in;

// Solves L x = b, and with `both` L L' x = b, in place.
inline void substitute(std::span<const double> factor, std::span<double> x, bool both = true) {
  substitute_in(factor.data(), x.size(), x.data(), both);
}

// Solves L L' x = b for kCount right sides at once, in place: x has `apart` numbers for each row of the
// factor, and theirs stand side by side.
template <std::size_t kCount>
ISINGLASS_INLINE inline void substitute_some(const double* factor, std::size_t size, double* x,
                                             std::size_t apart) {
  constexpr std::size_t kFours = kCount / 4;
  Four sum[kFours], other;
  for (std::size_t i = 0; i < size; ++i) {
    const double *row = factor + i * size, scale = 1 / row[i];
    for (std::size_t k = 0; k < kFours; ++k) get(x + i * apart + 4 * k, sum[k]);
    for (std::size_t j = 0; j < i; ++j)
      for (std::size_t k = 0; k < kFours; ++k) {
        get(x + j * apart + 4 * k, other);
        sum[k] += -row[j] * other;
      }
    for (std::size_t k = 0; k < kFours; ++k) put(scale * sum[k], x + i * apart + 4 * k);
  }
  for (std::size_t i = size; i-- > 0;) {
    const double *row = factor + i * size, scale = 1 / row[i];
    for (std::size_t k = 0; k < kFours; ++k) {
      get(x + i * apart + 4 * k, sum[k]);
      sum[k] = scale * sum[k];
      put(sum[k], x + i * apart + 4 * k);
    }
    for (std::size_t j = 0; j < i; ++j)
      for (std::size_t k = 0; k < kFours; ++k) {
        get(x + j * apart + 4 * k, other);
        other += -row[j] * sum[k];
        put(other, x + j * apart + 4 * k);
      }
  }
}

ISINGLASS_INLINE inline void substitute_side_by_side_loop(const double* factor, std::size_t size, double* x,
                                                          std::size_t count) {
  std::size_t done = 0;
  for (; done + 12 <= count; done += 12) substitute_some<12>(factor, size, x + done, count);
  for (; done < count; done += 4) substitute_some<4>(factor, size, x + done, count);
}
// Solves L L' x = b for several right sides, whose number four divides: x has a row for each of the factor's.
inline constexpr Vectorised<substitute_side_by_side_loop> substitute_side_by_side;

// The inverse (lower triangle) of the matrix that was factorised, in place.
inline void invert(std::span<double> factor, std::size_t size) {
  if (lapack().takes(size)) {
    Lapack::run(lapack().invert, factor.data(), size);
    return;
  }
  std::vector<double> inverse(size * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    const std::span<double> column(&inverse[i * size], size);
    column[i] = 1;
    substitute(factor, column);
  }
  std::copy(inverse.begin(), inverse.end(), factor.begin());
}

// Solves a x = b for a positive matrix; false, and x unchanged, if it is not positive.
inline bool solve_in_place(std::span<const double> a, std::span<double> x, double extra) {
  std::vector<double> factor(a.begin(), a.end());
  if (!factorise(factor, x.size(), extra)) return false;
  std::vector<double> solution(x.begin(), x.end());
  substitute(factor, solution);
  for (const double value : solution)
    if (!std::isfinite(value)) return false;
  std::copy(solution.begin(), solution.end(), x.begin());
  return true;
}

// Whether all eigenvalues of a symmetric matrix are below a limit: limit I - a is then positive.
inline bool below(std::vector<double> a, double limit) {
  const auto size = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(a.size()))));
  for (double& number : a) number = -number;
  return factorise(a, size, limit);
}

}  // namespace isinglass

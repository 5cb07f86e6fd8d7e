// Cholesky factors of several matrices of one size, side by side: a lane each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/vectors.hpp"

namespace isinglass {

constexpr std::size_t kLanes = 8;

// Where the entries (i, j), j <= i, of the lower triangles begin.
constexpr std::size_t lane_entry(std::size_t i, std::size_t j) { return (i * (i + 1) / 2 + j) * kLanes; }

// Adds a number for each lane to the entries of all pairs of some indices.
ISINGLASS_INLINE inline void add_to_lanes_loop(const std::size_t* indices, std::size_t count,
                                               const double* numbers, double* a) {
  static_assert(kLanes == 8);
  Four first, second, sum;
  get(numbers, first);
  get(numbers + 4, second);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double* entry = a + lane_entry(std::max(indices[i], indices[j]), std::min(indices[i], indices[j]));
      get(entry, sum);
      sum += first;
      put(sum, entry);
      get(entry + 4, sum);
      sum += second;
      put(sum, entry + 4);
    }
}
inline constexpr Vectorised<add_to_lanes_loop> add_to_lanes;

// Factors in place. Where a pivot vanishes, that number is tied to zero.
ISINGLASS_INLINE inline void factorise_lanes_loop(double* a, std::size_t size) {
  constexpr double kVanishes = 1e-10, kTied = 1e150;
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double *row = a + lane_entry(i, 0), *other = a + lane_entry(j, 0);
      double sum[kLanes] = {};
      for (std::size_t k = 0; k < j * kLanes; k += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) sum[l] += row[k + l] * other[k + l];
      double* entry = a + lane_entry(i, j);
      for (std::size_t l = 0; l < kLanes; ++l) {
        const double left = entry[l] - sum[l];
        if (i > j)
          entry[l] = left / other[j * kLanes + l];
        else
          entry[l] = left > 0 && left > kVanishes * entry[l] ? std::sqrt(left) : kTied;
      }
    }
}
inline constexpr Vectorised<factorise_lanes_loop> factorise_lanes;

// x = (factor factor')^-1 x, size x lanes.
ISINGLASS_INLINE inline void substitute_lanes_loop(const double* factor, std::size_t size, double* x) {
  for (std::size_t i = 0; i < size; ++i) {
    const double* row = factor + lane_entry(i, 0);
    double sum[kLanes] = {};
    for (std::size_t k = 0; k < i * kLanes; k += kLanes)
      for (std::size_t l = 0; l < kLanes; ++l) sum[l] += row[k + l] * x[k + l];
    for (std::size_t l = 0; l < kLanes; ++l)
      x[i * kLanes + l] = (x[i * kLanes + l] - sum[l]) / row[i * kLanes + l];
  }
  for (std::size_t i = size; i-- > 0;) {
    const double* row = factor + lane_entry(i, 0);
    double value[kLanes];
    for (std::size_t l = 0; l < kLanes; ++l) value[l] = x[i * kLanes + l] /= row[i * kLanes + l];
    for (std::size_t k = 0; k < i * kLanes; k += kLanes)
      for (std::size_t l = 0; l < kLanes; ++l) x[k + l] -= row[k + l] * value[l];
  }
}
inline constexpr Vectorised<substitute_lanes_loop> substitute_lanes;

}  // namespace isinglass

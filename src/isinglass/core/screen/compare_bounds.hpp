// Bounds of all columns of a table of two states side by side, by products alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/dispatch.hpp"

namespace isinglass {

// What bounds are made of in a table of two states throughout; arrays have a number for each column. Numbers
// are floats where their rounding, which the last terms of slopes and curvatures include, matters little.
template <class Real>
struct Sides {
  std::size_t columns;
  Real limit, slope, curvature, least_curvature;
  Real slope_length, slope_rounding, curvature_length, curvature_rounding;
  const Real *observed, *expected, *curvatures, *rows, *other_rows, *reaches, *inverse_variances;
};

// By how much the bound of each column exceeds the limit, times its denominators; positive also where
// there is no bound. And its promise.
template <class Real>
ISINGLASS_INLINE inline void compare_bounds_loop(const Sides<Real>& by, Real* __restrict excess,
                                                 Real* __restrict promise) {
  for (std::size_t j = 0; j < by.columns; ++j) {
    const Real slope = by.observed[j] - by.expected[j], other_slope = by.slope - slope,
               loose = by.reaches[j] * by.slope_length + by.slope_rounding,
               flat = by.reaches[j] * by.curvature_length + by.curvature_rounding;
    const Real g = std::abs(slope) + loose, other_g = std::abs(other_slope) + loose;
    const Real h = std::max(by.curvatures[j] - flat, by.least_curvature * by.rows[j]),
               other_h =
                   std::max(by.curvature - by.curvatures[j] - flat, by.least_curvature * by.other_rows[j]);
    const Real below = 2 * h - g, other_below = 2 * other_h - other_g;
    const Real sum = g * g * other_below + other_g * other_g * below - by.limit * below * other_below;
    excess[j] = ((g < h) & (other_g < other_h)) ? sum : Real{1};  // one `&`: without a jump
    promise[j] = slope * slope * by.inverse_variances[j];
  }
}
template <class Real>
inline constexpr Vectorised<compare_bounds_loop<Real>> compare_bounds;

// Which numbers are not at most zero, in increasing order; returns how many. Most often few are, so that
// sixteen at a time are looked at.
template <class Real>
ISINGLASS_INLINE inline std::size_t find_positive_loop(const Real* numbers, std::size_t n,
                                                       std::size_t* places) {
  constexpr std::size_t kGroup = 16;
  std::size_t found = 0;
  for (std::size_t i = 0; i < n; i += kGroup) {
    const std::size_t size = std::min(kGroup, n - i);
    int any = 0;
    if (size == kGroup)
      for (std::size_t l = 0; l < kGroup; ++l) any += !(numbers[i + l] <= 0);
    if (size == kGroup && any == 0) continue;
    for (std::size_t l = 0; l < size; ++l) {
      places[found] = i + l;
      found += !(numbers[i + l] <= 0);
    }
  }
  return found;
}
template <class Real>
inline constexpr Vectorised<find_positive_loop<Real>> find_positive;

// How many numbers are not at most zero, and the largest of other ones, not below zero, that go with these.
template <class Real>
ISINGLASS_INLINE inline std::size_t survey_positive_loop(const Real* numbers, const Real* others,
                                                         std::size_t n, Real* largest) {
  constexpr std::size_t kGroup = 16;
  Real tops[kGroup] = {};
  int found[kGroup] = {};
  std::size_t i = 0;
  for (; i + kGroup <= n; i += kGroup)
    for (std::size_t l = 0; l < kGroup; ++l) {
      const bool positive = !(numbers[i + l] <= 0);
      const Real own = positive ? others[i + l] : Real{0};
      found[l] += positive;
      tops[l] = own > tops[l] ? own : tops[l];
    }
  for (; i < n; ++i) {
    const bool positive = !(numbers[i] <= 0);
    const Real own = positive ? others[i] : Real{0};
    found[0] += positive;
    tops[0] = own > tops[0] ? own : tops[0];
  }
  std::size_t sum = 0;
  *largest = 0;
  for (std::size_t l = 0; l < kGroup; ++l) {
    sum += static_cast<std::size_t>(found[l]);
    *largest = std::max(*largest, tops[l]);
  }
  return sum;
}
template <class Real>
inline constexpr Vectorised<survey_positive_loop<Real>> survey_positive;

}  // namespace isinglass

// Bounds of all columns of a table of two states side by side, by products alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/dispatch.hpp"

namespace isinglass {

// What bounds are made of in a table of two states throughout; arrays have a number for each column.
struct Sides {
  std::size_t columns;
  double limit, slope, curvature, least_curvature;
  double slope_length, slope_rounding, curvature_length, curvature_rounding;
  const double *observed, *expected, *curvatures, *rows, *other_rows, *reaches, *inverse_variances;
};

// By how much the bound of each column exceeds the limit, times its denominators; positive also where
// there is no bound. And its promise.
ISINGLASS_INLINE inline void compare_bounds_loop(const Sides& by, double* __restrict excess,
                                                 double* __restrict promise) {
  for (std::size_t j = 0; j < by.columns; ++j) {
    const double slope = by.observed[j] - by.expected[j], other_slope = by.slope - slope,
                 loose = by.reaches[j] * by.slope_length + by.slope_rounding,
                 flat = by.reaches[j] * by.curvature_length + by.curvature_rounding;
    const double g = std::abs(slope) + loose, other_g = std::abs(other_slope) + loose;
    const double h = std::max(by.curvatures[j] - flat, by.least_curvature * by.rows[j]),
                 other_h =
                     std::max(by.curvature - by.curvatures[j] - flat, by.least_curvature * by.other_rows[j]);
    const double below = 2 * h - g, other_below = 2 * other_h - other_g;
    const double sum = g * g * other_below + other_g * other_g * below - by.limit * below * other_below;
    excess[j] = ((g < h) & (other_g < other_h)) ? sum : 1.0;  // one `&`: without a jump
    promise[j] = slope * slope * by.inverse_variances[j];
  }
}
inline constexpr Vectorised<compare_bounds_loop> compare_bounds;

}  // namespace isinglass

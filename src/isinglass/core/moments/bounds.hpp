// How far a loss can fall, at most, over one coefficient and the intercept: from slope and curvature at one
// point. Both bounds are proved in docs/regression.md; solvers/linear/bounds.py has them for blocks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/vectors.hpp"

namespace isinglass {

// Slopes and curvatures are rounded; bounds are widened by more than that.
inline constexpr double kWider = 1 + 1e-7, kMore = 1e-12;
inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// B(u)/kappa^2 with u = lambda kappa, B(u) = u + (1 - u) log(1 - u); none from u = 1 on. The decrement is
// lambda^2, the spread kappa^2.
ISINGLASS_INLINE inline double self_concordant_fall(double decrement, double spread) {
  const double u = std::sqrt(decrement * spread) * kWider;
  const double left = u < 1 ? 1 - u : 1;
  const double whole = u < 1e-4 ? u * u * (0.5 + u * (1.0 / 6 + u / 12)) : u + left * log_of(left);
  return u < 1 ? whole / spread * kWider + kMore : kUnbounded;
}

// Slope and curvature of the intercept; without one its curvature is infinite.
struct Level {
  double slope, curvature;
};

// A coefficient whose column has the weighted mean 0, so that the intercept is apart.
struct Apart {
  double slope, form, reach;
};

// A column about its weighted mean; `low` and `high` are its extremes, in the units of the other numbers.
ISINGLASS_INLINE inline Apart apart(double slope, double cross, double form, double low, double high,
                                    double scale, const Level& level) {
  const double mean = cross / level.curvature;
  const double reach = std::max(std::abs(low - mean), std::abs(high - mean));
  // In units of the columns, so that none of their sizes matters.
  return {(slope - mean * level.slope) / scale, (form - mean * cross) / (scale * scale), reach / scale};
}

// Logistic and Poisson losses.
struct SelfConcordant {
  ISINGLASS_INLINE double operator()(const Apart& column, const Level& level) const {
    return self_concordant_fall(
        column.slope * column.slope / column.form + level.slope * level.slope / level.curvature,
        1 / level.curvature + column.reach * column.reach / column.form);
  }
};

// Huber's loss, from rows that stay inside the bend if they move by at most the margin.
struct InsideBend {
  double margin;

  ISINGLASS_INLINE double operator()(const Apart& column, const Level& level) const {
    const double moved = std::abs(column.slope / column.form) * column.reach +
                         std::abs(level.slope / level.curvature),
                 decrement =
                     column.slope * column.slope / column.form + level.slope * level.slope / level.curvature;
    return moved * kWider <= margin ? decrement / 2 * kWider + kMore : kUnbounded;
  }
};

// All columns of a regression: sums over the rows of their values times slopes, and once and twice times
// curvatures, of columns less their centres; extremes, centres and scales.
struct ColumnSums {
  const double *slope, *first, *second, *low, *high, *centre, *scale;
  std::size_t count;
};

// What every column can gain at most, then a guess at it.
template <class Bound>
void prospects_loop(const ColumnSums& X, const Level& level, double weight, bool flat_gain_nothing,
                    const Bound& bound, double* most, double* guess) {
  for (std::size_t j = 0; j < X.count; ++j) {
    const double low = X.low[j] - X.centre[j], high = X.high[j] - X.centre[j];
    const Apart own = apart(X.slope[j], X.first[j], X.second[j], low, high, X.scale[j], level);
    // Rounding may be all that is left of a small curvature.
    const bool known = own.form > 1e-9 * own.reach * own.reach * weight;
    const bool flat = flat_gain_nothing && X.high[j] <= X.low[j];
    most[j] = flat ? 0.0 : known ? bound(own, level) : kUnbounded;
    guess[j] = own.form > 0 ? own.slope * own.slope / own.form / 2 : 0.0;
  }
}

}  // namespace isinglass

// A sharper bound for sparse columns of a logistic or Poisson regression, from the rows where they are not 0.
//
// A column with few entries moves few rows, but those far: the bound from slope and curvature at the fit is
// loose there, or there is none. So its coefficient is first searched alone, which takes its stored entries
// only, and the bound is taken where that ends; the intercept has little left to gain. Where the column
// separates classes its coefficient has no end; but its rows cannot lose less than nothing, and the other
// rows are the intercept's alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "moments/bounds.hpp"
#include "moments/pairs.hpp"

namespace isinglass {

// What a column gains at least, and at most.
struct Between {
  double least, most;
};

class CloserLook {
 public:
  // `level` has the slope and the curvature of the intercept at the held predictor, if there is one.
  CloserLook(RowLoss loss, const Held& held, bool intercept, const Level& level)
      : loss_(loss), held_(held), intercept_(intercept), level_(level) {}

  // A column of `count` entries, its extremes and its scale.
  Between at(const double* values, const std::int64_t* rows, std::size_t count, double low, double high,
             double scale) {
    gather(values, rows, count);
    const double reach = std::max(std::abs(low), std::abs(high));
    const PairTerms start = terms(0);
    const PairTerms best = alone(start, reach);
    const double fall = start.value - best.value;
    double left, most = start.value - floor();
    if (intercept_) {
      const Level own{level_.slope + (best.level - start.level),
                      level_.curvature + (best.level_form - start.level_form)};
      left = bound_(apart(best.slope, best.cross, best.form, low, high, scale, own), own);
      const Apart others{level_.slope - start.level, level_.curvature - start.level_form, 1.0};
      most += bound_(others, kNoLevel);
    } else {
      left = bound_(apart(best.slope, 0, best.form, low, high, scale, kNoLevel), kNoLevel);
    }
    most = most * (1 + 1e-9) + 1e-12;
    if (!std::isfinite(most)) most = kUnbounded;
    return {fall, std::isfinite(left) ? std::min(fall + left, most) : most};
  }

 private:
  static constexpr int kMostSteps = 6;
  // No step moves a row's predictor by more; shorter ones are not worth another look.
  static constexpr double kLongest = 4.0, kShortest = 1e-4;
  static constexpr Level kNoLevel{0.0, kUnbounded};

  void gather(const double* values, const std::int64_t* rows, std::size_t count) {
    count_ = count;
    numbers_.resize(std::max(numbers_.size(), 4 * count_));
    double *x = numbers_.data(), *eta = x + count_, *y = eta + count_, *share = y + count_;
    for (std::size_t i = 0; i < count_; ++i) {
      const auto row = static_cast<std::size_t>(rows[i]);
      x[i] = values[i];
      eta[i] = held_.eta[row];
      y[i] = held_.y[row];
      share[i] = held_.share[row];
    }
  }

  PairTerms terms(double coefficient) const {
    const double* const x = numbers_.data();
    PairTerms found;
    pair_terms(loss_, {x + count_, x + 2 * count_, x + 3 * count_, count_}, x, 0.0, coefficient, &found);
    return found;
  }

  // Where a search over the coefficient alone has fallen most.
  PairTerms alone(const PairTerms& start, double reach) const {
    PairTerms here = start, best = start;
    double coefficient = 0;
    const double longest = kLongest / std::max(reach, 1e-300);
    for (int count = 0; count < kMostSteps; ++count) {
      const double whole = -here.slope / here.form;
      const double step = std::isfinite(whole) ? std::clamp(whole, -longest, longest) : 0.0;
      if (!(std::abs(step) * reach > kShortest)) break;
      here = terms(coefficient += step);
      if (!(here.value < best.value)) continue;
      best = here;
    }
    return best;
  }

  // What these rows lose at least, whatever their predictor.
  double floor() const {
    if (loss_ == RowLoss::kLogistic) return 0;
    const double *y = numbers_.data() + 2 * count_, *share = y + count_;
    double sum = 0;
    for (std::size_t i = 0; i < count_; ++i) sum += share[i] * (y[i] > 0 ? y[i] - y[i] * std::log(y[i]) : 0);
    return sum;
  }

  RowLoss loss_;
  Held held_;
  bool intercept_;
  Level level_;
  SelfConcordant bound_;
  std::vector<double> numbers_;
  std::size_t count_ = 0;
};

}  // namespace isinglass

// The one small search behind every gain and every removal cost.
//
// Given the probabilities P_s of the target's states in some cells, shift their logits by one vector v,
// the same in all cells, so that the observed totals become most likely:
//     maximise  totals . v - sum_s rows_s log(sum_a P_s[a] exp(v_a)).
// States that do not occur get v = -infinity, their limit. With a free field this is exactly what
// an edge can do within one state of a candidate, so a gain is a sum of such maxima.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "base/linear.hpp"
#include "bits/weighted_cells.hpp"
#include "gains/bounds.hpp"
#include "gains/shares.hpp"

namespace isinglass {

class Profile {
 public:
  // Whether the probabilities of a cell sum to one.
  enum class Cell { of_probabilities, of_any_numbers };

  // Best shift and the log-likelihood it gains (not divided by n); totals sum to the rows.
  double maximum(const WeightedCells& cells, std::span<const double> totals,
                 Cell kind = Cell::of_any_numbers) {
    find_seen(totals);
    shift_.assign(totals.size(), 0.0);
    if (seen_.empty()) return 0.0;
    if (seen_.size() == 1) return -rise(cells, 0);
    // Where all states are seen, no shift gains nothing.
    const bool nothing = kind == Cell::of_probabilities && seen_.size() == totals.size();
    return seen_.size() == 2 ? two_states(cells, totals) : many_states(cells, totals, nothing);
  }

  // The value at no shift, all states seen.
  double unshifted(const WeightedCells& cells, std::size_t width) {
    seen_.resize(width);
    std::iota(seen_.begin(), seen_.end(), std::size_t{0});
    return -rise(cells, 0);
  }

  // An upper bound that is nearly the maximum, for the price of a look or two: where Newton's first step
  // leads, the value and a bound on what is left. `slope` and `curvature` are those of no shift, known
  // already; where some states do not occur, they are found once these are left out. A shift lowers the
  // curvature by no more than e^range.
  double nearly_maximum(const WeightedCells& cells, std::span<const double> totals,
                        std::span<const double> slope, std::span<const double> curvature) {
    find_seen(totals);
    const std::size_t k = seen_.size(), q = k - 1;
    if (k < 3) return maximum(cells, totals);
    Point there(k);
    std::vector<double> left(slope.begin(), slope.end()), least(curvature.begin(), curvature.end());
    if (k < totals.size()) {
      look(cells, totals, there, Look::at_curvature);
      left.resize(q);
      for (std::size_t i = 0; i < q; ++i) left[i] = totals[seen_[i + 1]] - there.expected[i + 1];
      least = there.curvature;
    }
    if (!solve_in_place(least, left, 0.0)) return maximum(cells, totals);
    std::copy(left.begin(), left.end(), there.v.begin() + 1);
    look(cells, totals, there, Look::at_value);
    for (std::size_t i = 0; i < q; ++i) left[i] = totals[seen_[i + 1]] - there.expected[i + 1];
    const auto [low, high] = std::minmax_element(there.v.begin(), there.v.end());
    for (double& number : least) number *= std::exp(*low - *high);
    double guess = 0;
    const double bound = there.gain + gain_bound(left, least, guess);
    return bound < kNoBound ? bound : maximum(cells, totals);
  }

  // The shift found last, zero for states that do not occur.
  std::span<const double> shift() const { return shift_; }

 private:
  void find_seen(std::span<const double> totals) {
    seen_.clear();
    for (std::size_t a = 0; a < totals.size(); ++a)
      if (totals[a] > 0) seen_.push_back(a);
  }

  // The sum of the logarithms when the logit of the last seen state is raised by u.
  double rise(const WeightedCells& cells, double u) {
    factor_.assign(seen_.size(), 1.0);
    factor_.back() = std::exp(u);
    return sum_logs(cells, seen_, factor_.data());
  }

  // One number u, added to the logit of the second state. The slope is monotone: Newton, kept inside a
  // bracket.
  double two_states(const WeightedCells& cells, std::span<const double> totals) {
    const double *rows = cells.rows(), *first = cells.probabilities(seen_[0]),
                 *second = cells.probabilities(seen_[1]);
    const double total = totals[seen_[1]], both = totals[seen_[0]] + total;
    double low = -700, high = 700, u = 0;
    for (int step = 0; step < 200; ++step) {
      const double factor = std::exp(u);
      double expected = 0, curvature = 0;
      sum_moments(cells.size(), rows, first, second, factor, expected, curvature);
      const double slope = total - expected;
      (slope > 0 ? low : high) = u;
      double next = curvature > 0 ? u + slope / curvature : slope > 0 ? high : low;
      // What is left to gain is about slope^2 / curvature, and after this last step about its square.
      if (slope * slope <= 1e-10 * curvature * both) {
        if (next > low && next < high) u = next;
        break;
      }
      next = std::clamp(next, u - 50, u + 50);  // on a plateau the step means nothing
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      u = next;
    }
    shift_[seen_[1]] = u;
    return total * u - rise(cells, u);
  }

  // Where a search among three states and more stands: expected totals and their curvature (lower triangle)
  // in all shifts but the first, and the value, or NaN while nobody has asked for it.
  struct Point {
    std::vector<double> v, expected, curvature;
    double gain = std::numeric_limits<double>::quiet_NaN();

    explicit Point(std::size_t k) : v(k, 0.0), expected(k), curvature((k - 1) * (k - 1)) {}
  };

  // What else is wanted beside the slopes.
  enum class Look { at_slopes, at_value, at_curvature, at_both };

  // Newton's direction as far as it helps; else a step of iterative scaling, which never lowers the gain.
  double many_states(const WeightedCells& cells, std::span<const double> totals, bool starts_at_zero) {
    const std::size_t k = seen_.size(), q = k - 1;  // the shift of seen_[0] stays zero
    Point here(k), there(k);
    std::vector<double> slope(q), step(q);
    double rows = 0, promised = std::numeric_limits<double>::infinity();  // by the last step
    for (const std::size_t a : seen_) rows += totals[a];
    look(cells, totals, here, Look::at_curvature);
    if (starts_at_zero) here.gain = 0;
    for (int round = 0; round < 1000; ++round) {
      for (std::size_t i = 0; i < q; ++i) slope[i] = totals[seen_[i + 1]] - here.expected[i + 1];
      step = slope;
      const bool solved = solve_in_place(here.curvature, step, 0.0);
      double promise = 0, longest = 0;
      for (std::size_t i = 0; i < q; ++i) {
        promise += 0.5 * slope[i] * step[i];
        longest = std::max(longest, std::abs(step[i]));
      }
      // The quadratic model is then exact: what it misses is a share of the promise.
      if (solved && promise <= kLastPromise * rows && longest < 1e-3) {
        here.gain = value(cells, totals, here) + promise;
        for (std::size_t i = 0; i < q; ++i) here.v[i + 1] += step[i];
        break;
      }
      for (std::size_t i = 0; i < q; ++i) there.v[i + 1] = here.v[i + 1] + step[i];
      if (solved && longest < kShort && promise < 0.1 * promised) {
        // So short a step hardly changes the curvature: it helps, and the curvature serves on. What the next
        // one will promise is a share of this; the value is wanted where it is small.
        const double share = std::expm1(2 * longest);
        look(cells, totals, there,
             share * share * promise <= kLastPromise * rows ? Look::at_value : Look::at_slopes);
        std::swap(here.curvature, there.curvature);
        promised = promise;
      } else {
        climb(cells, totals, here, there, solved ? std::span<const double>(step) : std::span<const double>(),
              promise);
        promised = std::numeric_limits<double>::infinity();
      }
      std::swap(here, there);
      if (solved && promise <= 1e-15 * rows) break;
    }
    for (std::size_t i = 0; i < k; ++i) shift_[seen_[i]] = here.v[i];
    return value(cells, totals, here);
  }

  // A long step. Along Newton's direction, if there is one, the gain rises first: halve until a share of the
  // rise is seen.
  void climb(const WeightedCells& cells, std::span<const double> totals, Point& here, Point& there,
             std::span<const double> step, double promise) {
    const std::size_t k = here.v.size();
    const double gain = value(cells, totals, here);
    double longest = 0;
    for (const double number : step) longest = std::max(longest, std::abs(number));
    for (double t = std::min(1.0, 50 / longest); !step.empty() && t * longest > 1e-12; t /= 2) {
      for (std::size_t i = 0; i < step.size(); ++i) there.v[i + 1] = here.v[i + 1] + t * step[i];
      look(cells, totals, there, Look::at_both);
      if (there.gain >= gain + 0.1 * t * promise || promise <= 1e-13 * std::max(1.0, std::abs(gain))) return;
    }
    for (std::size_t i = 0; i < k; ++i)
      there.v[i] = here.v[i] + std::log(totals[seen_[i]] / here.expected[i]);
    for (std::size_t i = k; i-- > 0;) there.v[i] -= there.v[0];
    look(cells, totals, there, Look::at_curvature);
  }

  // Fills in what a point's shifts give: expected totals, and what is wanted.
  void look(const WeightedCells& cells, std::span<const double> totals, Point& point, Look wanted) {
    const std::size_t k = point.v.size();
    const bool curved = wanted == Look::at_curvature || wanted == Look::at_both;
    set_factors(point);
    expected_.assign(k * kSumLanes, 0.0);
    shares_.resize(k * kSumLanes);
    if (curved) products_.assign(k * (k - 1) / 2 * kSumLanes, 0.0);
    const ShareSums sums{expected_.data(), curved ? products_.data() : nullptr, shares_.data()};
    if (wanted == Look::at_slopes || wanted == Look::at_curvature) {
      sum_shares(cells, seen_.data(), k, factor_.data(), sums);
      point.gain = std::numeric_limits<double>::quiet_NaN();
    } else {
      point.gain = linear(totals, point) - sum_shares_and_logs(cells, seen_.data(), k, factor_.data(), sums);
    }
    for (std::size_t i = 0; i < k; ++i) point.expected[i] = total_of_lanes(&expected_[i * kSumLanes]);
    if (curved) fill_curvature(point);
  }

  double value(const WeightedCells& cells, std::span<const double> totals, Point& point) {
    if (!std::isnan(point.gain)) return point.gain;
    set_factors(point);
    return point.gain = linear(totals, point) - sum_logs(cells, seen_, factor_.data());
  }

  void set_factors(const Point& point) {
    factor_.resize(point.v.size());
    for (std::size_t i = 0; i < point.v.size(); ++i) factor_[i] = std::exp(point.v[i]);
  }

  double linear(std::span<const double> totals, const Point& point) const {
    double sum = 0;
    for (std::size_t i = 0; i < point.v.size(); ++i) sum += totals[seen_[i]] * point.v[i];
    return sum;
  }

  // Sums of positive numbers: nothing cancels.
  void fill_curvature(Point& point) const {
    const std::size_t k = point.v.size(), q = k - 1;
    std::vector<double> others(k, 0.0);
    for (std::size_t i = 1, pair = 0; i < k; ++i)
      for (std::size_t j = 0; j < i; ++j, ++pair) {
        const double common = total_of_lanes(&products_[pair * kSumLanes]);
        if (j > 0) point.curvature[(i - 1) * q + j - 1] = -common;
        others[i] += common;
        others[j] += common;
      }
    for (std::size_t i = 1; i < k; ++i) point.curvature[(i - 1) * q + i - 1] = others[i];
  }

  static constexpr double kShort = 0.05;         // steps that hardly change the curvature
  static constexpr double kLastPromise = 1e-11;  // a row; the value is then known without another look

  std::vector<std::size_t> seen_;
  std::vector<double> shift_;
  std::vector<double> factor_, shares_;
  std::vector<double> expected_, products_;  // in lanes
};

}  // namespace isinglass

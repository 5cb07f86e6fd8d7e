// How far the loss can fall when a small edge, and the field, are free: one search over all states of the
// candidate, whose shifts are tied together.
//
// The shift of the target's logits in a state c of the candidate is f + W_c x, with f the change of the field
// and x the parameters of the edge. So slopes and curvatures of single states, which whole tables need as
// well, add up to those of (f, x), and bounds follow as in gains/bounds.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "base/forms.hpp"
#include "base/linear.hpp"
#include "base/vectors.hpp"
#include "bits/weighted_cells.hpp"
#include "gains/bounds.hpp"
#include "gains/shares.hpp"

namespace isinglass {

// Slope and curvature (lower triangle) in the field's change, if it is free, and the edge's parameters.
class SmallSystem {
 public:
  void start(const SmallDesign& design, bool field) {
    design_ = &design;
    q_ = design.target - 1;
    field_ = field ? q_ : 0;
    size_ = field_ + design.size;
    slope_.assign(size_, 0.0);
    curvature_.assign(size_ * size_, 0.0);
  }

  std::size_t size() const { return size_; }
  std::span<const double> slope() const { return slope_; }
  std::span<const double> curvature() const { return curvature_; }
  // Newton's step, of the last bound; nothing, where there is none.
  std::span<const double> step() const { return step_; }

  // Adds a state's slopes and curvature (lower triangle), in the target's states but the first.
  void add(std::size_t state, const double* slope, const double* curvature) {
    const std::size_t df = design_->size;
    const double* by = weights(state);
    for (std::size_t a = 0; a < field_; ++a) {
      slope_[a] += slope[a];
      for (std::size_t b = 0; b <= a; ++b) curvature_[a * size_ + b] += curvature[a * q_ + b];
    }
    for (std::size_t k = 0; k < df; ++k) {
      double* row = &curvature_[(field_ + k) * size_];
      pulled_.assign(q_, 0.0);
      for (std::size_t a = 0; a < q_; ++a) {
        slope_[field_ + k] += by[a * df + k] * slope[a];
        for (std::size_t b = 0; b < q_; ++b)
          pulled_[b] += by[a * df + k] * curvature[a >= b ? a * q_ + b : b * q_ + a];
      }
      for (std::size_t b = 0; b < field_; ++b) row[b] += pulled_[b];
      for (std::size_t l = 0; l <= k; ++l)
        for (std::size_t b = 0; b < q_; ++b) row[field_ + l] += pulled_[b] * by[b * df + l];
    }
  }

  // The shifts of the target's states but the first, in a state of the candidate, at some parameters.
  void shifts(std::size_t state, std::span<const double> x, double* out) const {
    const std::size_t df = design_->size;
    const double* by = weights(state);
    for (std::size_t a = 0; a < q_; ++a) {
      out[a] = field_ ? x[a] : 0.0;
      for (std::size_t k = 0; k < df; ++k) out[a] += by[a * df + k] * x[field_ + k];
    }
  }

  // An upper bound on the gain, a guess at it, and a lower bound: kappa^2 is the largest variance of a
  // difference between two shifts, whichever the state of the candidate.
  double bound(double& guess, double& floor) {
    factor_ = curvature_;
    guess = floor = 0;
    step_.clear();
    if (!factorise(factor_, size_, 0.0)) return kNoBound;
    direction_ = slope_;
    substitute(factor_, direction_, false);
    double lambda2 = 0, kappa2 = 0, steepest = 0;
    for (const double number : direction_) lambda2 += number * number;
    for (std::size_t i = 0; i < size_; ++i) steepest = std::max(steepest, curvature_[i * size_ + i]);
    for (std::size_t c = 0; c < design_->neighbour; ++c)
      for (std::size_t a = 0; a < q_; ++a)
        for (std::size_t b = 0; b <= a; ++b) kappa2 = std::max(kappa2, variance(c, a, b));
    if (!(lambda2 >= 0) || !(kappa2 > 0) || !(steepest * kappa2 < 1e10)) return kNoBound;
    guess = 0.5 * lambda2;
    floor = along_newton(lambda2);
    return bound_curve(std::sqrt(lambda2 * kappa2) * (1 + 1e-9)) / kappa2 * (1 + 1e-9);
  }

 private:
  // What the best step along Newton's direction gains at least: t lambda^2 - (e^st - st - 1)/s^2 lambda^2,
  // with s the range of the shifts, is largest where e^st = 1 + s.
  double along_newton(double lambda2) {
    direction_ = slope_;
    substitute(factor_, direction_);
    double s = 0;
    shift_.resize(q_);
    for (std::size_t c = 0; c < design_->neighbour; ++c) {
      shifts(c, direction_, shift_.data());
      const auto [low, high] = std::ranges::minmax(shift_);
      s = std::max(s, std::max(high, 0.0) - std::min(low, 0.0));
    }
    if (!std::isfinite(s)) return 0;
    step_ = direction_;
    for (double& number : step_) number /= std::max(1.0, 0.5 * s);  // far out the step is too long
    const double share = s > 1e-3 ? ((1 + s) * std::log1p(s) - s) / (s * s) : 0.5 - s / 6;
    return share * lambda2 * (1 - 1e-9);
  }

  const double* weights(std::size_t state) const { return &design_->shifts[state * q_ * design_->size]; }

  // Of the difference between the shifts of two of the target's states; b = a stands for the first state,
  // whose shift is zero.
  double variance(std::size_t state, std::size_t a, std::size_t b) {
    const std::size_t df = design_->size;
    const double* by = weights(state);
    direction_.assign(size_, 0.0);
    if (field_) direction_[a] = 1;
    if (field_ && b != a) direction_[b] = -1;
    for (std::size_t k = 0; k < df; ++k)
      direction_[field_ + k] = by[a * df + k] - (b != a ? by[b * df + k] : 0.0);
    substitute(factor_, direction_, false);
    double sum = 0;
    for (const double number : direction_) sum += number * number;
    return sum;
  }

  const SmallDesign* design_ = nullptr;
  std::size_t q_ = 0, field_ = 0, size_ = 0;
  std::vector<double> slope_, curvature_, factor_, direction_, pulled_, shift_, step_;
};

class SmallGain {
 public:
  // The log-likelihood that is gained, not divided by n; `counts` has the rows of each state of the candidate
  // and each of the target's. Probabilities of a cell may have any sum: the gain is then against these.
  double maximum(const std::vector<WeightedCells>& by_state, std::span<const double> counts,
                 const SmallDesign& design, bool field) {
    here_.system.start(design, field);
    here_.x.assign(here_.system.size(), 0.0);
    look(by_state, counts, design, field, here_);
    return maximum_from_here(by_state, counts, design, field);
  }

  // The same, from where `between` looked last.
  double maximum_from_here(const std::vector<WeightedCells>& by_state, std::span<const double> counts,
                           const SmallDesign& design, bool field) {
    double rows = 0, damping = 0;
    for (const double count : counts) rows += count;
    for (int round = 0; round < 1000 && damping < kMostDamping; ++round) {
      if (!solve(damping)) {
        damping = std::max(10 * damping, kLeastDamping);
        continue;
      }
      double promise = 0, longest = 0;
      for (std::size_t i = 0; i < step_.size(); ++i) {
        promise += 0.5 * here_.system.slope()[i] * step_[i];
        longest = std::max(longest, std::abs(step_[i]));
      }
      if (!(promise > 1e-15 * rows)) {
        here_.value += std::max(promise, 0.0);
        break;
      }
      const bool climbed = climb(by_state, counts, design, field, promise, longest);
      damping =
          climbed ? (damping > kLeastDamping ? damping / 10 : 0) : std::max(10 * damping, kLeastDamping);
    }
    fill_shifts(design);
    return here_.value;
  }

  // Bounds on the same from one look, at the step `x` from zero: what is gained there, and at most beyond.
  struct Between {
    double least = 0, most = kNoBound;
  };
  Between between(const std::vector<WeightedCells>& by_state, std::span<const double> counts,
                  const SmallDesign& design, bool field, std::span<const double> x) {
    here_.x.assign(x.begin(), x.end());
    look(by_state, counts, design, field, here_);
    double guess = 0, floor = 0;
    const double beyond = here_.system.bound(guess, floor);
    if (!std::isfinite(here_.value)) return {};
    return {std::max(here_.value + floor, 0.0), here_.value + beyond + 1e-12 * std::abs(here_.value)};
  }

  // Of the target's states but the first, state by state of the candidate, at the maximum found last.
  const std::vector<double>& shifts() const { return shifts_; }

 private:
  struct Point {
    std::vector<double> x;
    double value = 0;
    SmallSystem system;
  };

  static constexpr double kLeastDamping = 1e-13, kMostDamping = 1e4;

  // Newton's step, each parameter in units of its own curvature: where states are nearly separated, these
  // differ by many orders of magnitude.
  bool solve(double damping) {
    const std::span<const double> slope = here_.system.slope(), curvature = here_.system.curvature();
    const std::size_t size = slope.size();
    units_.resize(size);
    scaled_.assign(curvature.begin(), curvature.end());
    step_.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      units_[i] = curvature[i * size + i] > 0 ? 1 / std::sqrt(curvature[i * size + i]) : 0.0;
      step_[i] = slope[i] * units_[i];
      for (std::size_t j = 0; j <= i; ++j) scaled_[i * size + j] *= units_[i] * units_[j];
      if (units_[i] == 0) scaled_[i * size + i] = 1;
    }
    if (!solve_in_place(scaled_, step_, damping)) return false;
    for (std::size_t i = 0; i < size; ++i) step_[i] *= units_[i];
    return true;
  }

  // A step along Newton's direction, halved until a share of what it promises is seen; below rounding it is
  // taken unseen. False if nothing helps.
  bool climb(const std::vector<WeightedCells>& by_state, std::span<const double> counts,
             const SmallDesign& design, bool field, double promise, double longest) {
    const bool unseen = promise <= 1e-13 * std::max(std::abs(here_.value), 1.0);
    for (double t = std::min(1.0, 50 / longest); t > 1e-9; t /= 2) {
      there_.x = here_.x;
      for (std::size_t i = 0; i < step_.size(); ++i) there_.x[i] += t * step_[i];
      look(by_state, counts, design, field, there_);
      if (unseen || there_.value >= here_.value + 0.1 * t * promise) {
        std::swap(here_, there_);
        return true;
      }
    }
    return false;
  }

  void look(const std::vector<WeightedCells>& by_state, std::span<const double> counts,
            const SmallDesign& design, bool field, Point& point) {
    const std::size_t width = design.target, q = width - 1;
    seen_.resize(width);
    for (std::size_t a = 0; a < width; ++a) seen_[a] = a;
    factor_.assign(width, 1.0);
    shares_.resize(width * kSumLanes);
    shift_.resize(q);
    slope_.resize(q);
    curvature_.resize(q * q);
    point.system.start(design, field);
    point.value = 0;
    for (std::size_t c = 0; c < by_state.size(); ++c) {
      if (by_state[c].size() == 0) continue;
      const double* totals = &counts[c * width];
      point.system.shifts(c, point.x, shift_.data());
      // Less the largest, so that no odds are too large for numbers.
      double most = 0, rows = totals[0];
      for (const double shift : shift_) most = std::max(most, shift);
      factor_[0] = std::exp(-most);
      for (std::size_t a = 0; a < q; ++a) {
        factor_[a + 1] = std::exp(shift_[a] - most);
        point.value += totals[a + 1] * shift_[a];
        rows += totals[a + 1];
      }
      point.value -= rows * most;
      expected_.assign(width * kSumLanes, 0.0);
      products_.assign(width * q / 2 * kSumLanes, 0.0);
      point.value -= sum_shares_and_logs(by_state[c], seen_.data(), width, factor_.data(),
                                         {expected_.data(), products_.data(), shares_.data()});
      add_state(c, totals, point.system);
    }
  }

  void add_state(std::size_t state, const double* totals, SmallSystem& system) {
    const std::size_t q = slope_.size();
    std::fill(curvature_.begin(), curvature_.end(), 0.0);
    for (std::size_t i = 1, pair = 0; i <= q; ++i) {
      slope_[i - 1] = totals[i] - total_of_lanes(&expected_[i * kSumLanes]);
      for (std::size_t j = 0; j < i; ++j, ++pair) {
        const double common = total_of_lanes(&products_[pair * kSumLanes]);
        curvature_[(i - 1) * q + i - 1] += common;
        if (j == 0) continue;
        curvature_[(i - 1) * q + j - 1] = -common;
        curvature_[(j - 1) * q + j - 1] += common;
      }
    }
    system.add(state, slope_.data(), curvature_.data());
  }

  void fill_shifts(const SmallDesign& design) {
    const std::size_t q = design.target - 1;
    shifts_.resize(design.neighbour * q);
    for (std::size_t c = 0; c < design.neighbour; ++c) here_.system.shifts(c, here_.x, &shifts_[c * q]);
  }

  Point here_, there_;
  std::vector<std::size_t> seen_;
  std::vector<double> factor_, shares_, expected_, products_;  // in lanes but the first
  std::vector<double> shift_, slope_, curvature_, step_, shifts_, units_, scaled_;
};

}  // namespace isinglass

// The one small search behind every gain and every removal cost.
//
// Given the chances P_s of the target's states in some cells, shift their logits by one vector v,
// the same in all cells, so that the observed totals become most likely:
//     maximise  totals . v - sum_s rows_s log(sum_a P_s[a] exp(v_a)).
// States that do not occur get v = -infinity, their limit. With a free field this is exactly what
// an edge can do within one state of a candidate, so a gain is a sum of such maxima.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "bounds.hpp"
#include "linear.hpp"
#include "logsum.hpp"
#include "vectors.hpp"

namespace isinglass {

// A cell that takes part: how many rows, and the chances of the target's states there.
struct Weighted {
  double rows;
  const double* chance;
};

// Cells of a target of two states, side by side for speed.
struct WeightedPairs {
  std::vector<double> rows, first, second;  // how many, and the chances of the two states

  void clear() { rows.clear(), first.clear(), second.clear(); }
  void resize(std::size_t size) { rows.resize(size), first.resize(size), second.resize(size); }
  void add(double count, const double* chance) {
    rows.push_back(count), first.push_back(chance[0]), second.push_back(chance[1]);
  }
};

// Expected rows of the second state, and their variance, when its odds are multiplied. Four sums side by
// side, so that divisions need not wait for each other.
ISINGLASS_CLONES inline void sum_moments(const WeightedPairs& cells, double factor, double& expected,
                                         double& variance) {
  double sums[4] = {0, 0, 0, 0}, variances[4] = {0, 0, 0, 0};
  const std::size_t size = cells.rows.size();
  const double *rows = cells.rows.data(), *first = cells.first.data(), *second = cells.second.data();
  const auto add = [&](std::size_t i, std::size_t k) ISINGLASS_IN_CLONES {
    const double up = second[i] * factor, down = first[i], whole = 1 / (up + down),
                 weighted = rows[i] * up * whole;
    sums[k] += weighted;
    variances[k] += weighted * down * whole;
  };
  std::size_t i = 0;
  for (; i + 4 <= size; i += 4)
    for (std::size_t k = 0; k < 4; ++k) add(i + k, k);
  for (; i < size; ++i) add(i, 0);
  expected = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  variance = (variances[0] + variances[1]) + (variances[2] + variances[3]);
}

// Rows of a k x k matrix lie this far apart: whole vectors, so that loops need no last few.
constexpr std::size_t padded(std::size_t k) { return (k + 3) / 4 * 4; }

// The chances of k states, multiplied by `factor` and made to sum to one again, cell by cell: adds them
// to `expected` and, where `crossed` is wanted, the products of each with those before it (below the
// diagonal; what is above it means nothing). Returns the sum of the logarithms of what they summed to. A
// number of states that the compiler knows, kStates, makes short loops; zero stands for any. `share` is
// zero beyond k.
template <std::size_t kStates, bool kCrossed>
ISINGLASS_IN_CLONES inline double add_shares(std::span<const Weighted> cells, const std::size_t* seen,
                                             std::size_t states, const double* factor, double* share,
                                             double* expected, double* crossed) {
  const std::size_t k = kStates ? kStates : states;
  LogSum logs;
  for (const Weighted& cell : cells) {
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) sum += share[i] = cell.chance[seen[i]] * factor[i];
    logs.add(cell.rows, sum);
    const double whole = 1 / sum, rows = cell.rows * whole;
    for (std::size_t i = 0; i < k; ++i) expected[i] += rows * share[i];
    if (!kCrossed) continue;
    for (std::size_t i = 1; i < k; ++i) {
      const double weighted = rows * whole * share[i];
      double* row = crossed + i * padded(k);
      for (std::size_t j = 0; j < padded(i); ++j) row[j] += weighted * share[j];
    }
  }
  return logs.sum();
}

// The same with sums kept close by.
template <std::size_t kStates, bool kCrossed>
ISINGLASS_IN_CLONES inline double add_few_shares(std::span<const Weighted> cells, const std::size_t* seen,
                                                 const double* factor, double* expected, double* crossed) {
  double factors[kStates], share[padded(kStates)] = {}, sums[kStates] = {},
                           products[kStates * padded(kStates)] = {};
  std::copy_n(factor, kStates, factors);
  const double logs = add_shares<kStates, kCrossed>(cells, seen, kStates, factors, share, sums, products);
  std::copy_n(sums, kStates, expected);
  if (kCrossed) std::copy_n(products, kStates * padded(kStates), crossed);
  return logs;
}

template <bool kCrossed>
ISINGLASS_IN_CLONES inline double sum_shares_of(std::span<const Weighted> cells, const std::size_t* seen,
                                                std::size_t k, const double* factor, double* share,
                                                double* expected, double* crossed) {
  switch (k) {
    case 3:
      return add_few_shares<3, kCrossed>(cells, seen, factor, expected, crossed);
    case 4:
      return add_few_shares<4, kCrossed>(cells, seen, factor, expected, crossed);
    case 5:
      return add_few_shares<5, kCrossed>(cells, seen, factor, expected, crossed);
    default:
      break;
  }
  return add_shares<0, kCrossed>(cells, seen, k, factor, share, expected, crossed);
}

// Adds the expected totals of the seen states after a shift; returns the sum of the logarithms of what
// their chances then sum to.
ISINGLASS_CLONES inline double sum_shares(std::span<const Weighted> cells, const std::size_t* seen,
                                          std::size_t k, const double* factor, double* share,
                                          double* expected) {
  return sum_shares_of<false>(cells, seen, k, factor, share, expected, nullptr);
}

// The same, and the products of the shares of two states.
ISINGLASS_CLONES inline double cross_shares(std::span<const Weighted> cells, const std::size_t* seen,
                                            std::size_t k, const double* factor, double* share,
                                            double* expected, double* crossed) {
  return sum_shares_of<true>(cells, seen, k, factor, share, expected, crossed);
}

class Profile {
 public:
  // Best shift and the log-likelihood it gains (not divided by n); totals sum to the rows.
  double maximum(std::span<const Weighted> cells, std::span<const double> totals) {
    find_seen(totals);
    shift_.assign(totals.size(), 0.0);
    if (seen_.empty()) return 0.0;
    if (seen_.size() == 1) return certain(cells, seen_[0]);
    if (seen_.size() > 2) return many_states(cells, totals);
    pairs_.clear();
    for (const Weighted& cell : cells) {
      pairs_.rows.push_back(cell.rows);
      pairs_.first.push_back(cell.chance[seen_[0]]);
      pairs_.second.push_back(cell.chance[seen_[1]]);
    }
    return pair_maximum(pairs_, totals[seen_[0]], totals[seen_[1]], shift_[seen_[1]]);
  }

  // The same for a target of two states, both of which occur or not.
  double maximum(const WeightedPairs& cells, double first, double second) {
    shift_.assign(2, 0.0);
    if (first > 0 && second > 0) return pair_maximum(cells, first, second, shift_[1]);
    LogSum logs;
    for (std::size_t i = 0; i < cells.rows.size(); ++i)
      logs.add(cells.rows[i], first > 0 ? cells.first[i] : cells.second[i]);
    return -logs.sum();
  }

  // An upper bound that is nearly the maximum, for the price of a look or two: where Newton's first step
  // leads, the value and a bound on what is left. `slope` and `curvature` are those of no shift, known
  // already; where some states do not occur, they are found once these are left out. A shift lowers the
  // curvature by no more than e^range.
  double nearly_maximum(std::span<const Weighted> cells, std::span<const double> totals,
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
    look(cells, totals, there, Look::at_slopes);
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

  static double certain(std::span<const Weighted> cells, std::size_t a) {
    double gain = 0;
    for (const Weighted& cell : cells) gain -= cell.rows * std::log(cell.chance[a]);
    return gain;
  }

  // One number u, added to the logit of the second state. The slope is monotone: Newton, kept inside a
  // bracket.
  static double pair_maximum(const WeightedPairs& cells, double total_a, double total_b, double& shift) {
    const std::vector<double>&rows = cells.rows, &chance_a = cells.first, &chance_b = cells.second;
    double low = -700, high = 700, u = 0;
    for (int step = 0; step < 200; ++step) {
      const double factor = std::exp(u);
      double expected = 0, curvature = 0;
      sum_moments(cells, factor, expected, curvature);
      const double slope = total_b - expected;
      (slope > 0 ? low : high) = u;
      double next = curvature > 0 ? u + slope / curvature : slope > 0 ? high : low;
      // What is left to gain is about slope^2 / curvature, and after this last step about its square.
      if (slope * slope <= 1e-10 * curvature * (total_a + total_b)) {
        if (next > low && next < high) u = next;
        break;
      }
      next = std::clamp(next, u - 50, u + 50);  // on a plateau the step means nothing
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      u = next;
    }
    const double factor = std::exp(u);
    LogSum logs;
    for (std::size_t i = 0; i < rows.size(); ++i) logs.add(rows[i], chance_a[i] + chance_b[i] * factor);
    shift = u;
    return total_b * u - logs.sum();
  }

  // Where a search among three states and more stands: value, expected totals and their curvature
  // (lower triangle) in all shifts but the first.
  struct Point {
    std::vector<double> v, expected, curvature;
    double gain = 0;

    explicit Point(std::size_t k) : v(k, 0.0), expected(k), curvature((k - 1) * (k - 1)) {}
  };

  enum class Look { at_slopes, at_curvature };

  // Newton's direction as far as it helps; else a step of iterative scaling, which never lowers the gain.
  // After short steps the curvature serves on.
  double many_states(std::span<const Weighted> cells, std::span<const double> totals) {
    const std::size_t k = seen_.size(), q = k - 1;  // the shift of seen_[0] stays zero
    Point here(k), there(k);
    std::vector<double> slope(q), step(q);
    double rows = 0;
    for (const std::size_t a : seen_) rows += totals[a];
    look(cells, totals, here, Look::at_curvature);
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
      if (solved && promise <= 1e-11 * rows && longest < 1e-3) {
        here.gain += promise;
        for (std::size_t i = 0; i < q; ++i) here.v[i + 1] += step[i];
        break;
      }
      // Along Newton's direction the gain rises first: halve until a share of the rise is seen.
      bool moved = false;
      Look wanted = longest < kShort ? Look::at_slopes : Look::at_curvature;
      for (double t = std::min(1.0, 50 / longest); solved && !moved && t * longest > 1e-12; t /= 2) {
        for (std::size_t i = 0; i < q; ++i) there.v[i + 1] = here.v[i + 1] + t * step[i];
        look(cells, totals, there, wanted);
        moved = there.gain >= here.gain + 0.1 * t * promise ||
                promise <= 1e-13 * std::max(1.0, std::abs(here.gain));
      }
      if (!moved) {
        for (std::size_t i = 0; i < k; ++i)
          there.v[i] = here.v[i] + std::log(totals[seen_[i]] / here.expected[i]);
        for (std::size_t i = k; i-- > 0;) there.v[i] -= there.v[0];
        look(cells, totals, there, wanted = Look::at_curvature);
      }
      if (wanted == Look::at_slopes) std::swap(here.curvature, there.curvature);
      std::swap(here, there);
      if (solved && promise <= 1e-15 * rows) break;
    }
    for (std::size_t i = 0; i < k; ++i) shift_[seen_[i]] = here.v[i];
    return here.gain;
  }

  // Fills in what a point's shifts give: value and expected totals, and the curvature if it is wanted.
  void look(std::span<const Weighted> cells, std::span<const double> totals, Point& point, Look wanted) {
    const std::size_t k = point.v.size();
    factor_.resize(k);
    share_.assign(padded(k), 0.0);
    point.expected.assign(k, 0.0);
    point.gain = 0;
    for (std::size_t i = 0; i < k; ++i) {
      factor_[i] = std::exp(point.v[i]);
      point.gain += totals[seen_[i]] * point.v[i];
    }
    double* expected = point.expected.data();
    if (wanted == Look::at_slopes) {
      point.gain -= sum_shares(cells, seen_.data(), k, factor_.data(), share_.data(), expected);
      return;
    }
    crossed_.assign(k * padded(k), 0.0);
    point.gain -=
        cross_shares(cells, seen_.data(), k, factor_.data(), share_.data(), expected, crossed_.data());
    fill_curvature(point);
  }

  // Sums of positive numbers: nothing cancels.
  void fill_curvature(Point& point) const {
    const std::size_t k = point.v.size(), q = k - 1;
    for (std::size_t i = 1; i < k; ++i) {
      double others = crossed_[i * padded(k)];
      for (std::size_t j = 1; j < k; ++j) {
        if (i == j) continue;
        const double common = crossed_[std::max(i, j) * padded(k) + std::min(i, j)];
        if (j < i) point.curvature[(i - 1) * q + j - 1] = -common;
        others += common;
      }
      point.curvature[(i - 1) * q + i - 1] = others;
    }
  }

  static constexpr double kShort = 0.05;  // steps that hardly change the curvature

  std::vector<std::size_t> seen_;
  std::vector<double> shift_;
  WeightedPairs pairs_;
  std::vector<double> factor_, share_, crossed_;
};

}  // namespace isinglass

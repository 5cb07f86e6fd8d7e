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
#include <span>
#include <vector>

#include "linear.hpp"

namespace isinglass {

// A cell that takes part: how many rows, and the chances of the target's states there.
struct Weighted {
  double rows;
  const double* chance;
};

class Profile {
 public:
  // Best shift and the log-likelihood it gains (not divided by n); totals sum to the rows.
  double maximum(std::span<const Weighted> cells, std::span<const double> totals) {
    seen_.clear();
    for (std::size_t a = 0; a < totals.size(); ++a)
      if (totals[a] > 0) seen_.push_back(a);
    shift_.assign(totals.size(), 0.0);
    if (seen_.empty()) return 0.0;
    if (seen_.size() == 1) return certain(cells, seen_[0]);
    return seen_.size() == 2 ? two_states(cells, totals) : many_states(cells, totals);
  }

  // The shift found last, zero for states that do not occur.
  std::span<const double> shift() const { return shift_; }

 private:
  static double certain(std::span<const Weighted> cells, std::size_t a) {
    double gain = 0;
    for (const Weighted& cell : cells) gain -= cell.rows * std::log(cell.chance[a]);
    return gain;
  }

  // One number u = v_b - v_a. The slope is monotone: Newton, kept inside a bracket.
  double two_states(std::span<const Weighted> cells, std::span<const double> totals) {
    const std::size_t a = seen_[0], b = seen_[1];
    double low = -700, high = 700, u = 0;
    for (int step = 0; step < 200; ++step) {
      const double factor = std::exp(u);
      double slope = totals[b], curvature = 0;
      for (const Weighted& cell : cells) {
        const double up = cell.chance[b] * factor, share = up / (cell.chance[a] + up);
        slope -= cell.rows * share;
        curvature += cell.rows * share * (1.0 - share);
      }
      (slope > 0 ? low : high) = u;
      double next = curvature > 0 ? u + slope / curvature : slope > 0 ? high : low;
      // The decrease left is at most about slope^2 / curvature.
      if (slope * slope <= 1e-16 * curvature * (totals[a] + totals[b])) {
        if (next > low && next < high) u = next;
        break;
      }
      next = std::clamp(next, u - 50, u + 50);  // on a plateau the step means nothing
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      u = next;
    }
    const double factor = std::exp(u);
    double gain = totals[b] * u;
    for (const Weighted& cell : cells) gain -= cell.rows * std::log(cell.chance[a] + cell.chance[b] * factor);
    shift_[b] = u;
    return gain;
  }

  // Newton's direction as far as it helps; else a step of iterative scaling, which never lowers the gain.
  double many_states(std::span<const Weighted> cells, std::span<const double> totals) {
    const std::size_t k = seen_.size(), q = k - 1;  // the shift of seen_[0] stays zero
    std::vector<double> v(k, 0.0), trial(k), expected(k), curvature(q * q), slope(q), step(q);
    double rows = 0;
    for (const std::size_t a : seen_) rows += totals[a];
    double gain = value(cells, totals, v);
    for (int round = 0; round < 1000; ++round) {
      moments(cells, v, expected, curvature);
      for (std::size_t i = 0; i < q; ++i) slope[i] = totals[seen_[i + 1]] - expected[i + 1];
      step = slope;
      const bool solved = solve_in_place(curvature, step, 0.0);
      double promise = 0, longest = 0;
      for (std::size_t i = 0; i < q; ++i) {
        promise += 0.5 * slope[i] * step[i];
        longest = std::max(longest, std::abs(step[i]));
      }
      if (solved && promise <= 1e-15 * rows) {
        gain += promise;
        for (std::size_t i = 0; i < q; ++i) v[i + 1] += step[i];
        break;
      }
      // Along Newton's direction the gain rises first: halve until a share of the rise is seen.
      bool moved = false;
      double reached = gain;
      trial[0] = 0;
      for (double t = std::min(1.0, 50 / longest); solved && !moved && t * longest > 1e-12; t /= 2) {
        for (std::size_t i = 0; i < q; ++i) trial[i + 1] = v[i + 1] + t * step[i];
        reached = value(cells, totals, trial);
        moved = reached >= gain + 0.1 * t * promise || promise <= 1e-13 * std::max(1.0, std::abs(gain));
      }
      if (!moved) {
        for (std::size_t i = 0; i < k; ++i) trial[i] = v[i] + std::log(totals[seen_[i]] / expected[i]);
        const double base = trial[0];
        for (double& number : trial) number -= base;
        reached = value(cells, totals, trial);
      }
      v = trial;
      gain = reached;
    }
    for (std::size_t i = 0; i < k; ++i) shift_[seen_[i]] = v[i];
    return gain;
  }

  double value(std::span<const Weighted> cells, std::span<const double> totals,
               const std::vector<double>& v) {
    std::vector<double> factor(v.size());
    double gain = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      factor[i] = std::exp(v[i]);
      gain += totals[seen_[i]] * v[i];
    }
    for (const Weighted& cell : cells) {
      double sum = 0;
      for (std::size_t i = 0; i < v.size(); ++i) sum += cell.chance[seen_[i]] * factor[i];
      gain -= cell.rows * std::log(sum);
    }
    return gain;
  }

  // Expected totals, and their curvature (lower triangle) in all shifts but the first.
  void moments(std::span<const Weighted> cells, const std::vector<double>& v, std::vector<double>& expected,
               std::vector<double>& curvature) {
    const std::size_t k = v.size(), q = k - 1;
    std::vector<double> factor(k), share(k);
    std::fill(expected.begin(), expected.end(), 0.0);
    std::fill(curvature.begin(), curvature.end(), 0.0);
    for (std::size_t i = 0; i < k; ++i) factor[i] = std::exp(v[i]);
    for (const Weighted& cell : cells) {
      double sum = 0;
      for (std::size_t i = 0; i < k; ++i) sum += share[i] = cell.chance[seen_[i]] * factor[i];
      for (std::size_t i = 0; i < k; ++i) expected[i] += cell.rows * (share[i] /= sum);
      for (std::size_t i = 1; i < k; ++i) {
        const double weighted = cell.rows * share[i];
        for (std::size_t j = 1; j < i; ++j) curvature[(i - 1) * q + j - 1] -= weighted * share[j];
        double others = 0;  // not 1 - share, which cancels
        for (std::size_t j = 0; j < k; ++j) others += j == i ? 0.0 : share[j];
        curvature[(i - 1) * q + i - 1] += weighted * others;
      }
    }
  }

  std::vector<std::size_t> seen_;
  std::vector<double> shift_;
};

}  // namespace isinglass

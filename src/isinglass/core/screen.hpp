// A first look at all candidates at once, from pair counts.
//
// For a target of two states, the slope of a candidate's state needs E = sum over its rows of
// p(cell), the fitted chance. Split p into an additive part, alpha + sum_t beta_t[x_t], whose E the
// pair counts give exactly, and a remainder whose share is bounded by Cauchy and Schwarz. When that
// is not sharp enough the remainder is cut into two levels at a time, largest part first: one set of
// cells, one popcount for each candidate still open.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "bounds.hpp"
#include "cells.hpp"
#include "pairs.hpp"

namespace isinglass {

class Screen {
 public:
  Screen(const Table& table, const Pairs& pairs, Pairs::Reader& reader, const Cells& cells, std::size_t target,
         const std::vector<double>& chances)
      : table_(table), pairs_(pairs), reader_(reader), cells_(cells), r_(target), chances_(chances),
        works_(table.states(target) == 2 && table.countable()) {}

  // Slopes of all states from pair counts; the remainder is what they leave.
  void estimate(const std::vector<std::size_t>& open) {
    if (!works_) return;
    measure_curvature();
    const std::vector<double> beta = additive_part();
    slopes_.resize(pairs_.size());
    const std::span<const double> target = reader_.row(pairs_.first(r_));
    const std::span<const double> marginals = pairs_.marginals();
    for (std::size_t u = 0; u < slopes_.size(); ++u) slopes_[u] = target[u] - beta[0] * marginals[u];
    std::size_t f = 1;
    for (const std::size_t t : cells_.support())
      for (std::size_t v = pairs_.first(t); v < pairs_.first(t + 1); ++v, ++f) {
        const std::span<const double> row = reader_.row(v);
        const double weight = beta[f];
        for (std::size_t u = 0; u < slopes_.size(); ++u) slopes_[u] -= weight * row[u];
      }
    bounds_.assign(table_.columns(), kNoBound);
    promises_.assign(table_.columns(), 0.0);
    for (const std::size_t j : open) update(j);
  }

  // Upper bound on the log-likelihood a candidate can gain, and a guess at it.
  double bound(std::size_t j) const { return works_ ? bounds_[j] : kNoBound; }
  double promise(std::size_t j) const { return works_ ? promises_[j] : 0.0; }

  // Takes the largest two-level part out of the remainder, for the open candidates. False: nothing left.
  bool sharpen(const std::vector<std::size_t>& open) {
    if (!works_ || root_left_ <= 1e-6 * std::sqrt(rows_)) return false;
    std::vector<char> chosen;
    double inside = 0, outside = 0;
    best_split(chosen, inside, outside);
    cells_.rows_of(chosen, mask_);
    std::vector<std::size_t> numbers, rows;
    for (const std::size_t j : open)
      for (std::size_t u = pairs_.first(j); u < pairs_.first(j + 1); ++u) {
        numbers.push_back(u);
        rows.push_back(pairs_.state_row(u));
      }
    std::vector<double> counts(rows.size());
    table_.count_many(mask_.data(), rows, counts.data());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      slopes_[numbers[i]] -= (inside - outside) * counts[i] + outside * pairs_.marginals()[numbers[i]];
    for (std::size_t s = 0; s < cells_.size(); ++s) remainder_[s] -= chosen[s] ? inside : outside;
    measure_remainder();
    for (const std::size_t j : open) update(j);
    return true;
  }

 private:
  double chance(std::size_t s) const { return chances_[2 * s + 1]; }

  void measure_curvature() {
    rows_ = curvature_ = total_slope_ = 0;
    least_ = 1;
    for (std::size_t s = 0; s < cells_.size(); ++s) {
      const double q = chance(s) * (1 - chance(s));
      rows_ += cells_.total(s);
      curvature_ += cells_.total(s) * q;
      least_ = std::min(least_, q);
      // Slopes over all states of a column add up to this: zero at a free field.
      total_slope_ += cells_.count(s, 1) - cells_.total(s) * chance(s);
    }
    curvature_ /= rows_;
    double spread = 0;
    for (std::size_t s = 0; s < cells_.size(); ++s) {
      const double off = chance(s) * (1 - chance(s)) - curvature_;
      spread += cells_.total(s) * off * off;
    }
    root_spread_ = std::sqrt(spread);
    rounding_ = 1e-10 * rows_;
  }

  // Least squares of the chances on the states of the support, weighted by rows.
  std::vector<double> additive_part() {
    const std::size_t k = cells_.support().size();
    std::vector<std::size_t> first(k);
    std::size_t size = 1;
    for (std::size_t i = 0; i < k; ++i) {
      first[i] = size;
      size += static_cast<std::size_t>(table_.states(cells_.support()[i])) - 1;
    }
    std::vector<double> normal(size * size, 0.0), beta(size, 0.0);
    std::vector<std::size_t> active(k + 1);
    const auto features = [&](std::size_t s) {
      std::size_t found = 1;
      for (std::size_t i = 0; i < k; ++i)
        if (const int c = cells_.code(s, i)) active[found++] = first[i] + static_cast<std::size_t>(c) - 1;
      return found;
    };
    for (std::size_t s = 0; s < cells_.size(); ++s) {
      const std::size_t found = features(s);
      for (std::size_t i = 0; i < found; ++i) {
        beta[active[i]] += cells_.total(s) * chance(s);
        for (std::size_t j = 0; j <= i; ++j) normal[active[i] * size + active[j]] += cells_.total(s);
      }
    }
    // Any additive function will do; collinear columns only need some solution.
    if (!solve_in_place(normal, beta, 1e-9 * rows_)) beta.assign(size, 0.0);
    remainder_.resize(cells_.size());
    for (std::size_t s = 0; s < cells_.size(); ++s) {
      const std::size_t found = features(s);
      remainder_[s] = chance(s);
      for (std::size_t i = 0; i < found; ++i) remainder_[s] -= beta[active[i]];
    }
    measure_remainder();
    return beta;
  }

  void measure_remainder() {
    double mean = 0;
    double left = 0;
    for (std::size_t s = 0; s < cells_.size(); ++s) mean += cells_.total(s) * remainder_[s];
    mean /= rows_;
    for (std::size_t s = 0; s < cells_.size(); ++s)
      left += cells_.total(s) * (remainder_[s] - mean) * (remainder_[s] - mean);
    root_left_ = std::sqrt(left);
    off_centre_ = mean;
  }

  // The two-level function nearest to the remainder: cells above a level, and those below.
  void best_split(std::vector<char>& chosen, double& inside, double& outside) const {
    std::vector<std::size_t> order(cells_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return remainder_[a] < remainder_[b]; });
    double all = 0, below = 0, rows_below = 0, best = -1;
    for (std::size_t s = 0; s < cells_.size(); ++s) all += cells_.total(s) * remainder_[s];
    std::size_t cut = 0;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      below += cells_.total(order[i]) * remainder_[order[i]];
      rows_below += cells_.total(order[i]);
      const double above = all - below, rows_above = rows_ - rows_below;
      if (rows_above <= 0) break;
      const double explained = below * below / rows_below + above * above / rows_above;
      if (explained > best) {
        best = explained;
        cut = i + 1;
        outside = below / rows_below;
        inside = above / rows_above;
      }
    }
    chosen.assign(cells_.size(), 0);
    for (std::size_t i = cut; i < order.size(); ++i) chosen[order[i]] = cut > 0;
  }

  void update(std::size_t j) {
    double bound = 0, promise = 0, first_slope = total_slope_;
    for (std::size_t u = pairs_.first(j); u < pairs_.first(j + 1); ++u) {
      const double slope = slopes_[u] - off_centre_ * pairs_.marginals()[u];
      add_state(slope, pairs_.marginals()[u], pairs_.reaches()[u], bound, promise);
      first_slope -= slope;
    }
    add_state(first_slope, pairs_.first_marginal(j), pairs_.first_reach(j), bound, promise);
    bounds_[j] = bound;
    promises_[j] = promise;
  }

  void add_state(double slope, double rows, double reach, double& bound, double& promise) const {
    const double steepest = std::abs(slope) + reach * root_left_ + rounding_;
    const double flattest = std::max(curvature_ * rows - reach * root_spread_, least_ * rows);
    bound += quick_gain_bound(steepest, flattest);
    promise += slope * slope / rows;
  }

  const Table& table_;
  const Pairs& pairs_;
  Pairs::Reader& reader_;
  const Cells& cells_;
  std::size_t r_;
  const std::vector<double>& chances_;
  bool works_;
  double rows_ = 0, curvature_ = 0, least_ = 0, total_slope_ = 0, off_centre_ = 0;
  double rounding_ = 0;
  double root_spread_ = 0, root_left_ = 0;  // lengths of the curvature's variation and of the remainder
  std::vector<double> slopes_, remainder_, bounds_, promises_;
  std::vector<Word> mask_;
};

}  // namespace isinglass

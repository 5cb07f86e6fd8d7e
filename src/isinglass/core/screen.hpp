// A first look at all candidates at once, from pair counts.
//
// For a target of two states, the slope of a candidate's state is observed minus expected rows,
// E = the sum of the fitted chance p over its rows; the curvature is the sum of p(1 - p). Both are
// functions of the cell. Each is split into a combination of *features*, whose sums over every
// state of every candidate are known counts, and a remainder, orthogonal to the features, whose
// share is bounded by Cauchy and Schwarz. The features are the constant, the states of the support
// (their sums are pair counts) and, when that is not sharp enough, sets of cells in which the
// remainder is large: one popcount for each candidate that is still open.
#pragma once

#include <algorithm>
#include <cmath>
#include <list>
#include <numeric>
#include <span>
#include <vector>

#include "bounds.hpp"
#include "cells.hpp"
#include "linear.hpp"
#include "pairs.hpp"

namespace isinglass {

class Screen {
 public:
  Screen(const Table& table, const Pairs& pairs, Pairs::Reader& reader, const Cells& cells,
         std::size_t target, const std::vector<double>& chances)
      : table_(table),
        pairs_(pairs),
        reader_(reader),
        cells_(cells),
        r_(target),
        works_(table.states(target) == 2 && table.countable()) {
    if (!works_) return;
    chance_.resize(cells.size());
    curvature_.resize(cells.size());
    for (std::size_t s = 0; s < cells.size(); ++s) {
      chance_[s] = chances[2 * s + 1];
      curvature_[s] = chance_[s] * chances[2 * s];
      rows_ += cells.total(s);
      total_slope_ += cells.count(s, 1) - cells.total(s) * chance_[s];  // zero at a free field
      total_curvature_ += cells.total(s) * curvature_[s];
      least_curvature_ = std::min(least_curvature_, curvature_[s]);
    }
    rounding_ = 1e-10 * rows_;
    add_feature({pairs.marginals(), std::vector<char>(cells.size(), 1)});
    for (std::size_t i = 0; i < cells.support().size(); ++i)
      for (int c = 1; c < table.states(cells.support()[i]); ++c) {
        const std::size_t u = table.state(cells.support()[i], c);
        std::vector<char> set(cells.size());
        for (std::size_t s = 0; s < set.size(); ++s) set[s] = cells.code(s, i) == c;
        add_feature({reader.row(u), std::move(set), u});
      }
    works_ = estimate();
  }

  // What is known of a candidate: an upper bound on the log-likelihood (not divided by n) that it
  // can gain, and a guess at that gain.
  struct Open {
    std::size_t column;
    double bound = kNoBound;
    double promise = 0;
  };

  void assess(std::vector<Open>& open) const {
    if (!works_) return;
    for (Open& candidate : open) {
      const std::size_t j = candidate.column;
      double slope_left = total_slope_, curvature_left = total_curvature_;
      candidate.bound = candidate.promise = 0;
      for (std::size_t u = pairs_.first(j); u < pairs_.first(j + 1); ++u) {
        candidate.bound +=
            state_bound(slopes_[u], curvatures_[u], pairs_.marginals()[u], pairs_.reaches()[u]);
        candidate.promise += slopes_[u] * slopes_[u] * pairs_.inverse_variances()[u];
        slope_left -= slopes_[u];
        curvature_left -= curvatures_[u];
      }
      candidate.bound +=
          state_bound(slope_left, curvature_left, pairs_.first_marginal(j), pairs_.first_reach(j));
    }
  }

  // Whether one more set of cells costs much less than exact slopes of the candidates still open.
  bool worth_sharpening(std::size_t open) const {
    if (!works_ || open <= 4) return false;
    const std::size_t solving = (2 * cells_.size() + 2 * pairs_.size()) * (features_.size() + 1);
    return 4 * (open * table_.words() + solving) < open * cells_.work_to_split();
  }

  // Adds the set of cells that explains most of what is left, counted for the open candidates.
  // False when nothing is left to explain.
  bool sharpen(std::span<const Open> open) {
    if (!works_ || cells_.size() < 2) return false;
    const bool of_slope = slope_matters();
    const std::vector<char> chosen = best_split(of_slope ? chance_left_ : curvature_left_);
    if (chosen.empty()) return false;
    cells_.rows_of(chosen, mask_);
    states_.clear();
    for (const std::size_t t : cells_.support())  // for the normal equations
      for (std::size_t u = pairs_.first(t); u < pairs_.first(t + 1); ++u) states_.push_back(u);
    for (const Open& candidate : open)
      for (std::size_t u = pairs_.first(candidate.column); u < pairs_.first(candidate.column + 1); ++u)
        states_.push_back(u);
    counts_.resize(states_.size());
    table_.count_many(mask_.data(), states_, counts_.data());
    sums_.emplace_back(pairs_.size(), 0.0);
    for (std::size_t i = 0; i < states_.size(); ++i) sums_.back()[states_[i]] = counts_[i];
    add_feature({sums_.back(), chosen});
    return estimate();
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // A 0/1 function of the cell: the constant, a state of the support, or another set of cells.
  struct Feature {
    std::span<const double> sums;  // over the rows of every state
    std::vector<char> set;         // the cells where it is 1
    std::size_t state = kNone;
  };

  // One more column of the least squares: its products with the others, with chance and curvature.
  void add_feature(Feature feature) {
    features_.push_back(std::move(feature));
    const Feature& last = features_.back();
    std::vector<double>& row = normal_.emplace_back();
    for (const Feature& other : features_) row.push_back(product(last, other));
    double by_chance = 0, by_curvature = 0;
    for (std::size_t s = 0; s < cells_.size(); ++s) {
      const double rows = last.set[s] * cells_.total(s);
      by_chance += rows * chance_[s];
      by_curvature += rows * curvature_[s];
    }
    by_chance_.push_back(by_chance);
    by_curvature_.push_back(by_curvature);
  }

  // Rows that two features have in common; pair counts know those of states.
  double product(const Feature& a, const Feature& b) const {
    if (a.state != kNone) return b.sums[a.state];
    if (b.state != kNone) return a.sums[b.state];
    double rows = 0;
    for (std::size_t s = 0; s < cells_.size(); ++s) rows += a.set[s] * b.set[s] * cells_.total(s);
    return rows;
  }

  // Least squares of chance and curvature on the features, then slopes and curvatures of all states.
  bool estimate() {
    const std::size_t size = features_.size();
    std::vector<double> factor(size * size), beta(by_chance_), kappa(by_curvature_);
    for (std::size_t f = 0; f < size; ++f) std::copy(normal_[f].begin(), normal_[f].end(), &factor[f * size]);
    // Collinear features only need some solution; what it misses is part of the remainder.
    if (!factorise(factor, size, 1e-9 * rows_)) return false;
    substitute(factor, beta);
    substitute(factor, kappa);
    chance_left_ = remainder(chance_, beta, chance_length_, chance_mean_);
    curvature_left_ = remainder(curvature_, kappa, curvature_length_, curvature_mean_);
    const std::span<const double> observed = reader_.row(pairs_.first(r_));
    slopes_.assign(observed.begin(), observed.end());
    curvatures_.assign(pairs_.size(), 0.0);
    beta[0] += chance_mean_;
    kappa[0] += curvature_mean_;
    for (std::size_t f = 0; f < size; ++f) {
      const double b = beta[f], k = kappa[f];
      const double* sums = features_[f].sums.data();
      for (std::size_t u = 0; u < slopes_.size(); ++u) {
        slopes_[u] -= b * sums[u];
        curvatures_[u] += k * sums[u];
      }
    }
    return true;
  }

  // What the features leave of a function, centred; its length and its mean.
  std::vector<double> remainder(const std::vector<double>& of_cell, const std::vector<double>& weights,
                                double& length, double& mean) const {
    std::vector<double> left = of_cell;
    for (std::size_t f = 0; f < features_.size(); ++f)
      for (std::size_t s = 0; s < left.size(); ++s) left[s] -= weights[f] * features_[f].set[s];
    mean = length = 0;
    for (std::size_t s = 0; s < left.size(); ++s) mean += cells_.total(s) * left[s] / rows_;
    for (std::size_t s = 0; s < left.size(); ++s) {
      left[s] -= mean;
      length += cells_.total(s) * left[s] * left[s];
    }
    length = std::sqrt(length);
    return left;
  }

  double state_bound(double slope, double curvature, double rows, double reach) const {
    const double steepest = std::abs(slope) + reach * chance_length_ + rounding_;
    const double flattest =
        std::max(curvature - reach * curvature_length_ - rounding_, least_curvature_ * rows);
    return quick_gain_bound(steepest, flattest);
  }

  // Whether the unknown part of the slopes loosens the bounds more than that of the curvatures.
  bool slope_matters() const {
    const double reach = 0.5 * std::sqrt(rows_), typical = 0.5 * total_curvature_;
    const double by_slope = 2 * std::log1p(reach * chance_length_ / (2 * std::sqrt(typical)));
    const double by_curvature = -std::log(std::max(1 - reach * curvature_length_ / typical, 0.02));
    return by_slope >= by_curvature;
  }

  // Cells above the level that splits a function best in two; none if it is constant.
  std::vector<char> best_split(const std::vector<double>& of_cell) const {
    std::vector<std::size_t> order(of_cell.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return of_cell[a] < of_cell[b]; });
    double below = 0, rows_below = 0, best = 1e-12 * rows_;
    std::size_t cut = 0;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      below += cells_.total(order[i]) * of_cell[order[i]];
      rows_below += cells_.total(order[i]);
      const double rows_above = rows_ - rows_below;
      if (rows_above <= 0) break;
      const double explained = below * below * (1 / rows_below + 1 / rows_above);  // of_cell is centred
      if (explained > best) {
        best = explained;
        cut = i + 1;
      }
    }
    if (cut == 0) return {};
    std::vector<char> chosen(of_cell.size(), 0);
    for (std::size_t i = cut; i < order.size(); ++i) chosen[order[i]] = 1;
    return chosen;
  }

  const Table& table_;
  const Pairs& pairs_;
  Pairs::Reader& reader_;
  const Cells& cells_;
  std::size_t r_;
  bool works_;
  double rows_ = 0, rounding_ = 0, total_slope_ = 0, total_curvature_ = 0, least_curvature_ = 1;
  std::vector<double> chance_, curvature_;            // of each cell
  std::vector<double> chance_left_, curvature_left_;  // what the features leave of them
  double chance_length_ = 0, chance_mean_ = 0, curvature_length_ = 0, curvature_mean_ = 0;
  std::vector<Feature> features_;
  std::vector<std::vector<double>> normal_;       // lower triangle, row by row
  std::vector<double> by_chance_, by_curvature_;  // products of the features with the two
  std::vector<double> slopes_, curvatures_;       // estimates, of each state
  std::list<std::vector<double>> sums_;           // of the sets of cells; features point into them
  Words mask_;
  std::vector<std::size_t> states_;
  std::vector<double> counts_;
};

}  // namespace isinglass

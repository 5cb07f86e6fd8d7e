// Bounds on gains from the exact slopes and curvatures of a candidate's states.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "bits/cells.hpp"
#include "counting/pairs.hpp"
#include "gains/bounds.hpp"
#include "gains/candidate.hpp"
#include "gains/gains.hpp"
#include "gains/profile.hpp"
#include "gains/shares.hpp"

namespace isinglass {

class SlopeBounds {
 public:
  SlopeBounds(const Table& table, Pairs::Reader& reader, const Cells& cells, bool intercept,
              const Forms* forms = nullptr)
      : table_(table), reader_(reader), cells_(cells), intercept_(intercept), forms_(forms) {}

  // Bounds and promises of candidates at a fit.
  void bound(const CurrentFit& fit, std::vector<Candidate>& candidates) {
    if (candidates.empty()) return;
    tabulate_moments(fit);
    const std::size_t states = table_.first(table_.columns()) + table_.columns();
    if (cells_.width() > 2) of_state_.resize(states);
    if (cells_.width() > 2) kept_sums_.resize(states * moments());
    std::vector<std::size_t> columns;
    for (const Candidate& candidate : candidates) columns.push_back(candidate.column);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      cells_.expect(std::span(columns).subspan(i));
      bound(candidates[i]);
    }
  }

  // Bounds on the smaller form of a candidate that has bounds on its table.
  void bound_small(Candidate& candidate) {
    reader_.cross_counts(candidate.column, cells_.target(), counts_);
    take_kept(candidate.column);
    bound_small(candidate, counts_.data());
  }

  // Whether sharper bounds rule out a candidate whose cells are split: `hopeless` says when its bound is low
  // enough. For a target of three states and more it has a bound already.
  template <class Hopeless>
  bool rule_out(Candidate& candidate, const SplitCells& split, const Hopeless& hopeless) {
    if (cells_.width() > 2) return intercept_ && rule_out_by_state(candidate, split, hopeless);
    look_at_two(candidate, split);
    return hopeless(candidate);
  }

  // Sharper bounds on the smaller form of a candidate whose cells are split, from one look near its best; for
  // a target of two states also on its table.
  void bound_forms(Candidate& candidate, const SplitCells& split) {
    if (cells_.width() > 2)
      take_kept(candidate.column);
    else
      look_at_two(candidate, split);
    bound_small(candidate, split.counts.data());
    looked_ = !system_.step().empty();
    if (!looked_) return;
    const auto [least, most] =
        small_.between(split.by_state, split.counts, forms_->design(cells_.target(), candidate.column),
                       intercept_, system_.step());
    candidate.small_floor = std::max(candidate.small_floor, least);
    candidate.small_bound = std::min(candidate.small_bound, most);
  }

  // What the smaller form gains, from that look on.
  Gain small_gain(std::size_t column, const SplitCells& split) {
    const SmallDesign& design = forms_->design(cells_.target(), column);
    const double value = looked_ ? small_.maximum_from_here(split.by_state, split.counts, design, intercept_)
                                 : small_.maximum(split.by_state, split.counts, design, intercept_);
    return {value / table_.n(), small_.shifts()};
  }

 private:
  void look_at_two(Candidate& candidate, const SplitCells& split) {
    candidate.bound = 0;
    sums_.resize(2 * split.states());
    for (std::size_t c = 0; c < split.states(); ++c) {
      const WeightedCells& cells = split.by_state[c];
      double* sums = &sums_[2 * c];
      sum_moments(cells.size(), cells.rows(), cells.probabilities(0), cells.probabilities(1), 1.0, sums[0],
                  sums[1]);
      candidate.bound += bound_of_two(split.totals(c).data(), sums, candidate.promise);
    }
  }

  std::size_t moments() const {
    const std::size_t q = cells_.width() - 1;
    return q + q * (q + 1) / 2;
  }

  // Probabilities of all states but the first in each cell, then the lower triangle of their curvature.
  void tabulate_moments(const CurrentFit& fit) {
    const std::size_t width = cells_.width(), q = width - 1;
    moments_.clear();
    for (std::size_t s = 0; s < cells_.size(); ++s) {
      const double* probability = &fit.probabilities[s * width];
      moments_.insert(moments_.end(), probability + 1, probability + width);
      for (std::size_t a = 1; a <= q; ++a) {
        for (std::size_t b = 1; b < a; ++b) moments_.push_back(-probability[a] * probability[b]);
        moments_.push_back(width == 2 ? probability[1] * probability[0]
                                      : probability[a] * (1 - probability[a]));
      }
    }
  }

  void bound(Candidate& candidate) {
    const std::size_t width = cells_.width();
    reader_.cross_counts(candidate.column, cells_.target(), counts_);
    cells_.sums_by_state(candidate.column, moments_, moments(), sums_);
    candidate.bound = candidate.promise = 0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(table_.states(candidate.column)); ++c) {
      const double *totals = &counts_[c * width], *sums = &sums_[c * moments()];
      const double bound = width == 2 ? bound_of_two(totals, sums, candidate.promise)
                                      : bound_of_many(totals, sums, candidate.promise);
      if (width > 2) of_state_[table_.state(candidate.column, static_cast<int>(c))] = bound;
      candidate.bound += bound;
    }
    if (width > 2) {
      std::ranges::copy(sums_, kept(candidate.column));
    } else if (forms_ && !candidate.upgrade && forms_->small(cells_.target(), candidate.column)) {
      bound_small(candidate, counts_.data());
    }
  }

  // The moments of a column's states, as they were summed for its bound.
  std::vector<double>::iterator kept(std::size_t column) {
    return kept_sums_.begin() + static_cast<std::ptrdiff_t>((table_.first(column) + column) * moments());
  }
  void take_kept(std::size_t column) {
    sums_.resize(static_cast<std::size_t>(table_.states(column)) * moments());
    std::copy_n(kept(column), sums_.size(), sums_.begin());
  }

  // From the moments of the candidate's states that were summed last.
  void bound_small(Candidate& candidate, const double* counts) {
    const std::size_t width = cells_.width(), q = width - 1;
    slope_.resize(q);
    curvature_.resize(q * q);
    system_.start(forms_->design(cells_.target(), candidate.column), intercept_);
    for (std::size_t c = 0; c < static_cast<std::size_t>(table_.states(candidate.column)); ++c) {
      unpack(counts + c * width, &sums_[c * moments()], slope_, curvature_);
      system_.add(c, slope_.data(), curvature_.data());
    }
    candidate.small_bound =
        std::min(system_.bound(candidate.small_promise, candidate.small_floor), candidate.bound);
  }

  // Puts sharper bounds in the place of those of the states, the loosest first, until the candidate is out.
  template <class Hopeless>
  bool rule_out_by_state(Candidate& candidate, const SplitCells& split, const Hopeless& hopeless) {
    const std::size_t q = cells_.width() - 1;
    std::vector<double> terms(split.states()), slope(q), curvature(q * q);
    std::vector<std::size_t> order(split.states());
    for (std::size_t c = 0; c < terms.size(); ++c)
      terms[c] = of_state_[table_.state(candidate.column, static_cast<int>(c))];
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return terms[a] > terms[b]; });
    take_kept(candidate.column);
    for (const std::size_t c : order) {
      unpack(split.totals(c).data(), &sums_[c * moments()], slope, curvature);
      terms[c] = profile_.nearly_maximum(split.by_state[c], split.totals(c), slope, curvature) * (1 + 1e-12);
      candidate.bound = std::accumulate(terms.begin(), terms.end(), 0.0);
      if (hopeless(candidate)) return true;
    }
    return false;
  }

  double bound_of_two(const double* totals, const double* sums, double& guess) const {
    const double slope = std::abs(totals[1] - sums[0]) + 1e-12 * table_.n();
    if (sums[1] > 0) guess += 0.5 * slope * slope / sums[1];
    return gain_bound(slope, sums[1]);
  }

  double bound_of_many(const double* totals, const double* sums, double& guess) const {
    const std::size_t width = cells_.width(), q = width - 1;
    if (std::accumulate(totals, totals + width, 0.0) <= 0) return 0;
    std::vector<double> slope(q), curvature(q * q);
    unpack(totals, sums, slope, curvature);
    return gain_bound(slope, curvature, guess);
  }

  // Slopes and curvature (lower triangle) within one state, from totals and summed moments.
  static void unpack(const double* totals, const double* sums, std::vector<double>& slope,
                     std::vector<double>& curvature) {
    const std::size_t q = slope.size();
    const double* triangle = sums + q;
    for (std::size_t a = 0; a < q; ++a) {
      slope[a] = totals[a + 1] - sums[a];
      for (std::size_t b = 0; b <= a; ++b) curvature[a * q + b] = *triangle++;
    }
  }

  const Table& table_;
  Pairs::Reader& reader_;
  const Cells& cells_;
  bool intercept_;
  const Forms* forms_;
  SmallSystem system_;
  Profile profile_;
  SmallGain small_;
  bool looked_ = false;            // whether the last bounds on a smaller form come from a look near its best
  std::vector<double> moments_;    // of each cell, at the fit of the last bounds
  std::vector<double> kept_sums_;  // of them, for every state
  std::vector<double> of_state_;   // the bounds of every state, for a target of three states and more
  std::vector<double> counts_, sums_, slope_, curvature_;  // kept for their memory
};

}  // namespace isinglass

// Exact removal costs: how far the loss rises when an edge is taken away and the field is free.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/edge.hpp"
#include "bits/cells.hpp"
#include "counting/pairs.hpp"
#include "gains/profile.hpp"
#include "gains/small_gain.hpp"
#include "refit/fitter.hpp"
#include "refit/refit.hpp"

namespace isinglass {

class RemovalCosts {
 public:
  RemovalCosts(const Table& table, Pairs::Reader& reader, const Cells& cells, bool intercept,
               const Forms* forms = nullptr)
      : table_(table), reader_(reader), cells_(cells), intercept_(intercept), forms_(forms) {}

  // The same when the i-th neighbour's table becomes the best small edge.
  double cost_of_upgrade(const CurrentFit& fit, std::size_t i) {
    const std::size_t width = cells_.width(), q = width - 1, t = fit.support[i];
    const SmallDesign& design = forms_->design(cells_.target(), t);
    std::vector<double> counts, removed = table_of(fit, i), small(design.size), factors(removed.size());
    reader_.cross_counts(t, cells_.target(), counts);
    take_small_out(fit, i, design, small, removed);
    double linear = 0;
    for (std::size_t k = 0; k < removed.size(); ++k) {
      linear += counts[k] * removed[k];
      factors[k] = std::exp(-removed[k]);
    }
    by_state_.resize(design.neighbour);
    for (WeightedCells& cells : by_state_) cells.reset(width, cells_.size());
    std::vector<double> left(width);
    for (std::size_t s = 0; s < cells_.size(); ++s) {
      const auto c = static_cast<std::size_t>(cells_.code(s, i));
      for (std::size_t a = 0; a <= q; ++a)
        left[a] = fit.probabilities[s * width + a] * factors[c * width + a];
      by_state_[c].add(cells_.total(s), left.data());
    }
    for (WeightedCells& cells : by_state_) cells.fill_lanes();
    return (linear - small_.maximum(by_state_, counts, design, intercept_)) / table_.n();
  }

  // Per row, of the i-th neighbour of a fit; the cells are those of its support.
  double cost(const CurrentFit& fit, std::size_t i) {
    const std::size_t width = cells_.width();
    std::vector<double> counts, removed = table_of(fit, i), factors(removed.size()), totals(width, 0.0);
    reader_.cross_counts(fit.support[i], cells_.target(), counts);
    for (std::size_t k = 0; k < removed.size(); ++k) totals[k % width] += counts[k];
    if (intercept_) subtract_response(fit, i, counts, totals, removed);
    if (std::ranges::any_of(removed, [](double number) { return std::abs(number) > kLargest; }))
      return large_cost(fit, i, totals);
    double linear = 0;
    for (std::size_t k = 0; k < removed.size(); ++k) {
      linear += counts[k] * removed[k];
      factors[k] = std::exp(-removed[k]);
    }
    width == 2 ? take_out<2>(fit, i, factors) : take_out<0>(fit, i, factors);
    return (linear - (intercept_ ? profile_.maximum(left_, totals) : profile_.unshifted(left_, width))) /
           table_.n();
  }

 private:
  // What is not small of a table: the search for the best small edge then begins with the nearest one.
  void take_small_out(const CurrentFit& fit, std::size_t i, const SmallDesign& design,
                      std::vector<double>& small, std::vector<double>& table) const {
    const std::size_t width = cells_.width(), q = width - 1, first = design_of(table_, fit.support).first(i);
    design.project(&fit.parameters[first * q], small.data());
    for (std::size_t c = 0; c < design.neighbour; ++c)
      for (std::size_t a = 0; a < q; ++a)
        for (std::size_t k = 0; k < design.size; ++k)
          table[c * width + a + 1] -= design.shifts[(c * q + a) * design.size + k] * small[k];
  }

  static constexpr double kLargest = 300;  // odds beyond e^300 are not computed with

  // The same where columns nearly separate the target, and odds are too large for numbers: from the
  // parameters without the table.
  double large_cost(const CurrentFit& fit, std::size_t i, const std::vector<double>& totals) {
    const Design design = design_of(table_, fit.support);
    const std::size_t width = cells_.width(), q = width - 1, first = design.first(i);
    const double m = table_.states(fit.support[i]);
    std::vector<double> parameters = fit.parameters, probabilities;
    for (std::size_t f = first; f < first + design.features_of(i); ++f)
      for (std::size_t a = 0; a < q; ++a) {
        double& value = parameters[f * q + a];
        if (!intercept_) parameters[a] += value / m;  // the field follows
        value = 0;
      }
    const double loss =
        Refit(cells_.view(), table_.n(), intercept_, kRidge).probabilities(parameters, probabilities);
    if (!intercept_) return loss - fit.loss;
    left_.reset(width, cells_.size());
    for (std::size_t s = 0; s < cells_.size(); ++s) left_.add(cells_.total(s), &probabilities[s * width]);
    left_.fill_lanes();
    return loss - fit.loss - profile_.maximum(left_, totals, Profile::Cell::of_probabilities) / table_.n();
  }

  // The cells with the i-th neighbour's odds taken out; for a target of that many states, zero for any.
  template <std::size_t kWidth>
  void take_out(const CurrentFit& fit, std::size_t i, const std::vector<double>& factors) {
    const std::size_t width = kWidth ? kWidth : cells_.width();
    double few[kWidth + 1];
    std::vector<double> many(kWidth ? 0 : width);
    double* left = kWidth ? few : many.data();
    left_.reset(width, cells_.size());
    for (std::size_t s = 0; s < cells_.size(); ++s) {
      const double *factor = &factors[static_cast<std::size_t>(cells_.code(s, i)) * width],
                   *probability = &fit.probabilities[s * width];
      for (std::size_t a = 0; a < width; ++a) left[a] = probability[a] * factor[a];
      left_.add<kWidth>(cells_.total(s), left);
    }
    left_.fill_lanes();
  }

  // A free field takes up some of the table that is removed: what the curvature says, or else what the table
  // adds to each state on average. There its search begins.
  static void subtract_response(const CurrentFit& fit, std::size_t i, const std::vector<double>& counts,
                                const std::vector<double>& totals, std::vector<double>& table) {
    const std::size_t width = totals.size(), q = width - 1;
    std::vector<double> taken(width, 0.0);
    if (!fit.responses.empty())
      std::copy_n(&fit.responses[i * q], q, &taken[1]);
    else
      for (std::size_t k = 0; k < table.size(); ++k)
        if (totals[k % width] > 0) taken[k % width] += counts[k] * table[k] / totals[k % width];
    for (std::size_t k = 0; k < table.size(); ++k) table[k] -= taken[k % width];
  }

  // What the i-th neighbour adds to the scores, by its state and the target's; relative to the first.
  std::vector<double> table_of(const CurrentFit& fit, std::size_t i) const {
    const auto m = static_cast<std::size_t>(table_.states(fit.support[i])), width = cells_.width(),
               q = width - 1;
    const std::size_t first = design_of(table_, fit.support).first(i);
    // Without an intercept the field follows the tables, and loses this one's means.
    const double drift = intercept_ ? 0.0 : 1.0 / static_cast<double>(m);
    std::vector<double> table(m * width, 0.0);
    for (std::size_t c = 1; c < m; ++c)
      for (std::size_t a = 0; a < q; ++a) {
        const double value = fit.parameters[(first + c - 1) * q + a];
        table[c * width + a + 1] += value;
        for (std::size_t d = 0; d < m; ++d) table[d * width + a + 1] -= drift * value;
      }
    return table;
  }

  const Table& table_;
  Pairs::Reader& reader_;
  const Cells& cells_;
  bool intercept_;
  const Forms* forms_;
  Profile profile_;
  SmallGain small_;
  std::vector<WeightedCells> by_state_;
  WeightedCells left_;  // without the odds of a neighbour; kept for its memory
};

}  // namespace isinglass

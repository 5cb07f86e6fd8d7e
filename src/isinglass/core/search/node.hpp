// Algorithm 1 for one column, on counts.
//
// `search` is the algorithm; it reads like isinglass/solvers/foba.py. `ForwardSearch` finds the best
// candidate, `RemovalCosts` says what a removal costs, `Fitter` refits.
#pragma once

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>
#include <vector>

#include "bits/cells.hpp"
#include "counting/counter.hpp"
#include "counting/pairs.hpp"
#include "gains/removals.hpp"
#include "refit/fitter.hpp"
#include "search/choice.hpp"
#include "search/forward.hpp"
#include "search/path.hpp"

namespace isinglass {

constexpr double kRounding = 1e-11;  // losses this close are equal: the same support, refitted

class Node {
 public:
  Node(const Table& table, const Pairs& pairs, Counter& counter, const Settings& settings)
      : table_(table),
        settings_(settings),
        reader_(pairs, counter),
        cells_(table, 0, counter.asker()),
        scale_(table, settings.intercept, settings.scales, settings.unit, settings.level, settings.forms),
        fitter_(table, settings.intercept, settings.forms),
        forward_(table, pairs, counter, reader_, cells_, scale_, settings_),
        removals_(table, reader_, cells_, settings.intercept, settings.forms) {
    for (std::size_t j = 0; j < table.columns(); ++j)
      if (table.states(j) > 1) varying_.push_back(j);
  }

  Node(const Node&) = delete;  // its parts point at each other
  Node& operator=(const Node&) = delete;

  // What was allocated for the last target is kept.
  void set_target(std::size_t target) {
    reader_.tidy();
    cells_.set_target(target);
    scale_.set_target(target);
    forward_.reset_evaluated();
    candidates_.clear();
    required_.clear();
    if (table_.states(target) < 2) return;
    candidates_ = varying_;
    candidates_.erase(std::ranges::lower_bound(candidates_, target));
    const Constraints* constraints = settings_.constraints;
    if (!constraints) return;
    std::erase_if(candidates_, [&](std::size_t j) { return contains(constraints->forbidden[target], j); });
    std::ranges::set_intersection(candidates_, constraints->required[target], std::back_inserter(required_));
  }

  NodePath search(const std::atomic<bool>& interrupted) {
    NodePath path;
    if (!required_.empty()) cells_.become(required_);
    std::vector<std::size_t>& outside = outside_;  // in increasing order, as all columns
    outside.resize(candidates_.size());
    outside.erase(std::ranges::set_difference(candidates_, required_, outside.begin()).out, outside.end());
    CurrentFit fit = fitter_.minimise(cells_, smallest_forms(cells_.support()));
    path.start = fit;
    std::map<std::size_t, double> recorded, left_at;  // by support size: last gain, last loss
    while (true) {
      const std::vector<std::size_t> upgrades = upgrades_of(fit);
      if (interrupted) return stopped(path, Stop::interrupted);
      if (outside.empty() && upgrades.empty()) return stopped(path, Stop::no_candidate);
      if (fit.support.size() >= settings_.max_degree) return stopped(path, Stop::max_degree);

      const auto [choice, added] = forward_.best(fit, outside, upgrades);
      if (!(choice.value > settings_.threshold)) return stopped(path, Stop::below_threshold);
      left_at[fit.size()] = fit.loss;
      fit = add(fit, choice, added, outside);
      recorded[fit.size()] = choice.value;
      path.steps.push_back({true, choice.column, choice.value, fit});

      while (!interrupted) {
        const double limit = settings_.nu * recorded[fit.size()];
        const Choice removed = cheapest_removal(fit, limit);
        if (removed.value > limit) break;
        const Cells before = cells_;
        CurrentFit fewer = without(fit, removed);
        // Costs of unequal edges can run in circles; a loss that falls cannot.
        const auto last = left_at.find(fewer.size());
        if (last != left_at.end() && !(fewer.loss < last->second - kRounding)) {
          cells_ = before;
          break;
        }
        fit = std::move(fewer);
        if (removed.of != Of::upgrade)
          outside.insert(std::ranges::lower_bound(outside, removed.column), removed.column);
        path.steps.push_back({false, removed.column, removed.value, fit});
      }
    }
  }

  // A path without a step: the fit on neighbours that are given, not searched for.
  NodePath fit_on(const std::vector<std::size_t>& neighbours, const std::vector<Form>& forms = {}) {
    cells_.become(neighbours);
    NodePath path;
    path.start = fitter_.minimise(cells_, forms);
    return path;
  }

  // Whoever gains more than the threshold at a fit that is known; where it has no neighbours, it is found.
  std::vector<Choice> look_from(const NodeFit& fit) {
    cells_.become(fit.support);
    const CurrentFit whole = fit.support.empty() ? fitter_.minimise(cells_) : fitter_.restore(cells_, fit);
    std::vector<std::size_t> support = fit.support, outside;
    std::ranges::sort(support);
    std::ranges::set_difference(candidates_, support, std::back_inserter(outside));
    if (outside.empty() || support.size() >= settings_.max_degree) return {};
    return forward_.all_above(whole, outside);
  }

  // Exact gains of columns at a fit, raw, and what removing each of its neighbours costs: to compare with.
  std::vector<double> gains_at(const NodeFit& fit, std::span<const std::size_t> columns) {
    const CurrentFit whole = restore(fit);
    std::vector<double> gains;
    for (const std::size_t j : columns) gains.push_back(forward_.exact_gain(whole, j).value);
    return gains;
  }

  std::vector<double> costs_at(const NodeFit& fit) {
    const CurrentFit whole = restore(fit);
    std::vector<double> costs;
    for (std::size_t i = 0; i < fit.support.size(); ++i) costs.push_back(removals_.cost(whole, i));
    return costs;
  }

  std::int64_t evaluated() const { return forward_.evaluated(); }

 private:
  std::vector<Form> smallest_forms(const std::vector<std::size_t>& support) const {
    std::vector<Form> forms;
    for (std::size_t i = 0; settings_.forms && i < support.size(); ++i)
      forms.push_back(settings_.forms->smallest(cells_.target(), support[i]));
    return forms;
  }

  // Neighbours whose small edge may become a table, in increasing order.
  std::vector<std::size_t> upgrades_of(const CurrentFit& fit) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < fit.support.size(); ++i)
      if (fit.form(i) == Form::small && settings_.forms->table(cells_.target(), fit.support[i]))
        found.push_back(fit.support[i]);
    std::ranges::sort(found);
    return found;
  }

  CurrentFit add(const CurrentFit& fit, const Choice& choice, const Added& added,
                 std::vector<std::size_t>& outside) {
    std::vector<Form> forms = fit.forms;
    std::vector<std::size_t> upgraded = fit.upgraded;
    if (choice.of == Of::upgrade) {
      forms[position(fit, choice.column)] = Form::table;
      upgraded.push_back(choice.column);
    } else {
      cells_.add(choice.column);
      outside.erase(std::ranges::lower_bound(outside, choice.column));
      if (settings_.forms) forms.push_back(choice.of == Of::small ? Form::small : Form::table);
    }
    return fitter_.minimise(cells_, std::move(forms), &fit, added, std::move(upgraded));
  }

  CurrentFit without(const CurrentFit& fit, const Choice& removed) {
    std::vector<Form> forms = fit.forms;
    std::vector<std::size_t> upgraded = fit.upgraded;
    std::erase(upgraded, removed.column);
    const auto at = static_cast<std::ptrdiff_t>(position(fit, removed.column));
    if (removed.of == Of::upgrade) {
      forms[static_cast<std::size_t>(at)] = Form::small;
    } else {
      cells_.remove(removed.column);
      if (!forms.empty()) forms.erase(forms.begin() + at);
    }
    return fitter_.minimise(cells_, std::move(forms), &fit, {}, std::move(upgraded));
  }

  // The neighbour whose removal costs least, on one scale; removals that are sure to cost more than the limit
  // are not looked at.
  Choice cheapest_removal(const CurrentFit& fit, double limit) {
    std::vector<Choice> costs;
    for (std::size_t i = 0; i < fit.support.size(); ++i) {
      const std::size_t t = fit.support[i];
      const auto look = [&](Of of, double raw_least, const auto& exact) {
        const double least = scale_.standardised(raw_least, t, of);
        const bool dear = least > limit + 2 * kTie;
        if (dear && !settings_.check) return;
        const double cost = scale_.standardised(exact(), t, of);
        costs.push_back({t, -cost, of});
        if (dear && cost < least - 1e-10) throw std::logic_error("a removal costs less than its bound");
      };
      if (fit.is_upgraded(t))
        look(Of::upgrade, fit.least_upgrade_costs[i], [&] { return removals_.cost_of_upgrade(fit, i); });
      if (contains(required_, t)) continue;
      const Of of = fit.form(i) == Form::small ? Of::small : Of::table;
      look(of, fit.least_costs[i], [&] { return removals_.cost(fit, i); });
    }
    if (costs.empty()) return {0, std::numeric_limits<double>::infinity()};
    const Choice choice = first_within_tie(costs);
    return {choice.column, -choice.value, choice.of};
  }

  CurrentFit restore(const NodeFit& fit) {
    cells_.become(fit.support);
    return fitter_.restore(cells_, fit);
  }

  static std::size_t position(const CurrentFit& fit, std::size_t column) {
    return static_cast<std::size_t>(std::ranges::find(fit.support, column) - fit.support.begin());
  }

  static bool contains(const std::vector<std::size_t>& columns, std::size_t j) {
    return std::binary_search(columns.begin(), columns.end(), j);
  }

  static NodePath& stopped(NodePath& path, Stop stop) {
    path.stop = stop;
    return path;
  }

  const Table& table_;
  Settings settings_;
  Pairs::Reader reader_;
  Cells cells_;
  Scale scale_;
  Fitter fitter_;
  ForwardSearch forward_;
  RemovalCosts removals_;
  std::vector<std::size_t> varying_, candidates_, required_;  // in increasing order
  std::vector<std::size_t> outside_;                          // candidates that are not in the support
};

}  // namespace isinglass

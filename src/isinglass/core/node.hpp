// Algorithm 1 for one column, on counts.
//
// `search` is the algorithm; it reads like isinglass/solvers/foba.py. A forward step finds the best
// candidate by bounds first (`Screen`, then exact slopes) and evaluates exactly what they leave.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

#include "bounds.hpp"
#include "cells.hpp"
#include "equivalent.hpp"
#include "pairs.hpp"
#include "profile.hpp"
#include "refit.hpp"
#include "screen.hpp"

namespace isinglass {

constexpr double kTie = 1e-9;        // gains and costs this close to the best are equal to it
constexpr double kZero = 1e-12;      // a smaller gain counts as none
constexpr double kRounding = 1e-11;  // losses this close are equal: the same support, refitted

struct Settings {
  double threshold;
  double nu;
  bool intercept;
  std::size_t max_degree;
  bool check;  // evaluate every candidate, and fail if a skipped one was better
};

// The minimiser over a support, against the first states: the field, then one block a column.
struct NodeFit {
  std::vector<std::size_t> support;  // in the order of the blocks
  std::vector<double> parameters;
  std::vector<char> unbounded;
  std::vector<double> chances;      // cells x states of the target
  std::vector<double> least_costs;  // what removing each column costs at least, raw
  double loss = 0;
};

struct NodeStep {
  bool add;
  std::size_t variable;
  double change;  // the gain of an add, the cost of a drop
  NodeFit fit;
};

enum class Stop { below_threshold, no_candidate, max_degree, interrupted };

struct NodePath {
  NodeFit start;
  std::vector<NodeStep> steps;
  Stop stop = Stop::below_threshold;
  std::int64_t evaluated = 0;  // candidates whose gain was computed exactly
};

class Node {
 public:
  Node(const Table& table, const Pairs& pairs, Pairs::Reader& reader, std::size_t target,
       const Settings& settings)
      : table_(table),
        pairs_(pairs),
        reader_(reader),
        r_(target),
        settings_(settings),
        cells_(table, target) {
    if (table.states(r_) < 2) return;
    for (std::size_t j = 0; j < table.columns(); ++j)
      if (j != r_ && table.states(j) > 1) candidates_.push_back(j);
  }

  NodePath search(const std::atomic<bool>& interrupted) {
    NodePath path;
    NodeFit fit = refit(nullptr);
    path.start = without_chances(fit);
    std::map<std::size_t, double> recorded, left_at;  // by support size: last gain, last loss
    while (true) {
      const std::size_t size = fit.support.size();
      if (interrupted) return stopped(path, Stop::interrupted);
      if (size == candidates_.size()) return stopped(path, Stop::no_candidate);
      if (size >= settings_.max_degree) return stopped(path, Stop::max_degree);

      const Choice forward = best_candidate(fit);
      if (!(forward.value > settings_.threshold)) return stopped(path, Stop::below_threshold);
      left_at[size] = fit.loss;
      const std::vector<double> shifts = best_shifts(fit, forward.column);
      cells_.add(forward.column);
      fit = refit(&fit, shifts);
      recorded[size + 1] = forward.value;
      path.steps.push_back({true, forward.column, forward.value, without_chances(fit)});

      while (!interrupted) {
        const double limit = settings_.nu * recorded[fit.support.size()];
        const Choice backward = cheapest_removal(fit, limit);
        if (backward.value > limit) break;
        const Cells before = cells_;
        cells_.remove(backward.column);
        NodeFit fewer = refit(&fit);
        // Costs of unequal edges can run in circles; a loss that falls cannot.
        if (!(fewer.loss < left_at[fewer.support.size()] - kRounding)) {
          cells_ = before;
          break;
        }
        fit = std::move(fewer);
        path.steps.push_back({false, backward.column, backward.value, without_chances(fit)});
      }
    }
  }

  // The minimiser over a support that is given, not searched.
  NodeFit fit(const std::vector<std::size_t>& support) {
    cells_.become(support);
    return without_chances(refit(nullptr));
  }

  // What each wanted column is worth at a fit: the cost of removing it, or the gain of adding it. Raw.
  std::vector<double> worth(NodeFit fit, const std::vector<std::size_t>& wanted) {
    if (cells_.support() != fit.support) cells_.become(fit.support);
    // Where a column is constant nothing can be gained: some part of a table may be so.
    if (table_.states(r_) < 2) return std::vector<double>(wanted.size(), 0.0);
    Refit(cells_.view(), table_.n(), settings_.intercept, kRidge).chances(fit.parameters, fit.chances);
    std::vector<double> values;
    for (const std::size_t j : wanted) {
      const std::size_t i = position(fit, j);
      values.push_back(i < fit.support.size() ? cost(fit, i) : exact_gain(fit, j));
    }
    return values;
  }

  std::int64_t evaluated() const { return evaluated_; }

 private:
  struct Choice {
    std::size_t column = 0;
    double value = 0;
  };

  // What is kept of a fit: the chances take a number for each cell, and are soon made again.
  static NodeFit without_chances(const NodeFit& fit) {
    return {fit.support, fit.parameters, fit.unbounded, {}, {}, fit.loss};
  }

  static NodePath& stopped(NodePath& path, Stop stop) {
    path.stop = stop;
    return path;
  }

  int df(std::size_t j) const { return (table_.states(r_) - 1) * (table_.states(j) - 1); }

  double on_one_scale(double raw, std::size_t j) const {
    return raw < kZero ? 0.0 : one_parameter_gain(raw, df(j), table_.n());
  }

  // The lowest column whose value is within a tie of the best.
  static Choice first_within_tie(std::vector<Choice>& values) {
    std::sort(values.begin(), values.end(),
              [](const Choice& a, const Choice& b) { return a.column < b.column; });
    double best = values.front().value;
    for (const Choice& choice : values) best = std::max(best, choice.value);
    for (const Choice& choice : values)
      if (choice.value >= best - kTie) return choice;
    return values.front();
  }

  // Bounds first, ever sharper; what they leave is evaluated, the most promising first.
  Choice best_candidate(const NodeFit& fit) {
    std::vector<Choice> exact;
    double best = 0;
    const auto cut = [&] { return std::max(best, settings_.threshold) - kTie; };
    const auto is_out = [&](double bound, std::size_t j) {
      if (bound == kNoBound) return false;
      return bound / table_.n() <= cut() || (df(j) > 1 && on_one_scale(bound / table_.n(), j) <= cut());
    };
    const auto evaluate = [&](std::size_t j) {
      count_totals(j);
      if (is_out(slope_bound(fit, j), j)) return;
      cells_.split(j, fit.chances.data(), by_state_);
      exact.push_back({j, on_one_scale(gain_of_split(fit, j), j)});
      best = std::max(best, exact.back().value);
    };
    Screen screen(table_, pairs_, reader_, cells_, r_, fit.chances);
    std::vector<Screen::Open> open;
    for (const std::size_t j : outside(fit)) open.push_back({j});
    const auto less = [](const Screen::Open& a, const Screen::Open& b) { return a.promise < b.promise; };
    const auto hopeless = [&](const Screen::Open& candidate) {
      return is_out(candidate.bound, candidate.column);
    };
    for (std::size_t sharpened = 0; !open.empty(); ++sharpened) {
      screen.assess(open);
      const auto top = std::max_element(open.begin(), open.end(), less);
      if (!hopeless(*top)) evaluate(top->column);
      open.erase(top);
      std::erase_if(open, hopeless);
      if (!screen.worth_sharpening(open.size()) || sharpened == kMostSets || !screen.sharpen(open)) break;
    }
    std::stable_sort(open.begin(), open.end(), [&](const auto& a, const auto& b) { return less(b, a); });
    for (const Screen::Open& candidate : open)
      if (!hopeless(candidate)) evaluate(candidate.column);
    if (settings_.check) assert_best(fit, exact, best);
    return exact.empty() ? Choice{outside(fit).front(), 0.0} : first_within_tie(exact);
  }

  void assert_best(const NodeFit& fit, const std::vector<Choice>& exact, double best) {
    for (const std::size_t j : outside(fit)) {
      const bool known =
          std::any_of(exact.begin(), exact.end(), [&](const Choice& c) { return c.column == j; });
      const double gain = known ? 0 : on_one_scale(exact_gain(fit, j), j);
      if (gain > std::max(best, settings_.threshold) - kTie + 1e-12)
        throw std::logic_error("a skipped candidate was better than the chosen one");
    }
  }

  std::vector<std::size_t> outside(const NodeFit& fit) const {
    std::vector<std::size_t> columns(candidates_), inside(fit.support);
    std::sort(inside.begin(), inside.end());
    const auto end = std::set_difference(candidates_.begin(), candidates_.end(), inside.begin(), inside.end(),
                                         columns.begin());
    columns.erase(end, columns.end());
    return columns;
  }

  // Removals that are sure to cost more than the limit are not looked at.
  Choice cheapest_removal(const NodeFit& fit, double limit) {
    std::vector<Choice> costs;
    for (std::size_t i = 0; i < fit.support.size(); ++i) {
      const std::size_t t = fit.support[i];
      const bool dear = on_one_scale(fit.least_costs[i], t) > limit + 2 * kTie;
      if (!dear || settings_.check) costs.push_back({t, -on_one_scale(cost(fit, i), t)});
      if (dear && settings_.check && -costs.back().value < on_one_scale(fit.least_costs[i], t) - 1e-10)
        throw std::logic_error("a removal costs less than its bound");
    }
    if (costs.empty()) return {0, std::numeric_limits<double>::infinity()};
    Choice choice = first_within_tie(costs);
    choice.value = -choice.value;
    return choice;
  }

  // Cells by state of a candidate, and the target's totals there.
  void split(const NodeFit& fit, std::size_t j) {
    count_totals(j);
    cells_.split(j, fit.chances.data(), by_state_);
  }

  // Rows of each state of a candidate and each state of the target.
  void count_totals(std::size_t j) {
    const auto m = static_cast<std::size_t>(table_.states(j)), width = cells_.width();
    totals_.assign(m * width, 0.0);
    for (std::size_t c = 0; c < m; ++c)
      for (std::size_t a = 0; a < width; ++a)
        totals_[c * width + a] =
            table_.count(table_.bits(r_, static_cast<int>(a)), table_.bits(j, static_cast<int>(c)));
  }

  // Bound from the exact slopes and curvatures of a candidate, its totals counted.
  double slope_bound(const NodeFit& fit, std::size_t j) {
    if (cells_.width() == 2) return slope_bound_of_two(fit, j);
    cells_.split(j, fit.chances.data(), by_state_);
    const std::size_t width = cells_.width(), q = width - 1;
    std::vector<double> g(q), h(q * q);
    double bound = 0;
    for (std::size_t c = 0; c < by_state_.size(); ++c) {
      if (by_state_[c].empty()) continue;
      std::fill(h.begin(), h.end(), 0.0);
      for (std::size_t a = 0; a < q; ++a) g[a] = totals_[c * width + a + 1];
      for (const Weighted& cell : by_state_[c])
        for (std::size_t a = 0; a < q; ++a) {
          const double weighted = cell.rows * cell.chance[a + 1];
          g[a] -= weighted;
          for (std::size_t b = 0; b < a; ++b) h[a * q + b] -= weighted * cell.chance[b + 1];
          h[a * q + a] += weighted * (1 - cell.chance[a + 1]);
        }
      bound += gain_bound(g, h);
    }
    return bound;
  }

  double slope_bound_of_two(const NodeFit& fit, std::size_t j) {
    std::vector<double> chance(cells_.size()), curvature(cells_.size()), expected, curvatures;
    for (std::size_t s = 0; s < cells_.size(); ++s) {
      chance[s] = fit.chances[2 * s + 1];
      curvature[s] = chance[s] * fit.chances[2 * s];
    }
    cells_.sums_by_state(j, chance, curvature, expected, curvatures);
    double bound = 0;
    for (std::size_t c = 0; c < expected.size(); ++c)
      bound += gain_bound(std::abs(totals_[2 * c + 1] - expected[c]) + 1e-12 * table_.n(), curvatures[c]);
    return bound;
  }

  // Exact gain of the candidate of the last split.
  double gain_of_split(const NodeFit& fit, std::size_t j) {
    ++evaluated_;
    if (!settings_.intercept) return joint_gain(fit, j);
    const std::size_t width = cells_.width();
    double gain = 0;
    for (std::size_t c = 0; c < by_state_.size(); ++c)
      gain += profile_.maximum(by_state_[c], std::span(totals_).subspan(c * width, width));
    return gain / table_.n();
  }

  double exact_gain(const NodeFit& fit, std::size_t j) {
    split(fit, j);
    return gain_of_split(fit, j);
  }

  // Without a field the states of the candidate are tied together: one small search over its block.
  double joint_gain(const NodeFit& fit, std::size_t j) {
    const std::size_t width = cells_.width(), cells = cells_.size();
    const auto m = static_cast<std::size_t>(table_.states(j));
    std::vector<double> counts, offset;
    std::vector<std::uint8_t> codes;
    cells_.cross(j, counts);
    std::vector<double> kept;
    for (std::size_t s = 0; s < cells; ++s)
      for (std::size_t c = 0; c < m; ++c) {
        const double* row = &counts[(s * m + c) * width];
        double rows = 0;
        for (std::size_t a = 0; a < width; ++a) rows += row[a];
        if (rows <= 0) continue;
        codes.push_back(static_cast<std::uint8_t>(c));
        kept.insert(kept.end(), row, row + width);
        for (std::size_t a = 0; a < width; ++a) offset.push_back(std::log(fit.chances[s * width + a]));
      }
    const CellView view{codes.size(),          static_cast<int>(width),
                        {static_cast<int>(m)}, codes.data(),
                        kept.data(),           offset.data()};
    Refit problem(view, table_.n(), false, kVanishing);
    std::vector<double> x(problem.size(), 0.0), chances;
    problem.minimise(x, 1e-15);
    return fit.loss - problem.chances(problem.expand(x), chances);
  }

  // Rise of the loss when the i-th neighbour is removed and the field re-optimised.
  double cost(const NodeFit& fit, std::size_t i) {
    const std::size_t width = cells_.width();
    const std::vector<double> removed = table_of(fit, i);
    std::vector<double> factors(removed.size()), totals(width, 0.0), chances(cells_.size() * width);
    for (std::size_t k = 0; k < removed.size(); ++k) factors[k] = std::exp(-removed[k]);
    std::vector<Weighted> all;
    double linear = 0, unshifted = 0;
    for (std::size_t s = 0; s < cells_.size(); ++s) {
      const std::size_t row = static_cast<std::size_t>(cells_.code(s, i)) * width;
      double sum = 0;
      for (std::size_t a = 0; a < width; ++a) {
        const double count = cells_.count(s, static_cast<int>(a));
        sum += chances[s * width + a] = fit.chances[s * width + a] * factors[row + a];
        linear += count * removed[row + a];
        totals[a] += count;
      }
      if (!settings_.intercept) unshifted += cells_.total(s) * std::log(sum);
      all.push_back({cells_.total(s), &chances[s * width]});
    }
    return (linear + (settings_.intercept ? -profile_.maximum(all, totals) : unshifted)) / table_.n();
  }

  // What the i-th neighbour adds to the scores, by its state and the target's; relative to the first.
  std::vector<double> table_of(const NodeFit& fit, std::size_t i) const {
    const auto m = static_cast<std::size_t>(table_.states(fit.support[i])), width = cells_.width(),
               q = width - 1;
    const std::size_t first = block(fit, i);
    // Without an intercept the field follows the tables, and loses this one's means.
    const double drift = settings_.intercept ? 0.0 : 1.0 / static_cast<double>(m);
    std::vector<double> table(m * width, 0.0);
    for (std::size_t c = 1; c < m; ++c)
      for (std::size_t a = 0; a < q; ++a) {
        const double value = fit.parameters[(first + c - 1) * q + a];
        table[c * width + a + 1] += value;
        for (std::size_t d = 0; d < m; ++d) table[d * width + a + 1] -= drift * value;
      }
    return table;
  }

  // Where the features of the i-th neighbour begin.
  std::size_t block(const NodeFit& fit, std::size_t i) const {
    std::size_t first = 1;
    for (std::size_t k = 0; k < i; ++k) first += static_cast<std::size_t>(table_.states(fit.support[k])) - 1;
    return first;
  }

  // What the best table of a candidate alone would add to the scores: where its refit starts.
  std::vector<double> best_shifts(const NodeFit& fit, std::size_t j) {
    std::vector<double> shifts;
    if (!settings_.intercept) return shifts;
    split(fit, j);
    const std::size_t width = cells_.width();
    for (std::size_t c = 0; c < by_state_.size(); ++c) {
      profile_.maximum(by_state_[c], std::span(totals_).subspan(c * width, width));
      const std::span<const double> shift = profile_.shift();
      for (std::size_t a = 1; a < width; ++a) shifts.push_back(std::clamp(shift[a] - shift[0], -5.0, 5.0));
    }
    return shifts;
  }

  // Minimiser over the present cells, started from a nearby fit and the shifts of a new column.
  NodeFit refit(const NodeFit* near, const std::vector<double>& shifts = {}) {
    NodeFit fit;
    fit.support = cells_.support();
    if (table_.states(r_) < 2) {
      fit.chances.assign(cells_.size(), 1.0);
      return fit;
    }
    Refit problem(cells_.view(), table_.n(), settings_.intercept, kRidge);
    std::vector<double> x = start_from(near, fit.support, shifts);
    problem.minimise(x, 1e-18);
    fit.parameters = problem.expand(x);
    fit.loss = problem.chances(fit.parameters, fit.chances);
    fit.unbounded = problem.held_by_ridge(x);
    fit.least_costs = problem.least_removal_costs(x);
    return fit;
  }

  std::vector<double> start_from(const NodeFit* near, const std::vector<std::size_t>& support,
                                 const std::vector<double>& shifts) const {
    const std::size_t q = cells_.width() - 1;
    std::vector<double> x(settings_.intercept ? q : 0, 0.0);
    for (std::size_t a = 0; near && a < x.size(); ++a)
      x[a] = near->parameters[a] + (shifts.empty() ? 0.0 : shifts[a]);
    for (const std::size_t t : support) {
      const std::size_t length = (static_cast<std::size_t>(table_.states(t)) - 1) * q, at = x.size();
      x.resize(at + length, 0.0);
      const std::size_t i = near ? position(*near, t) : 0;
      if (near && i < near->support.size())
        std::copy_n(near->parameters.begin() + static_cast<std::ptrdiff_t>(block(*near, i) * q), length,
                    x.begin() + static_cast<std::ptrdiff_t>(at));
      else
        for (std::size_t k = 0; k < length && !shifts.empty(); ++k) x[at + k] = shifts[q + k] - shifts[k % q];
    }
    return x;
  }

  static std::size_t position(const NodeFit& fit, std::size_t column) {
    return static_cast<std::size_t>(std::find(fit.support.begin(), fit.support.end(), column) -
                                    fit.support.begin());
  }

  static constexpr std::size_t kMostSets = 16;  // each halves what is unknown of the slopes

  const Table& table_;
  const Pairs& pairs_;
  Pairs::Reader& reader_;
  std::size_t r_;
  Settings settings_;
  Cells cells_;
  std::vector<std::size_t> candidates_;
  Profile profile_;
  std::vector<std::vector<Weighted>> by_state_;
  std::vector<double> totals_;
  std::int64_t evaluated_ = 0;
};

}  // namespace isinglass

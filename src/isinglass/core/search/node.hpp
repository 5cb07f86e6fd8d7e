// Algorithm 1 for one column, on counts.
//
// `search` is the algorithm; it reads like isinglass/solvers/foba.py. A forward step finds the best
// candidate by bounds first (`Screen`, then exact slopes) and evaluates exactly what they leave.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include "bits/cells.hpp"
#include "bits/pairs.hpp"
#include "gains/bounds.hpp"
#include "gains/equivalent.hpp"
#include "gains/profile.hpp"
#include "gains/screen.hpp"
#include "refit/refit.hpp"

namespace isinglass {

constexpr double kTie = 1e-9;        // gains and costs this close to the best are equal to it
constexpr double kZero = 1e-12;      // a smaller gain counts as none
constexpr double kRounding = 1e-11;  // losses this close are equal: the same support, refitted

// For each target: columns that are neighbours from the start and are never dropped, and columns that
// are never looked at. Both in increasing order; none is both.
struct Constraints {
  std::vector<std::vector<std::size_t>> required, forbidden;
};

struct Settings {
  double threshold;
  double nu;
  bool intercept;
  std::size_t max_degree;
  bool check;  // evaluate every candidate, and fail if a skipped one was better
  const Constraints* constraints = nullptr;
};

// The minimiser over a support, against the first states: the field, then one block a column.
struct NodeFit {
  std::vector<std::size_t> support;  // in the order of the blocks
  std::vector<double> parameters;
  std::vector<char> unbounded;
  std::vector<double> chances;      // cells x states of the target
  std::vector<double> least_costs;  // what removing each column costs at least, raw
  std::vector<double> costs;        // what it does cost; NaN where nobody has asked yet
  std::vector<double> responses;    // where the field then goes, about; or nothing
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
  Node(const Table& table, const Pairs& pairs, const Settings& settings)
      : table_(table),
        pairs_(pairs),
        settings_(settings),
        reader_(pairs),
        cells_(table, 0),
        screen_(table, pairs, reader_, cells_) {}

  Node(const Node&) = delete;  // its parts point at each other
  Node& operator=(const Node&) = delete;

  // Turns to another column; what was allocated for the last one is kept.
  void turn_to(std::size_t target) {
    r_ = target;
    reader_.tidy();
    cells_.turn_to(target);
    candidates_.clear();
    required_.clear();
    evaluated_ = 0;
    if (table_.states(r_) < 2) return;
    if (table_.states(r_) > 2) state_bounds_.resize(table_.first(table_.columns()) + table_.columns());
    const Constraints* constraints = settings_.constraints;
    for (std::size_t j = 0; j < table_.columns(); ++j) {
      if (j == r_ || table_.states(j) < 2 || (constraints && contains(constraints->forbidden[r_], j)))
        continue;
      candidates_.push_back(j);
      if (constraints && contains(constraints->required[r_], j)) required_.push_back(j);
    }
  }

  NodePath search(const std::atomic<bool>& interrupted) {
    NodePath path;
    if (!required_.empty()) cells_.become(required_);
    outside_.clear();
    std::set_difference(candidates_.begin(), candidates_.end(), required_.begin(), required_.end(),
                        std::back_inserter(outside_));
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
      outside_.erase(std::lower_bound(outside_.begin(), outside_.end(), forward.column));
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
        outside_.insert(std::lower_bound(outside_.begin(), outside_.end(), backward.column), backward.column);
        path.steps.push_back({false, backward.column, backward.value, without_chances(fit)});
      }
    }
  }

  // A path without a step: the fit on neighbours that are given, not searched for.
  NodePath fit_on(const std::vector<std::size_t>& neighbours) {
    cells_.become(neighbours);
    NodePath path;
    path.start = without_chances(refit(nullptr));
    return path;
  }

  // Exact gains of columns at a fit, raw, and what removing each of its neighbours costs: to compare with.
  std::vector<double> gains_at(const NodeFit& fit, std::span<const std::size_t> columns) {
    const NodeFit whole = with_chances(fit);
    std::vector<double> gains;
    for (const std::size_t j : columns) gains.push_back(exact_gain(whole, j));
    return gains;
  }

  std::vector<double> costs_at(const NodeFit& fit) {
    NodeFit whole = with_chances(fit);
    for (std::size_t i = 0; i < fit.support.size(); ++i) cost(whole, i);
    return whole.costs;
  }

  std::int64_t evaluated() const { return evaluated_; }

 private:
  using Open = Screen::Open;

  struct Choice {
    std::size_t column = 0;
    double value = 0;
  };

  // The cells become those of a fit, and the chances of each are made again.
  NodeFit with_chances(const NodeFit& fit) {
    cells_.become(fit.support);
    NodeFit whole = fit;
    Refit(cells_.view(), table_.n(), settings_.intercept, kRidge).chances(fit.parameters, whole.chances);
    whole.costs.assign(fit.support.size(), std::numeric_limits<double>::quiet_NaN());
    return whole;
  }

  // What is kept of a fit: the chances take a number for each cell, and are soon made again.
  static NodeFit without_chances(const NodeFit& fit) {
    return {fit.support, fit.parameters, fit.unbounded, {}, {}, {}, {}, fit.loss};
  }

  static bool contains(const std::vector<std::size_t>& columns, std::size_t j) {
    return std::binary_search(columns.begin(), columns.end(), j);
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
    shifted_ = r_;
    const auto cut = [&] { return std::max(best, settings_.threshold) - kTie; };
    const auto hopeless = [&](const Open& candidate) {
      if (candidate.bound == kNoBound) return false;
      const double bound = candidate.bound / table_.n();
      return bound <= cut() || (df(candidate.column) > 1 && on_one_scale(bound, candidate.column) <= cut());
    };
    const auto evaluate = [&](Open candidate) {
      split(fit, candidate.column);
      if (falls_short(candidate, hopeless)) return;
      const double gain = gain_of_split();
      exact.push_back({candidate.column, on_one_scale(gain, candidate.column)});
      if (!(exact.back().value > best)) return;
      best = exact.back().value;
      keep_shifts(candidate.column);
    };
    Screen& screen = screen_;
    screen.begin(fit.chances, outside_);
    std::vector<Open>& open = open_;
    screen.look_at(outside_, open, cut() * table_.n());
    std::erase_if(open, hopeless);
    const auto assess = [&] {
      screen.assess(open, cut() * table_.n());
      std::erase_if(open, hopeless);
    };
    for (int round = 0; round < kMostRounds && screen.works() && !open.empty(); ++round) {
      // A gain that is likely to raise the cut rules out more than another set of rows does.
      const auto top = std::max_element(open.begin(), open.end(), less_promising);
      if (screen.guess(*top) > (best > 0 ? 1.0 : kEarly) * cut() * table_.n()) {
        const double before = cut();
        evaluate(*top);
        open.erase(top);
        if (cut() > before) assess();
      }
      if (!screen.worth_sharpening(open.size()) || !screen.sharpen(open, cut() * table_.n())) break;
      assess();
    }
    if (screen.sharp()) screen.bound(open);
    if (!screen.works() && !open.empty()) {
      tabulate_moments(fit);
      for (Open& candidate : open) look_at_slopes(candidate);
    }
    std::erase_if(open, hopeless);
    std::stable_sort(open.begin(), open.end(),
                     [](const auto& a, const auto& b) { return less_promising(b, a); });
    for (const Open& candidate : open)
      if (!hopeless(candidate)) evaluate(candidate);
    if (settings_.check) assert_best(fit, exact, best);
    return exact.empty() ? Choice{outside_.front(), 0.0} : first_within_tie(exact);
  }

  // Whether bounds rule out the candidate by which the cells are split: those of the exact slopes, where
  // only the screen has looked at it.
  template <class Hopeless>
  bool falls_short(Open& candidate, const Hopeless& hopeless) {
    if (cells_.width() > 2) return settings_.intercept && falls_short_by_state(candidate, hopeless);
    candidate.bound = 0;
    for (std::size_t c = 0; c < by_state_.size(); ++c) {
      const WeightedCells& cells = by_state_[c];
      double sums[2];
      sum_moments(cells.size(), cells.rows(), cells.chances(0), cells.chances(1), 1.0, sums[0], sums[1]);
      candidate.bound += bound_of_two(&totals_[2 * c], sums, candidate.promise);
    }
    return hopeless(candidate);
  }

  // Puts sharper bounds in the place of those of the states, the loosest first, until the candidate is out.
  template <class Hopeless>
  bool falls_short_by_state(Open& candidate, const Hopeless& hopeless) {
    const auto m = static_cast<std::size_t>(table_.states(candidate.column));
    const std::size_t width = cells_.width(), q = width - 1, functions = q + q * (q + 1) / 2;
    std::vector<double> terms(m), slope(q), curvature(q * q);
    std::vector<std::size_t> order(m);
    for (std::size_t c = 0; c < m; ++c)
      terms[c] = state_bounds_[table_.state(candidate.column, static_cast<int>(c))];
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return terms[a] > terms[b]; });
    cells_.sums_by_state(candidate.column, moments_, functions, sums_);
    for (const std::size_t c : order) {
      const std::span<const double> totals = std::span(totals_).subspan(c * width, width);
      unpack(totals.data(), &sums_[c * functions], slope, curvature);
      terms[c] = profile_.nearly_maximum(by_state_[c], totals, slope, curvature) * (1 + 1e-12);
      candidate.bound = std::accumulate(terms.begin(), terms.end(), 0.0);
      if (hopeless(candidate)) return true;
    }
    return false;
  }

  static bool less_promising(const Open& a, const Open& b) { return a.promise < b.promise; }

  void assert_best(const NodeFit& fit, const std::vector<Choice>& exact, double best) {
    for (const std::size_t j : outside_) {
      const bool known =
          std::any_of(exact.begin(), exact.end(), [&](const Choice& c) { return c.column == j; });
      const double gain = known ? 0 : on_one_scale(exact_gain(fit, j), j);
      if (gain > std::max(best, settings_.threshold) - kTie + 1e-12)
        throw std::logic_error("a skipped candidate was better than the chosen one");
    }
  }

  // Removals that are sure to cost more than the limit are not looked at.
  Choice cheapest_removal(NodeFit& fit, double limit) {
    std::vector<Choice> costs;
    for (std::size_t i = 0; i < fit.support.size(); ++i) {
      const std::size_t t = fit.support[i];
      if (contains(required_, t)) continue;
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
    if (!table_.countable()) {
      for (std::size_t c = 0; c < m; ++c)
        for (std::size_t a = 0; a < width; ++a)
          totals_[c * width + a] =
              table_.count(table_.bits(r_, static_cast<int>(a)), table_.bits(j, static_cast<int>(c)));
      return;
    }
    // Pair counts know all but the first states; the rest are differences of whole numbers.
    double* first = totals_.data();
    for (std::size_t a = 0; a < width; ++a) first[a] = table_.marginal(table_.state(r_, static_cast<int>(a)));
    for (std::size_t a = 1; a < width; ++a) {
      const double* row = reader_.row(pairs_.first(r_) + a - 1).data() + pairs_.first(j);
      for (std::size_t c = 1; c < m; ++c) first[a] -= totals_[c * width + a] = row[c - 1];
    }
    for (std::size_t c = 1; c < m; ++c) {
      double& own = totals_[c * width];
      own = table_.marginal(table_.state(j, static_cast<int>(c)));
      for (std::size_t a = 1; a < width; ++a) own -= totals_[c * width + a];
      first[0] -= own;
    }
  }

  // Chances of all states but the first in each cell, then the lower triangle of their curvature.
  void tabulate_moments(const NodeFit& fit) {
    const std::size_t width = cells_.width(), q = width - 1;
    moments_.clear();
    for (std::size_t s = 0; s < cells_.size(); ++s) {
      const double* chance = &fit.chances[s * width];
      moments_.insert(moments_.end(), chance + 1, chance + width);
      for (std::size_t a = 1; a <= q; ++a) {
        for (std::size_t b = 1; b < a; ++b) moments_.push_back(-chance[a] * chance[b]);
        moments_.push_back(width == 2 ? chance[1] * chance[0] : chance[a] * (1 - chance[a]));
      }
    }
  }

  // Bound and guess from the exact slopes and curvatures of a candidate; moments tabulated.
  void look_at_slopes(Open& candidate) {
    const std::size_t width = cells_.width(), q = width - 1, functions = q + q * (q + 1) / 2;
    count_totals(candidate.column);
    cells_.sums_by_state(candidate.column, moments_, functions, sums_);
    candidate.bound = candidate.promise = 0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(table_.states(candidate.column)); ++c) {
      const double *totals = &totals_[c * width], *sums = &sums_[c * functions];
      const double bound = width == 2 ? bound_of_two(totals, sums, candidate.promise)
                                      : bound_of_many(totals, sums, candidate.promise);
      if (width > 2) state_bounds_[table_.state(candidate.column, static_cast<int>(c))] = bound;
      candidate.bound += bound;
    }
  }

  double bound_of_two(const double* totals, const double* sums, double& guess) const {
    const double slope = std::abs(totals[1] - sums[0]) + 1e-12 * table_.n();
    if (sums[1] > 0) guess += 0.5 * slope * slope / sums[1];
    return gain_bound(slope, sums[1]);
  }

  double bound_of_many(const double* totals, const double* sums, double& guess) const {
    const std::size_t width = cells_.width(), q = width - 1;
    if (std::accumulate(totals, totals + width, 0.0) <= 0) return 0;
    std::vector<double> g(q), h(q * q);
    unpack(totals, sums, g, h);
    return gain_bound(g, h, guess);
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

  // Exact gain of the candidate of the last split.
  double gain_of_split() {
    ++evaluated_;
    if (!settings_.intercept) return joint_gain();
    const std::size_t width = cells_.width();
    double gain = 0;
    shifts_.clear();
    for (std::size_t c = 0; c < by_state_.size(); ++c) {
      gain += profile_.maximum(by_state_[c], std::span(totals_).subspan(c * width, width),
                               Profile::Cell::of_chances);
      shifts_.insert(shifts_.end(), profile_.shift().begin(), profile_.shift().end());
    }
    return gain / table_.n();
  }

  double exact_gain(const NodeFit& fit, std::size_t j) {
    split(fit, j);
    return gain_of_split();
  }

  // Without a field the states of the candidate are tied together: one small search over its block. Of the
  // target's states only the totals matter; they are spread evenly over the rows.
  double joint_gain() {
    const std::size_t width = cells_.width(), m = by_state_.size();
    if (width == 2 && m == 2) return mirrored_gain();
    std::vector<double> counts, offset;
    std::vector<std::uint8_t> codes;
    for (std::size_t c = 0; c < m; ++c) {
      const WeightedCells& cells = by_state_[c];
      const std::span<const double> totals = std::span(totals_).subspan(c * width, width);
      const double all = std::accumulate(totals.begin(), totals.end(), 0.0);
      for (std::size_t s = 0; s < cells.size(); ++s) {
        if (!(cells.rows()[s] > 0)) continue;
        codes.push_back(static_cast<std::uint8_t>(c));
        for (std::size_t a = 0; a < width; ++a) {
          counts.push_back(cells.rows()[s] * totals[a] / all);
          offset.push_back(std::log(cells.chances(a)[s]));
        }
      }
    }
    const CellView view{codes.size(), static_cast<int>(width), {static_cast<int>(m)},
                        codes.data(), counts.data(),           offset.data()};
    Refit problem(view, table_.n(), false, kVanishing);
    std::vector<double> x(problem.size(), 0.0), chances;
    const double before = problem.chances(problem.expand(x), chances);
    problem.minimise(x, 1e-15);
    return before - problem.chances(problem.expand(x), chances);
  }

  // Between two columns of two states one number is free, which moves the logits of the candidate's two
  // states by the same amount to either side: one shift of all, once the target's states change places in
  // the cells of the first.
  double mirrored_gain() {
    const WeightedCells &first = by_state_[0], &second = by_state_[1];
    all_.reset(2, first.size() + second.size());
    all_.append(first, 1, 0);
    all_.append(second, 0, 1);  // both have all lanes full
    const double totals[2] = {totals_[1] + totals_[2], totals_[0] + totals_[3]};
    return profile_.maximum(all_, totals) / table_.n();
  }

  // Rise of the loss when the i-th neighbour is removed and the field re-optimised.
  double cost(NodeFit& fit, std::size_t i) {
    if (std::isnan(fit.costs[i])) fit.costs[i] = find_cost(fit, i);
    return fit.costs[i];
  }

  double find_cost(const NodeFit& fit, std::size_t i) {
    const std::size_t width = cells_.width(), t = fit.support[i];
    std::vector<double> removed = table_of(fit, i), factors(removed.size()), totals(width, 0.0);
    count_totals(t);
    for (std::size_t k = 0; k < removed.size(); ++k) totals[k % width] += totals_[k];
    if (settings_.intercept) subtract_response(fit, i, removed, totals);
    if (std::ranges::any_of(removed, [](double number) { return std::abs(number) > kLargest; }))
      return find_large_cost(fit, i, totals);
    double linear = 0;
    for (std::size_t k = 0; k < removed.size(); ++k) {
      linear += totals_[k] * removed[k];
      factors[k] = std::exp(-removed[k]);
    }
    width == 2 ? take_out<2>(fit, i, factors) : take_out<0>(fit, i, factors);
    return (linear -
            (settings_.intercept ? profile_.maximum(all_, totals) : profile_.unshifted(all_, width))) /
           table_.n();
  }

  // The same where columns nearly separate the target, and odds are too large for numbers: from the
  // parameters without the table.
  double find_large_cost(const NodeFit& fit, std::size_t i, const std::vector<double>& totals) {
    const auto m = static_cast<std::size_t>(table_.states(fit.support[i]));
    const std::size_t width = cells_.width(), q = width - 1, first = block(fit, i);
    std::vector<double> parameters = fit.parameters, chances;
    for (std::size_t c = 1; c < m; ++c)
      for (std::size_t a = 0; a < q; ++a) {
        double& value = parameters[(first + c - 1) * q + a];
        if (!settings_.intercept) parameters[a] += value / static_cast<double>(m);  // the field follows
        value = 0;
      }
    const double loss =
        Refit(cells_.view(), table_.n(), settings_.intercept, kRidge).chances(parameters, chances);
    if (!settings_.intercept) return loss - fit.loss;
    all_.reset(width, cells_.size());
    for (std::size_t s = 0; s < cells_.size(); ++s) all_.add(cells_.total(s), &chances[s * width]);
    all_.fill_lanes();
    return loss - fit.loss - profile_.maximum(all_, totals, Profile::Cell::of_chances) / table_.n();
  }

  // The cells with the i-th neighbour's odds taken out; for a target of that many states, zero for any.
  template <std::size_t kWidth>
  void take_out(const NodeFit& fit, std::size_t i, const std::vector<double>& factors) {
    const std::size_t width = kWidth ? kWidth : cells_.width();
    double few[kWidth + 1];
    std::vector<double> many(kWidth ? 0 : width);
    double* left = kWidth ? few : many.data();
    all_.reset(width, cells_.size());
    for (std::size_t s = 0; s < cells_.size(); ++s) {
      const double *factor = &factors[static_cast<std::size_t>(cells_.code(s, i)) * width],
                   *chance = &fit.chances[s * width];
      for (std::size_t a = 0; a < width; ++a) left[a] = chance[a] * factor[a];
      all_.add<kWidth>(cells_.total(s), left);
    }
    all_.fill_lanes();
  }

  // A free field takes up some of the table that is removed: what the curvature says, or else what the table
  // adds to each state on average. There its search begins.
  void subtract_response(const NodeFit& fit, std::size_t i, std::vector<double>& table,
                         const std::vector<double>& totals) const {
    const std::size_t width = totals.size(), q = width - 1;
    std::vector<double> taken(width, 0.0);
    if (!fit.responses.empty())
      std::copy_n(&fit.responses[i * q], q, &taken[1]);
    else
      for (std::size_t k = 0; k < table.size(); ++k)
        if (totals[k % width] > 0) taken[k % width] += totals_[k] * table[k] / totals[k % width];
    for (std::size_t k = 0; k < table.size(); ++k) table[k] -= taken[k % width];
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
  const std::vector<double>& best_shifts(const NodeFit& fit, std::size_t j) {
    if (shifted_ != j) {
      exact_gain(fit, j);
      keep_shifts(j);
    }
    return best_shifts_;
  }

  // Keeps the shifts behind the gain of the last split, that of a candidate.
  void keep_shifts(std::size_t j) {
    const std::size_t width = cells_.width();
    shifted_ = j;
    best_shifts_.clear();
    if (!settings_.intercept) return;
    for (std::size_t c = 0; c < by_state_.size(); ++c) {
      double* shift = &shifts_[c * width];
      for (std::size_t a = 0; width > 2 && a < width; ++a)
        if (totals_[c * width + a] == 0) shift[a] = where_the_ridge_stops(c, a);
      for (std::size_t a = 1; a < width; ++a)
        best_shifts_.push_back(std::clamp(shift[a] - shift[0], -kFarthestStart, kFarthestStart));
    }
  }

  // A state that is never seen beside another sinks towards minus infinity, until the pull of the data,
  // its expected rows, is down to that of the ridge: E e^v = n ridge |v|.
  double where_the_ridge_stops(std::size_t c, std::size_t a) const {
    double expected = 0;
    const WeightedCells& cells = by_state_[c];
    for (std::size_t s = 0; s < cells.size(); ++s) expected += cells.rows()[s] * cells.chances(a)[s];
    if (!(expected > 0)) return 0;
    double v = -10;
    for (int i = 0; i < 5; ++i) v = std::min(std::log(table_.n() * kRidge * -v / expected), -0.1);
    return v;
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
    fit.responses = problem.field_responses(x);
    fit.costs.assign(fit.support.size(), std::numeric_limits<double>::quiet_NaN());
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

  static constexpr double kLargest = 300;       // odds beyond e^300 are not computed with
  static constexpr double kFarthestStart = 20;  // the loss is flat further out
  static constexpr int kMostRounds = 16;        // of sharpening
  static constexpr double kEarly = 0.7;         // the share of the threshold that a first gain must promise

  const Table& table_;
  const Pairs& pairs_;
  Settings settings_;
  Pairs::Reader reader_;
  std::size_t r_ = 0;
  Cells cells_;
  Screen screen_;
  std::vector<Screen::Open> open_;  // candidates of the present step
  std::vector<std::size_t> candidates_, required_;
  std::vector<std::size_t> outside_;  // candidates that are not in the support; all in increasing order
  Profile profile_;
  std::vector<WeightedCells> by_state_;  // cells of the last split
  WeightedCells all_;                    // all of them, without the odds of a neighbour or mirrored
  std::vector<double> totals_;
  std::vector<double> shifts_;       // of the last split, by state
  std::vector<double> best_shifts_;  // where a refit with the candidate of the best gain starts
  std::size_t shifted_ = 0;          // which candidate that is
  std::vector<double> moments_, sums_;
  std::vector<double> state_bounds_;  // of every state, for a target of three states and more
  std::int64_t evaluated_ = 0;
};

}  // namespace isinglass

// A first look at all candidates at once, from pair counts.
//
// For a target of two states, the slope of a candidate's state is observed minus expected rows,
// E = the sum of the fitted probability p over its rows; the curvature is the sum of p(1 - p). Both are
// sums of a function of the cell. Such a function is split into a known part, whose sums over every
// state of every candidate are counts, and a remainder, whose share is bounded by Cauchy and Schwarz.
//
// While cells are few, the known part is the best combination, by least squares, of *features*: the
// constant, the states of the support (their sums are pair counts) and, when that is not sharp
// enough, sets of cells in which the remainder is large: one popcount for each candidate still open. Sets
// that were counted for every candidate are kept while cells only grow finer.
//
// When cells are many, least squares cost more than they save. The known part is then the function
// itself to some binary *digits*: each digit is a set of rows, so again one popcount for each
// candidate still open, and each halves the remainder.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "base/vectors.hpp"
#include "bits/cells.hpp"
#include "bits/pairs.hpp"
#include "gains/bounds.hpp"
#include "gains/candidate.hpp"
#include "gains/features.hpp"

namespace isinglass {

// What bounds are made of in a table of two states throughout; arrays have a number for each column.
struct Sides {
  std::size_t columns;
  double limit, slope, curvature, least_curvature;
  double slope_length, slope_rounding, curvature_length, curvature_rounding;
  const double *observed, *expected, *curvatures, *rows, *other_rows, *reaches, *inverse_variances;
};

// By how much the bound of each column exceeds the limit, times its denominators; positive also where
// there is no bound. And its promise.
ISINGLASS_INLINE inline void compare_bounds_loop(const Sides& by, double* __restrict excess,
                                                 double* __restrict promise) {
  for (std::size_t j = 0; j < by.columns; ++j) {
    const double slope = by.observed[j] - by.expected[j], other_slope = by.slope - slope,
                 loose = by.reaches[j] * by.slope_length + by.slope_rounding,
                 flat = by.reaches[j] * by.curvature_length + by.curvature_rounding;
    const double g = std::abs(slope) + loose, other_g = std::abs(other_slope) + loose;
    const double h = std::max(by.curvatures[j] - flat, by.least_curvature * by.rows[j]),
                 other_h =
                     std::max(by.curvature - by.curvatures[j] - flat, by.least_curvature * by.other_rows[j]);
    const double below = 2 * h - g, other_below = 2 * other_h - other_g;
    const double sum = g * g * other_below + other_g * other_g * below - by.limit * below * other_below;
    excess[j] = ((g < h) & (other_g < other_h)) ? sum : 1.0;  // one `&`: without a jump
    promise[j] = slope * slope * by.inverse_variances[j];
  }
}
inline constexpr Vectorised<compare_bounds_loop> compare_bounds;

// Halves what is left: a step is taken from what is above zero, which is noted, and given to the rest.
ISINGLASS_INLINE inline void take_digit_loop(double* left, std::size_t size, double step, char* above) {
  for (std::size_t i = 0; i < size; ++i) above[i] = left[i] > 0;
  for (std::size_t i = 0; i < size; ++i) left[i] += left[i] > 0 ? -step : step;
}
inline constexpr Vectorised<take_digit_loop> take_digit;

class Screen {
 public:
  Screen(const Table& table, const Pairs& pairs, Pairs::Reader& reader, const Cells& cells)
      : table_(table), pairs_(pairs), reader_(reader), cells_(cells) {}

  // Begins anew for the present cells, fitted with these probabilities. What was allocated before is kept.
  void begin(const std::vector<double>& probabilities, std::span<const std::size_t> candidates) {
    works_ = cells_.width() == 2;
    if (!works_) return;
    rows_ = slope_ = total_curvature_ = 0;
    least_curvature_ = 1;
    probability_.of_cell.resize(cells_.size());
    curvature_.of_cell.resize(cells_.size());
    for (std::size_t s = 0; s < cells_.size(); ++s) {
      const double p = probabilities[2 * s + 1], rows = cells_.total(s), curvature = p * probabilities[2 * s];
      probability_.of_cell[s] = p;
      curvature_.of_cell[s] = curvature;
      rows_ += rows;
      slope_ += cells_.count(s, 1) - rows * p;  // zero at a free field
      total_curvature_ += rows * curvature;
      least_curvature_ = std::min(least_curvature_, curvature);
    }
    rounding_ = 1e-10 * rows_;
    observed_ = reader_.row(pairs_.first(cells_.target()));
    states_.clear();
    sets_.clear();
    digits_.clear();
    keep_ = false;
    works_ = cells_.few() ? start_features() : start_digits(candidates);
  }

  // Whether it works here: it looks at targets of two states.
  bool works() const { return works_; }
  // Whether its bounds are nearly those of the exact slopes.
  bool sharp() const { return works_ && !cells_.few(); }

  // Opens the candidates, if it works all but those whose bound is at most a limit.
  void look_at(std::span<const std::size_t> candidates, std::vector<Candidate>& open, double limit) {
    open.resize(candidates.size());
    const bool quick = works_ && pairs_.all_of_two();
    if (quick) compare_all(limit);
    std::size_t left = 0;
    for (const std::size_t j : candidates) {
      open[left] = {j, kNoBound, quick ? promise_[j] : 0.0};
      left += !quick || !(excess_[j] <= 0);  // else the next one takes its place
    }
    open.resize(left);
    if (works_ && !(quick && many(open))) drop_below(limit, open);
  }

  // Bounds and promises of candidates as known by now; drops those whose bound is at most a limit. In
  // tables of two states throughout many are compared side by side, by products alone; those that then
  // are still many are kept without a bound.
  void assess(std::vector<Candidate>& open, double limit) {
    if (pairs_.all_of_two() && many(open)) {
      compare_all(limit);
      std::erase_if(open, [&](const Candidate& candidate) { return excess_[candidate.column] <= 0; });
      for (Candidate& candidate : open) candidate = {candidate.column, kNoBound, promise_[candidate.column]};
      if (many(open)) return;
    }
    drop_below(limit, open);
  }

  void bound(std::vector<Candidate>& open) const {
    for (Candidate& candidate : open) bound(candidate);
  }

  // Whether sharper bounds cost much less than exact slopes of the candidates still open.
  bool pays_to_sharpen(std::size_t open) const {
    if (!works_ || open <= 4) return false;
    const std::size_t summed = 8 * open > pairs_.size() ? pairs_.size() : open;
    const std::size_t solving =
        cells_.few() ? 2 * (cells_.size() + summed) * (features_.size() + 1) + cells_.work_to_split() / 4
                     : table_.rows();
    return 4 * (open * table_.words() * table_.planes() + solving) < open * cells_.work_to_split();
  }

  // Counts more sets of rows for the open candidates: as many as it takes until one without effect would
  // be ruled out by the limit. Which sets these are depends on the cells alone, so they are counted
  // together. False when nothing is left to explain.
  bool sharpen(std::span<const Candidate> open, double limit) {
    if (!works_ || cells_.size() < 2) return false;
    states_.clear();
    keep_ = cells_.few() && many(open) && kept_.size() < kMostKept;
    if (keep_) {
      states_.resize(pairs_.size());
      std::iota(states_.begin(), states_.end(), std::size_t{0});
    }
    for (std::size_t i = 0; !keep_ && i < open.size(); ++i) list_states(open[i].column);
    while (sets_.size() < kMostAtOnce && (sets_.empty() || !telling(limit)))
      if (!(cells_.few() ? add_set() : add_digit(slope_matters() ? probability_ : curvature_))) break;
    if (sets_.empty() || !works_) return false;
    count_sets();
    return true;
  }

  // About what a candidate of this promise gains.
  double guess(const Candidate& candidate) const {
    return 0.5 * candidate.promise * rows_ / total_curvature_;
  }

 private:
  static constexpr std::size_t kMostAtOnce = 8, kMostKept = 16;
  static constexpr int kFirstDigits = 6;  // of the probability, before any candidate is looked at
  static constexpr double kLastStep = 1e-6;

  // A function of the cell in two parts: the sums of the known one over the rows of every state, and
  // the remainder, whose length, once it is centred, bounds its share of any sum.
  struct Split {
    std::vector<double> of_cell;
    std::vector<double> sums;
    std::vector<double> left;
    double length = 0;
    std::vector<double> known;    // features: the known part, cell by cell
    std::vector<double> halves;   // features: their products with the function, half solved
    std::vector<double> weights;  // features: of each in the known part
    double step = 0;              // digits: how far the remainder can be from zero before it is centred
    double mean = 0;              // digits: of the remainder, already counted among the sums
    double range = 0;             // how far the part that rough counts stand for is from zero
  };

  // What a digit that is not counted yet will change.
  struct Digit {
    Split* split;
    double step, drift;  // how much a row counts for, either way; by how much the mean has moved
  };

  void drop_below(double limit, std::vector<Candidate>& open) const {
    bound(open);
    std::erase_if(open, [&](const Candidate& candidate) { return candidate.bound <= limit; });
  }

  bool many(std::span<const Candidate> open) const { return 8 * open.size() > pairs_.size(); }

  void bound(Candidate& candidate) const {
    const std::size_t j = candidate.column, stop = pairs_.first(j + 1);
    double slope_left = slope_, curvature_left = total_curvature_;
    candidate.bound = candidate.promise = 0;
    for (std::size_t u = pairs_.first(j); u < stop; ++u) {
      const double slope = observed_[u] - probability_.sums[u], curvature = curvature_.sums[u];
      candidate.bound += state_bound(slope, curvature, pairs_.marginals()[u], pairs_.reaches()[u]);
      candidate.promise += slope * slope * pairs_.inverse_variances()[u];
      slope_left -= slope;
      curvature_left -= curvature;
    }
    candidate.bound +=
        state_bound(slope_left, curvature_left, pairs_.first_marginal(j), pairs_.first_reach(j));
  }

  void list_states(std::size_t column) {
    for (std::size_t u = pairs_.first(column); u < pairs_.first(column + 1); ++u) states_.push_back(u);
  }

  // The rows of some cells, to be counted.
  void add_rows_of(const std::vector<char>& chosen) { cells_.rows_of(chosen, sets_.emplace_back()); }

  // Counts what is to be counted, for the listed states.
  void count_sets() {
    counts_.resize(sets_.size() * states_.size());
    table_.count_sets(sets_, states_, counts_.data());
    cells_.few() ? take_features() : take_digits();
    sets_.clear();
  }

  double state_bound(double slope, double curvature, double rows, double reach) const {
    const double steepest = std::abs(slope) + reach * probability_.length + slope_rounding();
    const double flattest =
        std::max(curvature - reach * curvature_.length - curvature_rounding(), least_curvature_ * rows);
    return quick_gain_bound(steepest, flattest);
  }

  // Rough counts are off by at most the slack: those of the target's rows, and those that the known
  // parts are made of, times how large these are.
  double slope_rounding() const { return rounding_ + table_.slack() * (1 + probability_.range); }
  double curvature_rounding() const { return rounding_ + table_.slack() * curvature_.range; }

  void compare_all(double limit) {
    excess_.resize(pairs_.size());
    promise_.resize(pairs_.size());
    compare_bounds({.columns = pairs_.size(),
                    .limit = limit,
                    .slope = slope_,
                    .curvature = total_curvature_,
                    .least_curvature = least_curvature_,
                    .slope_length = probability_.length,
                    .slope_rounding = slope_rounding(),
                    .curvature_length = curvature_.length,
                    .curvature_rounding = curvature_rounding(),
                    .observed = observed_.data(),
                    .expected = probability_.sums.data(),
                    .curvatures = curvature_.sums.data(),
                    .rows = pairs_.marginals().data(),
                    .other_rows = pairs_.first_marginals().data(),
                    .reaches = pairs_.reaches().data(),
                    .inverse_variances = pairs_.inverse_variances().data()},
                   excess_.data(), promise_.data());
  }

  // Whether the unknown part of the slopes loosens the bounds more than that of the curvatures.
  bool slope_matters() const {
    const double reach = 0.5 * std::sqrt(rows_), typical = 0.5 * total_curvature_;
    const double by_slope = 2 * std::log1p(reach * probability_.length / (2 * std::sqrt(typical)));
    const double by_curvature = -std::log(std::max(1 - reach * curvature_.length / typical, 0.02));
    return by_slope >= by_curvature;
  }

  // Whether a candidate without effect, its slope as large as usual, would be ruled out by a limit.
  bool telling(double limit) const {
    const double reach = 0.5 * std::sqrt(rows_), usual = 0.5 * std::sqrt(total_curvature_);
    const double g = usual + reach * probability_.length + slope_rounding(),
                 h = 0.5 * total_curvature_ - reach * curvature_.length - curvature_rounding();
    return 2 * quick_gain_bound(g, h) <= limit;
  }

  // --- Features: few cells ---

  // Features are the constant, the states of the support, and other sets. Those that were counted for every
  // candidate when cells were coarser stay.
  bool start_features() {
    const std::size_t members = cells_.support().size();
    const bool finer = lasting_ > 0 && cells_.age() == age_ && members == members_ + 1;
    counted_ = 0;
    probability_.halves.clear();
    curvature_.halves.clear();
    sums_of_.resize(finer ? lasting_ : 0);
    bool added = true;
    if (finer) {
      features_.cut(lasting_);
      features_.refine(cells_.parents());
    } else {
      kept_.clear();
      features_.clear(cells_.size());
      added = add_feature([](std::size_t) { return true; }, pairs_.marginals().data());
    }
    for (std::size_t i = finer ? members_ : 0; i < members; ++i) added = added && add_states(i);
    age_ = cells_.age();
    members_ = members;
    lasting_ = added ? features_.size() : 0;
    if (!added) return false;
    estimate();
    combine_sums();
    return true;
  }

  // The states of a member of the support, but the first.
  bool add_states(std::size_t i) {
    bool added = true;
    for (int c = 1; c < table_.states(cells_.support()[i]); ++c)
      added = added && add_feature([&](std::size_t s) { return cells_.code(s, i) == c; },
                                   reader_.row(table_.state(cells_.support()[i], c)).data());
    return added;
  }

  // Collinear features only need some solution; what it misses is part of the remainder.
  template <class In>
  bool add_feature(const In& in, const double* sums) {
    sums_of_.push_back(sums);
    return features_.add(in, cells_.totals(), 1e-9 * rows_);
  }

  // Adds the set of cells that explains much of what is left.
  bool add_set() {
    const std::vector<double>& left = (slope_matters() ? probability_ : curvature_).left;
    double level = 0;
    if (!find_level(left, level)) return false;
    upper_.resize(left.size());
    for (std::size_t s = 0; s < left.size(); ++s) upper_[s] = left[s] > level;
    add_rows_of(upper_);
    works_ = add_feature([&](std::size_t s) { return upper_[s]; }, nullptr);
    if (works_) estimate();
    return works_;
  }

  // The counts of the sets become sums of the last features.
  void take_features() {
    const std::size_t before = features_.size() - sets_.size(), size = states_.size();
    for (std::size_t k = 0; k < sets_.size(); ++k) {
      const double* counts = &counts_[k * size];
      if (keep_) {
        kept_.emplace_back(counts, counts + size);
        sums_of_[before + k] = kept_.back().data();
        continue;
      }
      if (counted_ == sums_.size()) sums_.emplace_back(pairs_.size());
      std::vector<double>& sums = sums_[counted_++];
      for (std::size_t i = 0; i < size; ++i) sums[states_[i]] = counts[i];
      sums_of_[before + k] = sums.data();
    }
    if (keep_) lasting_ = features_.size();  // sets are kept while many candidates are open: before others
    combine_sums();
  }

  // Least squares of probability and curvature on the features.
  void estimate() {
    for (Split* split : {&probability_, &curvature_}) {
      features_.half_solve(split->of_cell.data(), cells_.totals(), split->halves);
      features_.solve(split->halves, split->weights);
      split->known.assign(cells_.size(), 0.0);
    }
    vectors_.clear();
    for (std::size_t f = 0; f < features_.size(); ++f) vectors_.push_back(features_.row(f));
    add_combinations(vectors_.data(), vectors_.size(), cells_.size(), probability_.weights.data(),
                     probability_.known.data(), curvature_.weights.data(), curvature_.known.data());
    leave_rest(probability_);
    leave_rest(curvature_);
  }

  // The remainder, once a combination of features is known; its mean becomes part of that.
  void leave_rest(Split& split) const {
    split.left.resize(split.known.size());
    for (std::size_t s = 0; s < split.left.size(); ++s) split.left[s] = split.of_cell[s] - split.known[s];
    split.range = 0;  // of all but the constant, whose sums are exact; of no use, if all of them are
    for (std::size_t s = 0; !table_.countable() && s < split.left.size(); ++s)
      split.range = std::max(split.range, std::abs(split.known[s] - split.weights[0]));
    const double mean = measure(split);
    for (double& value : split.left) value -= mean;
    split.weights[0] += mean;
  }

  // The sums of the known parts, once those of all features are counted: of every state, or of those alone
  // that were.
  void combine_sums() {
    if (keep_ || states_.empty()) {
      for (Split* split : {&probability_, &curvature_}) split->sums.assign(pairs_.size(), 0.0);
      add_combinations(sums_of_.data(), sums_of_.size(), pairs_.size(), probability_.weights.data(),
                       probability_.sums.data(), curvature_.weights.data(), curvature_.sums.data());
      return;
    }
    for (const std::size_t u : states_) {
      double probability = 0, curvature = 0;
      for (std::size_t f = 0; f < sums_of_.size(); ++f) {
        probability += probability_.weights[f] * sums_of_[f][u];
        curvature += curvature_.weights[f] * sums_of_[f][u];
      }
      probability_.sums[u] = probability;
      curvature_.sums[u] = curvature;
    }
  }

  // Mean of the remainder; its length about that mean is noted, rounded upwards.
  double measure(Split& split) const {
    weighted_.resize(split.left.size());
    multiply(cells_.totals(), split.left.data(), weighted_.data(), weighted_.size());
    const double sum = total(weighted_.data(), weighted_.size()),
                 squares = dot(weighted_.data(), split.left.data(), weighted_.size()), mean = sum / rows_;
    split.length = std::sqrt(std::max(squares - sum * mean, 0.0) + 1e-14 * squares);
    return mean;
  }

  // A level about halfway between the means of what is above it and of the rest; false if there is only one
  // part. The function is centred.
  bool find_level(const std::vector<double>& of_cell, double& level) const {
    level = 0;
    for (int round = 0;; ++round) {
      double sum, rows;
      sum_above(level, of_cell.data(), cells_.totals(), of_cell.size(), rows, sum);
      if (!(rows > 0 && rows < rows_ && sum > 1e-12 * rows_)) return false;
      const double next = 0.5 * (sum / rows - sum / (rows_ - rows));
      if (round == 5 || std::abs(next - level) < 1e-2 * sum / rows) return true;
      level = next;
    }
  }

  // --- Digits: many cells ---

  bool start_digits(std::span<const std::size_t> candidates) {
    lasting_ = 0;
    start_at(probability_, 0.5);  // probabilities lie within 1/2 of 1/2, curvatures within 1/8 of 1/8
    start_at(curvature_, 0.125);
    for (const std::size_t j : candidates) list_states(j);
    for (int digit = 0; digit < kFirstDigits; ++digit) add_digit(probability_);
    for (int digit = 0; digit < kFirstDigits / 2; ++digit) add_digit(curvature_);
    count_sets();
    return true;
  }

  void start_at(Split& split, double middle) const {
    split.left = split.of_cell;
    for (double& value : split.left) value -= middle;
    split.step = middle;
    split.range = 2 * middle;  // all digits together
    split.mean = measure(split);
    split.sums.assign(pairs_.marginals().begin(), pairs_.marginals().end());
    for (double& sum : split.sums) sum *= middle + split.mean;
  }

  // The remainder lies within a step of zero. Half of that is taken from cells above zero and given
  // to the others; then it lies within half a step.
  bool add_digit(Split& split) {
    if (split.step < kLastStep) return false;
    split.step /= 2;
    upper_.resize(split.left.size());
    take_digit(split.left.data(), split.left.size(), split.step, upper_.data());
    const double before = split.mean;
    split.mean = measure(split);
    add_rows_of(upper_);
    digits_.push_back({&split, split.step, split.mean - before});
    return true;
  }

  void take_digits() {
    for (std::size_t k = 0; k < sets_.size(); ++k)
      for (std::size_t i = 0; i < states_.size(); ++i) {
        const double rows = pairs_.marginals()[states_[i]];
        digits_[k].split->sums[states_[i]] +=
            digits_[k].step * (2 * counts_[k * states_.size() + i] - rows) + digits_[k].drift * rows;
      }
    digits_.clear();
  }

  const Table& table_;
  const Pairs& pairs_;
  Pairs::Reader& reader_;
  const Cells& cells_;
  bool works_ = false;
  std::span<const double> observed_;  // rows of every state in which the target is in its second
  double rows_ = 0, rounding_ = 0, slope_ = 0, total_curvature_ = 0, least_curvature_ = 1;
  Split probability_, curvature_;
  Features features_;
  std::size_t lasting_ = 0;             // how many of them stay when cells grow finer
  std::vector<const double*> sums_of_;  // of each feature, over the rows of every state
  std::vector<const double*> vectors_;
  std::vector<std::vector<double>> sums_;  // of the sets of cells; features point into them
  std::size_t counted_ = 0;                // how many of these are in use
  std::vector<std::vector<double>> kept_;  // sums of sets that were counted for every candidate
  std::size_t age_ = 0, members_ = 0;      // of the cells that these are sets of
  bool keep_ = false;                      // whether what is counted now is kept
  std::vector<Words> sets_;                // of rows, not counted yet
  std::vector<Digit> digits_;              // and which digits they are
  std::vector<char> upper_;
  std::vector<std::size_t> states_;
  std::vector<double> counts_, excess_, promise_;
  mutable std::vector<double> weighted_;
};

}  // namespace isinglass

// A first look at all candidates at once, from pair counts.
//
// For a target of two states, the slope of a candidate's state is observed minus expected rows,
// E = the sum of the fitted probability p over its rows; the curvature is the sum of p(1 - p). Both are
// sums of a function of the cell. Such a function is split into a known part, whose sums over every
// state of every candidate are counts, and a remainder, whose share is bounded by Cauchy and Schwarz. The
// known part is made of features while cells are few, and of digits when they are many.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <vector>

#include "bits/cells.hpp"
#include "counting/counter.hpp"
#include "counting/counts.hpp"
#include "counting/pairs.hpp"
#include "gains/bounds.hpp"
#include "gains/candidate.hpp"
#include "screen/cell_functions.hpp"
#include "screen/compare_bounds.hpp"
#include "screen/digit_sums.hpp"
#include "screen/feature_sums.hpp"
#include "screen/row_sets.hpp"

namespace isinglass {

class Screen {
 public:
  Screen(const Table& table, const Pairs& pairs, Counter& counter, Pairs::Reader& reader, const Cells& cells)
      : table_(table),
        pairs_(pairs),
        reader_(reader),
        cells_(cells),
        sets_(counter, pairs, cells),
        features_(table, pairs, reader, cells),
        digits_(table, pairs, cells) {}

  // Begins anew for the present cells, fitted with these probabilities. What was allocated before is kept.
  void begin(const std::vector<double>& probabilities, std::span<const std::size_t> candidates) {
    works_ = cells_.width() == 2;
    if (!works_) return;
    functions_.start(cells_, probabilities);
    rounding_ = 1e-10 * functions_.rows;
    observed_ = reader_.row(pairs_.first(cells_.target()));
    sets_.clear();
    if (cells_.few()) {
      features_.start(functions_);
      works_ = features_.solvable();
      return;
    }
    features_.forget();
    for (const std::size_t j : candidates) sets_.list_column(j);
    digits_.start(functions_, sets_);
    count_sets();
  }

  // Whether it works here: it looks at targets of two states.
  bool works() const { return works_; }
  // Whether its bounds are nearly those of the exact slopes.
  bool sharp() const { return works_ && !cells_.few(); }

  // Opens the candidates, which are in increasing order; if it works, all but those whose bound is at most a
  // limit.
  void look_at(std::span<const std::size_t> candidates, std::vector<Candidate>& open, double limit) {
    open.clear();
    if (works_) {
      compare(candidates, limit, open);
      if (pairs_.all_of_two() && !many(open)) drop_below(limit, open);
      return;
    }
    for (const std::size_t j : candidates) open.push_back({j});
  }

  // Bounds and promises of candidates, in increasing order, as known by now; drops those whose bound is at
  // most a limit. In tables of two states throughout many are compared side by side, by products alone; those
  // that then are still many are kept without a bound.
  void assess(std::vector<Candidate>& open, double limit) {
    if (many(open)) {
      columns_.clear();
      for (const Candidate& candidate : open) columns_.push_back(candidate.column);
      open.clear();
      compare(columns_, limit, open);
      if (many(open) || !pairs_.all_of_two()) return;
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
    sets_.list_none();
    if (cells_.few() && many(open) && features_.room_to_keep())
      sets_.list_all();
    else
      for (const Candidate& candidate : open) sets_.list_column(candidate.column);
    while (sets_.size() < kMostAtOnce && (sets_.empty() || !telling(limit)))
      if (!(cells_.few() ? features_.add_set(functions_, sets_) : digits_.add_set(functions_, sets_))) break;
    if (cells_.few()) works_ = features_.solvable();
    if (sets_.empty() || !works_) return false;
    count_sets();
    return true;
  }

  // About what a candidate of this promise gains.
  double guess(const Candidate& candidate) const {
    return 0.5 * candidate.promise * functions_.rows / functions_.total_curvature;
  }

 private:
  static constexpr std::size_t kMostAtOnce = 8;

  static constexpr std::size_t kBlock = 512;  // states whose sums are found side by side; a column has fewer

  static constexpr double kFine = 1e-3;  // of a slope's usual size: roundings that matter little

  // Sums over the rows of some states: those in which the target is in its second, of its probability, and of
  // its curvature.
  template <class Real>
  struct Sums {
    std::array<Real, kBlock> observed, expected, curvatures;
  };

  // Counts the sets, for the listed states.
  void count_sets() {
    if (cells_.few()) {
      features_.take(sets_);
    } else {
      sets_.count();
      digits_.take(sets_);
    }
    sets_.clear_sets();
  }

  void drop_below(double limit, std::vector<Candidate>& open) const {
    bound(open);
    std::erase_if(open, [&](const Candidate& candidate) { return candidate.bound <= limit; });
  }

  bool many(std::span<const Candidate> open) const { return 8 * open.size() > pairs_.size(); }

  void bound(Candidate& candidate) const {
    const std::size_t first = pairs_.first(candidate.column);
    Sums<double> sums;
    find_sums(first, pairs_.first(candidate.column + 1) - first, sums);
    bound(candidate, sums, 0);
  }

  // From the sums of its states, which begin somewhere.
  void bound(Candidate& candidate, const Sums<double>& sums, std::size_t begin) const {
    const StateFacts<double>& facts = pairs_.facts<double>();
    const std::size_t j = candidate.column, first = pairs_.first(j), stop = pairs_.first(j + 1);
    double slope_left = functions_.slope, curvature_left = functions_.total_curvature;
    candidate.bound = candidate.promise = 0;
    for (std::size_t u = first, i = begin; u < stop; ++u, ++i) {
      const double slope = sums.observed[i] - sums.expected[i], curvature = sums.curvatures[i];
      candidate.bound += state_bound(slope, curvature, facts.rows[u], facts.reaches[u]);
      candidate.promise += slope * slope * facts.inverse_variances[u];
      slope_left -= slope;
      curvature_left -= curvature;
    }
    candidate.bound += state_bound(slope_left, curvature_left, facts.first_rows[j], facts.first_reaches[j]);
  }

  double state_bound(double slope, double curvature, double rows, double reach) const {
    const double steepest = std::abs(slope) + reach * functions_.probability.length + slope_rounding();
    const double flattest = std::max(curvature - reach * functions_.curvature.length - curvature_rounding(),
                                     functions_.least_curvature * rows);
    return quick_gain_bound(steepest, flattest);
  }

  // Rough counts are off by at most the slack: those of the target's rows, and those that the known
  // parts are made of, times how large these are.
  double slope_rounding() const { return rounding_ + table_.slack() * (1 + functions_.probability.range); }
  double curvature_rounding() const { return rounding_ + table_.slack() * functions_.curvature.range; }

  void find_sums(std::size_t first, std::size_t states, Sums<double>& sums) const {
    read_counts<double>(observed_, first, states, table_.unit(), sums.observed.data());
    if (cells_.few()) return features_.sums(first, states, sums.expected.data(), sums.curvatures.data());
    std::copy_n(functions_.probability.sums.data() + first, states, sums.expected.data());
    std::copy_n(functions_.curvature.sums.data() + first, states, sums.curvatures.data());
  }

  void find_sums(std::size_t first, std::size_t states, Sums<float>& sums) const {
    read_counts<float>(observed_, first, states, static_cast<float>(table_.unit()), sums.observed.data());
    features_.sums(first, states, sums.expected.data(), sums.curvatures.data());
  }

  // Appends the candidates that may exceed a limit: block by block, so that of all others nothing is kept.
  void compare(std::span<const std::size_t> columns, double limit, std::vector<Candidate>& open) const {
    if (!pairs_.all_of_two()) return compare_blocks(columns, limit, open);
    const double rounding = cells_.few() ? features_.rounding_of_floats() : kNoBound;
    rounding < kFine* std::sqrt(functions_.rows) ? compare_sides<float>(columns, limit, rounding, open)
                                                 : compare_sides<double>(columns, limit, 0.0, open);
  }

  // Calls take(first, states, begin, end) for blocks of states and the candidates among them.
  template <class Take>
  void in_blocks(std::span<const std::size_t> columns, const Take& take) const {
    for (std::size_t next = 0; next < columns.size();) {
      const std::size_t begin = next, first = pairs_.first(columns[begin]);
      std::size_t stop = std::min(columns.size(), begin + kBlock);  // no more columns than states
      while (pairs_.first(columns[stop - 1] + 1) > first + kBlock) --stop;
      next = stop;
      take(first, pairs_.first(columns[stop - 1] + 1) - first, begin, stop);
    }
  }

  template <class Real>
  void compare_sides(std::span<const std::size_t> columns, double limit, double rounding,
                     std::vector<Candidate>& open) const {
    Sums<Real> sums;
    std::array<Real, kBlock> excess, promise;
    std::array<std::size_t, kBlock> places;
    in_blocks(columns, [&](std::size_t first, std::size_t states, std::size_t begin, std::size_t stop) {
      find_sums(first, states, sums);
      compare_bounds<Real>(sides(first, states, limit, rounding, sums), excess.data(), promise.data());
      const std::size_t found = find_positive<Real>(excess.data(), states, places.data());
      // Columns are not all candidates: each place is at most as far on as its column is.
      for (std::size_t i = 0, at = begin; i < found && at < stop; ++i) {
        const std::size_t column = first + places[i];
        if (column < columns[at]) continue;
        at = std::min(at + (column - columns[at]), stop - 1);
        while (columns[at] > column) --at;
        if (columns[at] == column) open.push_back({column, kNoBound, promise[places[i]]});
      }
    });
  }

  void compare_blocks(std::span<const std::size_t> columns, double limit,
                      std::vector<Candidate>& open) const {
    Sums<double> sums;
    in_blocks(columns, [&](std::size_t first, std::size_t states, std::size_t begin, std::size_t stop) {
      find_sums(first, states, sums);
      for (; begin < stop; ++begin) {
        Candidate candidate{columns[begin]};
        bound(candidate, sums, pairs_.first(candidate.column) - first);
        if (!(candidate.bound <= limit)) open.push_back(candidate);
      }
    });
  }

  // `rounding` is that of the numbers themselves.
  template <class Real>
  Sides<Real> sides(std::size_t first, std::size_t states, double limit, double rounding,
                    const Sums<Real>& sums) const {
    const StateFacts<Real>& facts = pairs_.facts<Real>();
    const double less = rounding > 0 ? 1 - 1e-5 : 1.0;  // products are rounded, too
    return {.columns = states,
            .limit = static_cast<Real>(less * limit),
            .slope = static_cast<Real>(functions_.slope),
            .curvature = static_cast<Real>(functions_.total_curvature),
            .least_curvature = static_cast<Real>(less * functions_.least_curvature),
            .slope_length = static_cast<Real>(functions_.probability.length / less),
            .slope_rounding = static_cast<Real>((slope_rounding() + rounding) / less),
            .curvature_length = static_cast<Real>(functions_.curvature.length / less),
            .curvature_rounding = static_cast<Real>((curvature_rounding() + rounding) / less),
            .observed = sums.observed.data(),
            .expected = sums.expected.data(),
            .curvatures = sums.curvatures.data(),
            .rows = facts.rows.data() + first,
            .other_rows = facts.first_rows.data() + first,
            .reaches = facts.reaches.data() + first,
            .inverse_variances = facts.inverse_variances.data() + first};
  }

  // Whether a candidate without effect, its slope as large as usual, would be ruled out by a limit.
  bool telling(double limit) const {
    const double reach = 0.5 * std::sqrt(functions_.rows),
                 usual = 0.5 * std::sqrt(functions_.total_curvature);
    const double g = usual + reach * functions_.probability.length + slope_rounding(),
                 h = 0.5 * functions_.total_curvature - reach * functions_.curvature.length -
                     curvature_rounding();
    return 2 * quick_gain_bound(g, h) <= limit;
  }

  const Table& table_;
  const Pairs& pairs_;
  Pairs::Reader& reader_;
  const Cells& cells_;
  bool works_ = false;
  double rounding_ = 0;
  CountRow observed_;  // rows of every state in which the target is in its second
  CellFunctions functions_;
  RowSets sets_;
  FeatureSums features_;
  DigitSums digits_;
  std::vector<std::size_t> columns_;  // kept for its memory
};

}  // namespace isinglass

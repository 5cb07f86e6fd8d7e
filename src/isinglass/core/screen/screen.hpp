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

  // Begins anew for the present cells, fitted with these probabilities, and for candidates in increasing
  // order, which it does not copy. What was allocated before is kept.
  void begin(const std::vector<double>& probabilities, std::span<const std::size_t> candidates) {
    candidates_ = candidates;
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

  // Opens the candidates; if it works, all but those whose bound is at most a limit.
  void look(OpenCandidates& open, double limit) {
    open.clear();
    open.more = candidates_.size();
    works_ ? assess(open, limit) : list_all(open);
  }

  // Bounds and promises of open candidates, as known by now; drops those whose bound is at most a limit. In
  // tables of two states throughout many are compared side by side, by products alone; those that then are
  // still many are kept without a bound.
  void assess(OpenCandidates& open, double limit) {
    const std::size_t most = std::max<std::size_t>(pairs_.size() / 8, kFew);
    look_again(open, limit, telling(limit) ? most : kFew);
    if (open.size() <= most) list(open, limit);
  }

  // The same, and lists all of them.
  void list(OpenCandidates& open, double limit) {
    if (open.more == 0) return;
    works_ ? look_again(open, limit, candidates_.size()) : list_all(open);
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
  bool sharpen(const OpenCandidates& open, double limit) {
    if (!works_ || cells_.size() < 2) return false;
    sets_.list_none();
    if (cells_.few() && many(open.size()) && features_.room_to_keep())
      sets_.list_all();
    else if (open.more > 0)
      for (const std::size_t j : candidates_) sets_.list_column(j);
    else
      for (const Candidate& candidate : open.listed) sets_.list_column(candidate.column);
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

  static constexpr std::size_t kFew = 64;  // candidates that are listed, however sharp the bounds are

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

  bool many(std::size_t open) const { return 8 * open > pairs_.size(); }

  // All candidates that are not closed, without a bound.
  void list_all(OpenCandidates& open) const {
    open.listed.clear();
    open.more = 0;
    for (const std::size_t j : candidates_)
      if (std::ranges::find(open.closed, j) == open.closed.end()) open.listed.push_back({j});
  }

  // Compares side by side what is not listed, or many; what is then listed, and not much, one by one.
  void look_again(OpenCandidates& open, double limit, std::size_t most) {
    if (open.more > 0 || many(open.size())) {
      std::span<const std::size_t> columns = candidates_;
      if (open.more == 0) {
        columns_.clear();
        for (const Candidate& candidate : open.listed) columns_.push_back(candidate.column);
        columns = columns_;
      }
      open.listed.clear();
      open.more = 0;
      compare(columns, limit, most, open);
      if (open.more > 0 || many(open.size()) || !pairs_.all_of_two()) return;
    }
    drop_below(limit, open.listed);
  }

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

  // Opens the columns that may exceed a limit and are not closed: block by block, so that of all others
  // nothing is kept. In tables of two states no more than `most` are listed, or the most promising alone.
  void compare(std::span<const std::size_t> columns, double limit, std::size_t most,
               OpenCandidates& open) const {
    if (!pairs_.all_of_two()) return compare_blocks(columns, limit, open);
    const double rounding = cells_.few() ? features_.rounding_of_floats() : kNoBound;
    rounding < kFine* std::sqrt(functions_.rows) ? compare_sides<float>(columns, limit, rounding, most, open)
                                                 : compare_sides<double>(columns, limit, 0.0, most, open);
  }

  // Calls take(first, states, some) for blocks of states and the columns among them.
  template <class Take>
  void in_blocks(std::span<const std::size_t> columns, const Take& take) const {
    for (std::size_t next = 0; next < columns.size();) {
      const std::size_t begin = next, first = pairs_.first(columns[begin]);
      std::size_t stop = std::min(columns.size(), begin + kBlock);  // no more columns than states
      while (pairs_.first(columns[stop - 1] + 1) > first + kBlock) --stop;
      next = stop;
      take(first, pairs_.first(columns[stop - 1] + 1) - first, columns.subspan(begin, stop - begin));
    }
  }

  template <class Real>
  void compare_sides(std::span<const std::size_t> columns, double limit, double rounding, std::size_t most,
                     OpenCandidates& open) const {
    Sums<Real> sums;
    std::array<Real, kBlock> excess, promise;
    std::array<std::size_t, kBlock> places;
    Candidate top{.column = 0, .promise = -1};
    in_blocks(columns, [&](std::size_t first, std::size_t states, std::span<const std::size_t> some) {
      find_sums(first, states, sums);
      compare_bounds<Real>(sides(first, states, limit, rounding, sums), excess.data(), promise.data());
      leave_out(first, states, some, open.closed, excess.data());
      if (open.listed.size() <= most) {
        const std::size_t found = find_positive<Real>(excess.data(), states, places.data());
        for (std::size_t i = 0; i < found; ++i)
          open.listed.push_back({first + places[i], kNoBound, promise[places[i]]});
        return;
      }
      Real largest;
      const std::size_t found = survey_positive<Real>(excess.data(), promise.data(), states, &largest);
      open.more += found;
      if (found == 0 || !(largest > top.promise)) return;
      std::size_t at = 0;
      while (excess[at] <= 0 || promise[at] < largest) ++at;
      top = {.column = first + at, .promise = largest};
    });
    if (open.listed.size() <= most) return;
    open.listed.push_back(top);
    top = *std::ranges::max_element(open.listed, less_promising);
    open.more += open.listed.size() - 2;
    open.listed = {top};
  }

  // Columns of a block that are not among some, which are in increasing order, and closed ones exceed
  // nothing.
  template <class Real>
  static void leave_out(std::size_t first, std::size_t states, std::span<const std::size_t> some,
                        std::span<const std::size_t> closed, Real* excess) {
    for (const std::size_t column : closed)
      if (column - first < states) excess[column - first] = 0;
    if (some.size() == states) return;
    for (std::size_t i = 1; i < some.size(); ++i)
      std::fill(excess + (some[i - 1] + 1 - first), excess + (some[i] - first), Real{0});
  }

  void compare_blocks(std::span<const std::size_t> columns, double limit, OpenCandidates& open) const {
    Sums<double> sums;
    in_blocks(columns, [&](std::size_t first, std::size_t states, std::span<const std::size_t> some) {
      find_sums(first, states, sums);
      for (const std::size_t column : some) {
        if (std::ranges::find(open.closed, column) != open.closed.end()) continue;
        Candidate candidate{column};
        bound(candidate, sums, pairs_.first(column) - first);
        if (!(candidate.bound <= limit)) open.listed.push_back(candidate);
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
  std::span<const std::size_t> candidates_;
  double rounding_ = 0;
  CountRow observed_;  // rows of every state in which the target is in its second
  CellFunctions functions_;
  RowSets sets_;
  FeatureSums features_;
  DigitSums digits_;
  std::vector<std::size_t> columns_;  // kept for its memory
};

}  // namespace isinglass

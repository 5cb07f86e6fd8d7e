// Known parts by least squares, while cells are few.
//
// The known part of a function of the cell is its best combination of *features*: the constant, the states
// of the support (their sums are pair counts) and, when that is not sharp enough, sets of cells in which
// the remainder is large: one popcount for each candidate still open. Sets that were counted for every
// candidate are kept while cells only grow finer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "base/vectors.hpp"
#include "bits/cells.hpp"
#include "bits/table.hpp"
#include "counting/counts.hpp"
#include "counting/pairs.hpp"
#include "screen/cell_functions.hpp"
#include "screen/features.hpp"
#include "screen/row_sets.hpp"

namespace isinglass {

class FeatureSums {
 public:
  FeatureSums(const Table& table, const Pairs& pairs, Pairs::Reader& reader, const Cells& cells)
      : table_(table),
        pairs_(pairs),
        reader_(reader),
        cells_(cells),
        pool_(pairs.size(), size_of_counts(table)) {}

  // Whether least squares could be solved so far.
  bool solvable() const { return solvable_; }
  std::size_t size() const { return features_.size(); }
  // Whether one more set may be kept.
  bool room_to_keep() const { return kept_.size() < kMostKept; }
  // Cells that come next are not seen as parts of these.
  void forget() { lasting_ = 0; }

  // Features are the constant, the states of the support, and other sets. Those that were counted for every
  // candidate when cells were coarser stay.
  void start(CellFunctions& functions) {
    const std::size_t members = cells_.support().size();
    const bool finer = lasting_ > 0 && cells_.age() == age_ && members == members_ + 1;
    rows_ = functions.rows;
    give_back(some_);
    probability_.halves.clear();
    curvature_.halves.clear();
    sums_of_.resize(finer ? lasting_ : 0);
    solvable_ = true;
    if (finer) {
      features_.cut(lasting_);
      features_.refine(cells_.parents());
    } else {
      give_back(kept_);
      features_.clear(cells_.size());
      solvable_ = add_feature([](std::size_t) { return true; }, nullptr);
    }
    for (std::size_t i = finer ? members_ : 0; i < members; ++i) solvable_ = solvable_ && add_states(i);
    age_ = cells_.age();
    members_ = members;
    lasting_ = solvable_ ? features_.size() : 0;
    if (!solvable_) return;
    estimate(functions);
    weigh_counts();
  }

  // Adds the set of cells that explains much of what is left; false if there is none.
  bool add_set(CellFunctions& functions, RowSets& sets) {
    const std::vector<double>& left =
        (functions.slope_matters() ? functions.probability : functions.curvature).left;
    double level = 0;
    if (!find_level(left, level)) return false;
    upper_.resize(left.size());
    for (std::size_t s = 0; s < left.size(); ++s) upper_[s] = left[s] > level;
    sets.add(upper_);
    solvable_ = add_feature([&](std::size_t s) { return upper_[s]; }, nullptr);
    if (solvable_) estimate(functions);
    return solvable_;
  }

  // Counts the sets: they become the last features. A count for some states only is of use in this step
  // alone.
  void take(RowSets& sets) {
    const bool for_all = sets.for_all_states();
    std::vector<CountPool::Row>& rows = for_all ? kept_ : some_;
    const std::size_t before = features_.size() - sets.size(), first = rows.size();
    for (std::size_t k = 0; k < sets.size(); ++k) {
      rows.push_back(pool_.take());
      sums_of_[before + k] = rows.back().get();
    }
    const std::span<const CountPool::Row> own = std::span(rows).subspan(first);
    for_all ? sets.count(own) : sets.count();
    for (std::size_t k = 0; !for_all && k < sets.size(); ++k)
      scatter_counts(sets.counts(k), sets.states(), pool_.size(), own[k].get());
    // Sets are kept while many candidates are open: before others.
    if (for_all) lasting_ = features_.size();
    weigh_counts();
  }

  // The sums of the known parts of both functions over the rows of n states, from the first on. Where a
  // feature was counted for some states only, those of others mean nothing.
  template <class Real>
  void sums(std::size_t first, std::size_t n, Real* probability, Real* curvature) const {
    const std::vector<Real>&p = probability_.in_units<Real>(), &h = curvature_.in_units<Real>();
    const Real* rows = pairs_.facts<Real>().rows.data() + first;
    for (std::size_t i = 0; i < n; ++i) {
      probability[i] = p[0] * rows[i];
      curvature[i] = h[0] * rows[i];
    }
    add_counts<Real>(pool_.size(), sums_of_.data() + 1, sums_of_.size() - 1, first, n, p.data() + 1,
                     probability, h.data() + 1, curvature);
  }

  // By how much sums in floats can be off: a few roundings of each term, all of which are at most its weight
  // times all rows.
  double rounding_of_floats() const {
    double weights = 1;
    for (const double weight : probability_.weights) weights += std::abs(weight);
    for (const double weight : curvature_.weights) weights += std::abs(weight);
    return 0x1p-23 * static_cast<double>(sums_of_.size() + 3) * weights * rows_;
  }

 private:
  static constexpr std::size_t kMostKept = 16;

  // The best combination for one of the functions.
  struct Combination {
    std::vector<double> known;    // the known part, cell by cell
    std::vector<double> halves;   // products of the features with the function, half solved
    std::vector<double> weights;  // of each feature in the known part
    std::vector<double> exact;    // the same, of counts in units,
    std::vector<float> rough;     // and in floats

    template <class Real>
    const std::vector<Real>& in_units() const {
      if constexpr (sizeof(Real) == sizeof(double))
        return exact;
      else
        return rough;
    }
  };

  void give_back(std::vector<CountPool::Row>& rows) {
    for (; !rows.empty(); rows.pop_back()) pool_.give_back(std::move(rows.back()));
  }

  // The states of a member of the support, but the first.
  bool add_states(std::size_t i) {
    bool added = true;
    for (int c = 1; c < table_.states(cells_.support()[i]); ++c)
      added = added && add_feature([&](std::size_t s) { return cells_.code(s, i) == c; },
                                   reader_.row(table_.state(cells_.support()[i], c)).counts);
    return added;
  }

  // Collinear features only need some solution; what it misses is part of the remainder.
  template <class In>
  bool add_feature(const In& in, const void* counts) {
    sums_of_.push_back(counts);
    return features_.add(in, cells_.totals(), 1e-9 * rows_);
  }

  // Least squares of probability and curvature on the features.
  void estimate(CellFunctions& functions) {
    solve(functions.probability, probability_);
    solve(functions.curvature, curvature_);
    vectors_.clear();
    for (std::size_t f = 0; f < features_.size(); ++f) vectors_.push_back(features_.row(f));
    add_combinations(vectors_.data(), vectors_.size(), cells_.size(), probability_.weights.data(),
                     probability_.known.data(), curvature_.weights.data(), curvature_.known.data());
    leave_rest(functions.probability, probability_);
    leave_rest(functions.curvature, curvature_);
  }

  void solve(const SplitFunction& function, Combination& best) {
    features_.half_solve(function.of_cell.data(), cells_.totals(), best.halves);
    features_.solve(best.halves, best.weights);
    best.known.assign(cells_.size(), 0.0);
  }

  // The remainder, once a combination of features is known; its mean becomes part of that.
  void leave_rest(SplitFunction& function, Combination& best) const {
    function.left.resize(best.known.size());
    for (std::size_t s = 0; s < function.left.size(); ++s)
      function.left[s] = function.of_cell[s] - best.known[s];
    function.range = 0;  // of all but the constant, whose sums are exact; of no use, if all of them are
    for (std::size_t s = 0; !table_.countable() && s < function.left.size(); ++s)
      function.range = std::max(function.range, std::abs(best.known[s] - best.weights[0]));
    const double mean = function.measure(cells_.totals(), rows_);
    for (double& value : function.left) value -= mean;
    best.weights[0] += mean;
  }

  void weigh_counts() {
    for (Combination* best : {&probability_, &curvature_}) {
      best->exact = best->weights;
      for (std::size_t f = 1; f < best->exact.size(); ++f) best->exact[f] *= table_.unit();
      best->rough.assign(best->exact.begin(), best->exact.end());
    }
  }

  // A level about halfway between the means of what is above it and of the rest; false if there is only one
  // part. The function is centred. A level that leaves one part only is not taken: that before it is.
  bool find_level(const std::vector<double>& of_cell, double& level) const {
    double next = 0;
    for (int round = 0;; ++round) {
      double sum, rows;
      sum_above(next, of_cell.data(), cells_.totals(), of_cell.size(), rows, sum);
      if (!(rows > 0 && rows < rows_ && sum > 1e-12 * rows_)) return round > 0;
      level = next;
      next = 0.5 * (sum / rows - sum / (rows_ - rows));
      if (round == 5 || std::abs(next - level) < 1e-2 * sum / rows) return true;
    }
  }

  const Table& table_;
  const Pairs& pairs_;
  Pairs::Reader& reader_;
  const Cells& cells_;
  double rows_ = 0;
  bool solvable_ = false;
  Features features_;
  Combination probability_, curvature_;
  std::size_t lasting_ = 0;            // how many features stay when cells grow finer
  std::size_t age_ = 0, members_ = 0;  // of the cells that these are sets of
  std::vector<const void*> sums_of_;   // counts of each feature, for every state; none for the constant
  std::vector<const double*> vectors_;
  CountPool pool_;
  std::vector<CountPool::Row> kept_;  // counts of sets, for every candidate
  std::vector<CountPool::Row> some_;  // for those alone that were open
  std::vector<char> upper_;
};

}  // namespace isinglass

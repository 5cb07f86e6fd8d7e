// Exact gains: how far the loss can fall when one more edge, and the field, are free.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "bits/cells.hpp"
#include "counting/pairs.hpp"
#include "gains/profile.hpp"
#include "gains/small_gain.hpp"
#include "refit/fitter.hpp"
#include "refit/refit.hpp"

namespace isinglass {

// The cells by state of a candidate, with the probabilities that a fit gives them, and the rows of each of
// its states and each of the target's.
struct SplitCells {
  std::vector<WeightedCells> by_state;
  std::vector<double> counts;  // states of the candidate x states of the target

  std::size_t states() const { return by_state.size(); }
  std::span<const double> totals(std::size_t state) const {
    const std::size_t width = counts.size() / by_state.size();
    return std::span(counts).subspan(state * width, width);
  }
};

struct Gain {
  double value = 0;            // of the log-likelihood per row
  std::vector<double> shifts;  // of the target's logits, state by state of the candidate; with a field only
};

class Gains {
 public:
  Gains(const Table& table, Pairs::Reader& reader, const Cells& cells, bool intercept)
      : table_(table), reader_(reader), cells_(cells), intercept_(intercept) {}

  void split(const CurrentFit& fit, std::size_t column, SplitCells& out) {
    reader_.cross_counts(column, cells_.target(), out.counts);
    cells_.split(column, fit.probabilities.data(), out.by_state);
  }

  Gain gain(const SplitCells& split) {
    if (!intercept_) return {joint_gain(split), {}};
    Gain gain;
    for (std::size_t c = 0; c < split.states(); ++c) {
      gain.value += profile_.maximum(split.by_state[c], split.totals(c), Profile::Cell::of_probabilities);
      gain.shifts.insert(gain.shifts.end(), profile_.shift().begin(), profile_.shift().end());
    }
    gain.value /= table_.n();
    return gain;
  }

  // Of a small edge. Its shifts, against the target's first state, are where a refit with it starts.
  Gain small_gain(const SplitCells& split, const SmallDesign& design) {
    const double value = small_.maximum(split.by_state, split.counts, design, intercept_) / table_.n();
    return {value, small_.shifts()};
  }

  // What the best table of the candidate alone would add to the scores: where a refit with it starts.
  std::vector<double> start(const SplitCells& split, Gain gain) const {
    std::vector<double> start;
    if (!intercept_) return start;
    const std::size_t width = cells_.width();
    for (std::size_t c = 0; c < split.states(); ++c) {
      double* shift = &gain.shifts[c * width];
      for (std::size_t a = 0; width > 2 && a < width; ++a)
        if (split.totals(c)[a] == 0) shift[a] = where_the_ridge_stops(split.by_state[c], a);
      for (std::size_t a = 1; a < width; ++a)
        start.push_back(std::clamp(shift[a] - shift[0], -kFarthestStart, kFarthestStart));
    }
    return start;
  }

 private:
  static constexpr double kFarthestStart = 20;  // the loss is flat further out

  // Without a field the states of the candidate are tied together: one small search over its block. Of the
  // target's states only the totals matter; they are spread evenly over the rows.
  double joint_gain(const SplitCells& split) {
    const std::size_t width = cells_.width(), m = split.states();
    if (width == 2 && m == 2) return mirrored_gain(split);
    std::vector<double> counts, offset;
    std::vector<std::uint8_t> codes;
    for (std::size_t c = 0; c < m; ++c) {
      const WeightedCells& cells = split.by_state[c];
      const std::span<const double> totals = split.totals(c);
      const double all = std::accumulate(totals.begin(), totals.end(), 0.0);
      for (std::size_t s = 0; s < cells.size(); ++s) {
        if (!(cells.rows()[s] > 0)) continue;
        codes.push_back(static_cast<std::uint8_t>(c));
        for (std::size_t a = 0; a < width; ++a) {
          counts.push_back(cells.rows()[s] * totals[a] / all);
          offset.push_back(std::log(cells.probabilities(a)[s]));
        }
      }
    }
    const CellView view{codes.size(), static_cast<int>(width), {static_cast<int>(m)},
                        codes.data(), counts.data(),           offset.data()};
    Refit problem(view, table_.n(), false, kVanishing);
    std::vector<double> x(problem.size(), 0.0), probabilities;
    const double before = problem.probabilities(problem.expand(x), probabilities);
    problem.minimise(x, 1e-15);
    return before - problem.probabilities(problem.expand(x), probabilities);
  }

  // Between two columns of two states one number is free, which moves the logits of the candidate's two
  // states by the same amount to either side: one shift of all, once the target's states change places in
  // the cells of the first.
  double mirrored_gain(const SplitCells& split) {
    const WeightedCells &first = split.by_state[0], &second = split.by_state[1];
    mirrored_.reset(2, first.size() + second.size());
    mirrored_.append(first, 1, 0);
    mirrored_.append(second, 0, 1);  // both have all lanes full
    const double totals[2] = {split.counts[1] + split.counts[2], split.counts[0] + split.counts[3]};
    return profile_.maximum(mirrored_, totals) / table_.n();
  }

  // A state that is never seen beside another sinks towards minus infinity, until the pull of the data,
  // its expected rows, is down to that of the ridge: E e^v = n ridge |v|.
  double where_the_ridge_stops(const WeightedCells& cells, std::size_t a) const {
    double expected = 0;
    for (std::size_t s = 0; s < cells.size(); ++s) expected += cells.rows()[s] * cells.probabilities(a)[s];
    if (!(expected > 0)) return 0;
    double v = -10;
    for (int i = 0; i < 5; ++i) v = std::min(std::log(table_.n() * kRidge * -v / expected), -0.1);
    return v;
  }

  const Table& table_;
  Pairs::Reader& reader_;
  const Cells& cells_;
  bool intercept_;
  Profile profile_;
  SmallGain small_;
  WeightedCells mirrored_;  // kept for its memory
};

}  // namespace isinglass

// The l1 paths of many columns, threads taking columns in turn, and their results as flat arrays.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/threads.hpp"
#include "l1/l1.hpp"
#include "l1/potentials.hpp"
#include "l1/spins.hpp"

namespace isinglass {

struct L1Settings {
  SpinLoss loss;
  bool intercept;
  double tolerance;
  std::vector<double> penalties;  // falling
  std::vector<double> scales;     // of each column's penalty
};

// Fits stand in a row: all penalties of the first column, then those of the next.
struct L1Flat {
  std::vector<double> largest;         // of each column: the penalty that leaves out every other
  std::vector<double> loss, distance;  // of each fit
  std::vector<std::int64_t> support_begin{0}, support;
  std::vector<std::int64_t> number_begin{0};
  std::vector<double>
      numbers;  // the field, then the table of each neighbour, row by row, in the zero-sum gauge
};

class L1Columns {
 public:
  L1Columns(const Table& table, const L1Settings& settings) : table_(table), settings_(settings) {
    for (std::size_t j = 0; j < table.columns(); ++j) two_states_ = two_states_ && table.states(j) <= 2;
  }

  L1Flat run(std::span<const std::size_t> targets, unsigned threads, const WatchWork& watch) {
    std::vector<Result> results(targets.size());
    std::atomic<bool> interrupted{false};
    share_out_watched(targets.size(), std::max(threads, 1u), interrupted, watch,
                      [&](std::size_t i, unsigned) { results[i] = solve(targets[i], interrupted); });
    L1Flat flat;
    for (std::size_t i = 0; i < targets.size(); ++i) append(targets[i], results[i], flat);
    return flat;
  }

 private:
  struct Result {
    double largest = 0;
    std::vector<L1Fit> fits;
  };

  Result solve(std::size_t r, const std::atomic<bool>& interrupted) const {
    if (two_states_)
      return solve(SpinProblem(table_, r, settings_.loss, settings_.intercept, settings_.scales),
                   interrupted);
    return solve(PotentialProblem(table_, r, settings_.intercept, settings_.scales), interrupted);
  }

  template <class Problem>
  Result solve(Problem problem, const std::atomic<bool>& interrupted) const {
    L1Path<Problem> path(problem, settings_.tolerance, interrupted);
    const double largest = path.largest_penalty();
    return {largest, path.run(settings_.penalties)};
  }

  void append(std::size_t r, const Result& result, L1Flat& flat) const {
    flat.largest.push_back(result.largest);
    for (const L1Fit& fit : result.fits) {
      flat.loss.push_back(fit.loss);
      flat.distance.push_back(fit.distance);
      for (const std::size_t t : fit.support) flat.support.push_back(static_cast<std::int64_t>(t));
      flat.support_begin.push_back(static_cast<std::int64_t>(flat.support.size()));
      append_table(r, table_.columns(), fit.blocks.back(), flat.numbers);
      for (std::size_t i = 0; i < fit.support.size(); ++i)
        append_table(r, fit.support[i], fit.blocks[i], flat.numbers);
      flat.number_begin.push_back(static_cast<std::int64_t>(flat.numbers.size()));
    }
  }

  // A block as a table: states of r x states of t, or x 1 for the field.
  void append_table(std::size_t r, std::size_t t, const std::vector<double>& block,
                    std::vector<double>& out) const {
    const auto m = static_cast<std::size_t>(table_.states(r));
    const std::size_t w = t == table_.columns() ? 1 : static_cast<std::size_t>(table_.states(t));
    if (block.empty()) {
      out.resize(out.size() + m * w, 0.0);
    } else if (two_states_) {
      for (std::size_t a = 0; a < m; ++a)
        for (std::size_t c = 0; c < w; ++c)
          out.push_back((a == 1) == (w == 1 || c == 1) ? block[0] : -block[0]);
    } else {
      const std::vector<double> table = table_of_block(m, w, block.data());
      out.insert(out.end(), table.begin(), table.end());
    }
  }

  const Table& table_;
  const L1Settings& settings_;
  bool two_states_ = true;
};

}  // namespace isinglass

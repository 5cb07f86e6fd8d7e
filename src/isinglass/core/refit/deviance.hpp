// What each neighbour of a column adds to its likelihood when all other neighbours are refitted without it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <numeric>
#include <vector>

#include "base/edge.hpp"
#include "base/threads.hpp"
#include "bits/cells.hpp"
#include "counting/turns.hpp"
#include "refit/refit.hpp"

namespace isinglass {

struct Deviances {
  double loss = 0;               // per row, with all neighbours
  std::vector<double> without;   // per row, without each neighbour that was left out; all else refitted
  std::vector<double> expected;  // for each of these, rows of each combination of states, as fitted without
                                 // it: the target's states by those of the neighbour
};

// Cells that differ in one column only, merged.
struct MergedCells {
  std::vector<std::uint8_t> codes;
  std::vector<double> counts;
  std::vector<std::uint32_t> merged;  // the number of the merged cell that each cell is a part of

  MergedCells(const CellView& view, std::size_t left_out) : merged(view.cells) {
    const std::size_t k = view.states.size(), width = static_cast<std::size_t>(view.width);
    const auto compare = [&](std::uint32_t a, std::uint32_t b) {
      const std::uint8_t *one = view.codes + a * k, *two = view.codes + b * k;
      const int before = left_out ? std::memcmp(one, two, left_out) : 0;
      const std::size_t after = k - left_out - 1;
      if (before != 0 || after == 0) return before;
      return std::memcmp(one + left_out + 1, two + left_out + 1, after);
    };
    std::vector<std::uint32_t> order(view.cells);
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return compare(a, b) < 0; });
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint8_t* own = view.codes + order[i] * k;
      if (i == 0 || compare(order[i - 1], order[i]) != 0) {
        codes.insert(codes.end(), own, own + left_out);
        codes.insert(codes.end(), own + left_out + 1, own + k);
        counts.resize(counts.size() + width, 0.0);
      }
      merged[order[i]] = static_cast<std::uint32_t>(counts.size() / width - 1);
      for (std::size_t a = 0; a < width; ++a)
        counts[counts.size() - width + a] += view.counts[order[i] * width + a];
    }
  }

  // The merged cells as a refit looks at them.
  CellView view(const CellView& all, std::size_t left_out) const {
    CellView fewer{counts.size() / static_cast<std::size_t>(all.width), all.width, all.states, codes.data(),
                   counts.data()};
    const auto at = static_cast<std::ptrdiff_t>(left_out);
    fewer.states.erase(fewer.states.begin() + at);
    fewer.answers = all.answers;
    if (!fewer.answers.empty()) fewer.answers.erase(fewer.answers.begin() + at);
    fewer.designs = all.designs;
    if (!fewer.designs.empty()) fewer.designs.erase(fewer.designs.begin() + at);
    return fewer;
  }
};

// What conditionals are made of.
struct Conditional {
  bool intercept;
  const Forms* forms = nullptr;  // of edges; whole tables only, if there are none
};

class DevianceFinder {
 public:
  DevianceFinder(const Table& table, const Conditional& conditional, CellAsker* asker = nullptr)
      : table_(table),
        intercept_(conditional.intercept),
        forms_(conditional.forms),
        cells_(table, 0, asker) {}

  // `left_out` are positions among the neighbours: those that the column is refitted without.
  Deviances find(std::size_t target, const std::vector<std::size_t>& neighbours,
                 const std::vector<std::size_t>& left_out, const std::vector<Form>& forms = {}) {
    Deviances found;
    if (table_.states(target) < 2) return found;
    cells_.set_target(target);
    cells_.become(neighbours);
    CellView view = cells_.view();
    set_designs(view, forms_, target, neighbours, forms);
    Refit problem(view, table_.n(), intercept_, kRidge);
    std::vector<double> x(problem.size(), 0.0), probabilities;
    problem.minimise(x, kTolerance);
    found.loss = problem.probabilities(problem.expand(x), probabilities);
    for (const std::size_t i : left_out) leave_out(view, i, x, found);
    return found;
  }

 private:
  // Refits without the i-th neighbour, from where the others are.
  void leave_out(const CellView& view, std::size_t i, const std::vector<double>& x, Deviances& found) const {
    const MergedCells cells(view, i);
    Refit problem(cells.view(view, i), table_.n(), intercept_, kRidge);
    std::vector<double> fewer = without_block(view, i, x), probabilities;
    problem.minimise(fewer, kTolerance);
    const double loss = problem.probabilities(problem.expand(fewer), probabilities);
    found.without.push_back(std::max(loss, found.loss));
    expect(view, i, cells, probabilities, found.expected);
  }

  std::vector<double> without_block(const CellView& view, std::size_t i, const std::vector<double>& x) const {
    std::size_t first = intercept_ ? target_parameters(view.width) : 0;
    for (std::size_t t = 0; t < i; ++t) first += parameters_of(view, t);
    std::vector<double> fewer = x;
    const auto begin = fewer.begin() + static_cast<std::ptrdiff_t>(first);
    fewer.erase(begin, begin + static_cast<std::ptrdiff_t>(parameters_of(view, i)));
    return fewer;
  }

  static std::size_t parameters_of(const CellView& view, std::size_t t) {
    return view.design(t) ? view.design(t)->size : degrees_of_freedom(view.width, view.states[t]);
  }

  void expect(const CellView& view, std::size_t i, const MergedCells& cells,
              const std::vector<double>& probabilities, std::vector<double>& expected) const {
    const auto m = static_cast<std::size_t>(view.states[i]), width = static_cast<std::size_t>(view.width);
    const std::size_t first = expected.size();
    expected.resize(first + width * m, 0.0);
    for (std::size_t s = 0; s < view.cells; ++s) {
      const std::size_t c = view.codes[s * view.states.size() + i];
      const double* probability = &probabilities[cells.merged[s] * width];
      for (std::size_t a = 0; a < width; ++a) expected[first + a * m + c] += cells_.total(s) * probability[a];
    }
  }

  static constexpr double kTolerance = 1e-18;

  const Table& table_;
  bool intercept_;
  const Forms* forms_;
  Cells cells_;
};

// What some neighbours of each target add, all else refitted each time.
inline std::vector<Deviances> find_deviances(const Table& table, const Conditional& conditional,
                                             const std::vector<std::size_t>& targets,
                                             const std::vector<std::vector<std::size_t>>& neighbours,
                                             const std::vector<std::vector<Form>>& forms,
                                             const std::vector<std::vector<std::size_t>>& left_out,
                                             unsigned threads, const WatchWork& watch,
                                             const Remote* remote = nullptr) {
  std::vector<Deviances> found(targets.size());
  if (targets.empty()) return found;
  std::atomic<bool> interrupted{false};
  const Cores cores = remote ? remote_core(table, interrupted, *remote) : Cores();
  const auto workers =
      remote ? static_cast<unsigned>(std::min(targets.size(), remote->together)) : std::max(threads, 1u);
  std::deque<DevianceFinder> finders;
  for (unsigned k = 0; k < workers; ++k)
    finders.emplace_back(table, conditional, remote ? cores[0]->asker() : nullptr);
  const auto work = [&](std::size_t i, unsigned k) {
    found[i] = finders[k].find(targets[i], neighbours[i], left_out[i], forms[i]);
  };
  remote ? share_out_in_turns(targets.size(), workers, cores, interrupted, watch, work)
         : share_out_watched(targets.size(), workers, interrupted, watch, work);
  return found;
}

}  // namespace isinglass

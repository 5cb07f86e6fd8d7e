// Algorithm 2: a search for every column, threads taking columns in turn.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

#include "node.hpp"
#include "threads.hpp"

namespace isinglass {

struct Worth {
  std::size_t column;
  double value;
};

struct NodeResult {
  NodePath path;
  // For the start and each step: what edges are worth there, wherever a path may be cut.
  std::vector<std::vector<Worth>> worth;
};

class Engine {
 public:
  Engine(const Table& table, const Settings& settings, unsigned threads)
      : table_(table), settings_(settings), threads_(std::max(threads, 1u)), pairs_(table) {}

  // Runs the columns in `targets`. Edges are valued for neighbours, for the targets that chose a
  // column, and for its `admirers`.
  std::vector<NodeResult> run(const std::vector<std::size_t>& targets,
                              std::vector<std::set<std::size_t>> admirers, const WatchWork& watch) {
    pairs_.prepare(threads_);
    std::vector<NodeResult> results(targets.size());
    in_threads(targets.size(), watch, [&](std::size_t i, Pairs::Reader& reader) {
      Node node(table_, pairs_, reader, targets[i], settings_);
      results[i].path = node.search(interrupted_);
      results[i].path.evaluated = node.evaluated();
    });
    if (interrupted_) return results;
    find_admirers(targets, results, admirers);
    measure_worths(targets, admirers, results, [&](std::size_t) { return watch(targets.size()); });
    return results;
  }

  // No search: every column is given its neighbours, and only fitted. Both ends of an edge value it.
  std::vector<NodeResult> value(const std::vector<std::vector<std::size_t>>& neighbours,
                                const WatchWork& watch) {
    std::vector<NodeResult> results(neighbours.size());
    std::vector<std::size_t> targets(neighbours.size());
    std::vector<std::set<std::size_t>> admirers(neighbours.size());
    std::iota(targets.begin(), targets.end(), std::size_t{0});
    for (std::size_t r = 0; r < neighbours.size(); ++r)
      for (const std::size_t t : neighbours[r]) admirers[t].insert(r);
    in_threads(targets.size(), watch, [&](std::size_t r, Pairs::Reader& reader) {
      Node node(table_, pairs_, reader, r, settings_);
      results[r].path.start = node.fit(neighbours[r]);
      measure_worth(node, admirers[r], results[r]);
    });
    return results;
  }

 private:
  template <class Work>
  void in_threads(std::size_t count, const WatchWork& watch, const Work& work) {
    std::vector<Pairs::Reader> readers(threads_, Pairs::Reader(pairs_));
    share_out_watched(count, threads_, interrupted_, watch, [&](std::size_t i, unsigned thread) {
      readers[thread].tidy();
      work(i, readers[thread]);
    });
  }

  // For each column, those that had it in their support at some step.
  static void find_admirers(const std::vector<std::size_t>& targets, const std::vector<NodeResult>& results,
                            std::vector<std::set<std::size_t>>& admirers) {
    for (std::size_t i = 0; i < targets.size(); ++i)
      for (const NodeStep& step : results[i].path.steps)
        if (step.add) admirers[step.variable].insert(targets[i]);
  }

  void measure_worths(const std::vector<std::size_t>& targets,
                      const std::vector<std::set<std::size_t>>& admirers, std::vector<NodeResult>& results,
                      const WatchWork& watch) {
    in_threads(targets.size(), watch, [&](std::size_t i, Pairs::Reader& reader) {
      Node node(table_, pairs_, reader, targets[i], settings_);
      measure_worth(node, admirers[targets[i]], results[i]);
    });
  }

  // A path may be cut before each forward step, and at its end.
  void measure_worth(Node& node, const std::set<std::size_t>& admirers, NodeResult& result) {
    const auto& steps = result.path.steps;
    result.worth.resize(steps.size() + 1);
    for (std::size_t count = 0; count <= steps.size() && !interrupted_; ++count) {
      if (count < steps.size() && !steps[count].add) continue;
      const NodeFit& fit = count ? steps[count - 1].fit : result.path.start;
      std::set<std::size_t> wanted(admirers);
      wanted.insert(fit.support.begin(), fit.support.end());
      const std::vector<std::size_t> columns(wanted.begin(), wanted.end());
      const std::vector<double> values = node.worth(fit, columns);
      for (std::size_t i = 0; i < columns.size(); ++i)
        result.worth[count].push_back({columns[i], std::max(values[i], 0.0)});
    }
  }

  const Table& table_;
  Settings settings_;
  unsigned threads_;
  Pairs pairs_;
  std::atomic<bool> interrupted_{false};
};

}  // namespace isinglass

// Algorithm 2: a search for every column, threads taking columns in turn.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <set>
#include <vector>

#include "node.hpp"
#include "threads.hpp"

namespace isinglass {

class Engine {
 public:
  Engine(const Table& table, const Settings& settings, unsigned threads)
      : table_(table), settings_(settings), threads_(std::max(threads, 1u)), pairs_(table) {}

  // Runs the columns in `targets`. Edges are valued for neighbours, for the targets that chose a
  // column, and for its `admirers`.
  std::vector<NodePath> run(const std::vector<std::size_t>& targets,
                            std::vector<std::set<std::size_t>> admirers, const WatchWork& watch) {
    pairs_.prepare(threads_);
    std::vector<NodePath> results(targets.size());
    in_threads(targets.size(), watch, [&](std::size_t i, Node& node) {
      node.turn_to(targets[i]);
      results[i] = node.search(interrupted_);
      results[i].evaluated = node.evaluated();
    });
    if (interrupted_) return results;
    find_admirers(targets, results, admirers);
    in_threads(
        targets.size(), [&](std::size_t) { return watch(targets.size()); },
        [&](std::size_t i, Node& node) {
          node.turn_to(targets[i]);
          measure_admirers(node, admirers[targets[i]], results[i]);
        });
    return results;
  }

  // No search: every column is given its neighbours, and only fitted. Both ends of an edge value it.
  std::vector<NodePath> value(const std::vector<std::vector<std::size_t>>& neighbours,
                              const WatchWork& watch) {
    std::vector<NodePath> results(neighbours.size());
    std::vector<std::set<std::size_t>> admirers(neighbours.size());
    for (std::size_t r = 0; r < neighbours.size(); ++r)
      for (const std::size_t t : neighbours[r]) admirers[t].insert(r);
    in_threads(neighbours.size(), watch, [&](std::size_t r, Node& node) {
      node.turn_to(r);
      results[r] = node.fit_on(neighbours[r]);
      measure_admirers(node, admirers[r], results[r]);
    });
    return results;
  }

 private:
  template <class Work>
  void in_threads(std::size_t count, const WatchWork& watch, const Work& work) {
    std::deque<Node> nodes;
    for (unsigned thread = 0; thread < threads_; ++thread) nodes.emplace_back(table_, pairs_, settings_);
    share_out_watched(count, threads_, interrupted_, watch,
                      [&](std::size_t i, unsigned thread) { work(i, nodes[thread]); });
  }

  // For each column, those that had it in their support at some time.
  static void find_admirers(const std::vector<std::size_t>& targets, const std::vector<NodePath>& results,
                            std::vector<std::set<std::size_t>>& admirers) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      for (const std::size_t t : results[i].start.support) admirers[t].insert(targets[i]);
      for (const NodeStep& step : results[i].steps)
        if (step.add) admirers[step.variable].insert(targets[i]);
    }
  }

  // Adds what admirers that are not neighbours are worth, wherever a path may be cut: what the search
  // knows already, and what it did not have to look at.
  void measure_admirers(Node& node, const std::set<std::size_t>& admirers, NodePath& path) {
    std::vector<Place> places;
    std::vector<std::size_t> cuts;
    for (std::size_t count = 0; count < path.worth.size(); ++count) {
      if (count < path.steps.size() && !path.steps[count].add) continue;
      Place place{count ? &path.steps[count - 1].fit : &path.start, {}};
      const std::vector<std::size_t>& support = place.fit->support;
      for (const std::size_t j : admirers) {
        if (std::find(support.begin(), support.end(), j) != support.end()) continue;
        const auto known = std::find_if(path.gains[count].begin(), path.gains[count].end(),
                                        [j](const Worth& gain) { return gain.column == j; });
        known != path.gains[count].end() ? path.worth[count].push_back(*known) : place.columns.push_back(j);
      }
      if (place.columns.empty()) continue;
      places.push_back(std::move(place));
      cuts.push_back(count);
    }
    const std::vector<std::vector<Worth>> rest = node.worth(places, interrupted_);
    for (std::size_t k = 0; k < cuts.size(); ++k)
      path.worth[cuts[k]].insert(path.worth[cuts[k]].end(), rest[k].begin(), rest[k].end());
    path.gains.clear();
  }

  const Table& table_;
  Settings settings_;
  unsigned threads_;
  Pairs pairs_;
  std::atomic<bool> interrupted_{false};
};

}  // namespace isinglass

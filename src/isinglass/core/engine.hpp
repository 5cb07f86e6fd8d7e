// Algorithm 2: a search for every column, threads taking columns in turn.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "node.hpp"
#include "threads.hpp"

namespace isinglass {

// Thresholds from the low one up to the high one, which is not among them; none, unless low is below high.
struct Thresholds {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  static Thresholds all() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {-kInfinity, kInfinity};
  }

  bool meet(const Thresholds& other) const { return std::max(low, other.low) < std::min(high, other.high); }
  void cover(const Thresholds& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};

class Engine {
 public:
  Engine(const Table& table, const Settings& settings, unsigned threads)
      : table_(table), settings_(settings), threads_(std::max(threads, 1u)), pairs_(table) {}

  // Runs the columns in `targets`. Edges are valued for neighbours, for the targets that chose a
  // column at the same threshold, and for its `admirers` at any.
  std::vector<NodePath> run(const std::vector<std::size_t>& targets,
                            const std::vector<std::set<std::size_t>>& admirers, const WatchWork& watch) {
    pairs_.prepare(threads_);
    std::vector<NodePath> results(targets.size());
    in_threads(targets.size(), watch, [&](std::size_t i, Node& node) {
      node.turn_to(targets[i]);
      results[i] = node.search(interrupted_);
      results[i].evaluated = node.evaluated();
    });
    if (interrupted_) return results;
    const std::vector<Admirers> admired = find_admirers(targets, results, admirers);
    in_threads(
        targets.size(), [&](std::size_t) { return watch(targets.size()); },
        [&](std::size_t i, Node& node) {
          node.turn_to(targets[i]);
          measure_admirers(node, admired[targets[i]], results[i]);
        });
    return results;
  }

  // No search: every column is given its neighbours, and only fitted. Both ends of an edge value it.
  std::vector<NodePath> value(const std::vector<std::vector<std::size_t>>& neighbours,
                              const WatchWork& watch) {
    std::vector<NodePath> results(neighbours.size());
    std::vector<Admirers> admirers(neighbours.size());
    for (std::size_t r = 0; r < neighbours.size(); ++r)
      for (const std::size_t t : neighbours[r]) admirers[t][r] = Thresholds::all();
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
    if (count == 0) return;
    std::deque<Node> nodes;
    for (unsigned thread = 0; thread < threads_; ++thread) nodes.emplace_back(table_, pairs_, settings_);
    share_out_watched(count, threads_, interrupted_, watch,
                      [&](std::size_t i, unsigned thread) { work(i, nodes[thread]); });
  }

  // Columns that choose another one, and at which thresholds, about: between the least and the greatest.
  using Admirers = std::map<std::size_t, Thresholds>;

  // At which thresholds a path is cut after each number of steps: before the first forward step whose gain
  // is not above them.
  static std::vector<Thresholds> cuts(const NodePath& path) {
    std::vector<Thresholds> cuts(path.steps.size() + 1);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t count = 0; count < path.steps.size(); ++count) {
      const NodeStep& step = path.steps[count];
      if (!step.add) continue;
      cuts[count] = {step.change, least};
      least = std::min(least, step.change);
    }
    cuts.back() = {-std::numeric_limits<double>::infinity(), least};
    return cuts;
  }

  static const NodeFit& fit_after(const NodePath& path, std::size_t steps) {
    return steps ? path.steps[steps - 1].fit : path.start;
  }

  static std::vector<Admirers> find_admirers(const std::vector<std::size_t>& targets,
                                             const std::vector<NodePath>& results,
                                             const std::vector<std::set<std::size_t>>& at_any_threshold) {
    std::vector<Admirers> admirers(at_any_threshold.size());
    for (std::size_t t = 0; t < admirers.size(); ++t)
      for (const std::size_t r : at_any_threshold[t]) admirers[t][r] = Thresholds::all();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const std::vector<Thresholds> thresholds = cuts(results[i]);
      for (std::size_t count = 0; count < thresholds.size(); ++count)
        if (thresholds[count].low < thresholds[count].high)
          for (const std::size_t t : fit_after(results[i], count).support)
            admirers[t][targets[i]].cover(thresholds[count]);
    }
    return admirers;
  }

  // Adds what admirers that are not neighbours are worth, wherever a path may be cut: what the search
  // knows already, and what it did not have to look at.
  void measure_admirers(Node& node, const Admirers& admirers, NodePath& path) {
    std::vector<Place> places;
    std::vector<std::size_t> counts;
    const std::vector<Thresholds> thresholds = cuts(path);
    for (std::size_t count = 0; count < path.worth.size(); ++count) {
      Place place{&fit_after(path, count), {}};
      const std::vector<std::size_t>& support = place.fit->support;
      for (const auto& [j, chosen_at] : admirers) {
        if (!chosen_at.meet(thresholds[count])) continue;
        if (std::find(support.begin(), support.end(), j) != support.end()) continue;
        const auto known = std::find_if(path.gains[count].begin(), path.gains[count].end(),
                                        [j = j](const Worth& gain) { return gain.column == j; });
        known != path.gains[count].end() ? path.worth[count].push_back(*known) : place.columns.push_back(j);
      }
      if (place.columns.empty()) continue;
      places.push_back(std::move(place));
      counts.push_back(count);
    }
    const std::vector<std::vector<Worth>> rest = node.worth(places, interrupted_);
    for (std::size_t k = 0; k < counts.size(); ++k)
      path.worth[counts[k]].insert(path.worth[counts[k]].end(), rest[k].begin(), rest[k].end());
    path.gains.clear();
  }

  const Table& table_;
  Settings settings_;
  unsigned threads_;
  Pairs pairs_;
  std::atomic<bool> interrupted_{false};
};

}  // namespace isinglass

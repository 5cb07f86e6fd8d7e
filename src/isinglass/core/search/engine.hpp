// Algorithm 2: a search for every column, threads taking columns in turn.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <vector>

#include "base/threads.hpp"
#include "search/node.hpp"

namespace isinglass {

class Engine {
 public:
  Engine(const Table& table, const Settings& settings, unsigned threads)
      : table_(table), settings_(settings), threads_(std::max(threads, 1u)), pairs_(table) {}

  std::vector<NodePath> run(const std::vector<std::size_t>& targets, const WatchWork& watch) {
    pairs_.prepare(threads_);
    std::vector<NodePath> results(targets.size());
    in_threads(targets.size(), watch, [&](std::size_t i, Node& node) {
      node.set_target(targets[i]);
      results[i] = node.search(interrupted_);
      results[i].evaluated = node.evaluated();
    });
    return results;
  }

  // No search: every column is given its neighbours, and only fitted.
  std::vector<NodePath> fit(const std::vector<std::vector<std::size_t>>& neighbours,
                            const std::vector<std::vector<Form>>& forms, const WatchWork& watch) {
    std::vector<NodePath> results(neighbours.size());
    in_threads(neighbours.size(), watch, [&](std::size_t r, Node& node) {
      node.set_target(r);
      results[r] = node.fit_on(neighbours[r], forms[r]);
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

  const Table& table_;
  Settings settings_;
  unsigned threads_;
  Pairs pairs_;
  std::atomic<bool> interrupted_{false};
};

}  // namespace isinglass

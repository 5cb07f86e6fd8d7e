// Algorithm 2: a search for every column, threads taking columns in turn.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "base/threads.hpp"
#include "counting/gathering.hpp"
#include "counting/turns.hpp"
#include "counting/ways.hpp"
#include "search/node.hpp"

namespace isinglass {

class Engine {
 public:
  // With a `remote`, the rows are elsewhere, and whoever holds them counts.
  Engine(const Table& table, const Settings& settings, unsigned threads, const Remote* remote = nullptr)
      : table_(table),
        settings_(settings),
        threads_(std::max(threads, 1u)),
        remote_(remote),
        pairs_(table),
        at_once_(table) {}

  std::vector<NodePath> run(const std::vector<std::size_t>& targets, const WatchWork& watch) {
    const Ways ways = ways_to_count(table_, pairs_);
    if (ways.whole)
      remote_ ? pairs_.prepare(remote_->holder, interrupted_, watch)
              : pairs_.prepare(threads_, interrupted_, watch);
    std::vector<NodePath> results(targets.size());
    const auto work = [&](std::size_t i, Node& node) {
      node.set_target(targets[i]);
      results[i] = node.search(interrupted_);
      results[i].evaluated = node.evaluated();
    };
    remote_ || ways.gathered > 1 ? in_turns(targets.size(), ways.gathered, watch, work)
                                 : in_threads(targets.size(), watch, work);
    return results;
  }

  std::vector<NodePath> fit(const std::vector<std::vector<std::size_t>>& neighbours, const WatchWork& watch) {
    return fit(neighbours, std::vector<std::vector<Form>>(neighbours.size()), watch);
  }

  // No search: every column is given its neighbours, and only fitted.
  std::vector<NodePath> fit(const std::vector<std::vector<std::size_t>>& neighbours,
                            const std::vector<std::vector<Form>>& forms, const WatchWork& watch) {
    std::vector<NodePath> results(neighbours.size());
    const auto work = [&](std::size_t r, Node& node) {
      node.set_target(r);
      results[r] = node.fit_on(neighbours[r], forms[r]);
    };
    remote_ ? in_turns(neighbours.size(), 1, watch, work) : in_threads(neighbours.size(), watch, work);
    return results;
  }

 private:
  template <class Work>
  void in_threads(std::size_t count, const WatchWork& watch, const Work& work) {
    if (count == 0) return;
    std::deque<Node> nodes;
    for (unsigned thread = 0; thread < threads_; ++thread)
      nodes.emplace_back(table_, pairs_, at_once_, settings_);
    share_out_watched(count, threads_, interrupted_, watch,
                      [&](std::size_t i, unsigned thread) { work(i, nodes[thread]); });
  }

  // Several searches per core take turns, so that what they ask for is counted together; if rows are
  // elsewhere, all of them.
  template <class Work>
  void in_turns(std::size_t count, std::size_t gathered, const WatchWork& watch, const Work& work) {
    if (count == 0 || interrupted_) return;
    Cores cores;
    if (remote_) cores = remote_core(table_, interrupted_, *remote_);
    while (!remote_ && cores.size() < threads_)
      cores.push_back(std::make_unique<Gathering>(table_, interrupted_));
    const std::size_t most = remote_ ? remote_->together : gathered * threads_;
    const auto searches = static_cast<unsigned>(std::min(count, most));
    std::deque<Node> nodes;
    for (unsigned k = 0; k < searches; ++k)
      nodes.emplace_back(table_, pairs_, *cores[k % cores.size()], settings_);
    share_out_in_turns(count, searches, cores, interrupted_, watch,
                       [&](std::size_t i, unsigned search) { work(i, nodes[search]); });
  }

  const Table& table_;
  Settings settings_;
  unsigned threads_;
  const Remote* remote_;
  Pairs pairs_;
  Counter at_once_;
  std::atomic<bool> interrupted_{false};
};

}  // namespace isinglass

// Algorithm 2: a search for every column, threads taking columns in turn.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "base/threads.hpp"
#include "counting/gathering.hpp"
#include "counting/ways.hpp"
#include "search/node.hpp"

namespace isinglass {

// What the searches of a table share: its pairs, counted by the first of them for all that follow.
class SharedPairs {
 public:
  // `memory`: bytes that pairs may take a share of; what the system says, if not above zero.
  explicit SharedPairs(const Table& table, double memory = 0)
      : table_(table), pairs_(table), memory_(memory) {}

  const Table& table() const { return table_; }
  const Pairs& pairs() const { return pairs_; }

  // Counts the pairs, unless they are counted or would not fit.
  Ways prepare(unsigned threads, std::atomic<bool>& interrupted, const WatchWork& watch) {
    const std::lock_guard lock(mutex_);
    const Ways ways = ways_to_count(table_, pairs_, memory_ > 0 ? memory_ : available_memory());
    if (ways.whole && !pairs_.whole()) pairs_.prepare(threads, interrupted, watch);
    return ways;
  }

 private:
  const Table& table_;
  Pairs pairs_;
  double memory_;
  std::mutex mutex_;
};

class Engine {
 public:
  Engine(const Table& table, const Settings& settings, unsigned threads)
      : Engine(std::make_shared<SharedPairs>(table), settings, threads) {}

  Engine(std::shared_ptr<SharedPairs> shared, const Settings& settings, unsigned threads)
      : shared_(std::move(shared)),
        table_(shared_->table()),
        settings_(settings),
        threads_(std::max(threads, 1u)),
        at_once_(table_) {}

  std::vector<NodePath> run(const std::vector<std::size_t>& targets, const WatchWork& watch) {
    const Ways ways = shared_->prepare(threads_, interrupted_, watch);
    std::vector<NodePath> results(targets.size());
    const auto work = [&](std::size_t i, Node& node) {
      node.set_target(targets[i]);
      results[i] = node.search(interrupted_);
      results[i].evaluated = node.evaluated();
    };
    ways.gathered > 1 ? in_turns(targets.size(), ways.gathered, watch, work)
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
    for (unsigned thread = 0; thread < threads_; ++thread)
      nodes.emplace_back(table_, shared_->pairs(), at_once_, settings_);
    share_out_watched(count, threads_, interrupted_, watch,
                      [&](std::size_t i, unsigned thread) { work(i, nodes[thread]); });
  }

  // Several searches per core take turns, so that what they ask for is counted together.
  template <class Work>
  void in_turns(std::size_t count, std::size_t gathered, const WatchWork& watch, const Work& work) {
    if (count == 0) return;
    const auto searches = static_cast<unsigned>(std::min<std::size_t>(count, gathered * threads_));
    std::deque<Gathering> cores;
    std::deque<Node> nodes;
    for (unsigned core = 0; core < threads_; ++core) cores.emplace_back(table_, interrupted_);
    for (unsigned k = 0; k < searches; ++k)
      nodes.emplace_back(table_, shared_->pairs(), cores[k % threads_], settings_);
    share_out_watched(count, searches, interrupted_, watch, [&](std::size_t i, unsigned search) {
      const Gathering::Turn turn(cores[search % threads_]);
      try {
        work(i, nodes[search]);
      } catch (const GivenUp&) {  // the column is left as if it had not been begun
      }
    });
  }

  std::shared_ptr<SharedPairs> shared_;
  const Table& table_;
  Settings settings_;
  unsigned threads_;
  Counter at_once_;
  std::atomic<bool> interrupted_{false};
};

}  // namespace isinglass

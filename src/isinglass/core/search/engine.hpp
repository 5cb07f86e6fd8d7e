// Algorithm 2: a search for every column, threads taking columns in turn.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "base/threads.hpp"
#include "counting/gathering.hpp"
#include "counting/turns.hpp"
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
  Ways prepare(unsigned threads, std::atomic<bool>& interrupted, const WatchWork& watch,
               const Remote* remote) {
    const std::lock_guard lock(mutex_);
    const Ways ways = ways_to_count(table_, pairs_, memory_ > 0 ? memory_ : available_memory());
    if (ways.whole && !pairs_.whole())
      remote ? pairs_.prepare(remote->holder, interrupted, watch)
             : pairs_.prepare(threads, interrupted, watch);
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
  Engine(const Table& table, const Settings& settings, unsigned threads, const Remote* remote = nullptr)
      : Engine(std::make_shared<SharedPairs>(table), settings, threads, remote) {}

  // With a `remote`, the rows are elsewhere, and whoever holds them counts.
  Engine(std::shared_ptr<SharedPairs> shared, const Settings& settings, unsigned threads,
         const Remote* remote = nullptr)
      : shared_(std::move(shared)),
        table_(shared_->table()),
        settings_(settings),
        threads_(std::max(threads, 1u)),
        remote_(remote),
        at_once_(table_) {}

  std::vector<NodePath> run(const std::vector<std::size_t>& targets, const WatchWork& watch) {
    const Ways ways = shared_->prepare(threads_, interrupted_, watch, remote_);
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

  // For every column that has a fit: whoever gains more than the threshold there.
  std::vector<std::vector<Choice>> look_from(const std::vector<std::optional<NodeFit>>& fits,
                                             const WatchWork& watch) {
    shared_->prepare(threads_, interrupted_, watch, nullptr);
    std::vector<std::vector<Choice>> choices(fits.size());
    in_threads(fits.size(), watch, [&](std::size_t r, Node& node) {
      if (!fits[r]) return;
      node.set_target(r);
      choices[r] = node.look_from(*fits[r]);
    });
    return choices;
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
      nodes.emplace_back(table_, shared_->pairs(), *cores[k % cores.size()], settings_);
    share_out_in_turns(count, searches, cores, interrupted_, watch,
                       [&](std::size_t i, unsigned search) { work(i, nodes[search]); });
  }

  std::shared_ptr<SharedPairs> shared_;
  const Table& table_;
  Settings settings_;
  unsigned threads_;
  const Remote* remote_;
  Counter at_once_;
  std::atomic<bool> interrupted_{false};
};

}  // namespace isinglass

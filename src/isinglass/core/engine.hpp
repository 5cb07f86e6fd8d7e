// Algorithm 2: a search for every column, threads taking columns in turn.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "node.hpp"

namespace isinglass {

class Engine {
 public:
  Engine(const Table& table, const Settings& settings, unsigned threads)
      : table_(table), settings_(settings), threads_(std::max(threads, 1u)), pairs_(table) {}

  // Runs the columns in `targets`. Edges are valued for neighbours, for the targets that chose a
  // column, and for its `admirers`. `watch` is called now and then with the number done; if it
  // returns false, the work is given up.
  std::vector<NodePath> run(const std::vector<std::size_t>& targets,
                            std::vector<std::set<std::size_t>> admirers,
                            const std::function<bool(std::size_t)>& watch) {
    pairs_.prepare(threads_);
    std::vector<NodePath> results(targets.size());
    in_threads(targets.size(), watch, [&](std::size_t i, Pairs::Reader& reader) {
      Node node(table_, pairs_, reader, targets[i], settings_);
      results[i] = node.search(interrupted_);
      results[i].evaluated = node.evaluated();
    });
    if (interrupted_) return results;
    find_admirers(targets, results, admirers);
    in_threads(
        targets.size(), [&](std::size_t) { return watch(targets.size()); },
        [&](std::size_t i, Pairs::Reader& reader) {
          Node node(table_, pairs_, reader, targets[i], settings_);
          measure_admirers(node, admirers[targets[i]], results[i]);
        });
    return results;
  }

 private:
  template <class Work>
  void in_threads(std::size_t count, const std::function<bool(std::size_t)>& watch, const Work& work) {
    std::atomic<std::size_t> next{0}, done{0};
    std::mutex mutex;
    std::condition_variable finished;
    unsigned running = threads_;
    std::exception_ptr failure;
    const auto loop = [&] {
      try {
        Pairs::Reader reader(pairs_);
        for (std::size_t i; !interrupted_ && (i = next++) < count; ++done) {
          reader.tidy();
          work(i, reader);
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        interrupted_ = true;
      }
      const std::lock_guard lock(mutex);
      --running;
      finished.notify_one();
    };
    std::vector<std::thread> pool;
    for (unsigned t = 0; t < threads_; ++t) pool.emplace_back(loop);
    {
      std::unique_lock lock(mutex);
      do {
        finished.wait_for(lock, std::chrono::milliseconds(100), [&] { return running == 0; });
        lock.unlock();
        if (!watch(done)) interrupted_ = true;
        lock.lock();
      } while (running > 0);
    }
    for (auto& thread : pool) thread.join();
    if (failure) std::rethrow_exception(failure);
  }

  // For each column, those that had it in their support at some step.
  static void find_admirers(const std::vector<std::size_t>& targets, const std::vector<NodePath>& results,
                            std::vector<std::set<std::size_t>>& admirers) {
    for (std::size_t i = 0; i < targets.size(); ++i)
      for (const NodeStep& step : results[i].steps)
        if (step.add) admirers[step.variable].insert(targets[i]);
  }

  // Adds what admirers that are not neighbours are worth, wherever a path may be cut.
  void measure_admirers(Node& node, const std::set<std::size_t>& admirers, NodePath& path) {
    for (std::size_t count = 0; count < path.worth.size() && !interrupted_; ++count) {
      if (count < path.steps.size() && !path.steps[count].add) continue;
      const NodeFit& fit = count ? path.steps[count - 1].fit : path.start;
      std::vector<std::size_t> others;
      for (const std::size_t j : admirers)
        if (std::find(fit.support.begin(), fit.support.end(), j) == fit.support.end()) others.push_back(j);
      const std::vector<Worth> worth = node.worth(fit, others);
      path.worth[count].insert(path.worth[count].end(), worth.begin(), worth.end());
    }
  }

  const Table& table_;
  Settings settings_;
  unsigned threads_;
  Pairs pairs_;
  std::atomic<bool> interrupted_{false};
};

}  // namespace isinglass

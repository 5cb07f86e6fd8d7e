// Threads that somebody watches: who is told how much is done, and may end it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "base/threads.hpp"

namespace isinglass {

class WatchedCrew {
 public:
  explicit WatchedCrew(unsigned threads) : threads_(std::max(threads, 1u)), crew_(threads_) {}

  // Who watches from now on, as long as the work goes on.
  void watched_by(const WatchWork& watch) { watch_ = &watch; }
  void set_done(std::size_t done) { done_ = done; }
  std::size_t done() const { return done_; }

  unsigned threads() const { return threads_; }
  bool interrupted() const { return interrupted_; }
  bool may_go_on() { return !interrupted_ && (*watch_)(done_); }

  // Calls work(i) for some numbers, from threads that stay: for what is done sooner than threads are made.
  template <class Work>
  void share(const std::vector<std::size_t>& some, const Work& work) {
    const std::thread::id here = std::this_thread::get_id();
    crew_.share_out(some.size(), [&](std::size_t k) {
      if (interrupted_) return;
      work(some[k]);
      if (std::this_thread::get_id() == here) tell();
    });
  }

  // The same for 0, ..., count - 1, when nobody need be told.
  template <class Work>
  void share_quickly(std::size_t count, const Work& work) {
    crew_.share_out(count, work);
  }

  // Calls work(i, thread) for i = 0, ..., count - 1, from new threads.
  template <class Work>
  void share_at_length(std::size_t count, const Work& work) {
    share_out_watched(count, threads_, interrupted_, [&](std::size_t) { return (*watch_)(done_); }, work);
  }

 private:
  void tell() {
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < std::chrono::milliseconds(100)) return;
    told_ = now;
    if (!(*watch_)(done_)) interrupted_ = true;
  }

  unsigned threads_;
  const WatchWork* watch_ = nullptr;
  std::size_t done_ = 0;
  std::atomic<bool> interrupted_{false};
  std::chrono::steady_clock::time_point told_;
  Crew crew_;
};

}  // namespace isinglass

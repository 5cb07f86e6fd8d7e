// Searches that wait for each other, so that the sets they ask for are counted together.
//
// Where the bits of a table are larger than the cache, fetching them costs more than counting. So several
// searches share a core and take turns: one runs until it asks for counts, then the next, and when all of
// them wait, the sets of all are counted while the bits pass by once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "counting/counter.hpp"

namespace isinglass {

// What a search that waits is told when the work is given up.
struct GivenUp {};

// The searches of one core. Each is a thread of its own, and runs while it has its turn. Once `interrupted`
// is set nothing more is counted.
class Gathering : public Counter {
 public:
  Gathering(const Table& table, const std::atomic<bool>& interrupted)
      : Counter(table), interrupted_(interrupted) {}

  // A search, from its beginning to its end.
  class Turn {
   public:
    explicit Turn(Gathering& gathering) : gathering_(gathering) { gathering.begin(*this); }
    ~Turn() { gathering_.end(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    friend class Gathering;
    Gathering& gathering_;
    bool mine_ = false;
    std::condition_variable changed_;
    std::exception_ptr failure_;  // of the counting that it waited for
  };

  // Called by the search whose turn it is; returns when it is again, and what it asked for is counted.
  void count(std::span<const CountRequest> requests) override {
    std::unique_lock lock(mutex_);
    Turn& own = *running_;
    asked_.insert(asked_.end(), requests.begin(), requests.end());
    waiting_.push_back(&own);
    hand_on(lock);
    wait_for_turn(own, lock);
    if (own.failure_) std::rethrow_exception(std::exchange(own.failure_, nullptr));
    if (interrupted_) throw GivenUp();
  }

 private:
  void begin(Turn& turn) {
    std::unique_lock lock(mutex_);
    ready_.push_back(&turn);
    if (!running_) hand_on(lock);
    wait_for_turn(turn, lock);
  }

  void end() {
    std::unique_lock lock(mutex_);
    hand_on(lock);
  }

  // Gives the turn to the next search that is ready; if none is, what all of them wait for is counted first.
  // Nobody else runs meanwhile: whoever comes new waits, too.
  void hand_on(std::unique_lock<std::mutex>& lock) {
    if (ready_.empty() && !waiting_.empty()) count_asked(lock);
    running_ = nullptr;
    if (ready_.empty()) return;
    running_ = ready_.front();
    ready_.pop_front();
    running_->mine_ = true;
    running_->changed_.notify_one();
  }

  static void wait_for_turn(Turn& turn, std::unique_lock<std::mutex>& lock) {
    turn.changed_.wait(lock, [&] { return turn.mine_; });
    turn.mine_ = false;
  }

  void count_asked(std::unique_lock<std::mutex>& lock) {
    const std::vector<CountRequest> asked = std::exchange(asked_, {});
    const std::vector<Turn*> waiting = std::exchange(waiting_, {});
    std::exception_ptr failure;
    lock.unlock();
    try {
      if (!interrupted_) count_all(asked);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    for (Turn* turn : waiting) turn->failure_ = failure;
    ready_.insert(ready_.end(), waiting.begin(), waiting.end());
  }

  const std::atomic<bool>& interrupted_;
  std::mutex mutex_;
  Turn* running_ = nullptr;  // whose turn it is
  std::deque<Turn*> ready_;
  std::vector<Turn*> waiting_;       // for counts
  std::vector<CountRequest> asked_;  // what they wait for
};

}  // namespace isinglass

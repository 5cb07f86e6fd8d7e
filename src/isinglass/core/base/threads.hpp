// Threads that take numbers in turn.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace isinglass {

// Threads that call(0), ..., call(count - 1); fewer, if the system has no room for so many.
template <class Call>
std::vector<std::thread> start_threads(unsigned count, const Call& call) {
  std::vector<std::thread> pool;
  pool.reserve(count);
  try {
    for (unsigned t = 0; t < count; ++t) pool.emplace_back(call, t);
  } catch (const std::system_error&) {
  }
  return pool;
}

// Threads that pay: a new one may wait for a millisecond before it runs, and takes its own share of `work`.
inline unsigned worthwhile(unsigned threads, std::size_t work, std::size_t share) {
  return static_cast<unsigned>(std::clamp<std::size_t>(work / share, 1, std::max(threads, 1u)));
}

// Pieces of work, which threads take in turn. After a failure no more are begun, and the first one comes out
// at the end, such as that there is no memory left.
class Pieces {
 public:
  explicit Pieces(std::size_t count) : count_(count) {}

  template <class Work>
  void take(const Work& work) noexcept {
    try {
      for (std::size_t i; (i = next_++) < count_;) work(i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      next_ = count_;
    }
  }

  // Once no thread takes any more.
  void finish() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const std::size_t count_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

// Calls work(0), ..., work(count - 1), each once, from several threads; what `work` throws comes out here.
template <class Work>
void share_out(std::size_t count, unsigned threads, const Work& work) {
  Pieces pieces(count);
  const auto loop = [&](unsigned) { pieces.take(work); };
  const std::size_t several = std::min<std::size_t>(threads, count);
  std::vector<std::thread> pool = start_threads(several > 1 ? static_cast<unsigned>(several - 1) : 0, loop);
  loop(0);
  for (auto& thread : pool) thread.join();
  pieces.finish();
}

// Threads that stay, for many small pieces of work. They look out for it for a while before they sleep, and
// work is not kept waiting for those that sleep: to wake one may take longer than the work.
class Crew {
 public:
  explicit Crew(unsigned threads)
      : helpers_(start_threads(threads > 1 ? threads - 1 : 0, [this](unsigned) { help(); })) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  ~Crew() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    call();
    for (auto& helper : helpers_) helper.join();
  }

  // Calls work(0), ..., work(count - 1), each once; what `work` throws comes out here.
  template <class Work>
  void share_out(std::size_t count, const Work& work) {
    Pieces pieces(count);
    const auto loop = [&] { pieces.take(work); };
    if (helpers_.empty() || count < 2) {
      loop();
      return pieces.finish();
    }
    const std::function<void()> task = std::ref(loop);
    {
      const std::lock_guard lock(mutex_);
      task_ = &task;
    }
    call();
    loop();
    {
      const std::lock_guard lock(mutex_);
      task_ = nullptr;
    }
    while (inside_ > 0) std::this_thread::yield();
    pieces.finish();
  }

 private:
  static constexpr int kLooks = 2000;

  void call() {
    ++calls_;
    calls_.notify_all();
  }

  void help() {
    for (std::size_t seen = 0;;) {
      for (int look = 0; look < kLooks && calls_ == seen; ++look) std::this_thread::yield();
      calls_.wait(seen);
      seen = calls_;
      const std::function<void()>* task;
      {
        const std::lock_guard lock(mutex_);
        if (ended_) return;
        task = task_;
        inside_ += task != nullptr;
      }
      if (!task) continue;
      (*task)();
      --inside_;
    }
  }

  std::mutex mutex_;
  const std::function<void()>* task_ = nullptr;  // while helpers may begin with it
  bool ended_ = false;
  std::atomic<std::size_t> calls_{0}, inside_{0};
  std::vector<std::thread> helpers_;  // last: they use the others
};

// Called now and then with the number done; if it answers false, the work is given up.
using WatchWork = std::function<bool(std::size_t)>;

// Calls work(i, thread) for i = 0, ..., count - 1, each once, while this thread waits and watches; `thread`
// is below `threads`. Once `interrupted` is set nothing more is begun; what `work` throws comes out here.
template <class Work>
void share_out_watched(std::size_t count, unsigned threads, std::atomic<bool>& interrupted,
                       const WatchWork& watch, const Work& work) {
  std::atomic<std::size_t> next{0}, done{0};
  std::mutex mutex;
  std::condition_variable finished;
  unsigned running = threads;
  std::exception_ptr failure;
  const auto loop = [&](unsigned thread) {
    try {
      for (std::size_t i; !interrupted && (i = next++) < count; ++done) work(i, thread);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      interrupted = true;
    }
    const std::lock_guard lock(mutex);
    --running;
    finished.notify_one();
  };
  std::vector<std::thread> pool = start_threads(threads, loop);
  if (pool.empty()) loop(0);
  {
    std::unique_lock lock(mutex);
    running -= threads - static_cast<unsigned>(std::max<std::size_t>(pool.size(), 1));
    do {
      finished.wait_for(lock, std::chrono::milliseconds(100), [&] { return running == 0; });
      lock.unlock();
      if (!watch(done)) interrupted = true;
      lock.lock();
    } while (running > 0);
  }
  for (auto& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace isinglass

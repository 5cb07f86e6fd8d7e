// Threads that take numbers in turn.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace isinglass {

// Calls work(0), ..., work(count - 1), each once, from several threads. `work` must not throw.
template <class Work>
void share_out(std::size_t count, unsigned threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto loop = [&] {
    for (std::size_t i; (i = next++) < count;) work(i);
  };
  std::vector<std::thread> pool;
  for (unsigned t = 1; t < std::min<std::size_t>(threads, count); ++t) pool.emplace_back(loop);
  loop();
  for (auto& thread : pool) thread.join();
}

}  // namespace isinglass

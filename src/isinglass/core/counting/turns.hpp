// Work that takes turns: several searches per core, or all that a holder of rows is asked for together.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/threads.hpp"
#include "counting/gathering.hpp"
#include "counting/remote.hpp"

namespace isinglass {

using Cores = std::vector<std::unique_ptr<Gathering>>;

// One gathering for all searches whose rows are elsewhere.
inline Cores remote_core(const Table& table, const std::atomic<bool>& interrupted, const Remote& remote) {
  Cores cores;
  cores.push_back(std::make_unique<RemoteGathering>(table, interrupted, remote.holder));
  return cores;
}

// Calls work(i, search) for i = 0, ..., count - 1, each once, from as many searches; search k takes its turns
// at core k modulo their number. An i that is given up is left as if it had not been begun.
template <class Work>
void share_out_in_turns(std::size_t count, unsigned searches, const Cores& cores,
                        std::atomic<bool>& interrupted, const WatchWork& watch, const Work& work) {
  share_out_watched(count, searches, interrupted, watch, [&](std::size_t i, unsigned search) {
    const Gathering::Turn turn(*cores[search % cores.size()]);
    try {
      work(i, search);
    } catch (const GivenUp&) {
    }
  });
}

}  // namespace isinglass

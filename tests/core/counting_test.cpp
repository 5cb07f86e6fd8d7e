// Pair counts and counts of sets, counted at once or gathered, against single counts.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>
#include <vector>

#include "base/threads.hpp"
#include "core_test.hpp"
#include "counting/gathering.hpp"
#include "counting/pairs.hpp"

namespace core_test {
namespace {

using namespace isinglass;

// Weights of every size that counts are kept in.
std::vector<std::vector<double>> weights_of_all_sizes(Random& random, std::size_t rows) {
  return {no_weights(), whole_weights(random, rows, 6), real_weights(random, rows),
          whole_weights(random, rows, 100000), whole_weights(random, rows, 1000000000)};
}

// Each number in a thread of its own, all at the same time.
template <class Work>
void each_in_its_thread(std::size_t count, const Work& work) {
  std::atomic<bool> interrupted{false};
  share_out_watched(
      count, static_cast<unsigned>(count), interrupted, [](std::size_t) { return true; },
      [&](std::size_t i, unsigned) { work(i); });
}

void pair_rows_are_counts() {
  Random random(5);
  std::atomic<bool> interrupted{false};
  Sample sample = random_sample(random, 200, {2, 3, 1, 2, 5, 2, 2, 7, 2, 2, 2, 9, 2, 2, 2, 16});
  for (int j = 0; j < 90; ++j) sample.states.push_back(2);  // more than one block
  sample = random_sample(random, 200, sample.states);
  std::vector<CountSize> sizes;
  for (const auto& weights : weights_of_all_sizes(random, 200)) {
    sample.weights = weights;
    const Table table = sample.table();
    sizes.push_back(size_of_counts(table));
    Counter counter(table);
    Pairs whole(table), on_demand(table);
    whole.prepare(3, interrupted, [](std::size_t) { return true; });
    Pairs::Reader from_whole(whole, counter), from_rows(on_demand, counter);
    check(whole.whole() && !on_demand.whole(), "pairs are counted when they are prepared");
    for (std::size_t u = 0; u < whole.size(); ++u) {
      const CountRow a = from_whole.row(u), b = from_rows.row(u);
      for (std::size_t v = 0; v < whole.size(); ++v) {
        const double expected = table.count(table.row(u), table.row(v));
        check_near(table.unit() * a[v], expected, 1e-10 * (1 + expected) + table.slack(), "whole");
        check(a[v] == b[v], "pairs on demand are those of the whole table");
      }
    }
    from_rows.tidy();
  }
  for (const CountSize size : {CountSize::two, CountSize::four, CountSize::eight})
    check(std::ranges::count(sizes, size) > 0, "counts of every size were tried");
}

// What is interrupted is not whole.
void pairs_can_be_given_up() {
  Random random(8);
  const Table table = random_sample(random, 50, std::vector<int>(300, 2)).table();
  std::atomic<bool> interrupted{false};
  Pairs pairs(table);
  pairs.prepare(2, interrupted, [](std::size_t) { return false; });
  check(interrupted && !pairs.whole() ? true : pairs.whole(), "pairs are whole or not there");
  interrupted = true;
  Pairs others(table);
  others.prepare(2, interrupted, [](std::size_t) { return true; });
  check(!others.whole(), "nothing is begun once it is interrupted");
}

// Rows longer than a tile, and tiles that do not divide the states.
void long_rows_are_counted_in_blocks() {
  Random random(9);
  const Sample sample = random_sample(random, 70000, {2, 3, 2, 2, 2, 2, 2, 2});
  const Table table = sample.table();
  Counter counter(table);
  check(counter.size() == CountSize::four, "counts beyond two bytes");
  const Pairs pairs(table);
  Pairs::Reader reader(pairs, counter);
  for (std::size_t u = 0; u < pairs.size(); ++u) {
    const CountRow row = reader.row(u);
    for (std::size_t v = 0; v < pairs.size(); ++v)
      check(row[v] == table.count(table.row(u), table.row(v)), "blocks of words add");
  }
}

// Threads that ask for random states, each the other's counts included.
void gathered_counts_are_counts() {
  Random random(10);
  Sample sample = random_sample(random, 300, std::vector<int>(60, 2));
  sample.weights = whole_weights(random, 300, 5);
  const Table table = sample.table();
  const std::atomic<bool> never{false};
  Gathering gathering(table, never);
  const Pairs pairs(table);
  std::atomic<int> wrong{0}, running{0}, at_once{0};
  each_in_its_thread(24, [&](std::size_t i) {
    const Gathering::Turn turn(gathering);
    Pairs::Reader reader(pairs, gathering);
    for (std::size_t k = 0; k < 5; ++k) {
      const std::size_t u = (7 * i + 11 * k) % pairs.size();
      const CountRow row = reader.row(u);
      if (++running > 1) ++at_once;
      for (std::size_t v = 0; v < pairs.size(); ++v)
        if (row[v] != table.count(table.row(u), table.row(v))) ++wrong;
      --running;
    }
  });
  check(wrong == 0, "gathered counts are counts");
  check(at_once == 0, "one search of a core runs at a time");
}

// A counter that fails: whoever waits for its counts is told, and the rest goes on.
class Failing : public Gathering {
 public:
  using Gathering::Gathering;
  bool fails = true;

 protected:
  void count_all(std::span<const CountRequest> requests) const override {
    if (fails) throw std::bad_alloc();
    Gathering::count_all(requests);
  }
};

void failures_wake_everybody() {
  Random random(11);
  const Table table = random_sample(random, 100, std::vector<int>(20, 2)).table();
  const std::atomic<bool> never{false};
  Failing failing(table, never);
  const Pairs pairs(table);
  std::atomic<int> told{0};
  each_in_its_thread(12, [&](std::size_t i) {
    const Gathering::Turn turn(failing);
    Pairs::Reader reader(pairs, failing);
    try {
      if (i % 3) reader.row(i);
    } catch (const std::bad_alloc&) {
      ++told;
    }
  });
  check(told == 8, "all that waited were told");
  failing.fails = false;
  const Gathering::Turn turn(failing);
  Pairs::Reader reader(pairs, failing);
  check(reader.row(0)[0] == table.count(table.row(0), table.row(0)), "counting goes on after a failure");
}

// Once the work is given up, whoever waits is told so, and nobody waits for ever.
void interrupts_wake_everybody() {
  Random random(12);
  const Table table = random_sample(random, 100, std::vector<int>(20, 2)).table();
  std::atomic<bool> interrupted{false};
  Gathering gathering(table, interrupted);
  const Pairs pairs(table);
  std::atomic<int> told{0};
  each_in_its_thread(16, [&](std::size_t i) {
    const Gathering::Turn turn(gathering);
    Pairs::Reader reader(pairs, gathering);
    try {
      for (std::size_t k = 0;; ++k, reader.tidy()) {
        if (i == 3 && k == 5) interrupted = true;
        reader.row(k % pairs.size());
      }
    } catch (const GivenUp&) {
      ++told;
    }
  });
  check(told == 16, "all searches were told");
}

// Pieces of work so small that helpers often come too late, and some after they fell asleep.
void a_crew_does_each_piece_once() {
  for (const unsigned threads : {1u, 2u, 5u}) {
    Crew crew(threads);
    std::vector<int> done(40);
    for (int round = 1; round <= times(3000); ++round) {
      const std::size_t count = static_cast<std::size_t>(round) % 40;
      std::ranges::fill(done, 0);
      crew.share_out(count, [&](std::size_t i) { ++done[i]; });
      check(static_cast<std::size_t>(std::ranges::count(done, 1)) == count, "each piece once");
      if (round % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

// What one thread throws comes out where the work was asked for, and a crew goes on after it.
void failures_come_out() {
  const auto fails = [](const auto& share) {
    try {
      share([](std::size_t i) {
        if (i % 7 == 3) throw std::bad_alloc();
      });
    } catch (const std::bad_alloc&) {
      return true;
    }
    return false;
  };
  for (const unsigned threads : {1u, 2u, 5u}) {
    Crew crew(threads);
    for (int round = 0; round < times(200); ++round) {
      check(fails([&](const auto& work) { share_out(40, threads, work); }), "a failure of threads comes out");
      check(fails([&](const auto& work) { crew.share_out(40, work); }), "a failure of a crew comes out");
    }
    std::atomic<int> done{0};
    crew.share_out(40, [&](std::size_t) { ++done; });
    check(done == 40, "a crew goes on after a failure");
  }
}

}  // namespace

void test_counting() {
  a_crew_does_each_piece_once();
  failures_come_out();
  pair_rows_are_counts();
  pairs_can_be_given_up();
  long_rows_are_counted_in_blocks();
  gathered_counts_are_counts();
  failures_wake_everybody();
  interrupts_wake_everybody();
}

}  // namespace core_test

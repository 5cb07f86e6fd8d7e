// l1 paths: optimal on random tables, the same from several threads, given up on demand; and
// neighbours that are given are fitted as if they had been found.
#include <cmath>
#include <numeric>

#include "core_test.hpp"
#include "l1/l1_columns.hpp"
#include "search/engine.hpp"

namespace core_test {
namespace {

using namespace isinglass;

const WatchWork kGoOn = [](std::size_t) { return true; };

L1Flat paths(const Table& table, const L1Settings& settings, unsigned threads,
             const WatchWork& watch = kGoOn) {
  std::vector<std::size_t> targets(table.columns());
  std::iota(targets.begin(), targets.end(), std::size_t{0});
  return L1Columns(table, settings).run(targets, threads, watch);
}

void fits_are_optimal(Random& random, std::vector<int> states, SpinLoss loss, bool intercept) {
  const std::size_t columns = states.size();
  const Sample sample = random_tree(random, small ? 60 : 200, std::move(states)).sample;
  const Table table = sample.table(0, 1);
  const L1Settings settings{loss, intercept, 1e-9, {0.2, 0.05, 0.01}, std::vector<double>(columns, 1.0)};
  const L1Flat one = paths(table, settings, 1), three = paths(table, settings, 3);
  check(one.loss.size() == 3 * columns, "a fit for each column and penalty");
  for (const double distance : one.distance) check_below(distance, 1e-9, "distance from optimality");
  for (std::size_t r = 0; r < columns; ++r)
    for (std::size_t k = 1; k < 3; ++k)
      check_below(one.loss[3 * r + k], one.loss[3 * r + k - 1] + 1e-9, "a smaller penalty fits no worse");
  check(one.support == three.support && one.numbers == three.numbers, "threads change nothing");
}

void exponentials_are_right() {
  for (double x = 0; x < 700; x += 0.37)
    check_below(std::abs(exp_of_minus(x) / std::exp(-x) - 1), 1e-14, "exp of minus x");
}

void logarithms_are_right(Random& random) {
  for (int i = 0; i < times(20000); ++i) {
    const double x = i % 2 ? std::exp(690 * (2 * random.uniform() - 1)) : 0.5 + 1.5 * random.uniform();
    check_near(log_of(x), std::log(x), 1e-15 * std::abs(std::log(x)), "logarithm");
  }
  check(log_of(1) == 0, "the logarithm of one");
}

void work_can_be_given_up(Random& random) {
  const Sample sample = random_tree(random, 300, std::vector<int>(30, 2)).sample;
  const L1Settings settings{SpinLoss::pseudo, true, 1e-9, std::vector<double>(500, 0.001),
                            std::vector<double>(30, 1.0)};
  paths(sample.table(0, 1), settings, 2, [](std::size_t) { return false; });
}

void given_neighbours_are_fitted(Random& random) {
  const Sample sample = random_tree(random, 150, {2, 3, 2, 4}).sample;
  const Table table = sample.table(0, 1);
  Engine engine(table, {0, 0.5, true, 4, false}, 2);
  const std::vector<NodePath> fits = engine.fit({{1, 2}, {}, {0}, {1}}, kGoOn);
  check(fits[0].start.support.size() == 2 && fits[0].steps.empty(), "neighbours, and no step");
  check(fits[1].start.support.empty(), "no neighbours");
}

}  // namespace

void test_l1() {
  Random random(7);
  exponentials_are_right();
  logarithms_are_right(random);
  for (const bool intercept : {true, false}) {
    for (const SpinLoss loss : {SpinLoss::pseudo, SpinLoss::rise, SpinLoss::log_rise})
      fits_are_optimal(random, {2, 2, 2, 2, 2, 2}, loss, intercept);
    fits_are_optimal(random, {3, 2, 4, 2}, SpinLoss::pseudo, intercept);
  }
  work_can_be_given_up(random);
  given_neighbours_are_fitted(random);
}

}  // namespace core_test

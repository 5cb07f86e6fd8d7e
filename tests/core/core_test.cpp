// The core without Python: what sanitizers and valgrind run. `core_test small` repeats less, and
// any second word shows the time of each part.
#include "core_test.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <numbers>

namespace core_test {

int failures = 0;
bool small = false;

void check(bool holds, const char* what, Where where) {
  if (holds) return;
  if (++failures <= 50)
    std::printf("%s:%d in %s: not so: %s\n", where.file, where.line, where.function, what);
}

void check_below(double value, double limit, const char* what, Where where) {
  if (value <= limit) return;
  if (failures < 50) std::printf("%.17g where at most %.17g is allowed: ", value, limit);
  check(false, what, where);
}

void check_near(double value, double expected, double tolerance, const char* what, Where where) {
  check_below(std::abs(value - expected), tolerance, what, where);
}

double Random::normal() {
  return std::sqrt(-2 * std::log1p(-uniform())) * std::cos(2 * std::numbers::pi * uniform());
}

isinglass::Table Sample::table(double n, unsigned threads) const {
  return {codes.data(), rows, states, weights, n, threads};
}

Sample random_sample(Random& random, std::size_t rows, std::vector<int> states) {
  Sample sample{rows, std::move(states), {}};
  for (const int m : sample.states)
    for (std::size_t i = 0; i < rows; ++i)
      sample.codes.push_back(static_cast<std::uint8_t>(random.below(static_cast<std::size_t>(m))));
  return sample;
}

Tree random_tree(Random& random, std::size_t rows, std::vector<int> states, double likeness) {
  Tree tree{random_sample(random, rows, std::move(states)), {0}};
  for (std::size_t j = 1; j < tree.sample.states.size(); ++j) {
    tree.parent.push_back(random.below(j));
    for (std::size_t i = 0; i < rows; ++i)
      if (random.bernoulli(likeness))
        tree.sample.at(i, j) =
            static_cast<std::uint8_t>(tree.sample.at(i, tree.parent[j]) % tree.sample.states[j]);
  }
  return tree;
}

std::vector<double> no_weights() { return {}; }

std::vector<double> whole_weights(Random& random, std::size_t rows, std::size_t most) {
  std::vector<double> weights;
  for (std::size_t i = 0; i < rows; ++i) weights.push_back(static_cast<double>(random.below(most + 1)));
  weights[0] = static_cast<double>(most);
  return weights;
}

std::vector<double> real_weights(Random& random, std::size_t rows) {
  std::vector<double> weights;
  for (std::size_t i = 0; i < rows; ++i) weights.push_back(0.1 + 3 * random.uniform());
  return weights;
}

std::vector<const char*> kernels() {
  std::vector<const char*> names;
  for (const char* name : {"portable", "popcnt", "avx2", "avx512"})
    if (isinglass::detail::supported(name)) names.push_back(name);
  return names;
}

// One for each of the other files.
void test_counts();
void test_counting();
void test_cells();
void test_integers();
void test_fits();
void test_both_ends();
void test_gains();
void test_engine();
void test_l1();
void test_moments();
void test_gibbs();

}  // namespace core_test

int main(int count, char** arguments) {
  using Clock = std::chrono::steady_clock;
  core_test::small = count > 1 && std::strcmp(arguments[1], "small") == 0;
  const auto run = [&](const char* name, void (*test)()) {
    const auto start = Clock::now();
    test();
    const std::chrono::duration<double> taken = Clock::now() - start;
    if (count > 2) std::printf("%-8s %6.2f s\n", name, taken.count());
  };
  run("counts", core_test::test_counts);
  run("counting", core_test::test_counting);
  run("cells", core_test::test_cells);
  run("integers", core_test::test_integers);
  run("fits", core_test::test_fits);
  run("both ends", core_test::test_both_ends);
  run("gains", core_test::test_gains);
  run("engine", core_test::test_engine);
  run("l1", core_test::test_l1);
  run("moments", core_test::test_moments);
  run("gibbs", core_test::test_gibbs);
  if (core_test::failures) std::printf("%d checks failed\n", core_test::failures);
  return core_test::failures ? 1 : 0;
}

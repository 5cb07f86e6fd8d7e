// Bits, counts and small linear systems against plain loops.
#include "base/linear.hpp"
#include "bits/table.hpp"
#include "core_test.hpp"

namespace core_test {
namespace {

using namespace isinglass;

void bits_are_the_codes(const Sample& sample) {
  const Table table = sample.table();
  for (std::size_t j = 0; j < table.columns(); ++j)
    for (int c = 0; c < table.states(j); ++c)
      for (std::size_t i = 0; i < 64 * table.words(); ++i) {
        const bool bit = table.bits(j, c)[i / 64] >> (i % 64) & 1, all = table.all()[i / 64] >> (i % 64) & 1;
        check(all == (i < sample.rows), "padding is no row");
        check(bit == (i < sample.rows && sample.at(i, j) == c), "a bit is set where the code is");
      }
}

void packing() {
  Random random(1);
  for (const std::size_t rows : {1, 2, 63, 64, 65, 128, 511, 512, 513}) {
    bits_are_the_codes(random_sample(random, rows, {1, 2, 3, 7}));
    if (!small) bits_are_the_codes(random_sample(random, rows, {256, 129}));
  }
}

std::int64_t slow_common(const Words& a, const Words& b) {
  std::int64_t count = 0;
  for (std::size_t w = 0; w < a.size(); ++w)
    for (int bit = 0; bit < 64; ++bit) count += (a[w] & b[w]) >> bit & 1;
  return count;
}

// One row against several, fewer and more than are counted side by side; counts are added.
void kernel_counts_several(Random& random, std::size_t words) {
  constexpr std::size_t kMost = 9;
  Words row(words), others(kMost * words);
  for (Word& word : row) word = random.word();
  for (Word& word : others) word = random.bernoulli(0.2) ? ~Word{0} : random.word();
  for (std::size_t several = 0; several <= kMost; ++several) {
    std::vector<std::uint32_t> counts(kMost, 7);
    count_several(row.data(), others.data(), words, several, words, counts.data());
    for (std::size_t k = 0; k < kMost; ++k) {
      const auto first = others.begin() + static_cast<std::ptrdiff_t>(k * words);
      const Words other(first, first + static_cast<std::ptrdiff_t>(words));
      check(counts[k] == 7 + (k < several ? slow_common(row, other) : 0), "several rows, and no more");
    }
  }
}

void kernels_count_alike() {
  Random random(2);
  for (const std::size_t words : {8, 16, 120, 128, 248, 256, 1000}) {
    Words a(words), b(words), ones(words, ~Word{0});
    for (Word& word : a) word = random.word();
    for (Word& word : b) word = random.word();
    for (const char* name : kernels()) {
      use_instructions(name);
      check(std::string(instructions()) == name, "the switch was obeyed");
      check(count_common(a.data(), b.data(), words) == slow_common(a, b), "random words");
      check(count_common(ones.data(), ones.data(), words) == static_cast<std::int64_t>(64 * words),
            "nothing overflows");
      kernel_counts_several(random, words);
    }
  }
  use_instructions("best");
}

void an_unknown_kernel_is_refused() {
  bool refused = false;
  try {
    use_instructions("abacus");
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  check(refused, "an unknown instruction set is an error");
}

double slow_count(const Sample& sample, std::size_t j, int c, std::size_t k, int d) {
  double sum = 0;
  for (std::size_t i = 0; i < sample.rows; ++i)
    if (sample.at(i, j) == c && sample.at(i, k) == d) sum += sample.weight(i);
  return sum;
}

void counts_are_sums(const Sample& sample, double tolerance) {
  const Table table = sample.table();
  const std::size_t last = table.columns() - 1;
  std::vector<std::size_t> states;
  for (int d = 0; d < table.states(last); ++d) states.push_back(table.state(last, d));
  std::vector<double> many(states.size()), roughly(states.size());
  for (std::size_t j = 0; j < table.columns(); ++j)
    for (int c = 0; c < table.states(j); ++c) {
      table.count_many(table.bits(j, c), states, many.data());
      const Words set(table.bits(j, c), table.bits(j, c) + table.words());
      table.count_sets(std::span(&set, 1), states, roughly.data());
      for (double& count : roughly) count *= table.unit();
      double off = 0;
      check_near(table.marginal(table.state(j, c)), slow_count(sample, j, c, j, c), tolerance,
                 "a marginal is a sum");
      for (int d = 0; d < table.states(last); ++d) {
        const double expected = slow_count(sample, j, c, last, d);
        check_near(table.count(table.bits(j, c), table.bits(last, d)), expected, tolerance,
                   "a count is a sum");
        check_near(many[static_cast<std::size_t>(d)], expected, tolerance, "many counts are sums");
        check_near(roughly[static_cast<std::size_t>(d)], expected, tolerance + table.slack(),
                   "rough counts are within the slack");
        off += std::abs(roughly[static_cast<std::size_t>(d)] - expected);
      }
      check_below(off, tolerance + table.slack() * (1 + 1e-9), "and so is their sum");
    }
}

void weighted_counts() {
  Random random(3);
  for (const char* name : kernels()) {
    use_instructions(name);
    for (const std::size_t rows : {1, 64, 300, 1025}) {
      Sample sample = random_sample(random, rows, {2, 4, 1, 3});
      counts_are_sums(sample, 0);
      for (const std::size_t most : {0, 1, 2, 5, 1000000000}) {
        sample.weights = whole_weights(random, rows, most);
        check(sample.table().countable(), "whole weights are bit planes");
        counts_are_sums(sample, 0);
      }
      sample.weights = real_weights(random, rows);
      check(!sample.table().countable(), "real weights are summed");
      check_below(sample.table().slack(), 1e-3 * sample.table().n(), "rough counts are nearly exact");
      counts_are_sums(sample, 1e-10);
    }
  }
  use_instructions("best");
}

void n_is_given_or_the_sum() {
  Random random(4);
  Sample sample = random_sample(random, 100, {2});
  check(sample.table().n() == 100, "n counts the rows");
  check(sample.table(250).n() == 250, "n can be given");
  sample.weights.assign(100, 3.0);
  check(sample.table().n() == 300, "n is the sum of the weights");
}

// A positive matrix, full storage.
std::vector<double> random_positive(Random& random, std::size_t size) {
  std::vector<double> root(size * size), a(size * size, 0.0);
  for (double& number : root) number = random.normal();
  for (std::size_t i = 0; i < size; ++i) {
    a[i * size + i] = 0.1;
    for (std::size_t j = 0; j < size; ++j)
      for (std::size_t k = 0; k < size; ++k) a[i * size + j] += root[i * size + k] * root[j * size + k];
  }
  return a;
}

void systems_are_solved() {
  Random random(6);
  for (const std::size_t size : {1, 2, 5, 47, 48, 49, 97, 110}) {
    const std::vector<double> a = random_positive(random, size);
    std::vector<double> b(size);
    for (double& number : b) number = random.normal();
    std::vector<double> x = b;
    check(solve_in_place(a, x, 0.0), "a positive matrix has a factor");
    for (std::size_t i = 0; i < size; ++i) {
      double product = 0;
      for (std::size_t j = 0; j < size; ++j) product += a[i * size + j] * x[j];
      check_near(product, b[i], 1e-7, "the solution solves");
    }
  }
  std::vector<double> indefinite{1, 2, 2, 1}, x{1, 1};
  check(!solve_in_place(indefinite, x, 0.0) && x[0] == 1, "an indefinite matrix is refused");
}

// Power iteration finds the largest eigenvalue; the limit is there.
void eigenvalues_have_a_limit() {
  Random random(7);
  for (const std::size_t size : {1, 2, 3, 12}) {
    std::vector<double> a = random_positive(random, size), v(size, 1.0), next(size);
    double grown = 0;
    for (int round = 0; round < 2000; ++round) {
      double length = 0;
      for (std::size_t i = 0; i < size; ++i) {
        next[i] = 0;
        for (std::size_t j = 0; j < size; ++j) next[i] += a[i * size + j] * v[j];
        length += next[i] * next[i];
      }
      grown = std::sqrt(length);
      for (std::size_t i = 0; i < size; ++i) v[i] = next[i] / grown;
    }
    check(below(a, grown * 1.0001), "all eigenvalues are below a little more than the largest");
    check(!below(a, grown * 0.9999), "and not below a little less");
  }
}

}  // namespace

void test_counts() {
  packing();
  kernels_count_alike();
  an_unknown_kernel_is_refused();
  weighted_counts();
  n_is_given_or_the_sum();
  systems_are_solved();
  eigenvalues_have_a_limit();
}

}  // namespace core_test

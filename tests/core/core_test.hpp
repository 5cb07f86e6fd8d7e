// What the tests of the core share: checks that say what failed, and random tables.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "bits/table.hpp"

namespace core_test {

extern int failures;
extern bool small;  // fewer repetitions, for valgrind

inline int times(int usual) { return small ? usual / 20 + 1 : usual; }

// Watches work, and never stops it.
inline bool go_on(std::size_t) { return true; }

// Where a check stands; Clang knows std::source_location only since version 16.
struct Where {
  const char* file;
  int line;
  const char* function;

  static constexpr Where current(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                                 const char* function = __builtin_FUNCTION()) {
    return {file, line, function};
  }
};

// Each says where and what, if it does not hold; what is not a number is neither below nor near.
void check(bool holds, const char* what, Where where = Where::current());
void check_below(double value, double limit, const char* what, Where where = Where::current());
void check_near(double value, double expected, double tolerance, const char* what,
                Where where = Where::current());

// The same numbers on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}

  std::size_t below(std::size_t count) { return bits_() % count; }
  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  bool bernoulli(double p) { return uniform() < p; }
  double normal();
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  std::uint64_t word() { return bits_(); }

 private:
  std::mt19937_64 bits_;
};

// Codes and weights from which a table is made; kept, so that tests can count slowly.
struct Sample {
  std::size_t rows;
  std::vector<int> states;
  std::vector<std::uint8_t> codes;  // column-major
  std::vector<double> weights = {};

  std::uint8_t& at(std::size_t i, std::size_t j) { return codes[j * rows + i]; }
  std::uint8_t at(std::size_t i, std::size_t j) const { return codes[j * rows + i]; }
  double weight(std::size_t i) const { return weights.empty() ? 1.0 : weights[i]; }
  isinglass::Table table(double n = 0, unsigned threads = 2) const;
};

Sample random_sample(Random& random, std::size_t rows, std::vector<int> states);

// Every column but the first takes after an earlier one: a tree, whose edges are returned as parents.
struct Tree {
  Sample sample;
  std::vector<std::size_t> parent;  // of each column; its own number for the first
};

Tree random_tree(Random& random, std::size_t rows, std::vector<int> states, double likeness = 0.6);

std::vector<double> no_weights();
std::vector<double> whole_weights(Random& random, std::size_t rows, std::size_t most);
std::vector<double> real_weights(Random& random, std::size_t rows);

// The instruction sets of this machine.
std::vector<const char*> kernels();

}  // namespace core_test

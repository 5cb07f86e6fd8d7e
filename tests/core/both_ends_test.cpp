// Both ends of an edge together: numbers are finite, edges leave in order, threads change nothing.
#include <algorithm>
#include <limits>

#include "core_test.hpp"
#include "ends/elimination.hpp"

namespace core_test {
namespace {

using namespace isinglass;

Elimination::Pairs all_pairs(std::size_t columns) {
  Elimination::Pairs pairs;
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t j = i + 1; j < columns; ++j) pairs.emplace_back(i, j);
  return pairs;
}

Elimination::Found eliminate(const Sample& sample, bool intercept, double top, const std::vector<char>& held,
                             bool all, unsigned threads) {
  const Table table = sample.table(0, threads);
  const Conditional conditional{intercept};
  Elimination elimination(table, conditional, all_pairs(sample.states.size()), {}, {}, 1.0, 0, {}, threads);
  return all ? elimination.statistics(go_on) : elimination.run(top, held, go_on);
}

void check_table(Random& random, const Sample& sample, bool intercept) {
  const double never = std::numeric_limits<double>::infinity();
  const std::size_t edges = all_pairs(sample.states.size()).size();
  std::vector<char> held(edges, 0);
  held[random.below(edges)] = 1;
  const auto known = eliminate(sample, intercept, -1.0, held, true, 1);
  for (const double value : known.statistic) check(std::isfinite(value) && value >= 0, "a finite statistic");
  for (const double value : known.entry) check(value == never, "nothing leaves");
  const auto one = eliminate(sample, intercept, never, held, false, 1);
  const auto two = eliminate(sample, intercept, never, held, false, 2);
  for (std::size_t e = 0; e < edges; ++e) {
    check((one.entry[e] == never) == static_cast<bool>(held[e]), "all leave but those that are held");
    check(one.entry[e] == two.entry[e], "threads change nothing");
    if (!held[e]) check(one.entry[e] >= one.statistic[e], "an entry is no less than its statistic");
  }
}

// Pairs that were left out come in, and no candidate that bounds rule out would have been one.
void check_further(const Sample& sample, bool intercept) {
  Elimination::Pairs some = all_pairs(sample.states.size());
  some.resize(some.size() / 3);
  const std::vector<char> held(some.size(), 0);
  const auto run = [&](unsigned threads) {
    const Table table = sample.table(0, threads);
    const std::size_t p = table.columns();
    const Constraints free{std::vector<std::vector<std::size_t>>(p),
                           std::vector<std::vector<std::size_t>>(p)};
    const double firm = 1.0, gain = firm / (2 * table.n());
    const LookingFurther looking{firm, gain, {gain / 2, 0.5, intercept, p, true, &free}};
    Elimination elimination(table, {intercept}, some, {}, {}, 1.0, 0, {}, threads);
    return elimination.run(firm, held, go_on, &looking);
  };
  const auto one = run(1), two = run(2);
  check(one.entry.size() == some.size() + one.further.size(), "a number for every edge");
  check(one.entry == two.entry && one.statistic == two.statistic, "threads change nothing");
  for (const Further& further : one.further) {
    const std::pair columns(further.columns[0], further.columns[1]);
    check(columns.first < columns.second && !std::ranges::count(some, columns), "nobody proposed it");
    check(further.by[0] || further.by[1], "somebody found it");
  }
}

}  // namespace

void test_both_ends() {
  Random random(11);
  for (int i = 0; i < times(30); ++i) {
    std::vector<int> states(4);
    for (int& m : states) m = 2 + static_cast<int>(random.below(3));
    const std::size_t rows = 20 + random.below(200);
    Sample sample = random_tree(random, rows, states).sample;
    if (i % 3 == 1) sample.weights = whole_weights(random, rows, 3);
    if (i % 3 == 2) sample.weights = real_weights(random, rows);
    check_table(random, sample, i % 4 != 0);
    check_further(sample, i % 4 != 0);
  }
}

}  // namespace core_test

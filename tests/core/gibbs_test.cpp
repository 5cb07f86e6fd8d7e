// Random numbers against their published sequences, and Gibbs chains against enumeration.
#include "sampling/gibbs.hpp"

#include "core_test.hpp"

namespace core_test {
namespace {

using namespace isinglass;

// The first words that the authors' own programs print.
void published_sequences() {
  const std::uint64_t mixed[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                 4593380528125082431u, 16408922859458223821u};
  for (std::uint64_t k = 0; k < 5; ++k) check(splitmix64(1234567, k) == mixed[k], "splitmix64");
  const std::uint64_t words[] = {41943041u,
                                 58720359u,
                                 3588806011781223u,
                                 3591011842654386u,
                                 9228616714210784205u,
                                 9973669472204895162u,
                                 14011001112246962877u,
                                 12406186145184390807u};
  Xoshiro random(std::array<std::uint64_t, 4>{1, 2, 3, 4});
  for (const std::uint64_t word : words) check(random.word() == word, "xoshiro256++");
}

void uniform_numbers() {
  Xoshiro random(7, 0);
  double sum = 0;
  const int count = times(200000);
  for (int k = 0; k < count; ++k) {
    const double u = random.uniform();
    check(u >= 0 && u < 1, "from 0, below 1");
    sum += u;
  }
  check_near(sum / count, 0.5, 5 / std::sqrt(12.0 * count), "the mean is a half");
}

// A random model, written down so that its log-potentials can be summed slowly.
struct Model {
  std::vector<std::int32_t> states;
  std::vector<std::int64_t> field_begin, neighbour_begin{0}, neighbours, table_begin;
  std::vector<double> fields, tables;

  PairwiseModel view() const {
    return {states, field_begin, fields, neighbour_begin, neighbours, table_begin, tables};
  }

  // Log-odds of state k of column i against its first.
  double odds(const std::vector<std::uint8_t>& row, std::size_t i, int k) const {
    if (k == 0) return 0;
    double sum = fields[static_cast<std::size_t>(field_begin[i] + k - 1)];
    for (auto e = neighbour_begin[i]; e < neighbour_begin[i + 1]; ++e) {
      const auto entry = static_cast<std::size_t>(e);
      const int code = row[static_cast<std::size_t>(neighbours[entry])];
      sum += tables[static_cast<std::size_t>(table_begin[entry] + code * (states[i] - 1) + k - 1)];
    }
    return sum;
  }
};

// Every two columns are linked by a product of scores, so that both ends tell the same story.
Model random_model(Random& random, std::vector<std::int32_t> states) {
  Model model{std::move(states), {}, {0}, {}, {}, {}, {}};
  const std::size_t p = model.states.size();
  std::vector<std::vector<double>> score(p);
  for (std::size_t i = 0; i < p; ++i)
    for (int k = 0; k < model.states[i]; ++k) score[i].push_back(0.7 * random.normal());
  for (std::size_t i = 0; i < p; ++i) {
    model.field_begin.push_back(static_cast<std::int64_t>(model.fields.size()));
    for (int k = 1; k < model.states[i]; ++k) model.fields.push_back(0.5 * random.normal());
    for (std::size_t j = 0; j < p; ++j) {
      if (j == i) continue;
      model.neighbours.push_back(static_cast<std::int64_t>(j));
      model.table_begin.push_back(static_cast<std::int64_t>(model.tables.size()));
      for (const double other : score[j])
        for (std::size_t k = 1; k < score[i].size(); ++k)
          model.tables.push_back((score[i][k] - score[i][0]) * other);
    }
    model.neighbour_begin.push_back(static_cast<std::int64_t>(model.neighbours.size()));
  }
  return model;
}

// Probabilities of each state of each column: weights multiply up as columns leave their first state.
std::vector<std::vector<double>> true_probabilities(const Model& model) {
  const std::size_t p = model.states.size();
  std::vector<std::vector<double>> probabilities;
  for (const int m : model.states) probabilities.emplace_back(static_cast<std::size_t>(m));
  double total = 0;
  std::vector<std::uint8_t> row(p);
  const auto visit = [&](const auto& self, std::size_t i, double log_weight) -> void {
    if (i == p) {
      total += std::exp(log_weight);
      for (std::size_t j = 0; j < p; ++j) probabilities[j][row[j]] += std::exp(log_weight);
      return;
    }
    // Columns after i are in their first state here, which is where they start.
    for (int k = 0; k < model.states[i]; ++k) {
      const double more = model.odds(row, i, k);
      row[i] = static_cast<std::uint8_t>(k);
      self(self, i + 1, log_weight + more);
      row[i] = 0;
    }
  };
  visit(visit, 0, 0.0);
  for (auto& column : probabilities)
    for (double& probability : column) probability /= total;
  return probabilities;
}

void probabilities_are_those_of_the_model() {
  Random random(31);
  for (const auto& states : {std::vector<std::int32_t>{2, 2, 2, 2}, {2, 3, 1, 4}, {5}, {1}, {3, 2, 2}}) {
    const Model model = random_model(random, states);
    const Schedule schedule{8, 50, 5, static_cast<std::size_t>(times(5000))};
    const std::vector<std::uint8_t> codes = gibbs_sample(model.view(), schedule, 5, 2, go_on);
    const std::size_t rows = schedule.chains * schedule.draws;
    const auto expected = true_probabilities(model);
    for (std::size_t j = 0; j < states.size(); ++j)
      for (std::size_t k = 0; k < expected[j].size(); ++k) {
        double found = 0;
        for (std::size_t i = 0; i < rows; ++i) found += codes[j * rows + i] == k;
        // Draws five sweeps apart are not quite independent.
        check_near(found / static_cast<double>(rows), expected[j][k],
                   1e-12 + 8 * std::sqrt(0.25 / static_cast<double>(rows)), "probability of a state");
      }
  }
}

void threads_change_nothing() {
  Random random(32);
  const Model model = random_model(random, {2, 3, 2, 4, 2});
  const Schedule schedule{9, 10, 2, 20};
  const auto alone = gibbs_sample(model.view(), schedule, 6, 1, go_on);
  check(alone == gibbs_sample(model.view(), schedule, 6, 4, go_on), "the same from four threads");
  check(alone != gibbs_sample(model.view(), schedule, 7, 4, go_on), "another seed, other codes");
}

void work_can_be_given_up() {
  Random random(33);
  const Model model = random_model(random, {2, 2, 2});
  const Schedule endless{4, std::size_t{1} << 60, 1, 1};
  std::size_t calls = 0;
  gibbs_sample(model.view(), endless, 1, 2, [&](std::size_t) { return ++calls < 2; });
  check(calls >= 2, "it was asked, and stopped");
}

}  // namespace

void test_gibbs() {
  published_sequences();
  uniform_numbers();
  probabilities_are_those_of_the_model();
  threads_change_nothing();
  work_can_be_given_up();
}

}  // namespace core_test

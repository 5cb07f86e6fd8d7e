// Whole searches: what every path must satisfy, and odd tables.
#include "search/engine.hpp"

#include <numeric>
#include <set>

#include "core_test.hpp"
#include "counting/ways.hpp"
#include "refit/deviance.hpp"
#include "search/flat.hpp"

namespace core_test {
namespace {

using namespace isinglass;
using Results = std::vector<NodePath>;

std::vector<std::size_t> all_columns(const Table& table) {
  std::vector<std::size_t> columns(table.columns());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return columns;
}

Settings usual(const Sample& sample) {
  const double n = static_cast<double>(sample.rows), p = static_cast<double>(sample.states.size());
  return {std::log(2 + n * p) / n, 0.5, true, sample.states.size(), true};
}

// Mean loss of a fit, row by row, from its parameters alone.
double slow_loss(const Table& table, std::size_t r, const NodeFit& fit) {
  const auto width = static_cast<std::size_t>(table.states(r)), q = width - 1;
  double loss = 0;
  for (std::size_t i = 0; i < table.rows() && q > 0; ++i) {
    std::vector<double> score(width, 0.0);
    for (std::size_t a = 0; a < q; ++a) score[a + 1] = fit.parameters[a];
    std::size_t first = 1;
    for (const std::size_t t : fit.support) {
      if (const std::size_t c = table.codes(t)[i])
        for (std::size_t a = 0; a < q; ++a) score[a + 1] += fit.parameters[(first + c - 1) * q + a];
      first += static_cast<std::size_t>(table.states(t)) - 1;
    }
    const double top = *std::max_element(score.begin(), score.end());
    double sum = 0;
    for (const double one : score) sum += std::exp(one - top);
    loss += table.weight(i) * (top + std::log(sum) - score[table.codes(r)[i]]);
  }
  return loss / table.n();
}

void fit_is_sound(const Table& table, std::size_t r, const NodeFit& fit) {
  for (const double number : fit.parameters) check(std::isfinite(number), "parameters are finite");
  check_near(fit.loss, slow_loss(table, r, fit), 1e-9, "the loss is that of the parameters");
  check(table.states(r) < 2 || fit.unbounded.size() == fit.support.size(), "a flag for each neighbour");
}

// The support after each step is what the steps say, and forward steps gain what they must.
void path_is_sound(const Table& table, std::size_t r, const NodePath& path, const Settings& settings) {
  std::set<std::size_t> support;
  fit_is_sound(table, r, path.start);
  double before = path.start.loss;
  for (const NodeStep& step : path.steps) {
    step.add ? void(support.insert(step.variable)) : void(support.erase(step.variable));
    check(std::set(step.fit.support.begin(), step.fit.support.end()) == support, "supports follow the steps");
    check(!support.contains(r) && support.size() <= settings.max_degree, "no support is too large");
    check(table.states(step.variable) > 1, "no neighbour is constant");
    if (step.add) {
      check(step.change > settings.threshold, "a forward step gains more than the threshold");
      // Where rows are few, what is gained is compared with other laws than a chi-square.
      const bool is_chi_square =
          !settings.intercept || degrees_of_freedom(table.states(r), table.states(step.variable)) == 1;
      check_below(step.fit.loss, before - (is_chi_square ? step.change : 0.0) + 1e-6,
                  "and lowers the loss by as much");
    }
    fit_is_sound(table, r, step.fit);
    before = step.fit.loss;
  }
}

// Fits begin where the last ended, and every row and column of a table sums to zero.
void flat_is_sound(const Table& table, const Results& results) {
  const std::vector<std::size_t> columns = all_columns(table);
  const Flat flat = Flattener(table).flatten(columns, results);
  check(flat.fit_begin.size() == columns.size() + 1 && flat.loss.size() == flat.add.size(),
        "one of each per fit");
  for (std::size_t r = 0; r < columns.size(); ++r)
    for (auto f = static_cast<std::size_t>(flat.fit_begin[r]);
         f < static_cast<std::size_t>(flat.fit_begin[r + 1]); ++f) {
      const auto width = static_cast<std::size_t>(table.states(r));
      const double* next = &flat.numbers[static_cast<std::size_t>(flat.number_begin[f])];
      check_near(std::accumulate(next, next + width, 0.0), 0, 1e-6, "a field sums to zero");
      next += width;
      for (auto k = static_cast<std::size_t>(flat.support_begin[f]);
           k < static_cast<std::size_t>(flat.support_begin[f + 1]); ++k) {
        const auto m = static_cast<std::size_t>(table.states(static_cast<std::size_t>(flat.support[k])));
        for (std::size_t a = 0; a < width; ++a, next += m)
          check_near(std::accumulate(next, next + m, 0.0), 0, 1e-6, "rows of a table sum to zero");
      }
      check(next == flat.numbers.data() + flat.number_begin[f + 1], "numbers are as many as they should be");
    }
}

Results search(const Sample& sample, const Settings& settings, unsigned threads = 2, double n = 0) {
  const Table table = sample.table(n, threads);
  const Results results = Engine(table, settings, threads).run(all_columns(table), go_on);
  for (std::size_t r = 0; r < results.size(); ++r) {
    path_is_sound(table, r, results[r], settings);
  }
  flat_is_sound(table, results);
  return results;
}

const NodeFit& last_fit(const NodePath& result) {
  return result.steps.empty() ? result.start : result.steps.back().fit;
}

void same_paths(const Results& a, const Results& b, double tolerance) {
  for (std::size_t r = 0; r < a.size(); ++r) {
    const NodePath &left = a[r], &right = b[r];
    check(left.stop == right.stop && left.steps.size() == right.steps.size(), "as many steps");
    for (std::size_t k = 0; k < std::min(left.steps.size(), right.steps.size()); ++k) {
      check(left.steps[k].add == right.steps[k].add && left.steps[k].variable == right.steps[k].variable,
            "the same steps");
      check_near(left.steps[k].change, right.steps[k].change, tolerance, "the same gains");
      check_near(left.steps[k].fit.loss, right.steps[k].fit.loss, tolerance, "the same losses");
    }
  }
}

void a_planted_tree_is_found() {
  Random random(51);
  const Tree tree = random_tree(random, 3000, std::vector<int>(small ? 8 : 30, 2), 0.5);
  const Results results = search(tree.sample, usual(tree.sample));
  std::set<std::pair<std::size_t, std::size_t>> planted, found;
  for (std::size_t j = 1; j < tree.parent.size(); ++j) planted.insert({tree.parent[j], j});
  for (std::size_t r = 0; r < results.size(); ++r)
    for (const std::size_t t : last_fit(results[r]).support) found.insert(std::minmax(r, t));
  check(found == planted, "the graph is the tree");
}

void threads_and_kernels_change_nothing() {
  Random random(52);
  const Sample sample = random_tree(random, 500, {2, 2, 3, 2, 2, 4, 2, 2, 2, 2, 2, 3}).sample;
  const Results alone = search(sample, usual(sample), 1);
  for (const unsigned threads : {0, 2, 5, 20}) same_paths(alone, search(sample, usual(sample), threads), 0);
  for (const char* name : kernels()) {
    use_instructions(name);
    same_paths(alone, search(sample, usual(sample), 2), 0);
  }
  use_instructions("best");
}

// All sorts of tables, with low thresholds, so that supports grow and shrink.
void random_tables_have_sound_paths() {
  Random random(53);
  for (int i = 0; i < times(60); ++i) {
    std::vector<int> states(2 + random.below(7));
    for (int& m : states) m = random.one_of({1, 2, 2, 2, 3, 5});
    const auto rows = random.one_of<std::size_t>({1, 2, 5, 63, 64, 65, 300});
    Sample sample = random_tree(random, rows, states, random.one_of({0.0, 0.6, 0.97, 1.0})).sample;
    if (random.bernoulli(0.2)) sample.weights = whole_weights(random, sample.rows, 3);
    if (random.bernoulli(0.2)) sample.weights = real_weights(random, sample.rows);
    search(sample,
           {random.one_of({1e-6, 1e-3, 0.05}), random.one_of({0.3, 0.9}), random.bernoulli(0.7), 8, true});
  }
}

void ties_go_to_the_lowest_column() {
  Random random(54);
  Sample sample = random_sample(random, 200, {2, 2, 2, 2});
  for (std::size_t i = 0; i < sample.rows; ++i) {
    sample.at(i, 1) =
        random.bernoulli(0.8) ? sample.at(i, 3) : static_cast<std::uint8_t>(1 - sample.at(i, 3));
    sample.at(i, 2) = static_cast<std::uint8_t>(1 - sample.at(i, 1));
  }
  const Results results = search(sample, usual(sample));
  check(results[3].steps.size() == 1 && results[3].steps[0].variable == 1, "the lower of two equal columns");
}

void equal_columns_separate() {
  Random random(55);
  for (const int m : {2, 3}) {
    Sample sample = random_sample(random, 150, {m, m, 2});
    for (std::size_t i = 0; i < sample.rows; ++i) sample.at(i, 1) = sample.at(i, 0);
    const Results results = search(sample, usual(sample));
    const NodeFit& fit = last_fit(results[0]);
    check(fit.support == std::vector<std::size_t>{1} && fit.unbounded[0], "a copy is an unbounded neighbour");
    check_near(fit.loss, 0, 1e-5, "and leaves no loss");
  }
}

void one_row_has_no_edges() {
  for (const int m : {1, 2, 4})
    for (const bool intercept : {true, false}) {
      const Sample sample{1, {m, m, m}, {0, 0, static_cast<std::uint8_t>(m - 1)}};
      for (const NodePath& result : search(sample, {1e-3, 0.5, intercept, 3, true}))
        check(!intercept || result.steps.empty(), "a field explains one row");
    }
}

void constant_columns_have_no_edges() {
  Random random(56);
  const Sample sample = random_tree(random, 300, {2, 1, 2, 1, 3, 1}).sample;
  const Results results = search(sample, {1e-9, 0.5, true, 6, true});
  for (const std::size_t r : {1, 3, 5}) {
    check(results[r].steps.empty() && results[r].stop == Stop::no_candidate, "a constant has no neighbours");
    check(results[r].start.loss == 0, "and no loss");
  }
  search({20, {1, 1}, std::vector<std::uint8_t>(40, 0)}, {1e-9, 0.5, true, 2, true});
}

void many_states_are_searched() {
  Random random(57);
  const int states = small ? 7 : 12;
  const Sample some = random_tree(random, 600, {states, states, 2, 5}, 0.5).sample;
  search(some, {1e-3, 0.5, true, 1, true});
  const int most_states = small ? 40 : 256;
  Sample most = random_sample(random, 3000, {2, most_states});
  for (std::size_t i = 0; i < most.rows; ++i)
    most.at(i, 0) = random.bernoulli(2 * most.at(i, 1) < most_states ? 0.9 : 0.1);
  const Table table = most.table();
  const Results results = Engine(table, usual(most), 2).run({0}, go_on);
  check(last_fit(results[0]).support.size() == 1, "a neighbour of many states is found");
  path_is_sound(table, 0, results[0], usual(most));
}

void no_field_is_fitted_without_an_intercept() {
  Random random(58);
  Sample sample = random_tree(random, 400, {2, 2, 2, 3, 2}, 0.4).sample;
  Settings settings = usual(sample);
  settings.intercept = false;
  const Results results = search(sample, settings);
  for (std::size_t r = 0; r < results.size(); ++r)
    check_near(results[r].start.loss, std::log(sample.states[r]), 1e-12,
               "all states are as likely at the start");
}

void degrees_are_limited() {
  Random random(59);
  const Sample sample = random_tree(random, 300, {2, 2, 2, 2, 2}).sample;
  for (const std::size_t limit : {0, 1, 2})
    for (const NodePath& result : search(sample, {1e-9, 1e-9, true, limit, true}))
      check(result.stop == Stop::max_degree && last_fit(result).support.size() == limit,
            "the limit is reached");
}

void a_hub_has_many_cells() {
  Random random(60);
  Sample sample = random_sample(random, small ? 300 : 2000, std::vector<int>(14, 2));
  for (std::size_t i = 0; i < sample.rows; ++i) {
    int sum = 0;
    for (std::size_t j = 1; j < 13; ++j) sum += sample.at(i, j);
    sample.at(i, 0) = random.bernoulli(1 / (1 + std::exp(6.0 - sum)));
  }
  const Results results = search(sample, usual(sample));
  check(small || last_fit(results[0]).support.size() >= 10, "the hub finds its neighbours");
}

// Pair counts beyond the size of a whole table are made row by row.
void wide_tables_are_searched() {
  Random random(61);
  Sample sample = random_sample(random, 200, std::vector<int>(2950, 2));
  for (std::size_t i = 0; i < sample.rows; ++i)
    if (random.bernoulli(0.9)) sample.at(i, 7) = sample.at(i, 2000);
  const Table table = sample.table();
  Engine engine(table, usual(sample), 2);
  const Results results = engine.run({7, 2000, 5}, go_on);
  check(results[0].steps.at(0).variable == 2000 && results[1].steps.at(0).variable == 7, "the one edge");
  path_is_sound(table, 7, results[0], usual(sample));
}

void weight_two_is_two_rows() {
  Random random(62);
  Sample single = random_tree(random, 100, {2, 3, 2, 2, 2}).sample;
  Sample doubled = random_sample(random, 200, single.states);
  for (std::size_t j = 0; j < single.states.size(); ++j)
    for (std::size_t i = 0; i < 200; ++i) doubled.at(i, j) = single.at(i / 2, j);
  const Settings settings = usual(doubled);
  const Results copies = search(doubled, settings);
  single.weights.assign(100, 2.0);
  same_paths(copies, search(single, settings), 1e-9);
}

// Real weights take another way to the same counts.
void nearly_whole_weights_change_little() {
  Random random(65);
  Sample sample = random_tree(random, 200, {2, 3, 2, 2, 2, 2}).sample;
  sample.weights = whole_weights(random, 200, 3);
  const Results whole = search(sample, usual(sample));
  for (double& weight : sample.weights) weight += 1e-12;
  check(!sample.table().countable(), "these weights are real");
  same_paths(whole, search(sample, usual(sample)), 1e-8);
}

// A run that would take long ends soon after the watch says so.
void a_watch_can_stop_it() {
  Random random(63);
  const Sample sample = random_tree(random, 1500, std::vector<int>(120, 2)).sample;
  const Table table = sample.table();
  Engine engine(table, {1e-12, 1e-12, true, 120, false}, 2);
  int asked = 0;
  const Results results = engine.run(all_columns(table), [&](std::size_t) { return ++asked < 2; });
  check(asked >= 2, "the watch was asked");
  check(results.back().steps.empty(), "the last column was never searched");
}

void a_watch_sees_the_end() {
  Random random(64);
  const Sample sample = random_tree(random, 100, {2, 2, 2}).sample;
  const Table table = sample.table();
  std::size_t before = 0;
  Engine(table, usual(sample), 2).run(all_columns(table), [&](std::size_t done) {
    check(done >= before && done <= 3, "progress only grows");
    before = done;
    return true;
  });
  check(before == 3, "all columns were done");
}

// Pairs at first or on demand, searches alone or in turns.
void ways_to_count_agree() {
  Random random(65);
  for (int i = 0; i < times(20); ++i) {
    const std::vector<int> states =
        i % 2 ? std::vector<int>(40, 2) : std::vector<int>{2, 3, 2, 2, 4, 2, 1, 2};
    Sample sample = random_tree(random, random.one_of<std::size_t>({60, 300}), states).sample;
    if (i % 3)
      sample.weights = i % 3 == 1 ? whole_weights(random, sample.rows, 9) : real_weights(random, sample.rows);
    use_counting("whole");
    const Results at_once = search(sample, usual(sample));
    for (const char* way : {"rows", "gathered", "gathered rows"}) {
      use_counting(way);
      same_paths(search(sample, usual(sample), 3), at_once, 0);
    }
    use_counting("best");
  }
}

// In turns, too, nobody waits for ever.
void searches_in_turns_can_be_interrupted() {
  Random random(66);
  const Sample sample = random_tree(random, 400, std::vector<int>(120, 2)).sample;
  const Table table = sample.table();
  use_counting("gathered rows");
  Engine engine(table, {1e-12, 1e-12, true, 120, false}, 2);
  int asked = 0;
  const Results results = engine.run(all_columns(table), [&](std::size_t) { return ++asked < 2; });
  check(results.back().steps.empty(), "the last column was never searched");
  use_counting("best");
}

// Bounds beside the exact values, at every fit of a path.
class Bounds {
 public:
  Bounds(const Table& table, const Pairs& pairs, std::size_t target, const Settings& settings)
      : table_(table),
        pairs_(pairs),
        counter_(table),
        reader_(pairs, counter_),
        target_(target),
        intercept_(settings.intercept),
        node_(table, pairs, counter_, settings),
        cells_(table, target),
        screen_(table, pairs, counter_, reader_, cells_) {
    node_.set_target(target);
  }

  void hold() {
    const NodePath path = node_.search(never_);
    hold_at(path.start);
    for (const NodeStep& step : path.steps) hold_at(step.fit);
  }

 private:
  // All that could be added at a fit.
  std::vector<std::size_t> candidates(const NodeFit& fit) const {
    std::vector<std::size_t> columns;
    for (std::size_t j = 0; j < table_.columns(); ++j)
      if (j != target_ && table_.states(j) > 1 && std::ranges::count(fit.support, j) == 0)
        columns.push_back(j);
    return columns;
  }

  void hold_at(const NodeFit& fit) {
    cells_.become(fit.support);
    Refit problem(cells_.view(), table_.n(), intercept_, kRidge);
    std::vector<double> x(fit.parameters.begin() + (intercept_ ? 0 : table_.states(target_) - 1),
                          fit.parameters.end());
    std::vector<double> probabilities;
    problem.minimise(x, 1e-18);
    problem.probabilities(fit.parameters, probabilities);
    Screen fresh(table_, pairs_, counter_, reader_, cells_);
    of_gains(fit, fresh, probabilities);
    of_gains(fit, screen_, probabilities);  // which keeps sets from fit to fit
    const std::vector<const SmallDesign*> no_smaller(fit.support.size(), nullptr);
    of_removals(problem.least_costs(x, no_smaller).whole, node_.costs_at(fit));
  }

  // The screen, ever sharper.
  void of_gains(const NodeFit& fit, Screen& screen, const std::vector<double>& probabilities) {
    const std::vector<std::size_t> columns = candidates(fit);
    OpenCandidates open;
    for (const std::size_t j : columns) open.listed.push_back({j});
    const std::vector<double> gains = node_.gains_at(fit, columns);
    screen.begin(probabilities, columns);
    for (int round = 0; round < 6 && screen.works(); ++round) {
      screen.bound(open.listed);
      for (std::size_t i = 0; i < open.size(); ++i)
        check_below(gains[i], open.listed[i].bound / table_.n() + 1e-9, "no gain exceeds its bound");
      of_drops(screen, open, columns, gains);
      const double limit = round % 2 == 0 ? kNoBound : 0.0;  // one set more, or many together
      if (!screen.sharpen(open, limit)) return;
    }
  }

  // What is dropped at a limit gains no more, whether the open ones were listed before or not.
  void of_drops(Screen& screen, const OpenCandidates& open, const std::vector<std::size_t>& columns,
                const std::vector<double>& gains) {
    for (const double middling : gains) {
      OpenCandidates kept = open, looked;
      screen.assess(kept, middling * table_.n());
      screen.look(looked, middling * table_.n());
      check(looked.more == 0 || looked.listed.size() == 1, "one is listed of very many");
      const std::size_t closed = looked.more > 0 ? looked.take_top().column : table_.columns();
      for (OpenCandidates* found : {&kept, &looked}) {
        screen.list(*found, middling * table_.n());
        for (std::size_t i = 0; i < columns.size(); ++i)
          if (columns[i] != closed && std::ranges::none_of(found->listed, [&](const auto& candidate) {
                return candidate.column == columns[i];
              }))
            check_below(gains[i], middling + 1e-9, "nothing above the limit is dropped");
      }
    }
  }

  static void of_removals(const std::vector<double>& least, const std::vector<double>& costs) {
    for (std::size_t i = 0; i < costs.size(); ++i)
      check_below(least[i], costs[i] + 1e-10, "no removal costs less than its bound");
  }

  const Table& table_;
  const Pairs& pairs_;
  Counter counter_;
  Pairs::Reader reader_;
  std::size_t target_;
  bool intercept_;
  const std::atomic<bool> never_{false};
  Node node_;
  Cells cells_;
  Screen screen_;
};

void bounds_hold() {
  Random random(42);
  for (int i = 0; i < times(60); ++i) {
    const auto rows = random.one_of<std::size_t>({30, 200, 900, 3000});
    const double likeness = random.one_of({0.3, 0.6, 0.97});
    Sample sample = random_tree(random, rows, {2, 2, 3, 2, 2, 1, 4, 2, 2, 2}, likeness).sample;
    if (random.bernoulli(0.3)) sample.weights = whole_weights(random, sample.rows, 4);
    const Table table = sample.table();
    const Pairs pairs(table);
    for (const bool intercept : {true, false})
      Bounds(table, pairs, random.below(2), {1e-3, 0.5, intercept, 6, true}).hold();
  }
}

// So many candidates that they are not listed while bounds are loose.
void bounds_hold_for_many_columns() {
  Random random(44);
  for (int i = 0; i < times(4); ++i) {
    const Sample sample = random_tree(random, 300, std::vector<int>(150, 2), 0.5).sample;
    const Table table = sample.table();
    const Pairs pairs(table);
    Bounds(table, pairs, random.below(150), {1e-3, 0.5, i % 2 > 0, 4, true}).hold();
  }
}

// Supports so large that cells are numbered by row, and looked at digit by digit.
void bounds_hold_in_many_cells() {
  Random random(43);
  for (int i = 0; i < times(6); ++i) {
    Sample sample = random_tree(random, 2000, std::vector<int>(14, 2), 0.4).sample;
    if (i % 2) sample.weights = whole_weights(random, sample.rows, 4);
    const Table table = sample.table();
    const Pairs pairs(table);
    Bounds(table, pairs, 0, {1e-7, 0.1, i % 3 > 0, 12, true}).hold();
  }
}

// Most states of a column are the sum of those of the two before it.
Sample sums_of_states(Random& random, std::size_t rows) {
  Sample sample = random_tree(random, rows, {6, 4, 5, 3, 6, 4, 5, 6, 3}).sample;
  for (std::size_t j = 2; j < sample.states.size(); ++j)
    for (std::size_t i = 0; i < rows; ++i)
      if (random.below(3))
        sample.codes[j * rows + i] = static_cast<std::uint8_t>((sample.at(i, j - 1) + sample.at(i, j - 2)) %
                                                               static_cast<std::size_t>(sample.states[j]));
  return sample;
}

// Columns of several states nearly determine a target of few rows: tables grow far beyond e^300, and what
// neighbours cost and add is still a number, no larger than all there is to lose.
void costs_are_numbers() {
  Random random(51);
  double largest = 0;
  for (int i = 0; i < times(40); ++i) {
    const Sample sample = sums_of_states(random, random.one_of<std::size_t>({40, 70, 140}));
    Settings settings = usual(sample);
    settings.threshold = random.one_of({1e-6, 1e-3});
    settings.intercept = i % 3 > 0;
    const Table table = sample.table();
    const Pairs pairs(table);
    Counter counter(table);
    Node node(table, pairs, counter, settings);
    DevianceFinder finder(table, {settings.intercept});
    const std::atomic<bool> never{false};
    for (std::size_t r = 0; r < table.columns(); ++r) {
      node.set_target(r);
      const NodePath path = node.search(never);
      for (const NodeStep& step : path.steps) {
        for (const double number : step.fit.parameters) largest = std::max(largest, std::abs(number));
        for (const double cost : node.costs_at(step.fit))
          check(cost > -1e-9 && cost < 1e4, "what a removal costs is a number");
        std::vector<std::size_t> all(step.fit.support.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        const Deviances found = finder.find(r, step.fit.support, all);
        check_near(found.loss, step.fit.loss, 1e-7, "the same fit");
        for (const double without : found.without)
          check(without >= found.loss && without < 1e4, "a loss without a neighbour is a number");
      }
    }
  }
  check_below(300, largest, "some tables are too large for their odds");
}

// Required columns are in every support, forbidden ones in none.
void constraints_hold() {
  Random random(47);
  const Sample sample = random_tree(random, 400, {2, 3, 2, 2, 4, 2}, 1.0).sample;
  const std::size_t p = sample.states.size();
  Constraints constraints{std::vector<std::vector<std::size_t>>(p), std::vector<std::vector<std::size_t>>(p)};
  for (std::size_t r = 0; r + 1 < p; r += 2) {
    constraints.required[r].push_back(r + 1);
    constraints.required[r + 1].push_back(r);
  }
  for (const std::size_t t : {std::size_t{2}, std::size_t{4}}) {
    constraints.forbidden[0].push_back(t);
    constraints.forbidden[t].push_back(0);
  }
  Settings settings = usual(sample);
  settings.threshold = 1e-4;
  settings.constraints = &constraints;
  const Table table = sample.table();
  const Results results = Engine(table, settings, 2).run(all_columns(table), go_on);
  const auto has = [](const NodeFit& fit, std::size_t t) {
    return std::find(fit.support.begin(), fit.support.end(), t) != fit.support.end();
  };
  for (std::size_t r = 0; r < p; ++r) {
    std::vector<NodeFit> fits{results[r].start};
    for (const NodeStep& step : results[r].steps) fits.push_back(step.fit);
    check(results[r].start.support == constraints.required[r], "a search starts with what is required");
    for (const NodeFit& fit : fits) {
      fit_is_sound(table, r, fit);
      for (const std::size_t t : constraints.required[r]) check(has(fit, t), "nothing required is dropped");
      for (const std::size_t t : constraints.forbidden[r]) check(!has(fit, t), "nothing forbidden is added");
    }
  }
}

}  // namespace

void test_engine() {
  a_planted_tree_is_found();
  threads_and_kernels_change_nothing();
  random_tables_have_sound_paths();
  ties_go_to_the_lowest_column();
  equal_columns_separate();
  one_row_has_no_edges();
  constant_columns_have_no_edges();
  many_states_are_searched();
  no_field_is_fitted_without_an_intercept();
  degrees_are_limited();
  a_hub_has_many_cells();
  wide_tables_are_searched();
  weight_two_is_two_rows();
  nearly_whole_weights_change_little();
  a_watch_can_stop_it();
  a_watch_sees_the_end();
  ways_to_count_agree();
  searches_in_turns_can_be_interrupted();
  bounds_hold();
  bounds_hold_for_many_columns();
  bounds_hold_in_many_cells();
  constraints_hold();
  costs_are_numbers();
}

}  // namespace core_test

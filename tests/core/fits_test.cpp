// The two small searches: at their answers the slopes are zero.
#include <numeric>

#include "bits/cells.hpp"
#include "core_test.hpp"
#include "gains/profile.hpp"
#include "refit/refit.hpp"

namespace core_test {
namespace {

using namespace isinglass;

// Cells whose probabilities may be anything, and totals that some rows could have.
struct Shares {
  std::size_t width;
  std::vector<double> probabilities, rows, totals;

  WeightedCells cells() const {
    WeightedCells out;
    out.reset(width, rows.size());
    for (std::size_t s = 0; s < rows.size(); ++s) out.add(rows[s], &probabilities[s * width]);
    out.fill_lanes();
    return out;
  }
  double all() const { return std::accumulate(rows.begin(), rows.end(), 0.0); }
  std::size_t seen() const {
    return static_cast<std::size_t>(
        std::count_if(totals.begin(), totals.end(), [](double t) { return t > 0; }));
  }
};

Shares random_shares(Random& random, std::size_t width) {
  Shares shares{width, {}, {}, std::vector<double>(width, 0.0)};
  const double scale = random.one_of({1.0, 3.0, 8.0, 15.0});
  for (std::size_t cells = 1 + random.below(random.one_of({6, 6, 60})); cells > 0; --cells) {
    std::vector<double> probability(width);
    for (double& one : probability) one = std::exp(scale * random.normal());
    const double sum = std::accumulate(probability.begin(), probability.end(), 0.0);
    for (const double one : probability) shares.probabilities.push_back(one / sum);
    shares.rows.push_back(random.one_of({1.0, 3.0, 50.0, 1000.0}));
    double left = shares.rows.back();
    for (std::size_t a = 0; a + 1 < width; ++a) {
      const double rows = random.below(3) ? std::floor(left * random.uniform()) : 0.0;
      shares.totals[a] += rows;
      left -= rows;
    }
    shares.totals[width - 1] += left;
  }
  return shares;
}

// Value and largest slope at a shift, states that do not occur left out.
struct Height {
  double value = 0, slope = 0;
};

Height height(const Shares& shares, std::span<const double> shift) {
  Height out;
  std::vector<double> slopes = shares.totals;
  for (std::size_t a = 0; a < shares.width; ++a) out.value += shares.totals[a] * shift[a];
  for (std::size_t s = 0; s < shares.rows.size(); ++s) {
    const double* probability = &shares.probabilities[s * shares.width];
    double sum = 0;
    for (std::size_t a = 0; a < shares.width; ++a)
      sum += shares.totals[a] > 0 ? probability[a] * std::exp(shift[a]) : 0.0;
    out.value -= shares.rows[s] * std::log(sum);
    for (std::size_t a = 0; a < shares.width; ++a)
      slopes[a] -= shares.rows[s] * probability[a] * std::exp(shift[a]) / sum;
  }
  for (std::size_t a = 0; a < shares.width; ++a)
    if (shares.totals[a] > 0) out.slope = std::max(out.slope, std::abs(slopes[a]));
  return out;
}

void profiles_are_flat_at_the_top() {
  Random random(31);
  Profile profile;
  for (const std::size_t width : {2, 3, 4, 5, 7})
    for (int i = 0; i < times(12000); ++i) {
      const Shares shares = random_shares(random, width);
      const double gain = profile.maximum(shares.cells(), shares.totals);
      const Height top = height(shares, profile.shift());
      check_below(-gain, 1e-9 * shares.all(), "a gain is not negative");
      check_near(gain, top.value, 1e-10 * (shares.all() + std::abs(gain)),
                 "the gain is the value at the shift");
      if (shares.seen() > 1) check_below(top.slope / shares.all(), 1e-7, "the slope is zero at the shift");
    }
}

void a_profile_of_nothing_is_zero() {
  const std::vector<double> none(3, 0.0);
  check(Profile().maximum(WeightedCells(), none) == 0, "no rows gain nothing");
}

// A refit and the plain formulas for its slopes, table by table.
class Slow {
 public:
  Slow(const CellView& view, double n, bool intercept, double ridge, const std::vector<double>& x)
      : view_(view),
        n_(n),
        intercept_(intercept),
        ridge_(ridge),
        width_(static_cast<std::size_t>(view.width)) {
    read(x);
    field_slope_.assign(width_, 0.0);
    for (const auto& table : tables_) slopes_.emplace_back(table.size(), 0.0);
    for (std::size_t s = 0; s < view.cells; ++s) visit(s);
  }

  double loss() const { return loss_ / n_; }

  double largest_slope() const {
    double largest = 0;
    for (std::size_t a = 1; a < width_ && intercept_; ++a)
      largest = std::max(largest, std::abs(field_slope_[a]));
    for (std::size_t t = 0; t < tables_.size(); ++t)
      for (std::size_t c = 1; c < states(t); ++c)
        for (std::size_t a = 1; a < width_; ++a) {
          const double shared = intercept_ ? 0.0 : field_slope_[a] / static_cast<double>(states(t));
          largest =
              std::max(largest, std::abs(slopes_[t][c * width_ + a] - shared + ridge_ * centred(t, c, a)));
        }
    return largest;
  }

 private:
  std::size_t states(std::size_t t) const { return static_cast<std::size_t>(view_.states[t]); }

  void read(const std::vector<double>& x) {
    auto next = x.begin();
    field_.assign(width_, 0.0);
    for (std::size_t a = 1; a < width_ && intercept_; ++a) field_[a] = *next++;
    for (std::size_t t = 0; t < view_.states.size(); ++t) {
      std::vector<double>& table = tables_.emplace_back(states(t) * width_, 0.0);
      for (std::size_t c = 1; c < states(t); ++c)
        for (std::size_t a = 1; a < width_; ++a) {
          table[c * width_ + a] = *next++;
          if (!intercept_) field_[a] -= table[c * width_ + a] / static_cast<double>(states(t));
        }
    }
    check(next == x.end(), "a refit has a number for each parameter");
  }

  void visit(std::size_t s) {
    std::vector<double> score = field_;
    for (std::size_t a = 0; a < width_; ++a) {
      if (view_.offset) score[a] += view_.offset[s * width_ + a];
      for (std::size_t t = 0; t < tables_.size(); ++t) score[a] += tables_[t][code(s, t) * width_ + a];
    }
    const double top = *std::max_element(score.begin(), score.end());
    double sum = 0, rows = 0;
    for (std::size_t a = 0; a < width_; ++a) {
      sum += std::exp(score[a] - top);
      rows += view_.counts[s * width_ + a];
    }
    for (std::size_t a = 0; a < width_; ++a) {
      const double count = view_.counts[s * width_ + a];
      const double slope = (rows * std::exp(score[a] - top) / sum - count) / n_;
      loss_ += count * (top + std::log(sum) - score[a]);
      field_slope_[a] += slope;
      for (std::size_t t = 0; t < tables_.size(); ++t) slopes_[t][code(s, t) * width_ + a] += slope;
    }
  }

  std::size_t code(std::size_t s, std::size_t t) const { return view_.codes[s * tables_.size() + t]; }

  // An entry of a table in the zero-sum gauge.
  double centred(std::size_t t, std::size_t c, std::size_t a) const {
    const double m = view_.states[t], w = view_.width;
    double value = tables_[t][c * width_ + a];
    for (std::size_t d = 0; d < states(t); ++d) value -= tables_[t][d * width_ + a] / m;
    for (std::size_t b = 0; b < width_; ++b) value -= tables_[t][c * width_ + b] / w;
    for (const double one : tables_[t]) value += one / (m * w);
    return value;
  }

  const CellView& view_;
  double n_;
  bool intercept_;
  double ridge_;
  std::size_t width_;
  double loss_ = 0;
  std::vector<double> field_, field_slope_;
  std::vector<std::vector<double>> tables_, slopes_;
};

// Minimises, and checks that it is a minimum. Returns which tables only the ridge holds.
std::vector<char> minimum_is_one(const CellView& view, double n, bool intercept, double ridge = kRidge) {
  Refit problem(view, n, intercept, ridge);
  std::vector<double> x(problem.size(), 0.0), probabilities;
  problem.minimise(x, 1e-18);
  for (const double number : x) check(std::isfinite(number), "parameters are finite");
  const Slow slow(view, n, intercept, ridge, x);
  check_below(slow.largest_slope(), 2e-8, "the slope is zero at the minimum");
  check_near(problem.probabilities(problem.expand(x), probabilities), slow.loss(), 1e-11,
             "the loss is that of the parameters");
  const auto width = static_cast<std::size_t>(view.width);
  for (std::size_t s = 0; s < view.cells; ++s)
    check_near(std::accumulate(&probabilities[s * width], &probabilities[s * width] + width, 0.0), 1, 1e-12,
               "probabilities sum to one");
  return problem.held_by_ridge(x);
}

std::vector<char> refit(const Sample& sample, const std::vector<std::size_t>& support,
                        bool intercept = true) {
  const Table table = sample.table();
  Cells cells(table, 0);
  cells.become(support);
  return minimum_is_one(cells.view(), table.n(), intercept);
}

void refits_are_minima() {
  Random random(32);
  for (int i = 0; i < times(60); ++i) {
    const int width = random.one_of({2, 2, 3, 5});
    Sample sample =
        random_tree(random, random.one_of<std::size_t>({1, 3, 20, 200, 700}), {width, 2, 3, 4, 2, 2}).sample;
    if (random.bernoulli(0.3)) sample.weights = whole_weights(random, sample.rows, 3);
    if (random.bernoulli(0.3)) sample.weights = real_weights(random, sample.rows);
    for (const bool intercept : {true, false})
      for (const std::vector<std::size_t>& support :
           {std::vector<std::size_t>{}, {1}, {3, 2}, {1, 2, 3, 4, 5}})
        refit(sample, support, intercept);
  }
}

// With a matrix and by products the same minimum is found, and the same tables are open.
void large_refits_are_refits(const Sample& sample, const std::vector<std::size_t>& support) {
  const Table table = sample.table();
  Cells cells(table, 0);
  cells.become(support);
  const CellView view = cells.view();
  Refit small(view, table.n(), true, kRidge, Curvature::matrix),
      large(view, table.n(), true, kRidge, Curvature::products);
  std::vector<double> x(small.size(), 0.0), y(x), probabilities, others;
  small.minimise(x, 1e-18);
  large.minimise(y, 1e-18);
  const double loss = small.probabilities(small.expand(x), probabilities);
  check_near(large.probabilities(large.expand(y), others), loss, 1e-11, "both find the same loss");
  // What the ridge alone holds is known to about the root of what the loss is.
  for (std::size_t k = 0; k < probabilities.size(); ++k)
    check_near(others[k], probabilities[k], 1e-6, "both find the same probabilities");
  check_below(Slow(view, table.n(), true, kRidge, y).largest_slope(), 2e-8, "its slope is zero");
  check(small.held_by_ridge(x) == large.held_by_ridge(y), "both find the same tables open");
}

void large_refits_are_refits() {
  Random random(37);
  for (int i = 0; i < times(60); ++i) {
    const int width = random.one_of({2, 3, 5, 9});
    Sample sample =
        random_tree(random, random.one_of<std::size_t>({2, 20, 200, 700}), {width, 2, 3, 7, 2, 2}).sample;
    if (random.bernoulli(0.3)) sample.weights = whole_weights(random, sample.rows, 3);
    if (random.bernoulli(0.3)) sample.weights = real_weights(random, sample.rows);
    if (random.bernoulli(0.3))
      for (std::size_t k = 0; k < sample.rows; ++k)
        sample.at(k, 5) = static_cast<std::uint8_t>(1 - sample.at(k, 4));
    for (const std::vector<std::size_t>& support : {std::vector<std::size_t>{}, {1}, {3, 2}, {1, 2, 3, 4, 5}})
      large_refits_are_refits(sample, support);
  }
}

// Matrices side by side are solved as each would be alone; a number without a pivot stays zero.
void lanes_solve_alone() {
  Random random(38);
  for (int round = 0; round < times(40); ++round) {
    const std::size_t size = 1 + random.below(12);
    std::vector<double> lanes(lane_entry(size, 0), 0.0), x(size * kLanes);
    std::vector<std::vector<double>> alone(kLanes, std::vector<double>(size * size, 0.0)), right(kLanes);
    for (std::size_t rows = 0; rows < 3 * size; ++rows) {
      std::vector<std::size_t> indices;
      for (std::size_t i = size; i-- > 0;)
        if (random.bernoulli(0.5)) indices.push_back(i);
      std::vector<double> numbers(kLanes);
      for (double& number : numbers) number = random.uniform();
      add_to_lanes(indices.data(), indices.size(), numbers.data(), lanes.data());
      for (std::size_t l = 0; l < kLanes; ++l)
        for (const std::size_t i : indices)
          for (const std::size_t j : indices) alone[l][i * size + j] += j <= i ? numbers[l] : 0.0;
    }
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t l = 0; l < kLanes; ++l) {
        lanes[lane_entry(i, i) + l] += 1;
        alone[l][i * size + i] += 1;
        right[l].push_back(x[i * kLanes + l] = random.normal());
      }
    factorise_lanes(lanes.data(), size);
    substitute_lanes(lanes.data(), size, x.data());
    for (std::size_t l = 0; l < kLanes; ++l) {
      check(solve_in_place(alone[l], right[l], 0.0), "the matrix is positive");
      for (std::size_t i = 0; i < size; ++i)
        check_near(x[i * kLanes + l], right[l][i], 1e-10, "each lane solves its own system");
    }
  }
  std::vector<double> nothing(lane_entry(1, 0), 0.0), one(kLanes, 1.0);
  factorise_lanes(nothing.data(), 1);
  substitute_lanes(nothing.data(), 1, one.data());
  check_below(one[0], 1e-200, "what has no pivot stays where it is");
}

void ordinary_tables_are_bounded() {
  Random random(33);
  const Sample sample = random_tree(random, 800, {3, 2, 3, 2}, 0.3).sample;
  for (const bool intercept : {true, false})
    for (const char held : refit(sample, {1, 2, 3}, intercept)) check(!held, "plain data hold every table");
}

void separated_tables_are_held_by_the_ridge() {
  Random random(34);
  for (const int m : {2, 3}) {
    Sample sample = random_sample(random, 100, {m, m, 2});
    for (std::size_t i = 0; i < sample.rows; ++i) sample.at(i, 1) = sample.at(i, 0);
    for (const bool intercept : {true, false}) {
      const std::vector<char> held = refit(sample, {1, 2}, intercept);
      check(held[0], "a copy of the target is unbounded");
    }
  }
}

void collinear_tables_are_held_by_the_ridge() {
  Random random(35);
  Sample sample = random_tree(random, 300, {2, 3, 3, 2}, 0.4).sample;
  for (std::size_t i = 0; i < sample.rows; ++i)
    sample.at(i, 2) = static_cast<std::uint8_t>(2 - sample.at(i, 1));
  const std::vector<char> held = refit(sample, {1, 2, 3});
  check(held[0] && held[1] && !held[2], "equal columns are open, the third is not");
}

void offsets_are_kept() {
  Random random(36);
  for (int i = 0; i < times(100); ++i) {
    const std::size_t cells = 1 + random.below(12), width = 2 + random.below(3);
    std::vector<std::uint8_t> codes;
    std::vector<double> counts, offset;
    for (std::size_t s = 0; s < cells; ++s) codes.push_back(static_cast<std::uint8_t>(random.below(3)));
    for (std::size_t k = 0; k < cells * width; ++k) {
      counts.push_back(static_cast<double>(1 + random.below(20)));
      offset.push_back(2 * random.normal());
    }
    const double n = std::accumulate(counts.begin(), counts.end(), 0.0);
    minimum_is_one({cells, static_cast<int>(width), {3}, codes.data(), counts.data(), offset.data()}, n,
                   false);
  }
}

// Nothing but rounding holds the field of states that never, or hardly ever, occur.
void states_that_do_not_occur_cost_nothing() {
  for (const double rare : {0.0, 1e-20, 1e-15})
    for (const std::size_t width : {2, 3, 5, 8})
      for (int rows = 1; rows <= times(200); ++rows) {
        std::vector<double> counts(width, rare), probabilities;
        counts.back() = rows;
        Refit problem({1, static_cast<int>(width), {}, nullptr, counts.data()}, rows, true, kRidge);
        std::vector<double> x(problem.size(), 0.0);
        problem.minimise(x, 1e-18);
        check_below(problem.probabilities(problem.expand(x), probabilities), 1e-6,
                    "one state explains all rows");
      }
}

}  // namespace

void test_fits() {
  profiles_are_flat_at_the_top();
  a_profile_of_nothing_is_zero();
  refits_are_minima();
  large_refits_are_refits();
  lanes_solve_alone();
  ordinary_tables_are_bounded();
  separated_tables_are_held_by_the_ridge();
  collinear_tables_are_held_by_the_ridge();
  offsets_are_kept();
  states_that_do_not_occur_cost_nothing();
}

}  // namespace core_test

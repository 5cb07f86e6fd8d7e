// Gains on one scale, and bounds that no exact gain exceeds.
#include <numeric>

#include "core_test.hpp"
#include "gains/bounds.hpp"
#include "gains/equivalent.hpp"
#include "gains/profile.hpp"

namespace core_test {
namespace {

using namespace isinglass;

void one_scale_is_monotone() {
  for (const int df : {1, 2, 3, 4, 9, 50, 400, 961, 4000})
    for (const double n : {1.0, 1e3, 1e7}) {
      double before = 0;
      for (double gain = 1e-12; gain < 1e12; gain *= small ? 3 : 1.1) {
        const double equal = one_parameter_gain(gain, df, n);
        check(std::isfinite(equal), "far out it stays finite");
        check_below(before, equal * (1 + 1e-11), "a larger gain has a larger equivalent");
        check_below(equal, gain * (1 + 1e-12), "more parameters have a smaller equivalent");
        before = equal;
      }
    }
}

void one_scale_keeps_the_surprise() {
  for (const int df : {2, 3, 9, 100})
    for (double chi2 = 0.5; chi2 < 1e5; chi2 *= 1.7) {
      const double tail = log_chi2_tail(chi2, df), t = std::sqrt(one_parameter_gain(0.5 * chi2, df, 1));
      check_near(log_erfc(t, scaled_erfc(t)), tail, 1e-11 * (1 + std::abs(tail)), "both are as surprising");
    }
}

void no_gain_has_no_equivalent() {
  check(one_parameter_gain(0, 4, 100) == 0 && one_parameter_gain(-1e-9, 4, 100) == 0,
        "no gain has no equivalent");
  check(one_parameter_gain(0.3, 1, 100) == 0.3, "one parameter is its own measure");
}

// Cells with moderate probabilities, and totals drawn from them: slopes that bounds can speak of.
struct Drawn {
  std::vector<double> probabilities, totals, slope, curvature;
  WeightedCells cells;
};

Drawn draw(Random& random, std::size_t width) {
  const std::size_t cells = 1 + random.below(random.one_of({4, 4, 40})), q = width - 1;
  Drawn drawn{std::vector<double>(cells * width),
              std::vector<double>(width, 0.0),
              std::vector<double>(q, 0.0),
              std::vector<double>(q * q, 0.0),
              {}};
  const double scale = random.one_of({0.3, 1.0, 3.0});
  drawn.cells.reset(width, cells);
  for (std::size_t s = 0; s < cells; ++s) {
    const std::span<double> probability(&drawn.probabilities[s * width], width);
    for (double& one : probability) one = std::exp(scale * random.normal());
    const double sum = std::accumulate(probability.begin(), probability.end(), 0.0);
    for (double& one : probability) one /= sum;
    const std::size_t rows = 1 + random.below(100);
    drawn.cells.add(static_cast<double>(rows), probability.data());
    for (std::size_t i = 0; i < rows; ++i) {
      double left = random.uniform();
      std::size_t a = 0;
      while (a < q && (left -= probability[a]) > 0) ++a;
      ++drawn.totals[random.bernoulli(0.05) ? 0 : a];
    }
  }
  drawn.cells.fill_lanes();
  for (std::size_t a = 0; a < q; ++a) drawn.slope[a] = drawn.totals[a + 1];
  for (std::size_t s = 0; s < cells; ++s) {
    const double rows = drawn.cells.rows()[s], *probability = &drawn.probabilities[s * width + 1];
    for (std::size_t a = 0; a < q; ++a) {
      drawn.slope[a] -= rows * probability[a];
      for (std::size_t b = 0; b < q; ++b)
        drawn.curvature[a * q + b] += rows * probability[a] * ((a == b) - probability[b]);
    }
  }
  return drawn;
}

void no_gain_exceeds_its_bound() {
  Random random(41);
  Profile profile;
  for (const std::size_t width : {2, 3, 4, 5, 9}) {
    int finite = 0;
    const int rounds = times(20000);
    for (int i = 0; i < rounds; ++i) {
      const Drawn drawn = draw(random, width);
      const double gain = profile.maximum(drawn.cells, drawn.totals);
      double guess = 0;
      const double bound = gain_bound(drawn.slope, drawn.curvature, guess);
      finite += bound < kNoBound;
      check_below(gain, bound + 1e-9, "the bound is above the gain");
      check_below(guess, bound + 1e-9, "and above the guess");
      const double near = profile.nearly_maximum(drawn.cells, drawn.totals, drawn.slope, drawn.curvature);
      check_below(gain, near + 1e-9, "one look bounds it too");
      if (width > 2) continue;
      const double g = std::abs(drawn.slope[0]), h = drawn.curvature[0];
      check_below(gain, gain_bound(g, h) + 1e-9, "and so is that of two states");
      check_below(gain_bound(g, h), quick_gain_bound(g, h) * (1 + 1e-11), "and the quick one is above both");
    }
    check_below(rounds, (width > 5 ? 20.0 : 4.0) * finite, "many bounds say something");
  }
}

// A first state without weight: all of the curvature is in one direction, but for rounding.
void bounds_of_a_singular_curvature() {
  const std::vector<double> slope{0.7, -0.2}, curvature{1.0, 0.0, -1.0, 1.0 + 4e-16};
  double guess = 0;
  check(gain_bound(slope, curvature, guess) == kNoBound && guess == 0, "rounding is no curvature");
}

void bounds_of_nothing() {
  check(gain_bound(0, 0) == 0 && gain_bound(1, 0) == kNoBound, "without curvature nothing is known");
  check(bound_curve(0) == 0 && bound_curve(1) == 1 && bound_curve(1.5) == kNoBound, "the curve ends at one");
  check(quick_gain_bound(1, 1) == kNoBound, "the quick bound ends before");
}

}  // namespace

void test_gains() {
  one_scale_is_monotone();
  one_scale_keeps_the_surprise();
  no_gain_has_no_equivalent();
  no_gain_exceeds_its_bound();
  bounds_of_nothing();
  bounds_of_a_singular_curvature();
}

}  // namespace core_test

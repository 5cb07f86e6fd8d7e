// Least losses over the coefficient of one column and the intercept, around a held predictor.
//
// These are the exact gains of a regression whose rows have one predictor: logistic and Poisson. Newton's
// method, damped where it must be, with the steps of solvers/linear/race.py; a search is given up once its
// bound says that it cannot reach the bar, which rises with what others have reached.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "base/vectors.hpp"
#include "moments/bounds.hpp"

namespace isinglass {

enum class RowLoss { kLogistic, kPoisson };

// Rows of a regression: held predictor, answer, share of all rows.
struct Held {
  const double *eta, *y, *share;
  std::size_t rows;
};

// Of a loss at one point: its value, and slope and curvature in the intercept and the coefficient.
struct PairTerms {
  double value, level, slope, level_form, cross, form;
};

ISINGLASS_INLINE inline void row_terms(RowLoss loss, double eta, double y, double* value, double* slope,
                                       double* curvature) {
  if (loss == RowLoss::kLogistic) {
    const double small = exp_of_minus(std::abs(eta)), larger = 1.0 / (1.0 + small), smaller = small * larger;
    *value = (eta > 0 ? eta : 0.0) - y * eta + log_of(1.0 + small);
    *slope = (eta < 0 ? smaller : larger) - y;
    *curvature = smaller * larger;
  } else {
    const double rate = exp_of(eta);
    *value = rate - y * eta;
    *slope = rate - y;
    *curvature = rate;
  }
}

// Terms of eta + level + coefficient z; without an intercept, those of the level are not used.
template <RowLoss kLoss>
ISINGLASS_INLINE inline void pair_terms_loop(const Held& held, const double* z, double level,
                                             double coefficient, PairTerms* terms) {
  constexpr std::size_t kWide = 4;
  double lanes[6][kWide] = {};
  const auto add = [&](std::size_t row, std::size_t lane) ISINGLASS_INLINE {
    double value, slope, curvature;
    row_terms(kLoss, held.eta[row] + (level + coefficient * z[row]), held.y[row], &value, &slope, &curvature);
    const double share = held.share[row], pull = share * slope, weight = share * curvature,
                 turned = weight * z[row];
    lanes[0][lane] += share * value;
    lanes[1][lane] += pull;
    lanes[2][lane] += pull * z[row];
    lanes[3][lane] += weight;
    lanes[4][lane] += turned;
    lanes[5][lane] += turned * z[row];
  };
  std::size_t row = 0;
  for (; row + kWide <= held.rows; row += kWide)
    for (std::size_t lane = 0; lane < kWide; ++lane) add(row + lane, lane);
  for (std::size_t lane = 0; row < held.rows; ++row, ++lane) add(row, lane);
  double* const sums[] = {&terms->value,      &terms->level, &terms->slope,
                          &terms->level_form, &terms->cross, &terms->form};
  for (std::size_t at = 0; at < 6; ++at)
    *sums[at] = (lanes[at][0] + lanes[at][2]) + (lanes[at][1] + lanes[at][3]);
}
inline constexpr Vectorised<pair_terms_loop<RowLoss::kLogistic>> logistic_pair_terms;
inline constexpr Vectorised<pair_terms_loop<RowLoss::kPoisson>> poisson_pair_terms;

inline void pair_terms(RowLoss loss, const Held& held, const double* z, double level, double coefficient,
                       PairTerms* terms) {
  if (loss == RowLoss::kLogistic)
    logistic_pair_terms(held, z, level, coefficient, terms);
  else
    poisson_pair_terms(held, z, level, coefficient, terms);
  if (!std::isfinite(terms->value)) terms->value = std::numeric_limits<double>::infinity();
}

struct PairStep {
  double level, coefficient;
};

// The rows at the held predictor itself, where every search of one column starts.
struct HeldTerms {
  double value;
  std::vector<double> slopes, curvatures;  // times shares
};

// The same as `pair_terms` of no step, to the last digit.
ISINGLASS_INLINE inline void first_terms_loop(const HeldTerms& start, const double* z, PairTerms* terms) {
  constexpr std::size_t kWide = 4;
  double lanes[5][kWide] = {};
  const double *slopes = start.slopes.data(), *curvatures = start.curvatures.data();
  const std::size_t rows = start.slopes.size();
  const auto add = [&](std::size_t row, std::size_t lane) ISINGLASS_INLINE {
    const double pull = slopes[row], weight = curvatures[row], turned = weight * z[row];
    lanes[0][lane] += pull;
    lanes[1][lane] += pull * z[row];
    lanes[2][lane] += weight;
    lanes[3][lane] += turned;
    lanes[4][lane] += turned * z[row];
  };
  std::size_t row = 0;
  for (; row + kWide <= rows; row += kWide)
    for (std::size_t lane = 0; lane < kWide; ++lane) add(row + lane, lane);
  for (std::size_t lane = 0; row < rows; ++row, ++lane) add(row, lane);
  double* const sums[] = {&terms->level, &terms->slope, &terms->level_form, &terms->cross, &terms->form};
  for (std::size_t at = 0; at < 5; ++at)
    *sums[at] = (lanes[at][0] + lanes[at][2]) + (lanes[at][1] + lanes[at][3]);
  terms->value = start.value;
}
inline constexpr Vectorised<first_terms_loop> first_terms;

// Shares times slopes and curvatures of rows; returns the mean loss.
template <RowLoss kLoss>
ISINGLASS_INLINE inline double all_terms_loop(const Held& held, double* slopes, double* curvatures) {
  constexpr std::size_t kWide = 4;
  double lanes[kWide] = {};
  const auto set = [&](std::size_t row, std::size_t lane) ISINGLASS_INLINE {
    double value, slope, curvature;
    row_terms(kLoss, held.eta[row], held.y[row], &value, &slope, &curvature);
    slopes[row] = held.share[row] * slope;
    curvatures[row] = held.share[row] * curvature;
    lanes[lane] += held.share[row] * value;
  };
  std::size_t row = 0;
  for (; row + kWide <= held.rows; row += kWide)
    for (std::size_t lane = 0; lane < kWide; ++lane) set(row + lane, lane);
  for (std::size_t lane = 0; row < held.rows; ++row, ++lane) set(row, lane);
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}
inline constexpr Vectorised<all_terms_loop<RowLoss::kLogistic>> logistic_terms;
inline constexpr Vectorised<all_terms_loop<RowLoss::kPoisson>> poisson_terms;

inline HeldTerms held_terms(RowLoss loss, const Held& held) {
  HeldTerms found{0, std::vector<double>(held.rows), std::vector<double>(held.rows)};
  double *slopes = found.slopes.data(), *curvatures = found.curvatures.data();
  found.value = loss == RowLoss::kLogistic ? logistic_terms(held, slopes, curvatures)
                                           : poisson_terms(held, slopes, curvatures);
  if (!std::isfinite(found.value)) found.value = std::numeric_limits<double>::infinity();
  return found;
}

// One search after the other, over the same rows.
class PairSearch {
 public:
  // Numbers of losses/newton.py, losses/linear.py and solvers/linear/race.py.
  static constexpr double kVanishing = 1e-13, kTolerance = 1e-15, kBlind = 1e-13, kShorter = 1e-6,
                          kTie = 2e-9;
  // So small a decrease is what was predicted, but for rounding.
  static constexpr double kFine = 1e-11;
  static constexpr int kMostSteps = 500, kMostBlind = 50;

  PairSearch(RowLoss loss, bool intercept) : loss_(loss), intercept_(intercept) {}

  // The least loss, and where it is; infinite if it cannot fall by `*bar`, which rises to what was reached.
  double least(const Held& held, const HeldTerms& held_terms, const double* z, double reach, double* bar,
               PairStep* where) const {
    PairStep& at = *where = {0, 0};
    PairTerms here;
    first_terms(held_terms, z, &here);
    without_level(&here);
    const double start = here.value;
    double damping = 0, before = 0;
    int blind_steps = 0;
    for (int count = 0; count < kMostSteps; ++count) {
      const PairStep step = newton(here, damping);
      const double predicted = -0.5 * (here.level * step.level + here.slope * step.coefficient);
      const double fall = start - here.value;
      *bar = std::max(*bar, fall - kTie);
      if (!(predicted > kTolerance) || blind_steps > kMostBlind) return here.value;
      if (!(fall + still_to_gain(here, reach) >= *bar)) return std::numeric_limits<double>::infinity();
      const PairStep there{at.level + step.level, at.coefficient + step.coefficient};
      if (predicted < kFine && damping == 0 &&
          predicted * predicted * predicted <= kTolerance * before * before) {
        at = there;  // the last step, as in losses/newton.py
        *bar = std::max(*bar, fall + predicted - kTie);
        return here.value - predicted;
      }
      const PairTerms trial = terms(held, z, there);
      const double size = 1 + std::abs(here.value);
      const bool blind = predicted < kBlind * size;
      if (trial.value <= (blind ? here.value + 1e-12 * size : here.value - 0.1 * predicted)) {
        at = there;
        here = trial;
        before = damping == 0 ? predicted : 0.0;
        damping = damping > 1e-12 ? damping / 10 : 0.0;
        blind_steps += blind;
      } else {
        before = 0;
        const double mean = intercept_ ? (here.level_form + here.form) / 2 : here.form;
        const double flat = kShorter * std::max(std::abs(here.level), std::abs(here.slope));
        damping = std::max({10 * damping, 1e-4 * mean, flat});
      }
    }
    return here.value;
  }

 private:
  PairTerms terms(const Held& held, const double* z, const PairStep& at) const {
    PairTerms found;
    pair_terms(loss_, held, z, at.level, at.coefficient, &found);
    without_level(&found);
    return found;
  }

  void without_level(PairTerms* found) const {
    if (!intercept_) found->level = found->level_form = found->cross = 0;
  }

  PairStep newton(const PairTerms& here, double damping) const {
    const double extra = damping + 1e-15 * std::max(here.level_form, here.form) + 1e-290 + kVanishing;
    const double form = here.form + extra;
    if (!intercept_) return {0, finite(-here.slope / form)};
    const double level_form = here.level_form + extra, ratio = here.cross / level_form;
    const double left = std::max(form - ratio * here.cross, extra);
    const double coefficient = -(here.slope - ratio * here.level) / left;
    return {finite(-(here.level + here.cross * coefficient) / level_form), finite(coefficient)};
  }

  static double finite(double step) { return std::isfinite(step) ? step : 0.0; }

  // By self-concordance, with the intercept's column of ones and a column of at most `reach`.
  double still_to_gain(const PairTerms& here, double reach) const {
    double decrement, spread;
    if (intercept_) {
      const double determinant = here.level_form * here.form - here.cross * here.cross;
      if (!(determinant > 1e-12 * here.level_form * here.form))
        return std::numeric_limits<double>::infinity();
      decrement = (here.form * here.level * here.level - 2 * here.cross * here.level * here.slope +
                   here.level_form * here.slope * here.slope) /
                  determinant;
      spread = (here.form + 2 * std::abs(here.cross) * reach + here.level_form * reach * reach) / determinant;
    } else {
      decrement = here.slope * here.slope / here.form;
      spread = reach * reach / here.form;
    }
    return self_concordant_fall(decrement, spread);
  }

  RowLoss loss_;
  bool intercept_;
};

}  // namespace isinglass

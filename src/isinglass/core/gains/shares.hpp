// What a shift of the target's logits does to many cells: the sums that Newton's method needs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "base/log_lanes.hpp"
#include "base/vectors.hpp"
#include "bits/weighted_cells.hpp"

namespace isinglass {

// Expected rows of the second state, and their variance, when its odds are multiplied.
ISINGLASS_INLINE inline void sum_moments_loop(std::size_t size, const double* rows, const double* first,
                                              const double* second, double factor, double& expected,
                                              double& variance) {
  double sums[kSumLanes] = {}, variances[kSumLanes] = {};
  for (std::size_t s = 0; s < size; s += kSumLanes)
    for (std::size_t l = 0; l < kSumLanes; ++l) {
      const double up = second[s + l] * factor, down = first[s + l], whole = 1 / (up + down),
                   weighted = rows[s + l] * up * whole;
      sums[l] += weighted;
      variances[l] += weighted * down * whole;
    }
  expected = total_of_lanes(sums);
  variance = total_of_lanes(variances);
}
inline constexpr Vectorised<sum_moments_loop> sum_moments;

// The sum of rows times the logarithm of what the probabilities of some states, multiplied, sum to.
ISINGLASS_INLINE inline double sum_logs_loop(const WeightedCells& cells, std::span<const std::size_t> states,
                                             const double* factor) {
  LogLanes logs;
  for (std::size_t s = 0; s < cells.size(); s += kSumLanes) {
    double sums[kSumLanes] = {};
    for (std::size_t i = 0; i < states.size(); ++i) {
      const double* probability = cells.probabilities(states[i]) + s;
      for (std::size_t l = 0; l < kSumLanes; ++l) sums[l] += probability[l] * factor[i];
    }
    logs.add(cells.rows() + s, sums);
  }
  return logs.sum();
}
inline constexpr Vectorised<sum_logs_loop> sum_logs;

// Where sums of shares are added, in lanes: the rows expected in each state and, if they are wanted, the
// products of the shares of each state with those before it.
struct ShareSums {
  double *expected, *products;
  double* shares;  // of the cells in hand
};

// The probabilities of k states, multiplied by `factor` and made to sum to one again, cell by cell, are their
// shares. Returns the sum of the logarithms of what they summed to, if it is wanted, else zero. A number of
// states that the compiler knows makes short loops; zero stands for any.
template <std::size_t kStates, bool kLogs>
ISINGLASS_INLINE inline double add_shares(const WeightedCells& cells, const std::size_t* seen,
                                          std::size_t states, const double* factor, const ShareSums& to) {
  const std::size_t k = kStates ? kStates : states;
  double* __restrict shares = to.shares;
  double* __restrict expected = to.expected;
  double* __restrict products = to.products;
  LogLanes logs;
  for (std::size_t s = 0; s < cells.size(); s += kSumLanes) {
    double rows[kSumLanes], whole[kSumLanes] = {}, squared[kSumLanes];
    std::copy_n(cells.rows() + s, kSumLanes, rows);
    for (std::size_t i = 0; i < k; ++i) {
      double* share = shares + i * kSumLanes;
      const double* probability = cells.probabilities(seen[i]) + s;
      for (std::size_t l = 0; l < kSumLanes; ++l) share[l] = probability[l] * factor[i];
      for (std::size_t l = 0; l < kSumLanes; ++l) whole[l] += share[l];
    }
    if (kLogs) logs.add(rows, whole);
    for (std::size_t l = 0; l < kSumLanes; ++l) {
      whole[l] = 1 / whole[l];
      rows[l] *= whole[l];
      squared[l] = rows[l] * whole[l];
    }
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t l = 0; l < kSumLanes; ++l)
        expected[i * kSumLanes + l] += rows[l] * shares[i * kSumLanes + l];
    if (!products) continue;
    double* product = products;
    for (std::size_t i = 1; i < k; ++i) {
      double weighted[kSumLanes];
      for (std::size_t l = 0; l < kSumLanes; ++l) weighted[l] = squared[l] * shares[i * kSumLanes + l];
      for (std::size_t j = 0; j < i; ++j, product += kSumLanes)
        for (std::size_t l = 0; l < kSumLanes; ++l) product[l] += weighted[l] * shares[j * kSumLanes + l];
    }
  }
  return logs.sum();
}

template <bool kLogs>
ISINGLASS_INLINE inline double add_any_shares(const WeightedCells& cells, const std::size_t* seen,
                                              std::size_t k, const double* factor, const ShareSums& to) {
  switch (k) {
    case 3:
      return add_shares<3, kLogs>(cells, seen, k, factor, to);
    case 4:
      return add_shares<4, kLogs>(cells, seen, k, factor, to);
    case 5:
      return add_shares<5, kLogs>(cells, seen, k, factor, to);
    default:
      return add_shares<0, kLogs>(cells, seen, k, factor, to);
  }
}

ISINGLASS_INLINE inline void sum_shares_loop(const WeightedCells& cells, const std::size_t* seen,
                                             std::size_t k, const double* factor, const ShareSums& to) {
  add_any_shares<false>(cells, seen, k, factor, to);
}
inline constexpr Vectorised<sum_shares_loop> sum_shares;

ISINGLASS_INLINE inline double sum_shares_and_logs_loop(const WeightedCells& cells, const std::size_t* seen,
                                                        std::size_t k, const double* factor,
                                                        const ShareSums& to) {
  return add_any_shares<true>(cells, seen, k, factor, to);
}
inline constexpr Vectorised<sum_shares_and_logs_loop> sum_shares_and_logs;

}  // namespace isinglass

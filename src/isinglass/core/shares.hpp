// What a shift of the target's logits does to many cells: the sums that Newton's method needs.
#pragma once

#include <algorithm>
#include <cstddef>

#include "vectors.hpp"
#include "weighted_cells.hpp"

namespace isinglass {

// Expected rows of the second state, and their variance, when its odds are multiplied. Four sums side by
// side, so that divisions need not wait for each other.
ISINGLASS_CLONES inline void sum_moments(std::size_t size, const double* rows, const double* first,
                                         const double* second, double factor, double& expected,
                                         double& variance) {
  double sums[4] = {0, 0, 0, 0}, variances[4] = {0, 0, 0, 0};
  const auto add = [&](std::size_t i, std::size_t k) ISINGLASS_IN_CLONES {
    const double up = second[i] * factor, down = first[i], whole = 1 / (up + down),
                 weighted = rows[i] * up * whole;
    sums[k] += weighted;
    variances[k] += weighted * down * whole;
  };
  std::size_t i = 0;
  for (; i + 4 <= size; i += 4)
    for (std::size_t k = 0; k < 4; ++k) add(i + k, k);
  for (; i < size; ++i) add(i, 0);
  expected = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  variance = (variances[0] + variances[1]) + (variances[2] + variances[3]);
}

// Sums over cells are kept in lanes, so that many cells are worked on side by side.
constexpr std::size_t kSide = 16;

inline double total_of_lanes(const double* lanes) {
  double sum = 0;
  for (std::size_t l = 0; l < kSide; ++l) sum += lanes[l];
  return sum;
}

// Where sums of shares are added, in lanes: the rows expected in each state; if they are wanted, the
// products of the shares of each state with those before it; and the logarithms of what chances sum to.
struct ShareSums {
  double *expected, *products, *logs;
  double* shares;  // of the cells in hand
};

// The chances of k states, multiplied by `factor` and made to sum to one again, cell by cell, are their
// shares. A number of states that the compiler knows makes short loops; zero stands for any.
template <std::size_t kStates>
ISINGLASS_IN_CLONES inline void add_shares(const WeightedCells& cells, const std::size_t* seen,
                                           std::size_t states, const double* factor, const ShareSums& to) {
  const std::size_t k = kStates ? kStates : states;
  double* __restrict shares = to.shares, * __restrict expected = to.expected, * __restrict products = to.products;
  for (std::size_t s = 0; s < cells.size(); s += kSide) {
    const std::size_t count = std::min(cells.size() - s, kSide);
    double rows[kSide] = {}, whole[kSide] = {}, squared[kSide];
    std::copy_n(cells.rows() + s, count, rows);
    for (std::size_t i = 0; i < k; ++i) {
      double* share = shares + i * kSide;
      const double* chance = cells.chances(seen[i]) + s;
      if (count == kSide)
        for (std::size_t l = 0; l < kSide; ++l) share[l] = chance[l] * factor[i];
      else  // the last ones, filled up with cells of no rows
        for (std::size_t l = 0; l < kSide; ++l) share[l] = (l < count ? chance[l] : 1.0) * factor[i];
      for (std::size_t l = 0; l < kSide; ++l) whole[l] += share[l];
    }
    add_logs<kSide>(rows, whole, to.logs);
    for (std::size_t l = 0; l < kSide; ++l) {
      whole[l] = 1 / whole[l];
      rows[l] *= whole[l];
      squared[l] = rows[l] * whole[l];
    }
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t l = 0; l < kSide; ++l) expected[i * kSide + l] += rows[l] * shares[i * kSide + l];
    if (!to.products) continue;
    double* product = products;
    for (std::size_t i = 1; i < k; ++i) {
      double weighted[kSide];
      for (std::size_t l = 0; l < kSide; ++l) weighted[l] = squared[l] * shares[i * kSide + l];
      for (std::size_t j = 0; j < i; ++j, product += kSide)
        for (std::size_t l = 0; l < kSide; ++l) product[l] += weighted[l] * shares[j * kSide + l];
    }
  }
}

ISINGLASS_CLONES inline void sum_shares(const WeightedCells& cells, const std::size_t* seen, std::size_t k,
                                        const double* factor, const ShareSums& to) {
  switch (k) {
    case 3:
      return add_shares<3>(cells, seen, k, factor, to);
    case 4:
      return add_shares<4>(cells, seen, k, factor, to);
    case 5:
      return add_shares<5>(cells, seen, k, factor, to);
    default:
      return add_shares<0>(cells, seen, k, factor, to);
  }
}

}  // namespace isinglass

// A few cells of columns of two states, as a matrix of zeros and ones: sums over cells in vectors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "base/vectors.hpp"
#include "bits/cell_view.hpp"

namespace isinglass {

// logit[s] = field + sum over features of weight * x[s], cells side by side; all lanes full.
ISINGLASS_INLINE inline void add_up_loop(std::size_t cells, std::size_t features, const double* x,
                                         const double* weight, double field, double* logit) {
  for (std::size_t s = 0; s < cells; s += kSumLanes) {
    double sums[kSumLanes];
    std::fill_n(sums, kSumLanes, field);
    for (std::size_t f = 0; f < features; ++f)
      for (std::size_t l = 0; l < kSumLanes; ++l) sums[l] += weight[f] * x[f * cells + s + l];
    std::copy_n(sums, kSumLanes, logit + s);
  }
}
inline constexpr Vectorised<add_up_loop> add_up;

// The cells of a target of two states at some logits: expected less observed rows of the second state, and
// their variance. Returns the loss, all rows together.
ISINGLASS_INLINE inline double look_at_cells_loop(std::size_t cells, const double* rows, const double* second,
                                                  const double* __restrict logit, double* __restrict off,
                                                  double* __restrict bend, double* __restrict loss) {
  for (std::size_t s = 0; s < cells; ++s) {
    const double z = logit[s], all = rows[s], seen = second[s], small = exp_of_minus(std::abs(z)),
                 both = 1 + small, likely = 1 / both, unlikely = small * likely;
    off[s] = all * (z > 0 ? likely : unlikely) - seen;
    bend[s] = all * likely * unlikely;
    loss[s] = all * (log_of(both) + 0.5 * (z + std::abs(z))) - seen * z;
  }
  return sum_in_lanes(cells, [=](std::size_t s) ISINGLASS_INLINE { return loss[s]; });
}
inline constexpr Vectorised<look_at_cells_loop> look_at_cells;

// Probabilities of the first and of the second state.
ISINGLASS_INLINE inline void logits_to_both_loop(std::size_t cells, const double* logit,
                                                 double* __restrict probabilities) {
  for (std::size_t s = 0; s < cells; ++s) {
    const double small = exp_of_minus(std::abs(logit[s])), likely = 1 / (1 + small),
                 unlikely = small * likely;
    probabilities[2 * s] = logit[s] > 0 ? unlikely : likely;
    probabilities[2 * s + 1] = logit[s] > 0 ? likely : unlikely;
  }
}
inline constexpr Vectorised<logits_to_both_loop> logits_to_both;

// The sums of w[s] * x[s] * y[s], for a feature x and some features y.
ISINGLASS_INLINE inline void sum_products_loop(std::size_t cells, const double* w, const double* x,
                                               std::size_t before, const double* others, double* scratch,
                                               double* out) {
  for (std::size_t s = 0; s < cells; ++s) scratch[s] = w[s] * x[s];
  for (std::size_t g = 0; g < before; ++g) {
    double lanes[kSumLanes] = {};
    for (std::size_t s = 0; s < cells; s += kSumLanes)
      for (std::size_t l = 0; l < kSumLanes; ++l) lanes[l] += scratch[s + l] * others[g * cells + s + l];
    out[g] = total_of_lanes(lanes);
  }
}
inline constexpr Vectorised<sum_products_loop> sum_products;

class BinaryDesign {
 public:
  // Whether a matrix is small enough to be looked through again and again.
  static bool suits(const CellView& view) {
    return view.width == 2 && !view.offset && view.cells * view.states.size() <= kMostNumbers &&
           std::ranges::all_of(view.states, [](int m) { return m == 2; });
  }

  explicit BinaryDesign(const CellView& view)
      : cells_((view.cells + kSumLanes - 1) / kSumLanes * kSumLanes),
        columns_(view.states.size()),
        x_((columns_ + 1) * cells_, 0.0),
        rows_(cells_, 0.0),
        second_(cells_, 0.0),
        logit_(cells_),
        off_(cells_),
        bend_(cells_),
        scratch_(cells_) {
    for (std::size_t s = 0; s < view.cells; ++s) {
      second_[s] = view.counts[2 * s + 1];
      rows_[s] = view.counts[2 * s] + second_[s];
      x_[s] = 1;
      for (std::size_t t = 0; t < columns_; ++t) x_[(t + 1) * cells_ + s] = view.codes[s * columns_ + t];
    }
  }

  // Loss at field and tables, slopes, and the curvature (lower triangle, row by row) if it is wanted.
  double look(std::span<const double> full, double* slopes, double* curvature) {
    add_up(cells_, columns_, x_.data() + cells_, full.data() + 1, full[0], logit_.data());
    const double loss = look_at_cells(cells_, rows_.data(), second_.data(), logit_.data(), off_.data(),
                                      bend_.data(), scratch_.data());
    sum_products(cells_, off_.data(), x_.data(), columns_ + 1, x_.data(), scratch_.data(), slopes);
    for (std::size_t f = 0; curvature && f <= columns_; curvature += ++f)
      sum_products(cells_, bend_.data(), &x_[f * cells_], f + 1, x_.data(), scratch_.data(), curvature);
    return loss;
  }

  // Probabilities of the two states in each cell, and the loss.
  double probabilities(std::span<const double> full, std::size_t cells, double* out) {
    add_up(cells_, columns_, x_.data() + cells_, full.data() + 1, full[0], logit_.data());
    const double loss = look_at_cells(cells_, rows_.data(), second_.data(), logit_.data(), off_.data(),
                                      bend_.data(), scratch_.data());
    logits_to_both(cells, logit_.data(), out);
    return loss;
  }

 private:
  static constexpr std::size_t kMostNumbers = 1 << 15;

  std::size_t cells_, columns_;  // cells, and some without rows that fill the lanes
  std::vector<double> x_;        // features x cells, the field first
  std::vector<double> rows_, second_, logit_, off_, bend_, scratch_;
};

}  // namespace isinglass

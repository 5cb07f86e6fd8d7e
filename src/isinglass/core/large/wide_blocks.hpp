// The curvature of each feature of a large refit by itself.
//
// Two states of one column never meet in a cell, so the curvature between them is nothing but the ridge's;
// its blocks, one per state, make a good preconditioner far from the minimum.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/linear.hpp"
#include "base/vectors.hpp"
#include "large/wide_layout.hpp"
#include "large/wide_loss.hpp"

namespace isinglass {

class WideBlocks {
 public:
  explicit WideBlocks(const WideLayout& layout) : layout_(layout), q_(layout.numbers()) {}

  // Sums the blocks where the loss was evaluated last, and factors them.
  void prepare(const WideLoss& loss) {
    sum_cells(loss);
    for (std::size_t t = 0; t < layout_.columns(); ++t)
      for (std::size_t c = 0; c < layout_.states(t); ++c)
        add_ridge(loss.ridge(), layout_.states(t), &blocks_[(layout_.first(t) + c) * q_ * q_]);
    factors_ = blocks_;
    for (std::size_t f = 0; f < layout_.features(); ++f) factor(f);
  }

  // Lower triangle, row by row.
  const double* of(std::size_t feature) const { return &blocks_[feature * q_ * q_]; }

  // out = blocks^-1 residual.
  void solve(std::span<const double> residual, std::vector<double>& out) const {
    std::copy(residual.begin(), residual.end(), out.begin());
    for (std::size_t f = 0; f < layout_.features(); ++f)
      substitute(std::span(&factors_[f * q_ * q_], q_ * q_), std::span(&out[f * layout_.row()], q_));
  }

 private:
  void sum_cells(const WideLoss& loss) {
    const std::size_t triangle = q_ * (q_ + 1) / 2;
    std::vector<double> sums(layout_.features() * triangle, 0.0), cell(triangle);
    for (std::size_t s = 0; s < layout_.view().cells; ++s) {
      const double* probability = loss.probabilities(s);
      std::size_t k = 0;
      for (std::size_t a = 0; a < q_; ++a) {
        const double rows = layout_.shares()[s] * probability[a];
        for (std::size_t b = 0; b < a; ++b) cell[k++] = -rows * probability[b];
        cell[k++] = rows * (1 - probability[a]);
      }
      for (const std::uint32_t feature : layout_.active(s))
        add_multiple(&sums[feature * triangle], 1.0, cell.data(), triangle);
    }
    blocks_.assign(layout_.features() * q_ * q_, 0.0);
    for (std::size_t f = 0; f < layout_.features(); ++f) unpack(&sums[f * triangle], &blocks_[f * q_ * q_]);
  }

  void unpack(const double* triangle, double* block) const {
    for (std::size_t a = 0; a < q_; ++a)
      for (std::size_t b = 0; b <= a; ++b) block[a * q_ + b] = *triangle++;
  }

  void add_ridge(double ridge, std::size_t states, double* block) const {
    const double own = ridge * (1 - 1.0 / static_cast<double>(states));
    for (std::size_t a = 0; a < q_; ++a)
      for (std::size_t b = 0; b <= a; ++b)
        block[a * q_ + b] += own * ((a == b) - 1.0 / static_cast<double>(q_ + 1));
  }

  // Where rounding has made a block indefinite, its diagonal serves.
  void factor(std::size_t f) {
    const std::span<double> factor(&factors_[f * q_ * q_], q_ * q_);
    if (factorise(factor, q_, 0.0)) return;
    std::fill(factor.begin(), factor.end(), 0.0);
    for (std::size_t a = 0; a < q_; ++a)
      factor[a * q_ + a] = std::sqrt(std::max(blocks_[(f * q_ + a) * q_ + a], 1e-300));
  }

  const WideLayout& layout_;
  std::size_t q_;
  std::vector<double> blocks_, factors_;
};

}  // namespace isinglass

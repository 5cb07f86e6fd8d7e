// Newton's equations of a large refit, solved by conjugate gradients.
//
// A product with the curvature is one pass over the cells, and conjugate gradients do not mind directions
// in which nothing changes. Blocks, one per feature, precondition far from the minimum; near it, where
// steps have to be solved well, `StateFactors` do better.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/vectors.hpp"
#include "large/state_factors.hpp"
#include "large/wide_blocks.hpp"
#include "large/wide_layout.hpp"
#include "large/wide_loss.hpp"

namespace isinglass {

class WideSystem {
 public:
  WideSystem(const WideLayout& layout, WideLoss& loss) : layout_(layout), loss_(loss), blocks_(layout) {}

  const WideBlocks& blocks() const { return blocks_; }
  bool by_state() const { return by_state_.has_value(); }
  int products() const { return products_; }  // of the last solution

  // What preconditions from now on: blocks, or matrices of all features for each state of the target.
  void prepare_blocks() { blocks_.prepare(loss_); }
  void forget_states() { by_state_.reset(); }
  void prepare_states() {
    std::vector<char> left_out(layout_.features(), 0);
    for (const std::size_t f : layout_.commonest()) left_out[f] = 1;
    if (!by_state_) by_state_.emplace(layout_.numbers() + 1, left_out);
    by_state_->prepare(layout_.view().cells, loss_.ridge(), [&](std::size_t s) {
      return StateFactors::Cell{layout_.shares()[s], layout_.active(s), loss_.probabilities(s)};
    });
  }

  // Length squared of a slope in the norm of the blocks.
  double length_squared(std::span<const double> slope) const {
    std::vector<double> eased(slope.size());
    blocks_.solve(slope, eased);
    return dot(slope.data(), eased.data(), slope.size());
  }

  // Solves curvature * step = right until the residual is a share of what it was, both in the norm of
  // the preconditioner. Returns right . step.
  double solve(std::span<const double> right, double share, std::vector<double>& step) {
    const std::size_t size = layout_.size();
    std::vector<double> residual(right.begin(), right.end()), eased(size), direction, product(size);
    step.assign(size, 0.0);
    layout_.make_consistent(residual);
    precondition(residual, eased);
    direction = eased;
    double norm = dot(residual.data(), eased.data(), size);
    const double wanted = norm * share * share;
    for (products_ = 0; products_ < 1000 && norm > wanted; ++products_) {
      loss_.multiply_curvature(direction, product);
      const double curvature = dot(direction.data(), product.data(), size);
      if (!(curvature > 0)) break;
      add_multiple(step.data(), norm / curvature, direction.data(), size);
      add_multiple(residual.data(), -norm / curvature, product.data(), size);
      layout_.make_consistent(residual);
      precondition(residual, eased);
      const double before = norm;
      norm = dot(residual.data(), eased.data(), size);
      for (std::size_t j = 0; j < size; ++j) direction[j] = eased[j] + norm / before * direction[j];
    }
    return dot(right.data(), step.data(), size);
  }

 private:
  void precondition(std::span<const double> residual, std::vector<double>& out) {
    by_state_ ? by_state_->solve(residual, layout_.row(), out) : blocks_.solve(residual, out);
  }

  const WideLayout& layout_;
  WideLoss& loss_;
  WideBlocks blocks_;
  std::optional<StateFactors> by_state_;
  int products_ = 0;
};

}  // namespace isinglass

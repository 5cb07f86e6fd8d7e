// A preconditioner for the joint fit: every column with its edges is solved alone.
//
// The curvature of a cell between the column's states, diag(p) - pp', is replaced by its diagonal p(1 - p),
// so that each state of a column has a matrix of its own over its neighbours' states. It keeps how neighbours
// go together, which is what makes fits slow. The other end of an edge adds to the diagonal. Blocks that
// overlap, are solved alone and added up, are an additive Schwarz method; that coordinates are redundant
// makes it one on a fictitious space (Nepomnyaschikh 1992).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "base/lanes.hpp"
#include "joint/conditional.hpp"

namespace isinglass {

class ColumnSolver {
 public:
  // Matrices are kept if `whole`; else numbers are eased one by one.
  ColumnSolver(const JointConditional& column, std::size_t block_size, bool whole)
      : m_(column.states()), groups_(groups(m_)), features_(block_size / m_), whole_(whole) {}

  static std::size_t bytes(std::size_t states, std::size_t block_size) {
    return sizeof(double) * groups(states) * lane_entry(block_size / states, 0);
  }

  // Rows times p(1 - p) for every number of the column's block: the diagonal of its curvature.
  void look_at(const JointConditional& column) {
    spread_.assign(features_ * m_, 0.0);
    if (whole_) matrix_.assign(groups_ * lane_entry(features_, 0), 0.0);
    std::vector<double> share(groups_ * kLanes, 0.0);
    std::vector<std::size_t> indices;
    column.each_cell([&](std::size_t c, const double* p) {
      for (std::size_t a = 0; a < m_; ++a) share[a] = column.weight(c) * p[a] * (1 - p[a]);
      indices.assign(column.features(c).begin(), column.features(c).end());
      for (const std::size_t f : indices)
        for (std::size_t a = 0; a < m_; ++a) spread_[f * m_ + a] += share[a];
      for (std::size_t g = 0; whole_ && g < groups_; ++g)
        add_to_lanes(indices.data(), indices.size(), &share[g * kLanes], group(g));
    });
  }

  const std::vector<double>& spread() const { return spread_; }

  // Adds the diagonal, the other ends' part with it, and factorises.
  void finish(std::span<const double> others) {
    scale_.assign(groups_ * features_ * kLanes, 1.0);
    for (std::size_t f = 0; f < features_; ++f)
      for (std::size_t a = 0; a < m_; ++a)
        scale_[lane(f, a)] = 1 / std::sqrt(spread_[f * m_ + a] + others[f * m_ + a]);
    for (std::size_t g = 0; whole_ && g < groups_; ++g) {
      const double* scale = &scale_[g * features_ * kLanes];
      for (std::size_t i = 0; i < features_; ++i) {
        double* row = group(g) + lane_entry(i, 0);
        for (std::size_t k = 0; k < i * kLanes; ++k) row[k] *= scale[i * kLanes + k % kLanes] * scale[k];
        std::fill_n(row + i * kLanes, kLanes, 1 + kLeast);
      }
      factorise_lanes(group(g), features_);
    }
  }

  // About the inverse of the curvature, times a slope; in place.
  void ease(double* block) const {
    std::vector<double> x(scale_.size(), 0.0);
    for (std::size_t f = 0; f < features_; ++f)
      for (std::size_t a = 0; a < m_; ++a) x[lane(f, a)] = block[f * m_ + a] * scale_[lane(f, a)];
    for (std::size_t g = 0; whole_ && g < groups_; ++g)
      substitute_lanes(group(g), features_, &x[g * features_ * kLanes]);
    for (std::size_t f = 0; f < features_; ++f)
      for (std::size_t a = 0; a < m_; ++a) block[f * m_ + a] = x[lane(f, a)] * scale_[lane(f, a)];
  }

 private:
  static constexpr double kLeast = 1e-9;  // of the diagonal, so that factors exist in spite of rounding

  // States stand side by side, so many to a group.
  static std::size_t groups(std::size_t states) { return (states + kLanes - 1) / kLanes; }
  std::size_t lane(std::size_t f, std::size_t a) const {
    return (a / kLanes * features_ + f) * kLanes + a % kLanes;
  }
  double* group(std::size_t g) { return &matrix_[g * lane_entry(features_, 0)]; }
  const double* group(std::size_t g) const { return &matrix_[g * lane_entry(features_, 0)]; }

  std::size_t m_, groups_, features_;
  bool whole_;
  std::vector<double> spread_, scale_, matrix_;
};

}  // namespace isinglass

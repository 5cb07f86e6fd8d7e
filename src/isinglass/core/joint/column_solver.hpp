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

#include "base/linear.hpp"
#include "joint/conditional.hpp"

namespace isinglass {

class ColumnSolver {
 public:
  // Matrices are kept if `whole`; else numbers are eased one by one.
  ColumnSolver(const JointConditional& column, std::size_t block_size, bool whole)
      : m_(column.states()), features_(block_size / m_), whole_(whole) {}

  static std::size_t bytes(std::size_t states, std::size_t block_size) {
    const std::size_t features = block_size / states;
    return sizeof(double) * states * features * features;
  }

  // Rows times p(1 - p) for every number of the column's block: the diagonal of its curvature.
  void look_at(const JointConditional& column) {
    spread_.assign(features_ * m_, 0.0);
    if (whole_) matrix_.assign(m_ * features_ * features_, 0.0);
    std::vector<std::size_t> feature(column.degree() + 1, 0);
    std::vector<double> share(m_);
    column.each_cell([&](std::size_t c, const double* p) {
      for (std::size_t a = 0; a < m_; ++a) share[a] = column.weight(c) * p[a] * (1 - p[a]);
      for (std::size_t k = 0; k < column.degree(); ++k) feature[k + 1] = column.place(c, k) / m_;
      for (const std::size_t f : feature)
        for (std::size_t a = 0; a < m_; ++a) spread_[f * m_ + a] += share[a];
      if (!whole_) return;
      for (std::size_t a = 0; a < m_; ++a) {
        double* matrix = &matrix_[a * features_ * features_];
        for (std::size_t i = 1; i < feature.size(); ++i)
          for (std::size_t j = 0; j < i; ++j) matrix[feature[i] * features_ + feature[j]] += share[a];
      }
    });
  }

  const std::vector<double>& spread() const { return spread_; }

  // Adds the diagonal, the other ends' part with it, and factorises.
  void finish(std::span<const double> others) {
    scale_.resize(features_ * m_);
    for (std::size_t i = 0; i < scale_.size(); ++i) scale_[i] = 1 / std::sqrt(spread_[i] + others[i]);
    if (!whole_) return;
    for (std::size_t a = 0; a < m_; ++a) {
      const std::span<double> matrix(&matrix_[a * features_ * features_], features_ * features_);
      for (std::size_t i = 0; i < features_; ++i) {
        for (std::size_t j = 0; j < i; ++j)
          matrix[i * features_ + j] *= scale_[i * m_ + a] * scale_[j * m_ + a];
        matrix[i * features_ + i] = 1 + kLeast;
      }
      if (!factorise(matrix, features_, 0)) {  // rounding: only the diagonal is left
        std::fill(matrix.begin(), matrix.end(), 0.0);
        for (std::size_t i = 0; i < features_; ++i) matrix[i * features_ + i] = 1;
      }
    }
  }

  // About the inverse of the curvature, times a slope; in place.
  void ease(double* block) const {
    for (std::size_t i = 0; i < scale_.size(); ++i) block[i] *= scale_[i];
    if (whole_) {
      std::vector<double> x(features_);
      for (std::size_t a = 0; a < m_; ++a) {
        for (std::size_t i = 0; i < features_; ++i) x[i] = block[i * m_ + a];
        substitute({&matrix_[a * features_ * features_], features_ * features_}, x);
        for (std::size_t i = 0; i < features_; ++i) block[i * m_ + a] = x[i];
      }
    }
    for (std::size_t i = 0; i < scale_.size(); ++i) block[i] *= scale_[i];
  }

 private:
  static constexpr double kLeast = 1e-10;  // of the diagonal, so that factors exist in spite of rounding

  std::size_t m_, features_;
  bool whole_;
  std::vector<double> spread_, scale_, matrix_;
};

}  // namespace isinglass

// The loss of a large refit, with its slope, and products with its curvature: passes over the cells.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "base/rows.hpp"
#include "large/wide_layout.hpp"

namespace isinglass {

class WideLoss {
 public:
  WideLoss(const WideLayout& layout, double n, double ridge)
      : layout_(layout), n_(n), ridge_(ridge), q_(layout.numbers()) {}

  double ridge() const { return ridge_; }

  // Of all states but the first, at the point that was evaluated last.
  const double* probabilities(std::size_t cell) const { return &probability_[cell * layout_.row()]; }

  // Value and gradient of the mean loss plus ridge; the probabilities are kept for the curvature.
  double evaluate(std::span<const double> u, std::vector<double>& gradient) {
    const CellView& view = layout_.view();
    const std::size_t width = q_ + 1, row = layout_.row();
    probability_.resize(view.cells * row);
    excess_.resize(view.cells * row);
    gather_scores(layout_.rows(), u.data(), probability_.data());
    double value = 0;
    for (std::size_t s = 0; s < view.cells; ++s) {
      const double* counts = view.counts + s * width;
      double* probability = &probability_[s * row];
      value += find_probabilities(view.offset ? view.offset + s * width : nullptr, counts, probability);
      for (std::size_t a = 0; a < q_; ++a)
        excess_[s * row + a] = layout_.shares()[s] * probability[a] - counts[a + 1] / n_;
    }
    gradient.assign(layout_.size(), 0.0);
    scatter_scores(layout_.rows(), excess_.data(), gradient.data());
    return value / n_ + 0.5 * add_ridge(u, gradient);
  }

  void multiply_curvature(std::span<const double> u, std::vector<double>& out) {
    std::fill(out.begin(), out.end(), 0.0);
    add_curvature_times(layout_.rows(), probability_.data(), layout_.shares().data(), u.data(), out.data());
    add_ridge(u, out);
  }

 private:
  // Loss of one cell; its scores become probabilities of all states but the first.
  double find_probabilities(const double* offset, const double* counts, double* probability) const {
    double base = 0, top = 0;
    if (offset) {
      base = top = offset[0];
      for (std::size_t a = 0; a < q_; ++a) probability[a] += offset[a + 1];
    }
    for (std::size_t a = 0; a < q_; ++a) top = std::max(top, probability[a]);
    double sum = std::exp(base - top), rows = counts[0], linear = counts[0] * (base - top);
    for (std::size_t a = 0; a < q_; ++a) {
      const double score = probability[a] - top;
      linear += counts[a + 1] * score;
      rows += counts[a + 1];
      sum += probability[a] = std::exp(score);
    }
    for (std::size_t a = 0; a < q_; ++a) probability[a] /= sum;
    return rows * std::log(sum) - linear;
  }

  // Adds the slope of the ridge: its factor times the tables in the zero-sum gauge. Returns u . slope.
  double add_ridge(std::span<const double> u, std::vector<double>& out) const {
    double product = 0;
    for (std::size_t t = 0; t < layout_.columns(); ++t)
      product += layout_.add_gauged(u, t, layout_.states(t), ridge_, out);
    return product;
  }

  const WideLayout& layout_;
  double n_, ridge_;
  std::size_t q_;
  std::vector<double> probability_;  // cells x padded states
  std::vector<double> excess_;       // expected less observed rows, cells x padded states
};

}  // namespace isinglass

// Functions of the cell that are 0 or 1, and least squares of other functions on them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/vectors.hpp"

namespace isinglass {

// Features come one after another, and so do the rows of the Cholesky factor of their products: one more
// costs little. Cells may grow finer; products stay what they are.
class Features {
 public:
  std::size_t size() const { return size_; }
  const double* row(std::size_t f) const { return &in_cell_[f * cells_]; }

  // Begins with none.
  void clear(std::size_t cells) {
    cells_ = cells;
    cut(0);
  }

  // Keeps the first ones.
  void cut(std::size_t count) {
    size_ = count;
    in_cell_.resize(count * cells_);
    factor_.resize(count * (count + 1) / 2);
  }

  // Each new cell is a part of an old one.
  void refine(std::span<const std::uint32_t> parents) {
    refined_.resize(size_ * parents.size());
    for (std::size_t f = 0; f < size_; ++f)
      for (std::size_t s = 0; s < parents.size(); ++s) refined_[f * parents.size() + s] = row(f)[parents[s]];
    in_cell_.swap(refined_);
    cells_ = parents.size();
  }

  // Adds the feature that is 1 in some cells, which have so many rows; false if its products with the others
  // cannot be factorised, `extra` on the diagonal.
  template <class In>
  bool add(const In& in, const double* rows, double extra) {
    in_cell_.resize(++size_ * cells_);
    double* own = &in_cell_[(size_ - 1) * cells_];
    for (std::size_t s = 0; s < cells_; ++s) own[s] = in(s) ? 1.0 : 0.0;
    weighted_.resize(cells_);
    multiply(row(size_ - 1), rows, weighted_.data(), cells_);
    double* products = add_factor_row();
    for (std::size_t f = 0; f < size_; ++f) products[f] = dot(weighted_.data(), row(f), cells_);
    for (std::size_t f = 0; f + 1 < size_; ++f)
      products[f] = (products[f] - plain_dot(products, factor_row(f), f)) / factor_row(f)[f];
    const double left = products[size_ - 1] + extra - plain_dot(products, products, size_ - 1);
    products[size_ - 1] = std::sqrt(left);
    return left > 0 && std::isfinite(left);
  }

  // The products of a function with the features, half solved; those of features added since are appended.
  void half_solve(const double* of_cell, const double* rows, std::vector<double>& halves) {
    weighted_.resize(cells_);
    multiply(of_cell, rows, weighted_.data(), cells_);
    for (std::size_t f = halves.size(); f < size_; ++f)
      halves.push_back((dot(weighted_.data(), row(f), cells_) - plain_dot(halves.data(), factor_row(f), f)) /
                       factor_row(f)[f]);
  }

  // How much each feature weighs in the best combination.
  void solve(const std::vector<double>& halves, std::vector<double>& weights) const {
    weights = halves;
    for (std::size_t f = size_; f-- > 0;) {
      weights[f] /= factor_row(f)[f];
      for (std::size_t g = 0; g < f; ++g) weights[g] -= factor_row(f)[g] * weights[f];
    }
  }

 private:
  const double* factor_row(std::size_t f) const { return &factor_[f * (f + 1) / 2]; }

  double* add_factor_row() {
    factor_.resize(size_ * (size_ + 1) / 2);
    return &factor_[size_ * (size_ - 1) / 2];
  }

  static double plain_dot(const double* a, const double* b, std::size_t n) {
    double even = 0, odd = 0;
    std::size_t i = 0;
    for (; i + 2 <= n; i += 2) {
      even += a[i] * b[i];
      odd += a[i + 1] * b[i + 1];
    }
    return even + odd + (i < n ? a[i] * b[i] : 0.0);
  }

  std::size_t cells_ = 0, size_ = 0;
  std::vector<double> in_cell_, refined_;  // features x cells
  std::vector<double> factor_;             // lower triangle, row by row
  std::vector<double> weighted_;
};

}  // namespace isinglass

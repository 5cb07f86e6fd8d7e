// What removals cost at least, from the curvature at a minimum, for a target of any number of states.
//
// A removal moves the field and the parameters of one edge by some v; all other edges are held. With B the
// curvature of these parameters, tau^2 = v'Bv and s the range of the shifts of the target's scores, the loss
// rises by at least (e^-s + s - 1)/s^2 tau^2 (Lemma 2 of docs/engine.md), and s <= kappa tau, where kappa^2
// is the largest z'B^-1 z of a difference z between two shifts in one state of the neighbour. That makes
// (e^-u + u - 1)/kappa^2 with u = kappa tau, which grows with tau. The smallest tau is that of the move which
// is best by B: the edge goes, or only what it has beyond a smaller form, and what stays is free.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/forms.hpp"
#include "base/linear.hpp"
#include "refit/minimum.hpp"

namespace isinglass {

class LeastCosts {
 public:
  // Of the removal of each edge; zero where there is no bound.
  std::vector<double> whole;
  // Of making each edge a smaller form; zero where it has none.
  std::vector<double> upgrade;

  LeastCosts() = default;

  // `smaller` has the smaller form of each edge that is a table, or null.
  LeastCosts(const Minimum& at, std::span<const SmallDesign* const> smaller)
      : whole(at.view.states.size(), 0.0), upgrade(whole) {
    q_ = at.q();
    if (!at.intercept || at.hessian.size() != at.x.size() * at.x.size()) return;
    for (std::size_t t = 0; t < whole.size(); ++t) {
      if (q_ + at.count(t) > kMost || !look_at(at, t)) continue;
      if (q_ > 1) whole[t] = least(at, t, nullptr);
      if (smaller[t]) upgrade[t] = least(at, t, smaller[t]);
    }
  }

 private:
  static constexpr std::size_t kMost = 64;  // parameters; beyond, a cost is soon computed

  // The curvature of the field and one edge, and kappa.
  bool look_at(const Minimum& at, std::size_t t) {
    size_ = q_ + at.count(t);
    const auto place = [&](std::size_t i) { return i < q_ ? i : at.first(t) + i - q_; };
    block_.assign(size_ * size_, 0.0);
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        block_[i * size_ + j] = block_[j * size_ + i] = at.hessian[place(i) * at.x.size() + place(j)];
    factor_ = block_;
    if (!factorise(factor_, size_, 0.0)) return false;
    kappa2_ = 0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(at.view.states[t]); ++c)
      for (std::size_t a = 0; a < q_; ++a)
        for (std::size_t b = 0; b <= a; ++b)
          kappa2_ = std::max(kappa2_, variance(at.view.design(t), c, a, b));
    // The curvature may be that of a point nearby; it changes by at most e^drift.
    shrunk_ = std::exp(-at.drift) * (1 - 1e-9);
    kappa2_ /= shrunk_;
    return kappa2_ > 0 && std::isfinite(kappa2_);
  }

  // Of the difference between two shifts in a state of the neighbour; b = a stands for the target's first
  // state, whose shift is zero.
  double variance(const SmallDesign* small, std::size_t c, std::size_t a, std::size_t b) {
    z_.assign(size_, 0.0);
    z_[a] = 1;
    if (b != a) z_[b] = -1;
    for (std::size_t k = q_; small && k < size_; ++k) {
      const double* by = &small->shifts[c * q_ * small->size + k - q_];
      z_[k] = by[a * small->size] - (b != a ? by[b * small->size] : 0.0);
    }
    if (!small && c > 0) {
      z_[q_ + (c - 1) * q_ + a] = 1;
      if (b != a) z_[q_ + (c - 1) * q_ + b] = -1;
    }
    substitute(factor_, z_, false);
    double sum = 0;
    for (const double number : z_) sum += number * number;
    return sum;
  }

  // What goes is the edge, but for the nearest combination of what stays: the field, and a smaller form.
  double least(const Minimum& at, std::size_t t, const SmallDesign* stays) {
    const std::size_t kept = q_ + (stays ? stays->size : 0);
    move_.assign(size_, 0.0);
    std::copy_n(&at.x[at.first(t)], size_ - q_, move_.begin() + static_cast<std::ptrdiff_t>(q_));
    free_.assign(kept * size_, 0.0);
    for (std::size_t k = 0; k < kept; ++k)
      for (std::size_t i = 0; i < size_; ++i)
        free_[k * size_ + i] = k < q_   ? (i == k ? 1.0 : 0.0)
                               : i < q_ ? 0.0
                                        : stays->tables[(i - q_) * stays->size + k - q_];
    pulled_.resize(kept * size_);
    for (std::size_t k = 0; k < kept; ++k) times_block(&free_[k * size_], &pulled_[k * size_]);
    gram_.assign(kept * kept, 0.0);
    along_.resize(kept);
    for (std::size_t k = 0; k < kept; ++k) {
      for (std::size_t l = 0; l <= k; ++l) gram_[k * kept + l] = dot(&pulled_[k * size_], &free_[l * size_]);
      along_[k] = dot(&pulled_[k * size_], move_.data());
    }
    z_.resize(size_);
    times_block(move_.data(), z_.data());
    const double all = dot(z_.data(), move_.data());
    if (!factorise(gram_, kept, 0.0)) return 0;
    substitute(gram_, along_, false);
    double tau2 = all * (1 - 1e-9);
    for (const double number : along_) tau2 -= number * number;
    if (!(tau2 > 0)) return 0;
    const double u = std::sqrt(kappa2_ * tau2 * shrunk_);
    const double curve = u > 1e-2 ? std::exp(-u) + u - 1 : u * u * (0.5 - u / 6);
    return std::max(curve / kappa2_ * (1 - 1e-9) - kSlack, 0.0);
  }

  // The ridge pulls at tables, and leaves a slope: by less than this.
  static constexpr double kSlack = 1e-5;

  void times_block(const double* vector, double* out) const {
    for (std::size_t i = 0; i < size_; ++i) out[i] = dot(&block_[i * size_], vector);
  }

  double dot(const double* a, const double* b) const {
    double sum = 0;
    for (std::size_t i = 0; i < size_; ++i) sum += a[i] * b[i];
    return sum;
  }

  std::size_t q_ = 0, size_ = 0;
  double kappa2_ = 0, shrunk_ = 1;
  std::vector<double> block_, factor_, z_, move_, free_, pulled_, gram_, along_;
};

}  // namespace isinglass

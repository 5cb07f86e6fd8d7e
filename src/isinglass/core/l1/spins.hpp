// Losses of one two-state column given others of two states, as -1 and +1: for `L1Path`.
//
// With u the target's state times (field + sum of coupling times state), a row loses
//   pseudo-likelihood   log(1 + exp(-2u))
//   RISE                exp(-u)          (Vuffray, Misra, Lokhov and Chertkov 2016)
//   logRISE             the same, and the logarithm of the mean (Lokhov, Vuffray, Misra, Chertkov 2018).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/vectors.hpp"
#include "bits/table.hpp"

namespace isinglass {

enum class SpinLoss { pseudo, rise, log_rise };

namespace detail {

// Pseudo-likelihood: slope and curvature of each row by its predictor.
ISINGLASS_INLINE inline void look_pseudo_loop(const double* predictor, const double* spin,
                                              const double* weight, double* off, double* bend,
                                              std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double e = exp_of_minus(2 * std::abs(predictor[i]));
    const double whole = 1 / (1 + e);
    off[i] = weight[i] * (std::copysign((1 - e) * whole, predictor[i]) - spin[i]);
    bend[i] = weight[i] * (4 * e * whole * whole);
  }
}
inline constexpr Vectorised<look_pseudo_loop> look_pseudo;

// The sum of the rows' losses.
ISINGLASS_INLINE inline double sum_pseudo_loop(const double* predictor, const double* spin,
                                               const double* weight, std::size_t n) {
  return sum_in_lanes(n, [=](std::size_t i) ISINGLASS_INLINE {
    const double size = std::abs(predictor[i]);
    return weight[i] * (log_of(1 + exp_of_minus(2 * size)) + size - spin[i] * predictor[i]);
  });
}
inline constexpr Vectorised<sum_pseudo_loop> sum_pseudo;

// Interaction screening: each row's weight times exp(-u - top).
ISINGLASS_INLINE inline void screen_rows_loop(const double* predictor, const double* spin,
                                              const double* weight, double top, double* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out[i] = weight[i] * exp_of(-spin[i] * predictor[i] - top);
}
inline constexpr Vectorised<screen_rows_loop> screen_rows;

}  // namespace detail

class SpinProblem {
 public:
  // `scales`: what each column's penalty is multiplied with.
  SpinProblem(const Table& table, std::size_t target, SpinLoss loss, bool intercept,
              const std::vector<double>& scales)
      : table_(table), r_(target), loss_(loss), intercept_(intercept), scales_(scales) {
    const std::size_t n = table.rows();
    spin_ = unpack(r_);
    weight_.resize(n);
    for (std::size_t i = 0; i < n; ++i) weight_[i] = table.weight(i) / table.n();
    predictor_.assign(n, 0.0);
    off_.resize(n);
    bend_.resize(n);
    spins_.resize(table.columns() + 1);
    spins_.back().assign(n, 1.0);
  }

  std::size_t columns() const { return table_.columns(); }
  std::size_t size(std::size_t t) const {
    if (t == columns()) return intercept_ && table_.states(r_) == 2;
    return t != r_ && table_.states(t) == 2 && table_.states(r_) == 2;
  }
  double weight(std::size_t t) const { return t == columns() ? 0.0 : scales_[t]; }

  // Slopes and curvatures of the rows, at the present predictor.
  void look() {
    if (loss_ == SpinLoss::pseudo)
      detail::look_pseudo(predictor_.data(), spin_.data(), weight_.data(), off_.data(), bend_.data(), rows());
    else
      look_screening();
    total_off_ = dot(spins_.back().data(), off_.data(), rows());
  }

  double loss() const { return loss_at(predictor_); }
  double remembered_loss() const { return loss_at(remembered_); }

  void slope(std::size_t t, double* out) {
    if (size(t) == 0) return;
    if (spins_[t].empty())  // from bytes of zero and one
      *out = 2 * sum_where(table_.codes(t), off_.data(), rows()) - total_off_;
    else
      *out = dot(spins_[t].data(), off_.data(), rows());
  }

  // Keeps the curvatures of the last look.
  void hold() {
    held_ = bend_;
    held_off_ = off_;
    product_of_ = kNone;
  }

  void curvature(std::size_t t, std::size_t u, double* out) {
    const double* one = unpacked(t).data();
    if (product_of_ != t) {
      product_.resize(rows());
      multiply(one, held_.data(), product_.data(), rows());
      product_of_ = t;
    }
    *out = dot(product_.data(), unpacked(u).data(), rows());
    if (loss_ == SpinLoss::log_rise)
      *out -= dot(one, held_off_.data(), rows()) * dot(unpacked(u).data(), held_off_.data(), rows());
  }

  void move(std::size_t t, const double* change) {
    add_multiple(predictor_.data(), *change, unpacked(t).data(), rows());
  }

  void remember() { remembered_ = predictor_; }

  // Half-way back to what was remembered.
  void halve() {
    for (std::size_t i = 0; i < rows(); ++i) predictor_[i] = 0.5 * (predictor_[i] + remembered_[i]);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t rows() const { return table_.rows(); }

  std::vector<double> unpack(std::size_t t) const {
    std::vector<double> spins(rows());
    for (std::size_t i = 0; i < rows(); ++i) spins[i] = table_.codes(t)[i] ? 1.0 : -1.0;
    return spins;
  }

  // Columns in use are kept as numbers.
  const std::vector<double>& unpacked(std::size_t t) {
    if (spins_[t].empty()) spins_[t] = unpack(t);
    return spins_[t];
  }

  void look_screening() {
    const double top = loss_ == SpinLoss::rise ? 0.0 : highest();
    detail::screen_rows(predictor_.data(), spin_.data(), weight_.data(), top, bend_.data(), rows());
    const double total = loss_ == SpinLoss::rise ? 1.0 : isinglass::total(bend_.data(), rows());
    for (std::size_t i = 0; i < rows(); ++i) {
      bend_[i] /= total;
      off_[i] = -spin_[i] * bend_[i];
    }
  }

  double highest() const {
    double top = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < rows(); ++i) top = std::max(top, -spin_[i] * predictor_[i]);
    return top;
  }

  double loss_at(const std::vector<double>& predictor) const {
    if (table_.states(r_) < 2) return 0;  // nothing to explain
    if (loss_ == SpinLoss::pseudo)
      return detail::sum_pseudo(predictor.data(), spin_.data(), weight_.data(), rows());
    std::vector<double> terms(rows());
    detail::screen_rows(predictor.data(), spin_.data(), weight_.data(), 0.0, terms.data(), rows());
    const double sum = total(terms.data(), rows());
    return loss_ == SpinLoss::rise ? sum : std::log(sum);
  }

  const Table& table_;
  std::size_t r_;
  SpinLoss loss_;
  bool intercept_;
  const std::vector<double>& scales_;
  std::vector<double> spin_, weight_;       // of the target; of the rows, summing to one
  std::vector<std::vector<double>> spins_;  // columns in use, and last a column of ones
  std::vector<double> predictor_, remembered_;
  std::vector<double> off_, bend_;  // first and second derivatives of the rows' losses
  std::vector<double> held_, held_off_, product_;
  double total_off_ = 0;
  std::size_t product_of_ = kNone;
};

}  // namespace isinglass

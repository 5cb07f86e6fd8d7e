// The softmax loss of one column given others, each of any number of states: for `L1Path`.
//
// A block is a table of log-potentials, its rows and columns summing to zero, written in orthonormal
// contrasts of both columns' states: its length is that of the table, whatever the coding.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/edge.hpp"
#include "bits/table.hpp"

namespace isinglass {

// From contrasts to states: an m x w table, or for w = 1 a field.
inline std::vector<double> table_of_block(std::size_t m, std::size_t w, const double* block) {
  const std::vector<double> own = zero_sum_contrasts(m);
  const std::vector<double> other = w == 1 ? std::vector<double>{1.0} : zero_sum_contrasts(w);
  const std::size_t q = m - 1, k = w == 1 ? 1 : w - 1;
  std::vector<double> table(m * w, 0.0);
  for (std::size_t a = 0; a < m; ++a)
    for (std::size_t c = 0; c < w; ++c)
      for (std::size_t l = 0; l < k; ++l)
        for (std::size_t b = 0; b < q; ++b)
          table[a * w + c] += own[a * q + b] * other[c * k + l] * block[l * q + b];
  return table;
}

class PotentialProblem {
 public:
  PotentialProblem(const Table& table, std::size_t target, bool intercept, const std::vector<double>& scales)
      : table_(table),
        r_(target),
        m_(static_cast<std::size_t>(table.states(target))),
        q_(m_ - 1),
        intercept_(intercept),
        scales_(scales),
        own_(zero_sum_contrasts(m_)),
        contrasts_(table.columns() + 1) {
    contrasts_.back() = {1.0};  // the field: a column of one state
    scores_.assign(table.rows() * m_, 0.0);
    off_.resize(scores_.size());
  }

  std::size_t columns() const { return table_.columns(); }
  std::size_t size(std::size_t t) const {
    if (t == columns()) return intercept_ ? q_ : 0;
    return t == r_ ? 0 : degrees_of_freedom(table_.states(r_), table_.states(t));
  }

  // The root of the number of parameters, times the root mean square of the table in place of its length.
  double weight(std::size_t t) const {
    if (t == columns()) return 0.0;
    return scales_[t] *
           std::sqrt(static_cast<double>(size(t)) / (static_cast<double>(m_) * table_.states(t)));
  }

  void look() {
    for (std::size_t i = 0; i < table_.rows(); ++i) {
      double* off = &off_[i * m_];
      const double share = table_.weight(i) / table_.n();
      const double sum = probabilities(&scores_[i * m_], off);
      for (std::size_t a = 0; a < m_; ++a) off[a] *= share / sum;
      off[table_.codes(r_)[i]] -= share;
    }
  }

  double loss() const { return loss_at(scores_); }
  double remembered_loss() const { return loss_at(remembered_); }

  void slope(std::size_t t, double* out) {
    if (size(t) == 0) return;
    const std::size_t m = states(t), k = contrast_count(t);
    sums_.assign(m * m_, 0.0);
    for (std::size_t i = 0; i < table_.rows(); ++i) {
      double* sum = &sums_[code(t, i) * m_];
      for (std::size_t a = 0; a < m_; ++a) sum[a] += off_[i * m_ + a];
    }
    std::fill_n(out, size(t), 0.0);
    const std::vector<double>& basis = contrasts(t);
    for (std::size_t c = 0; c < m; ++c)
      for (std::size_t a = 0; a < m_; ++a)
        for (std::size_t l = 0; l < k; ++l)
          for (std::size_t b = 0; b < q_; ++b)
            out[l * q_ + b] += basis[c * k + l] * own_[a * q_ + b] * sums_[c * m_ + a];
  }

  // Keeps the curvatures of the present scores: for each row a symmetric q x q matrix, by its triangle.
  void hold() {
    const std::size_t triangle = q_ * (q_ + 1) / 2;
    bend_.resize(table_.rows() * triangle);
    std::vector<double> probability(m_), mean(q_);
    for (std::size_t i = 0; i < table_.rows(); ++i) {
      const double share = table_.weight(i) / table_.n(),
                   sum = probabilities(&scores_[i * m_], probability.data());
      std::fill(mean.begin(), mean.end(), 0.0);
      for (std::size_t a = 0; a < m_; ++a) {
        probability[a] /= sum;
        for (std::size_t b = 0; b < q_; ++b) mean[b] += probability[a] * own_[a * q_ + b];
      }
      double* bend = &bend_[i * triangle];
      std::fill_n(bend, triangle, 0.0);
      for (std::size_t a = 0; a < m_; ++a)
        for (std::size_t b = 0, k = 0; b < q_; ++b)
          for (std::size_t c = 0; c <= b; ++c, ++k)
            bend[k] += share * probability[a] * (own_[a * q_ + b] - mean[b]) * (own_[a * q_ + c] - mean[c]);
    }
  }

  void curvature(std::size_t t, std::size_t u, double* out) {
    const std::size_t m = states(t), w = states(u), triangle = q_ * (q_ + 1) / 2;
    sums_.assign(m * w * triangle, 0.0);
    for (std::size_t i = 0; i < table_.rows(); ++i) {
      double* sum = &sums_[(code(t, i) * w + code(u, i)) * triangle];
      for (std::size_t k = 0; k < triangle; ++k) sum[k] += bend_[i * triangle + k];
    }
    // Contrasts of u first, then of t.
    const std::size_t k = contrast_count(t), l = contrast_count(u);
    const std::vector<double>&of_t = contrasts(t), &of_u = contrasts(u);
    half_.assign(m * l * triangle, 0.0);
    for (std::size_t c = 0; c < m; ++c)
      for (std::size_t d = 0; d < w; ++d)
        for (std::size_t y = 0; y < l; ++y)
          for (std::size_t s = 0; s < triangle; ++s)
            half_[(c * l + y) * triangle + s] += of_u[d * l + y] * sums_[(c * w + d) * triangle + s];
    const std::size_t width = l * q_;
    std::fill_n(out, k * q_ * width, 0.0);
    for (std::size_t c = 0; c < m; ++c)
      for (std::size_t x = 0; x < k; ++x)
        for (std::size_t y = 0; y < l; ++y)
          for (std::size_t a = 0; a < q_; ++a)
            for (std::size_t b = 0; b < q_; ++b)
              out[(x * q_ + a) * width + y * q_ + b] +=
                  of_t[c * k + x] *
                  half_[(c * l + y) * triangle + (a >= b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a)];
  }

  void move(std::size_t t, const double* change) {
    const std::size_t w = states(t);
    const std::vector<double> table = table_of_block(m_, w, change);
    for (std::size_t i = 0; i < table_.rows(); ++i) {
      const double* added = &table[code(t, i)];
      for (std::size_t a = 0; a < m_; ++a) scores_[i * m_ + a] += added[a * w];
    }
  }

  void remember() { remembered_ = scores_; }

  void halve() {
    for (std::size_t i = 0; i < scores_.size(); ++i) scores_[i] = 0.5 * (scores_[i] + remembered_[i]);
  }

 private:
  std::size_t states(std::size_t t) const {
    return t == columns() ? 1 : static_cast<std::size_t>(table_.states(t));
  }
  std::size_t contrast_count(std::size_t t) const {
    return t == columns() ? 1 : edge_features(table_.states(t));
  }
  std::size_t code(std::size_t t, std::size_t i) const { return t == columns() ? 0 : table_.codes(t)[i]; }

  const std::vector<double>& contrasts(std::size_t t) {
    if (contrasts_[t].empty()) contrasts_[t] = zero_sum_contrasts(states(t));
    return contrasts_[t];
  }

  // exp of the scores less their largest; returns the sum.
  double probabilities(const double* scores, double* out) const {
    const double top = *std::max_element(scores, scores + m_);
    double sum = 0;
    for (std::size_t a = 0; a < m_; ++a) sum += out[a] = std::exp(scores[a] - top);
    return sum;
  }

  double loss_at(const std::vector<double>& scores) const {
    double total = 0;
    for (std::size_t i = 0; i < table_.rows(); ++i) {
      const double* row = &scores[i * m_];
      const double top = *std::max_element(row, row + m_);
      double sum = 0;
      for (std::size_t a = 0; a < m_; ++a) sum += std::exp(row[a] - top);
      total += table_.weight(i) / table_.n() * (std::log(sum) + top - row[table_.codes(r_)[i]]);
    }
    return total;
  }

  const Table& table_;
  std::size_t r_, m_, q_;
  bool intercept_;
  const std::vector<double>& scales_;
  std::vector<double> own_;                     // contrasts of the target
  std::vector<std::vector<double>> contrasts_;  // of each column, made when needed; last the field
  std::vector<double> scores_, remembered_;     // rows x states of the target
  std::vector<double> off_, bend_;              // first and second derivatives of the rows' losses
  std::vector<double> sums_, half_;
};

}  // namespace isinglass

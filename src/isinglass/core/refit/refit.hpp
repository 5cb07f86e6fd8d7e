// The exact minimiser of a column's loss over a support: Newton's method on cells.
//
// The target's states and the neighbours' states are coded against their first ones, so that a
// cell touches only the parameters of its own states; the ridge is that of the zero-sum gauge,
// written in those coordinates, so the answer does not depend on the coding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/linear.hpp"
#include "bits/cell_view.hpp"
#include "refit/binary_design.hpp"
#include "refit/cell_sums.hpp"
#include "refit/large_refit.hpp"
#include "refit/scores.hpp"

namespace isinglass {

constexpr double kRidge = 1e-8;       // refits: unique and finite answers, gains moved by < 1e-7
constexpr double kVanishing = 1e-13;  // stands for an infimum, which may lie at infinity
constexpr double kNear = 3e-2;        // steps so short that the curvature hardly changes
constexpr double kSafety = 100;       // how much worse a last step may be than the one before

constexpr std::size_t kManyParameters = 256;

// How Newton's steps are solved: with a matrix, or by products with it, where parameters are many.
enum class Curvature { by_size, matrix, products };

class Refit {
 public:
  Refit(const CellView& view, double n, bool intercept, double ridge,
        Curvature curvature = Curvature::by_size)
      : view_(view),
        n_(n),
        intercept_(intercept),
        ridge_(ridge),
        q_(static_cast<std::size_t>(view.width - 1)) {
    std::size_t at = 1;  // feature 0 is the field
    for (const int m : view_.states) {
      first_.push_back(at);
      at += static_cast<std::size_t>(m - 1);
    }
    features_ = at;
    size_ = (intercept_ ? features_ : features_ - 1) * q_;
    const bool many = curvature == Curvature::by_size ? q_ > 1 && size_ >= kManyParameters
                                                      : curvature == Curvature::products;
    if (many && intercept_) large_.emplace(view_, n_, ridge_);
  }

  std::size_t size() const { return size_; }

  // Minimises from x, in place; stops when the decrease that Newton's model predicts is below tolerance.
  // Near the minimum the curvature of an earlier point serves on: one more step costs less than it.
  void minimise(std::vector<double>& x, double tolerance) {
    if (large_) {
      large_->minimise(x, tolerance);
      return;
    }
    double value = evaluate(x, true);
    std::vector<double> gradient = gradient_, factor, step(size_), trial(size_);
    bool factored = factor_curvature(factor, 0);
    double damping = 0, last_predicted = 0;
    int blind_steps = 0;
    drift_ = 0;
    for (int i = 0; i < 500 && size_ > 0 && factored; ++i) {
      for (std::size_t j = 0; j < size_; ++j) step[j] = -gradient[j];
      substitute(factor, step);
      double predicted = 0;
      for (std::size_t j = 0; j < size_; ++j) predicted -= 0.5 * gradient[j] * step[j];
      if (!(predicted > tolerance) || blind_steps > 50) break;
      for (std::size_t j = 0; j < size_; ++j) trial[j] = x[j] + step[j];
      // With the same curvature a step leaves about the same share of what is predicted as the last one.
      if (last_predicted > 0 && kSafety * predicted / last_predicted * predicted <= tolerance) {
        x = trial;
        drift_ += largest_move(step);
        break;
      }
      const bool near =
          damping == 0 && std::ranges::all_of(step, [](double d) { return std::abs(d) < kNear; });
      const std::vector<double> before = near ? std::vector<double>() : hessian_;
      const double there = evaluate(trial, !near);
      // Below rounding the decrease cannot be seen: whole steps are taken, if they do no harm.
      const bool blind = predicted < 1e-13 * (1 + std::abs(value));
      if (blind ? there <= value + 1e-12 * (1 + std::abs(value)) : there <= value - 0.1 * predicted) {
        x = trial;
        value = there;
        gradient = gradient_;
        drift_ = near ? drift_ + largest_move(step) : 0;
        last_predicted = near && damping == 0 ? predicted : 0;
        damping = damping > 1e-12 ? damping / 10 : 0;
        blind_steps += blind;
        if (!near) factored = factor_curvature(factor, damping);
      } else {
        if (!near) hessian_ = before;
        damping = std::max(10 * damping, 1e-4 * mean_curvature());
        last_predicted = 0;
        factored = factor_curvature(factor, damping);
      }
    }
  }

  // Field and tables against the first states, as one vector: feature-major, the field first.
  std::vector<double> expand(std::span<const double> x) const {
    if (intercept_) return {x.begin(), x.end()};
    std::vector<double> full(features_ * q_, 0.0);
    std::copy(x.begin(), x.end(), full.begin() + static_cast<std::ptrdiff_t>(q_));
    for (std::size_t f = 1; f < features_; ++f)
      for (std::size_t a = 0; a < q_; ++a) full[a] += pull(f) * full[f * q_ + a];
    return full;
  }

  // Chances of the target's states in each cell at expanded parameters, and the plain mean loss.
  double chances(std::span<const double> full, std::vector<double>& out) {
    const auto width = static_cast<std::size_t>(view_.width);
    out.resize(view_.cells * width);
    if (design_) return design_->chances(full, view_.cells, out.data()) / n_;
    const Scores scores(view_, full);
    if (q_ == 1) return chances_of_two(scores, out) / n_;
    double loss = 0;
    for (std::size_t s = 0; s < view_.cells; s += kCellBlock)
      loss += block_chances(s, scores, &out[s * width]);
    return loss / n_;
  }

  // Which columns' tables the data leave open in some direction, the ridge alone holding them.
  // Along a direction in which the loss only falls towards infinity, the ridge stops the fit where
  // the data's pull equals its own, so the curvature left there is at most a few times the ridge
  // times the size of the tables; where columns are collinear it is zero. Gaps are not looked at.
  std::vector<char> held_by_ridge(std::span<const double> x) {
    const double limit = ridge_ + 4 * ridge_ * (1 + tables_norm(x));
    if (large_) return large_->flatter_than(limit);
    std::vector<char> held(view_.states.size(), 0);
    std::vector<double> factor = hessian_;
    // No table is flatter than the flattest direction of all.
    for (std::size_t i = 0; i < size_; ++i) factor[i * size_ + i] -= 2 * limit;
    if (factorise(factor, size_, 0.0)) return held;
    factor = hessian_;
    if (held.empty() || !factorise(factor, size_, 0.0)) return std::vector<char>(held.size(), 1);
    invert(factor, size_);
    for (std::size_t t = 0; t < held.size(); ++t)
      held[t] = view_.answers_of(t) > 1 && !below(variance(factor, t), 1 / limit);
    return held;
  }

  // What the removal of each column's table costs at least, the field re-optimised; for a target of
  // two states with an intercept, else zero. With D the table and b the change of the field, the
  // logits move by b - D within range(D), for the field makes up for the table; so by Lemma 2 of
  // docs/engine.md the cost is at least (e^-s + s - 1)/s^2 times the curvature of the best such
  // move, s = range(D). The ridge and the slope it leaves are far below the slack.
  std::vector<double> least_removal_costs(std::span<const double> x) const {
    std::vector<double> least(view_.states.size(), 0.0);
    if (q_ != 1 || !intercept_) return least;
    const double field = hessian_[0];
    for (std::size_t t = 0; t < least.size(); ++t) {
      const auto m = static_cast<std::size_t>(view_.states[t]) - 1;
      const double* table = &x[first_[t]];
      double low = 0, high = 0, with_field = 0, own = 0;
      for (std::size_t c = 0; c < m; ++c) {
        low = std::min(low, table[c]);
        high = std::max(high, table[c]);
        with_field += table[c] * hessian_[(first_[t] + c) * size_];
        for (std::size_t d = 0; d <= c; ++d)
          own += (c == d ? 1 : 2) * table[c] * table[d] * hessian_[(first_[t] + c) * size_ + first_[t] + d];
      }
      const double s = high - low, curvature = own - with_field * with_field / field;
      const double share = s > 1e-3 ? (std::exp(-s) + s - 1) / (s * s) : 0.5 - s / 6;
      // The curvature may be that of a point nearby; it changes by at most e^drift.
      least[t] = std::max(share * curvature * std::exp(-drift_) * (1 - 1e-9) - 1e-6 * (1 + s), 0.0);
    }
    return least;
  }

  // Where the field goes, about, when each column's table is removed: a number for each of the target's
  // states but the first. Nothing, where there is no matrix, or no field.
  std::vector<double> field_responses(std::span<const double> x) const {
    std::vector<double> field(q_ * q_), responses;
    if (!intercept_ || large_) return responses;
    for (std::size_t a = 0; a < q_; ++a) std::copy_n(&hessian_[a * size_], a + 1, &field[a * q_]);
    if (!factorise(field, q_, 0.0)) return responses;
    responses.assign(view_.states.size() * q_, 0.0);
    for (std::size_t t = 0; t < view_.states.size(); ++t) {
      const std::span<double> response(&responses[t * q_], q_);
      const std::size_t begin = first_[t] * q_, count = (static_cast<std::size_t>(view_.states[t]) - 1) * q_;
      for (std::size_t i = begin; i < begin + count; ++i)
        add_multiple(response.data(), x[i], &hessian_[i * size_], q_);
      substitute(field, response);
    }
    return responses;
  }

  // Where the features of column t begin, among all features.
  std::size_t first(std::size_t t) const { return first_[t]; }

 private:
  // Without an intercept the field is minus the mean of every table over its columns.
  double pull(std::size_t feature) const {
    if (feature == 0) return 0;
    std::size_t t = first_.size();
    while (first_[--t] > feature) {
    }
    return -1.0 / view_.states[t];
  }

  double chances_of_two(const Scores& scores, std::vector<double>& out) const {
    TwoChances two;
    double loss = 0;
    for (std::size_t first = 0; first < view_.cells; first += kCellBlock) {
      loss += block_chances(first, scores, two);
      for (std::size_t s = 0; s < cells_from(first); ++s) {
        const bool second = two.logit[s] > 0;
        out[2 * (first + s) + second] = two.likely[s];
        out[2 * (first + s) + !second] = two.unlikely[s];
      }
    }
    return loss;
  }

  std::size_t cells_from(std::size_t first) const { return std::min(view_.cells - first, kCellBlock); }

  // Loss of a block of cells of a target of two states, and its chances there.
  double block_chances(std::size_t first, const Scores& scores, TwoChances& two) const {
    const double* counts = view_.counts + 2 * first;
    double rows[kCellBlock], linear[kCellBlock];
    scores.of_cells(first, cells_from(first), two.logit);
    for (std::size_t s = 0; s < cells_from(first); ++s) {
      rows[s] = counts[2 * s] + counts[2 * s + 1];
      linear[s] = (two.logit[s] > 0 ? counts[2 * s] : -counts[2 * s + 1]) * two.logit[s];
    }
    return logits_to_chances(cells_from(first), rows, two) + total(linear, cells_from(first));
  }

  // The same for any number of states; the chances go to `chance`.
  double block_chances(std::size_t first, const Scores& scores, double* chance) const {
    scores.of_cells(first, cells_from(first), chance);
    return scores_to_chances(cells_from(first), q_ + 1, view_.counts + first * (q_ + 1), chance);
  }

  // Value and gradient of the mean loss plus ridge, and with `curved` its Hessian (lower triangle).
  double evaluate(std::span<const double> x, bool curved) {
    const std::vector<double> full = expand(x);
    slope_.assign(features_ * q_, 0.0);
    if (curved) blocks_.assign(features_ * (features_ + 1) / 2 * block_size(q_), 0.0);
    double value = sum_cells(full, curved);
    for (double& number : slope_) number /= n_;
    if (curved) unpack_blocks();
    value = value / n_ + add_ridge(full, curved);
    reduce(curved);
    return value;
  }

  // Sums over cells of loss, slope and curvature.
  double sum_cells(std::span<const double> full, bool curved) {
    if (!design_ && BinaryDesign::suits(view_)) design_.emplace(view_);
    if (design_) return design_->look(full, slope_.data(), curved ? blocks_.data() : nullptr);
    if (active_.empty()) list_active();
    const Scores scores(view_, full);
    return q_ == 1 ? sum_two_states(scores, curved) : sum_many_states(scores, curved);
  }

  // The features that are 1 in each cell, the field first.
  void list_active() {
    const std::size_t columns = first_.size();
    active_.resize(view_.cells * (columns + 1));
    active_begin_.assign(1, 0);
    std::size_t found = 0;
    for (std::size_t s = 0; s < view_.cells; ++s) {
      active_[found++] = 0;
      for (std::size_t t = 0; t < columns; ++t) {
        const unsigned c = view_.codes[s * columns + t];
        active_[found] = static_cast<std::uint32_t>(first_[t]) + c - 1;
        found += c > 0;
      }
      active_begin_.push_back(found);
    }
  }

  double sum_two_states(const Scores& scores, bool curved) {
    std::vector<double*> rows;  // of the lower triangle
    for (std::size_t f = 0; curved && f < features_; ++f) rows.push_back(&blocks_[f * (f + 1) / 2]);
    TwoChances two;
    double value = 0;
    for (std::size_t first = 0; first < view_.cells; first += kCellBlock) {
      value += block_chances(first, scores, two);
      for (std::size_t s = 0; s < cells_from(first); ++s) {
        const double *counts = view_.counts + 2 * (first + s), rows_here = counts[0] + counts[1];
        const double off = rows_here * (two.logit[s] > 0 ? two.likely[s] : two.unlikely[s]) - counts[1];
        const double curvature = rows_here * two.likely[s] * two.unlikely[s];
        const std::uint32_t *begin = &active_[active_begin_[first + s]],
                            *end = &active_[0] + active_begin_[first + s + 1];
        for (const std::uint32_t* f = begin; f != end; ++f) slope_[*f] += off;
        if (!curved) continue;
        for (const std::uint32_t* f = begin; f != end; ++f) {
          double* row = rows[*f];
          for (const std::uint32_t* g = begin; g <= f; ++g) row[*g] += curvature;
        }
      }
    }
    return value;
  }

  double sum_many_states(const Scores& scores, bool curved) {
    const std::size_t width = q_ + 1;
    std::vector<double> chances(kCellBlock * width);
    double value = 0;
    for (std::size_t s = 0; s < view_.cells; s += kCellBlock) {
      value += block_chances(s, scores, chances.data());
      add_cells({.cells = cells_from(s),
                 .active = active_.data(),
                 .begin = &active_begin_[s],
                 .counts = view_.counts + s * width,
                 .chances = chances.data(),
                 .slopes = slope_.data(),
                 .blocks = curved ? blocks_.data() : nullptr},
                q_);
    }
    return value;
  }

  // Blocks of pairs of features, each a symmetric q x q matrix, to one matrix (lower triangle).
  void unpack_blocks() {
    const std::size_t dim = features_ * q_;
    curvature_.assign(dim * dim, 0.0);
    for (std::size_t f = 0; f < features_; ++f)
      for (std::size_t g = 0; g <= f; ++g) {
        const double* block = &blocks_[(f * (f + 1) / 2 + g) * block_size(q_)];
        for (std::size_t a = 0; a < q_; ++a)
          for (std::size_t b = 0; b < q_; ++b)
            curvature_[(f * q_ + a) * dim + g * q_ + b] =
                block[a >= b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a] / n_;
      }
  }

  double add_ridge(std::span<const double> full, bool curved) {
    const std::size_t dim = features_ * q_;
    double value = 0;
    for (std::size_t t = 0; t < first_.size(); ++t) {
      const auto m = static_cast<std::size_t>(view_.states[t]) - 1;
      for (std::size_t c = 0; c < m; ++c)
        for (std::size_t d = 0; d < m; ++d)
          for (std::size_t a = 0; a < q_; ++a)
            for (std::size_t b = 0; b < q_; ++b) {
              const std::size_t row = (first_[t] + c) * q_ + a, column = (first_[t] + d) * q_ + b;
              const double weight =
                  ridge_ * ((c == d) - 1.0 / static_cast<double>(m + 1)) * ((a == b) - 1.0 / view_.width);
              value += 0.5 * weight * full[row] * full[column];
              slope_[row] += weight * full[column];
              if (curved && column <= row) curvature_[row * dim + column] += weight;
            }
    }
    return value;
  }

  // From field and tables to the free parameters.
  void reduce(bool curved) {
    if (intercept_) {
      gradient_ = slope_;
      if (curved) std::swap(hessian_, curvature_);
      return;
    }
    const std::size_t dim = features_ * q_;
    gradient_.assign(size_, 0.0);
    if (curved) hessian_.assign(size_ * size_, 0.0);
    const auto at = [&](std::size_t i, std::size_t j) {
      return i >= j ? curvature_[i * dim + j] : curvature_[j * dim + i];
    };
    for (std::size_t f = 1; f < features_; ++f)
      for (std::size_t a = 0; a < q_; ++a) {
        const std::size_t row = (f - 1) * q_ + a, i = f * q_ + a;
        gradient_[row] = slope_[i] + pull(f) * slope_[a];
        for (std::size_t g = 1; curved && g <= f; ++g)
          for (std::size_t b = 0; b < q_; ++b) {
            const std::size_t j = g * q_ + b;
            hessian_[row * size_ + (g - 1) * q_ + b] =
                at(i, j) + pull(f) * at(a, j) + pull(g) * at(i, b) + pull(f) * pull(g) * at(a, b);
          }
      }
  }

  // Cholesky factor of the curvature, with just enough on its diagonal.
  bool factor_curvature(std::vector<double>& factor, double damping) const {
    factor = hessian_;
    if (factorise(factor, size_, damping)) return true;
    double scale = 1e-300;
    for (std::size_t i = 0; i < size_; ++i) scale = std::max(scale, hessian_[i * size_ + i]);
    for (double extra = 1e-16 * scale; extra < 100 * scale; extra *= 10) {
      factor = hessian_;
      if (factorise(factor, size_, std::max(extra, damping))) return true;
    }
    return false;
  }

  double mean_curvature() const {
    double sum = 0;
    for (std::size_t i = 0; i < size_; ++i) sum += hessian_[i * size_ + i];
    return sum / static_cast<double>(size_);
  }

  // How far a step can move the differences between the scores of a cell: each state of each column
  // moves them by at most twice its largest number.
  double largest_move(std::span<const double> step) const {
    double move = 0;
    for (std::size_t f = 0; f < size_ / q_; ++f) {
      double largest = 0;
      for (std::size_t a = 0; a < q_; ++a) largest = std::max(largest, std::abs(step[f * q_ + a]));
      move += 2 * largest;
    }
    return move;
  }

  double tables_norm(std::span<const double> x) const {
    const std::vector<double> full = expand(x);
    double sum = 0;
    for (std::size_t t = 0; t < first_.size(); ++t) {
      const auto m = static_cast<std::size_t>(view_.states[t]) - 1;
      for (std::size_t c = 0; c < m; ++c)
        for (std::size_t d = 0; d < m; ++d)
          for (std::size_t a = 0; a < q_; ++a)
            for (std::size_t b = 0; b < q_; ++b)
              sum += ((c == d) - 1.0 / static_cast<double>(m + 1)) * ((a == b) - 1.0 / view_.width) *
                     full[(first_[t] + c) * q_ + a] * full[(first_[t] + d) * q_ + b];
    }
    return std::sqrt(std::max(sum, 0.0));
  }

  // Orthonormal zero-sum contrasts of m states, without the first state's row: (m - 1) x (m - 1).
  static std::vector<double> contrasts(std::size_t m) {
    std::vector<double> basis((m - 1) * (m - 1), 0.0);
    for (std::size_t k = 1; k < m; ++k)
      for (std::size_t i = 1; i <= k; ++i)
        basis[(i - 1) * (m - 1) + k - 1] =
            (i < k ? -1.0 : static_cast<double>(k)) / std::sqrt(static_cast<double>(k * (k + 1)));
    return basis;
  }

  // Variance of column t's table between answers, in their zero-sum gauge, from the inverse of the
  // curvature (lower triangle): contrasts of the target's states, then of the column's, from both sides.
  std::vector<double> variance(const std::vector<double>& inverse, std::size_t t) const {
    const auto m = static_cast<std::size_t>(view_.states[t]) - 1, kept = view_.answers_of(t) - 1;
    const std::size_t df = m * q_, few = kept * q_, start = (first_[t] - (intercept_ ? 0 : 1)) * q_;
    const std::vector<double> of_t = contrasts(kept + 1), of_r = contrasts(q_ + 1);
    std::vector<double> half(df * few), matrix(few * few), row(df);
    for (std::size_t i = 0; i < df; ++i) {
      for (std::size_t j = 0; j < df; ++j)
        row[j] = inverse[(start + std::max(i, j)) * size_ + start + std::min(i, j)];
      contrast(row.data(), kept, of_t, of_r, &half[i], df);
    }
    for (std::size_t k = 0; k < few; ++k) contrast(&half[k * df], kept, of_t, of_r, &matrix[k], few);
    return matrix;
  }

  // One row of such a matrix, m by q numbers, in contrasts of both; written down a column of another.
  void contrast(const double* row, std::size_t m, const std::vector<double>& of_t,
                const std::vector<double>& of_r, double* column, std::size_t stride) const {
    std::vector<double> half(m * q_, 0.0);
    for (std::size_t c = 0; c < m; ++c)
      for (std::size_t a = 0; a < q_; ++a)
        for (std::size_t b = 0; b < q_; ++b) half[c * q_ + b] += row[c * q_ + a] * of_r[a * q_ + b];
    for (std::size_t l = 0; l < m; ++l)
      for (std::size_t b = 0; b < q_; ++b) {
        double sum = 0;
        for (std::size_t c = 0; c < m; ++c) sum += half[c * q_ + b] * of_t[c * m + l];
        column[(l * q_ + b) * stride] = sum;
      }
  }

  CellView view_;
  double n_;
  bool intercept_;
  double ridge_;
  std::size_t q_, features_ = 1, size_ = 0;
  std::vector<std::size_t> first_;
  std::vector<double> slope_, curvature_;   // field and tables
  std::vector<double> blocks_;              // the curvature while it is summed, a block a pair of features
  std::vector<double> gradient_, hessian_;  // free parameters
  double drift_ = 0;                        // how far the scores may have moved since the Hessian
  std::vector<std::uint32_t> active_;       // features that are 1, cell by cell
  std::vector<std::size_t> active_begin_;
  std::optional<BinaryDesign> design_;  // in their place, where it is small
  std::optional<LargeRefit> large_;     // takes over where parameters are many
};

}  // namespace isinglass

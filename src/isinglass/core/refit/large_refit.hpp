// The exact minimiser where parameters are too many for a matrix of their curvature: Newton's method,
// each step solved by conjugate gradients.
//
// Here every state of every column has its own numbers, the first one too, and the field besides. That
// is more than is needed, and makes the steps easy: a product with the curvature is one pass over the
// cells, and conjugate gradients do not mind directions in which nothing changes. Two states of
// one column never meet in a cell, so the curvature between them is nothing but the ridge's; its blocks,
// one per state, make a good preconditioner far from the minimum. Near it, where steps have to be solved
// well, `StateFactors` make a better one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/linear.hpp"
#include "base/vectors.hpp"
#include "bits/cell_view.hpp"
#include "refit/rows.hpp"
#include "refit/state_factors.hpp"

namespace isinglass {

class LargeRefit {
 public:
  LargeRefit(const CellView& view, double n, double ridge)
      : view_(view), n_(n), ridge_(ridge), q_(static_cast<std::size_t>(view.width - 1)) {
    row_ = (q_ + kVector - 1) / kVector * kVector;
    for (const int m : view_.states) {
      first_.push_back(features_);
      features_ += static_cast<std::size_t>(m);
    }
    size_ = features_ * row_;
    list_active();
  }

  // Minimises from x, in place. Both are against the first states: field, then tables.
  void minimise(std::vector<double>& x, double tolerance) {
    std::vector<double> u = widened(x);
    descend(u, tolerance);
    x = narrowed(u);
  }

  // Which columns' tables the ridge alone holds in some direction: whose curvature there is at most
  // the limit. Most such directions are single cells of a table that the data leave empty; for the
  // others the flattest direction is sought by inverse iteration.
  std::vector<char> flatter_than(double limit) {
    prepare_blocks();
    std::vector<char> flat(first_.size(), 0);
    for (std::size_t t = 0; t < flat.size(); ++t)
      flat[t] = view_.answers_of(t) > 1 && (some_cell_is_flat(t, limit) || some_direction_is_flat(t, limit));
    return flat;
  }

 private:
  static constexpr std::size_t kVector = 4;             // rows of numbers are padded to whole vectors
  static constexpr double kLoose = 0.3, kTight = 1e-4;  // residuals of steps far from the minimum, and near
  static constexpr double kFar = 0.3;                   // after such a step the blocks are summed anew
  static constexpr int kMany = 8;                       // products in a step that call for better factors
  static constexpr double kMoved = 0.1;                 // steps so far since then that call for fresh ones
  static constexpr int kInverseIterations = 8;          // each at least squares the share of what is flat

  void list_active() {
    const std::size_t columns = first_.size();
    active_.reserve(view_.cells * (columns + 1));
    for (std::size_t s = 0; s < view_.cells; ++s) {
      active_.push_back(0);
      for (std::size_t t = 0; t < columns; ++t)
        active_.push_back(static_cast<std::uint32_t>(first_[t] + view_.codes[s * columns + t]));
      double rows = 0;
      for (std::size_t a = 0; a <= q_; ++a) rows += view_.counts[s * (q_ + 1) + a];
      share_.push_back(rows / n_);
    }
    find_commonest();
  }

  void find_commonest() {
    const std::size_t features = first_.size() + 1;
    std::vector<double> rows(features_, 0.0);
    for (std::size_t i = 0; i < active_.size(); ++i) rows[active_[i]] += share_[i / features];
    for (std::size_t t = 0; t < first_.size(); ++t) {
      const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first_[t]);
      const auto most = std::max_element(begin, begin + view_.states[t]);
      commonest_.push_back(static_cast<std::size_t>(most - rows.begin()));
    }
  }

  std::vector<double> widened(std::span<const double> x) const {
    std::vector<double> u(size_, 0.0);
    const double* from = x.data();
    const auto take = [&](std::size_t feature) {
      std::copy_n(from, q_, &u[feature * row_]);
      from += q_;
    };
    take(0);
    for (std::size_t t = 0; t < first_.size(); ++t)
      for (std::size_t c = 1; c < states(t); ++c) take(first_[t] + c);
    return u;
  }

  std::vector<double> narrowed(std::span<const double> u) const {
    std::vector<double> x(u.begin(), u.begin() + static_cast<std::ptrdiff_t>(q_));
    for (std::size_t t = 0; t < first_.size(); ++t) {
      const double* base = &u[first_[t] * row_];
      for (std::size_t a = 0; a < q_; ++a) x[a] += base[a];
      for (std::size_t c = 1; c < states(t); ++c)
        for (std::size_t a = 0; a < q_; ++a) x.push_back(base[c * row_ + a] - base[a]);
    }
    return x;
  }

  std::size_t states(std::size_t t) const { return static_cast<std::size_t>(view_.states[t]); }

  // Steps are solved the more exactly the faster the slope falls, after Eisenstat and Walker (1996).
  void descend(std::vector<double>& u, double tolerance) {
    std::vector<double> gradient, step, trial(size_), slope_there;
    double value = evaluate(u, gradient), steepness = 0, last = 0, moved = 0;
    prepare_blocks();
    by_state_.reset();
    for (int i = 0; i < 200; ++i) {
      const double before = steepness;
      steepness = std::sqrt(eased_product(gradient));
      const double share =
          i == 0 ? kLoose : std::clamp(0.5 * std::pow(steepness / before, 1.5), kTight, kLoose);
      if (products_ > kMany && (!by_state_ || moved > kMoved)) {
        prepare_states();
        moved = 0;
      }
      const double predicted = newton_step(gradient, share, step);
      // Below rounding the decrease cannot be seen: whole steps are taken, while they help.
      const bool blind = predicted < 1e-13 * (1 + std::abs(value));
      if (!(predicted > tolerance) || (blind && i > 0 && predicted > 0.5 * last)) return;
      bool accepted = false;
      for (double length = 1; length > 1e-12 && !accepted; length /= 2) {
        for (std::size_t j = 0; j < size_; ++j) trial[j] = u[j] + length * step[j];
        const double there = evaluate(trial, slope_there);
        accepted = blind ? there <= value + 1e-12 * (1 + std::abs(value))
                         : there <= value - 0.1 * length * predicted;
        if (accepted) value = there;
      }
      if (!accepted) {
        evaluate(u, gradient);  // the probabilities are to be those of the answer
        return;
      }
      std::swap(u, trial);
      std::swap(gradient, slope_there);
      const double longest =
          std::abs(*std::ranges::max_element(step, {}, [](double d) { return std::abs(d); }));
      moved += longest;
      if (longest > kFar && !by_state_) prepare_blocks();
      // Newton's steps shrink ever faster, down to the share of the residual; what the next would gain
      // goes with the squares.
      const double shrunk = std::max(predicted / last, 2 * share);
      if (i > 0 && predicted * shrunk * shrunk < 0.01 * tolerance) return;
      last = predicted;
    }
  }

  // Newton's step, its residual a share of the gradient, and the decrease that its model predicts.
  double newton_step(std::span<const double> gradient, double share, std::vector<double>& step) {
    std::vector<double> right(size_);
    for (std::size_t j = 0; j < size_; ++j) right[j] = -gradient[j];
    return 0.5 * conjugate_gradients(right, share, step);
  }

  // Length squared of a slope in the norm of the blocks.
  double eased_product(std::span<const double> slope) const {
    std::vector<double> eased(size_);
    ease(slope, eased);
    return dot(slope.data(), eased.data(), size_);
  }

  // Solves curvature * step = right until the residual is a share of what it was, both in the norm of
  // the blocks. Returns right . step.
  double conjugate_gradients(std::span<const double> right, double share, std::vector<double>& step) {
    std::vector<double> residual(right.begin(), right.end()), eased(size_), direction, product(size_);
    step.assign(size_, 0.0);
    make_consistent(residual);
    precondition(residual, eased);
    direction = eased;
    double norm = dot(residual.data(), eased.data(), size_);
    const double wanted = norm * share * share;
    for (products_ = 0; products_ < 1000 && norm > wanted; ++products_) {
      multiply_curvature(direction, product);
      const double curvature = dot(direction.data(), product.data(), size_);
      if (!(curvature > 0)) break;
      add_multiple(step.data(), norm / curvature, direction.data(), size_);
      add_multiple(residual.data(), -norm / curvature, product.data(), size_);
      make_consistent(residual);
      precondition(residual, eased);
      const double before = norm;
      norm = dot(residual.data(), eased.data(), size_);
      for (std::size_t j = 0; j < size_; ++j) direction[j] = eased[j] + norm / before * direction[j];
    }
    return dot(right.data(), step.data(), size_);
  }

  void precondition(std::span<const double> residual, std::vector<double>& out) {
    by_state_ ? by_state_->solve(residual, row_, out) : ease(residual, out);
  }

  // A number for every state of a column is as good as one for the field, so slopes along the states
  // add up to that along the field. What rounding adds to that is taken from the commonest state.
  void make_consistent(std::vector<double>& slopes) const {
    for (std::size_t t = 0; t < first_.size(); ++t) {
      double* common = &slopes[commonest_[t] * row_];
      for (std::size_t a = 0; a < q_; ++a) {
        double excess = -slopes[a];
        for (std::size_t c = 0; c < states(t); ++c) excess += slopes[(first_[t] + c) * row_ + a];
        common[a] -= excess;
      }
    }
  }

  Rows rows() const { return {view_.cells, first_.size() + 1, row_, active_.data()}; }

  // Value and gradient of the mean loss plus ridge; the probabilities are kept for the curvature.
  double evaluate(std::span<const double> u, std::vector<double>& gradient) {
    const std::size_t width = q_ + 1;
    probability_.resize(view_.cells * row_);
    excess_.resize(view_.cells * row_);
    gather_scores(rows(), u.data(), probability_.data());
    double value = 0;
    for (std::size_t s = 0; s < view_.cells; ++s) {
      const double* counts = view_.counts + s * width;
      double* probability = &probability_[s * row_];
      value += probabilities(view_.offset ? view_.offset + s * width : nullptr, counts, probability);
      for (std::size_t a = 0; a < q_; ++a)
        excess_[s * row_ + a] = share_[s] * probability[a] - counts[a + 1] / n_;
    }
    gradient.assign(size_, 0.0);
    scatter_scores(rows(), excess_.data(), gradient.data());
    return value / n_ + 0.5 * add_ridge(u, gradient);
  }

  // Loss of one cell; its scores become probabilities of all states but the first.
  double probabilities(const double* offset, const double* counts, double* probability) const {
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

  void multiply_curvature(std::span<const double> u, std::vector<double>& out) {
    std::fill(out.begin(), out.end(), 0.0);
    add_curvature_times(rows(), probability_.data(), share_.data(), u.data(), out.data());
    add_ridge(u, out);
  }

  // Adds the slope of the ridge: its factor times the tables in the zero-sum gauge. Returns u . slope.
  double add_ridge(std::span<const double> u, std::vector<double>& out) const {
    double product = 0;
    for (std::size_t t = 0; t < first_.size(); ++t) product += add_gauged(u, t, states(t), ridge_, out);
    return product;
  }

  // Adds a factor times column t's table between its first m states in the zero-sum gauge. Returns the
  // product of both.
  double add_gauged(std::span<const double> u, std::size_t t, std::size_t m, double factor,
                    std::vector<double>& out) const {
    const double* table = &u[first_[t] * row_];
    const auto fewer = 1.0 / static_cast<double>(m), narrower = 1.0 / static_cast<double>(q_ + 1);
    std::vector<double> means(q_, 0.0);  // over the column's states
    for (std::size_t c = 0; c < m; ++c)
      for (std::size_t a = 0; a < q_; ++a) means[a] += fewer * table[c * row_ + a];
    double overall = 0, product = 0;
    for (const double mean : means) overall += narrower * mean;
    for (std::size_t c = 0; c < m; ++c) {
      const double* row = table + c * row_;
      double mean = 0;
      for (std::size_t a = 0; a < q_; ++a) mean += narrower * row[a];
      for (std::size_t a = 0; a < q_; ++a) {
        const double slope = factor * (row[a] - means[a] - mean + overall);
        out[(first_[t] + c) * row_ + a] += slope;
        product += row[a] * slope;
      }
    }
    return product;
  }

  // The curvature of each feature by itself (lower triangle), and its factor.
  void prepare_blocks() {
    const std::size_t triangle = q_ * (q_ + 1) / 2, features = first_.size() + 1;
    std::vector<double> sums(features_ * triangle, 0.0), cell(triangle);
    for (std::size_t s = 0; s < view_.cells; ++s) {
      const double* probability = &probability_[s * row_];
      std::size_t k = 0;
      for (std::size_t a = 0; a < q_; ++a) {
        const double rows = share_[s] * probability[a];
        for (std::size_t b = 0; b < a; ++b) cell[k++] = -rows * probability[b];
        cell[k++] = rows * (1 - probability[a]);
      }
      for (std::size_t i = 0; i < features; ++i)
        add_multiple(&sums[active_[s * features + i] * triangle], 1.0, cell.data(), triangle);
    }
    blocks_.assign(features_ * q_ * q_, 0.0);
    for (std::size_t f = 0; f < features_; ++f) unpack(&sums[f * triangle], &blocks_[f * q_ * q_]);
    for (std::size_t t = 0; t < first_.size(); ++t)
      for (std::size_t c = 0; c < states(t); ++c) add_ridge_to_block(t, &blocks_[(first_[t] + c) * q_ * q_]);
    factors_ = blocks_;
    for (std::size_t f = 0; f < features_; ++f) factor_block(f);
  }

  void prepare_states() {
    std::vector<char> left_out(features_, 0);
    for (const std::size_t f : commonest_) left_out[f] = 1;
    if (!by_state_) by_state_.emplace(q_ + 1, left_out);
    const std::size_t features = first_.size() + 1;
    by_state_->prepare(view_.cells, ridge_, [&](std::size_t s) {
      return StateFactors::Cell{share_[s], std::span(&active_[s * features], features),
                                &probability_[s * row_]};
    });
  }

  void unpack(const double* triangle, double* block) const {
    for (std::size_t a = 0; a < q_; ++a)
      for (std::size_t b = 0; b <= a; ++b) block[a * q_ + b] = *triangle++;
  }

  void add_ridge_to_block(std::size_t t, double* block) const {
    const double own = ridge_ * (1 - 1.0 / static_cast<double>(states(t)));
    for (std::size_t a = 0; a < q_; ++a)
      for (std::size_t b = 0; b <= a; ++b)
        block[a * q_ + b] += own * ((a == b) - 1.0 / static_cast<double>(q_ + 1));
  }

  // Where rounding has made a block indefinite, its diagonal serves.
  void factor_block(std::size_t f) {
    const std::span<double> factor(&factors_[f * q_ * q_], q_ * q_);
    if (factorise(factor, q_, 0.0)) return;
    std::fill(factor.begin(), factor.end(), 0.0);
    for (std::size_t a = 0; a < q_; ++a)
      factor[a * q_ + a] = std::sqrt(std::max(blocks_[(f * q_ + a) * q_ + a], 1e-300));
  }

  // out = blocks^-1 residual.
  void ease(std::span<const double> residual, std::vector<double>& out) const {
    std::copy(residual.begin(), residual.end(), out.begin());
    for (std::size_t f = 0; f < features_; ++f)
      substitute(std::span(&factors_[f * q_ * q_], q_ * q_), std::span(&out[f * row_], q_));
  }

  // Length squared, in the zero-sum gauge of answers, of a table whose one number is 1.
  double length_of_cell(std::size_t t) const {
    return (1 - 1.0 / static_cast<double>(view_.answers_of(t))) * (1 - 1.0 / static_cast<double>(q_ + 1));
  }

  bool some_cell_is_flat(std::size_t t, double limit) const {
    for (std::size_t c = 0; c < view_.answers_of(t); ++c) {
      const double* block = &blocks_[(first_[t] + c) * q_ * q_];
      double of_first = 0;  // the first state sinks when all others rise
      for (std::size_t a = 0; a < q_; ++a) {
        if (block[a * q_ + a] <= limit * length_of_cell(t)) return true;
        for (std::size_t b = 0; b <= a; ++b) of_first += (a == b ? 1 : 2) * block[a * q_ + b];
      }
      if (of_first <= limit * length_of_cell(t)) return true;
    }
    return false;
  }

  bool some_direction_is_flat(std::size_t t, double limit) {
    std::vector<double> direction(size_, 0.0), right(size_), solution;
    std::uint64_t bits = 0x9e3779b97f4a7c15;
    for (std::size_t j = 0; j < view_.answers_of(t) * row_; ++j) {  // any start that favours no direction
      if (j % row_ >= q_) continue;
      bits = bits * 6364136223846793005 + 1442695040888963407;
      direction[first_[t] * row_ + j] = static_cast<double>(bits >> 40) / (1 << 23) - 1;
    }
    for (int i = 0; i < kInverseIterations; ++i) {
      std::fill(right.begin(), right.end(), 0.0);
      add_gauged(direction, t, view_.answers_of(t), 1.0, right);
      const double product = conjugate_gradients(right, 1e-2, solution);
      std::vector<double> gauged(size_, 0.0);
      const double length = add_gauged(solution, t, view_.answers_of(t), 1.0, gauged);
      if (!(product > limit * length)) return true;
      const double scale = 1 / std::sqrt(length);
      for (std::size_t j = 0; j < size_; ++j) direction[j] = scale * solution[j];
    }
    return false;
  }

  CellView view_;
  double n_, ridge_;
  std::size_t q_, row_ = 0, features_ = 1, size_ = 0;
  std::vector<std::size_t> first_;      // feature of each column's first state
  std::vector<std::size_t> commonest_;  // feature of its commonest
  std::vector<std::uint32_t> active_;   // features of each cell, the field first
  std::vector<double> share_;           // of the rows, cell by cell
  std::vector<double> probability_;     // cells x padded states
  std::vector<double> excess_;          // expected less observed rows, cells x padded states
  std::vector<double> blocks_, factors_;
  std::optional<StateFactors> by_state_;
  int products_ = 0;  // of the last solution
};

}  // namespace isinglass

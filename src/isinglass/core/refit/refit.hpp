// The exact minimiser of a column's loss over a support: Newton's method on cells.
//
// The target's states and the neighbours' states are coded against their first ones, so that a
// cell touches only the parameters of its own states; the ridge is that of the zero-sum gauge,
// written in those coordinates, so the answer does not depend on the coding.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "base/edge.hpp"
#include "base/linear.hpp"
#include "bits/cell_view.hpp"
#include "large/large_refit.hpp"
#include "refit/cell_loss.hpp"
#include "refit/least_costs.hpp"
#include "refit/minimum.hpp"

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
        design_(view.states),
        n_(n),
        intercept_(intercept),
        ridge_(ridge),
        q_(target_parameters(view.width)),
        features_(design_.features()),
        numbers_((intercept ? features_ : features_ - 1) * q_),
        loss_(view_, design_) {
    begin_.push_back(intercept ? q_ : 0);
    for (std::size_t t = 0; t < design_.edges(); ++t) {
      restricted_ = restricted_ || view_.design(t);
      begin_.push_back(begin_.back() +
                       (view_.design(t) ? view_.design(t)->size : design_.features_of(t) * q_));
    }
    size_ = begin_.back();
    const bool many = curvature == Curvature::by_size ? q_ > 1 && size_ >= kManyParameters
                                                      : curvature == Curvature::products;
    if (many && intercept_ && !restricted_)
      large_.emplace(view_, n_, ridge_);
    else if (!view_.grouped && q_ > 1 && GroupedCells::suits(view_.cells, view_.states.size()))
      view_.grouped = &grouped_.emplace(view_.codes, view_.cells, view_.states);
  }

  Refit(const Refit&) = delete;  // its parts point at each other
  Refit& operator=(const Refit&) = delete;

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
    if (intercept_) return to_numbers(x);
    std::vector<double> full(features_ * q_, 0.0);
    const std::vector<double> numbers = to_numbers(x);
    std::copy(numbers.begin(), numbers.end(), full.begin() + static_cast<std::ptrdiff_t>(q_));
    for (std::size_t f = 1; f < features_; ++f)
      for (std::size_t a = 0; a < q_; ++a) full[a] += pull(f) * full[f * q_ + a];
    return full;
  }

  // Probabilities of the target's states in each cell at expanded parameters, and the plain mean loss.
  double probabilities(std::span<const double> full, std::vector<double>& out) {
    return loss_.probabilities(full, out) / n_;
  }

  // Of the mean loss with its ridge: its slope, and its curvature (lower triangle), at free parameters. If
  // wanted, also the probabilities of the target's states in each cell.
  std::span<const double> slope(std::span<const double> x, std::vector<double>* probabilities = nullptr) {
    evaluate(x, false, probabilities);
    return gradient_;
  }
  std::span<const double> curvature(std::span<const double> x, std::vector<double>* probabilities = nullptr) {
    evaluate(x, true, probabilities);
    return hessian_;
  }
  // The curvature near the minimum that `minimise` has found: where scores moved by more than `drift` since
  // it was last looked at, the one there.
  std::span<const double> curvature_near_minimum(std::span<const double> x, double drift) {
    return large_ || drift_ > drift || hessian_.size() != size_ * size_ ? curvature(x) : hessian_;
  }
  // Where slope or curvature were last looked at: the slope, and the plain mean loss.
  std::span<const double> slope() const { return gradient_; }
  double plain_loss() const { return plain_loss_; }

  // Which columns' tables the data leave open in some direction, the ridge alone holding them.
  // Along a direction in which the loss only falls towards infinity, the ridge stops the fit where
  // the data's pull equals its own, so the curvature left there is at most a few times the ridge
  // times the size of the tables; where columns are collinear it is zero. Missing values are not looked at.
  std::vector<char> held_by_ridge(std::span<const double> x) {
    const double limit = ridge_ + 4 * ridge_ * (1 + tables_norm(x));
    return large_ ? large_->flatter_than(limit) : tables_flatter_than(minimum(x, to_numbers(x)), limit);
  }

  // See refit/minimum.hpp. Nothing is known of the field's responses where there is no matrix.
  // `smaller` has the smaller forms of edges that are tables, or nulls.
  LeastCosts least_costs(std::span<const double> x, std::span<const SmallDesign* const> smaller) const {
    const std::vector<double> numbers = to_numbers(x);
    const Minimum at = minimum(x, numbers);
    LeastCosts least(at, smaller);
    if (q_ == 1) least.whole = least_removal_costs(at);
    return least;
  }
  std::vector<double> field_responses(std::span<const double> x) const {
    return large_ ? std::vector<double>() : isinglass::field_responses(minimum(x, to_numbers(x)));
  }

 private:
  Minimum minimum(std::span<const double> x, std::span<const double> numbers) const {
    return {view_, design_, intercept_, x, hessian_, drift_, begin_, numbers};
  }

  // Where the numbers of a table begin among those that are free without smaller forms.
  std::size_t first_number(std::size_t t) const { return (design_.first(t) - (intercept_ ? 0 : 1)) * q_; }

  // Free parameters as numbers against the first states: small edges become tables.
  std::vector<double> to_numbers(std::span<const double> x) const {
    if (!restricted_) return {x.begin(), x.end()};
    std::vector<double> numbers(numbers_);
    std::copy_n(x.begin(), begin_[0], numbers.begin());
    for (std::size_t t = 0; t < design_.edges(); ++t) {
      double* table = &numbers[first_number(t)];
      if (const SmallDesign* small = view_.design(t))
        small->expand(&x[begin_[t]], table);
      else
        std::copy_n(&x[begin_[t]], begin_[t + 1] - begin_[t], table);
    }
    return numbers;
  }

  // Without an intercept the field is minus the mean of every table over its columns.
  double pull(std::size_t feature) const {
    if (feature == 0) return 0;
    std::size_t t = design_.edges();
    while (design_.first(--t) > feature) {
    }
    return -1.0 / view_.states[t];
  }

  // Value and gradient of the mean loss plus ridge, and with `curved` its Hessian (lower triangle).
  double evaluate(std::span<const double> x, bool curved, std::vector<double>* probabilities = nullptr) {
    const std::vector<double> full = expand(x);
    slope_.assign(features_ * q_, 0.0);
    if (curved) blocks_.assign(features_ * (features_ + 1) / 2 * block_size(q_), 0.0);
    double value = loss_.sum(full, slope_.data(), curved ? blocks_.data() : nullptr, probabilities);
    for (double& number : slope_) number /= n_;
    if (curved) unpack_blocks();
    plain_loss_ = value / n_;
    value = plain_loss_ + add_ridge(full, curved);
    reduce(curved);
    return value;
  }

  // Blocks of pairs of features, each a symmetric q x q matrix, to one matrix (lower triangle).
  void unpack_blocks() {
    const std::size_t dim = features_ * q_;
    curvature_.assign(dim * dim, 0.0);
    for (std::size_t f = 0; f < features_; ++f)
      for (std::size_t g = 0; g <= f; ++g) {
        const double* block = &blocks_[block_at(f, g, block_size(q_))];
        for (std::size_t a = 0; a < q_; ++a)
          for (std::size_t b = 0; b < q_; ++b)
            curvature_[(f * q_ + a) * dim + g * q_ + b] =
                block[a >= b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a] / n_;
      }
  }

  // Calls visit(row, column, u, v) for all pairs of a table's parameters: u times v is their product in the
  // zero-sum gauge of the neighbour's states, u, and of the target's, v.
  template <class Visit>
  void for_pairs_in_gauge(const Visit& visit) const {
    for (std::size_t t = 0; t < design_.edges(); ++t) {
      const std::size_t m = design_.features_of(t), first = design_.first(t);
      for (std::size_t c = 0; c < m; ++c)
        for (std::size_t d = 0; d < m; ++d)
          for (std::size_t a = 0; a < q_; ++a)
            for (std::size_t b = 0; b < q_; ++b)
              visit((first + c) * q_ + a, (first + d) * q_ + b, (c == d) - 1.0 / static_cast<double>(m + 1),
                    (a == b) - 1.0 / view_.width);
    }
  }

  double add_ridge(std::span<const double> full, bool curved) {
    const std::size_t dim = features_ * q_;
    double value = 0;
    for_pairs_in_gauge([&](std::size_t row, std::size_t column, double u, double v) {
      const double weight = ridge_ * u * v;
      value += 0.5 * weight * full[row] * full[column];
      slope_[row] += weight * full[column];
      if (curved && column <= row) curvature_[row * dim + column] += weight;
    });
    return value;
  }

  // From field and tables to the free parameters.
  void reduce(bool curved) {
    intercept_ ? take_all(curved) : take_field_out(curved);
    if (restricted_) reduce_to_parameters(curved);
  }

  void take_all(bool curved) {
    gradient_ = slope_;
    if (curved) std::swap(hessian_, curvature_);
  }

  void take_field_out(bool curved) {
    const std::size_t dim = features_ * q_;
    gradient_.assign(numbers_, 0.0);
    if (curved) hessian_.assign(numbers_ * numbers_, 0.0);
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
            hessian_[row * numbers_ + (g - 1) * q_ + b] =
                at(i, j) + pull(f) * at(a, j) + pull(g) * at(i, b) + pull(f) * pull(g) * at(a, b);
          }
      }
  }

  // A run of numbers, and the parameters that they are made of: a field, a table, or a small edge.
  struct Run {
    std::size_t number, numbers, parameter, parameters;
    const double* by;  // numbers x parameters; null where they are the same

    double weight(std::size_t i, std::size_t k) const {
      return by ? by[i * parameters + k] : static_cast<double>(i == k);
    }
  };

  std::vector<Run> runs() const {
    std::vector<Run> runs;
    if (intercept_) runs.push_back({0, q_, 0, q_, nullptr});
    for (std::size_t t = 0; t < design_.edges(); ++t) {
      const SmallDesign* small = view_.design(t);
      runs.push_back({first_number(t), design_.features_of(t) * q_, begin_[t], begin_[t + 1] - begin_[t],
                      small ? small->tables.data() : nullptr});
    }
    return runs;
  }

  // From the numbers of tables to the parameters of edges.
  void reduce_to_parameters(bool curved) {
    const std::vector<Run> all = runs();
    std::vector<double> slope(size_, 0.0), curvature(curved ? size_ * size_ : 0, 0.0), half;
    for (const Run& run : all)
      for (std::size_t i = 0; i < run.numbers; ++i)
        for (std::size_t k = 0; k < run.parameters; ++k)
          slope[run.parameter + k] += run.weight(i, k) * gradient_[run.number + i];
    for (std::size_t r = 0; curved && r < all.size(); ++r)
      for (std::size_t c = 0; c <= r; ++c) add_product(all[r], all[c], half, curvature);
    gradient_.swap(slope);
    if (curved) hessian_.swap(curvature);
  }

  // The curvature of two runs in their parameters.
  void add_product(const Run& one, const Run& other, std::vector<double>& half,
                   std::vector<double>& to) const {
    half.assign(one.numbers * other.parameters, 0.0);
    for (std::size_t i = 0; i < one.numbers; ++i)
      for (std::size_t j = 0; j < other.numbers; ++j) {
        const std::size_t row = one.number + i, column = other.number + j;
        const double number = hessian_[std::max(row, column) * numbers_ + std::min(row, column)];
        if (!other.by)
          half[i * other.parameters + j] = number;
        else
          for (std::size_t k = 0; k < other.parameters; ++k)
            half[i * other.parameters + k] += number * other.by[j * other.parameters + k];
      }
    for (std::size_t i = 0; i < one.numbers; ++i)
      for (std::size_t k = one.by ? 0 : i; k < (one.by ? one.parameters : i + 1); ++k)
        for (std::size_t l = 0; l < other.parameters && other.parameter + l <= one.parameter + k; ++l)
          to[(one.parameter + k) * size_ + other.parameter + l] +=
              one.weight(i, k) * half[i * other.parameters + l];
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
  double largest_move(std::span<const double> parameters) const {
    const std::vector<double> step = to_numbers(parameters);
    double move = 0;
    for (std::size_t f = 0; f < numbers_ / q_; ++f) {
      double largest = 0;
      for (std::size_t a = 0; a < q_; ++a) largest = std::max(largest, std::abs(step[f * q_ + a]));
      move += 2 * largest;
    }
    return move;
  }

  double tables_norm(std::span<const double> x) const {
    const std::vector<double> full = expand(x);
    double sum = 0;
    for_pairs_in_gauge([&](std::size_t row, std::size_t column, double u, double v) {
      sum += u * v * full[row] * full[column];
    });
    return std::sqrt(std::max(sum, 0.0));
  }

  CellView view_;
  Design design_;
  double n_;
  bool intercept_;
  double ridge_;
  std::size_t q_, features_;
  std::size_t numbers_;  // free without smaller forms
  std::size_t size_ = 0;
  bool restricted_ = false;         // whether some edge is small
  std::vector<std::size_t> begin_;  // where the parameters of each edge begin, and where they end
  std::optional<GroupedCells> grouped_;
  CellLoss loss_;
  std::vector<double> slope_, curvature_;   // field and tables
  std::vector<double> blocks_;              // the curvature while it is summed, a block per pair of features
  std::vector<double> gradient_, hessian_;  // free parameters
  double plain_loss_ = 0;
  double drift_ = 0;                 // how far the scores may have moved since the Hessian
  std::optional<LargeRefit> large_;  // takes over where parameters are many
};

}  // namespace isinglass

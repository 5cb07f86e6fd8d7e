// The exact minimiser where parameters are too many for a matrix of their curvature: Newton's method,
// each step solved by conjugate gradients.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "bits/cell_view.hpp"
#include "large/wide_layout.hpp"
#include "large/wide_loss.hpp"
#include "large/wide_system.hpp"

namespace isinglass {

class LargeRefit {
 public:
  LargeRefit(const CellView& view, double n, double ridge)
      : layout_(view, n), loss_(layout_, n, ridge), system_(layout_, loss_) {}

  LargeRefit(const LargeRefit&) = delete;  // its parts point at each other
  LargeRefit& operator=(const LargeRefit&) = delete;

  // Minimises from x, in place. Both are against the first states: field, then tables.
  void minimise(std::vector<double>& x, double tolerance) {
    std::vector<double> u = layout_.widened(x);
    descend(u, tolerance);
    x = layout_.narrowed(u);
  }

  // Which columns' tables the ridge alone holds in some direction: whose curvature there is at most
  // the limit. Most such directions are single cells of a table that the data leave empty; for the
  // others the flattest direction is sought by inverse iteration.
  std::vector<char> flatter_than(double limit) {
    system_.prepare_blocks();
    std::vector<char> flat(layout_.columns(), 0);
    for (std::size_t t = 0; t < flat.size(); ++t)
      flat[t] = answers(t) > 1 && (some_cell_is_flat(t, limit) || some_direction_is_flat(t, limit));
    return flat;
  }

 private:
  static constexpr double kLoose = 0.3, kTight = 1e-4;  // residuals of steps far from the minimum, and near
  static constexpr double kFar = 0.3;                   // after such a step the blocks are summed anew
  static constexpr int kMany = 8;                       // products in a step that call for better factors
  static constexpr double kMoved = 0.1;                 // steps so far since then that call for fresh ones
  static constexpr int kInverseIterations = 8;          // each at least squares the share of what is flat

  // Steps are solved the more exactly the faster the slope falls, after Eisenstat and Walker (1996).
  void descend(std::vector<double>& u, double tolerance) {
    std::vector<double> gradient, step, trial(u.size()), slope_there;
    double value = loss_.evaluate(u, gradient), steepness = 0, last = 0, moved = 0;
    system_.prepare_blocks();
    system_.forget_states();
    for (int i = 0; i < 200; ++i) {
      const double before = steepness;
      steepness = std::sqrt(system_.length_squared(gradient));
      const double share =
          i == 0 ? kLoose : std::clamp(0.5 * std::pow(steepness / before, 1.5), kTight, kLoose);
      if (system_.products() > kMany && (!system_.by_state() || moved > kMoved)) {
        system_.prepare_states();
        moved = 0;
      }
      const double predicted = newton_step(gradient, share, step);
      // Below rounding the decrease cannot be seen: whole steps are taken, while they help.
      const bool blind = predicted < 1e-13 * (1 + std::abs(value));
      if (!(predicted > tolerance) || (blind && i > 0 && predicted > 0.5 * last)) return;
      bool accepted = false;
      for (double length = 1; length > 1e-12 && !accepted; length /= 2) {
        for (std::size_t j = 0; j < u.size(); ++j) trial[j] = u[j] + length * step[j];
        const double there = loss_.evaluate(trial, slope_there);
        accepted = blind ? there <= value + 1e-12 * (1 + std::abs(value))
                         : there <= value - 0.1 * length * predicted;
        if (accepted) value = there;
      }
      if (!accepted) {
        loss_.evaluate(u, gradient);  // the probabilities are to be those of the answer
        return;
      }
      std::swap(u, trial);
      std::swap(gradient, slope_there);
      const double longest =
          std::abs(*std::ranges::max_element(step, {}, [](double d) { return std::abs(d); }));
      moved += longest;
      if (longest > kFar && !system_.by_state()) system_.prepare_blocks();
      // Newton's steps shrink ever faster, down to the share of the residual; what the next would gain
      // goes with the squares.
      const double shrunk = std::max(predicted / last, 2 * share);
      if (i > 0 && predicted * shrunk * shrunk < 0.01 * tolerance) return;
      last = predicted;
    }
  }

  // Newton's step, its residual a share of the gradient, and the decrease that its model predicts.
  double newton_step(std::span<const double> gradient, double share, std::vector<double>& step) {
    std::vector<double> right(gradient.size());
    for (std::size_t j = 0; j < right.size(); ++j) right[j] = -gradient[j];
    return 0.5 * system_.solve(right, share, step);
  }

  std::size_t answers(std::size_t t) const { return layout_.view().answers_of(t); }

  // Length squared, in the zero-sum gauge of answers, of a table whose one number is 1.
  double length_of_cell(std::size_t t) const {
    return (1 - 1.0 / static_cast<double>(answers(t))) *
           (1 - 1.0 / static_cast<double>(layout_.numbers() + 1));
  }

  bool some_cell_is_flat(std::size_t t, double limit) const {
    const std::size_t q = layout_.numbers();
    for (std::size_t c = 0; c < answers(t); ++c) {
      const double* block = system_.blocks().of(layout_.first(t) + c);
      double of_first = 0;  // the first state sinks when all others rise
      for (std::size_t a = 0; a < q; ++a) {
        if (block[a * q + a] <= limit * length_of_cell(t)) return true;
        for (std::size_t b = 0; b <= a; ++b) of_first += (a == b ? 1 : 2) * block[a * q + b];
      }
      if (of_first <= limit * length_of_cell(t)) return true;
    }
    return false;
  }

  bool some_direction_is_flat(std::size_t t, double limit) {
    const std::size_t row = layout_.row();
    std::vector<double> direction(layout_.size(), 0.0), right(layout_.size()), solution;
    std::uint64_t bits = 0x9e3779b97f4a7c15;
    for (std::size_t j = 0; j < answers(t) * row; ++j) {  // any start that favours no direction
      if (j % row >= layout_.numbers()) continue;
      bits = bits * 6364136223846793005 + 1442695040888963407;
      direction[layout_.first(t) * row + j] = static_cast<double>(bits >> 40) / (1 << 23) - 1;
    }
    for (int i = 0; i < kInverseIterations; ++i) {
      std::fill(right.begin(), right.end(), 0.0);
      layout_.add_gauged(direction, t, answers(t), 1.0, right);
      const double product = system_.solve(right, 1e-2, solution);
      std::vector<double> gauged(layout_.size(), 0.0);
      const double length = layout_.add_gauged(solution, t, answers(t), 1.0, gauged);
      if (!(product > limit * length)) return true;
      const double scale = 1 / std::sqrt(length);
      for (std::size_t j = 0; j < direction.size(); ++j) direction[j] = scale * solution[j];
    }
    return false;
  }

  WideLayout layout_;
  WideLoss loss_;
  WideSystem system_;
};

}  // namespace isinglass

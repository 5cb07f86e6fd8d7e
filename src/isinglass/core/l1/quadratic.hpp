// A quadratic model plus a norm of each block of parameters: the problem inside every l1 step.
//
// Blocks are found and lost by coordinate descent; once those that are not zero are known, Newton's
// method on them ends the search. A block of one parameter has the absolute value as its norm.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "base/linear.hpp"

namespace isinglass {

inline double norm(std::span<const double> x) {
  double sum = 0;
  for (const double number : x) sum += number * number;
  return std::sqrt(sum);
}

// How far a block is from being optimal: its slope against the pull of its penalty.
inline double distance(std::span<const double> slope, std::span<const double> x, double penalty) {
  const double length = penalty > 0 ? norm(x) : 0.0;
  if (penalty > 0 && length == 0) return std::max(norm(slope) - penalty, 0.0);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = slope[i] + (length > 0 ? penalty * x[i] / length : 0.0);
    sum += off * off;
  }
  return std::sqrt(sum);
}

class Quadratic {
 public:
  struct Block {
    std::size_t first, size;
    double penalty;  // 0 for a block that is free
    double scale;    // what its distance from optimality is measured by
    double steepest = 0;
  };

  void clear() {
    blocks_.clear();
    x_.clear();
    slope_.clear();
  }

  // Adds a block; its curvatures with all blocks so far, itself the last, are asked for one by one:
  // curvature(i, out) writes a matrix of (size) x (size of block i).
  template <class Curvature>
  void add(std::size_t size, const Curvature& curvature) {
    const std::size_t first = x_.size();
    blocks_.push_back({first, size, 0, 1});
    x_.resize(first + size);
    slope_.resize(first + size);
    reserve(first + size);
    std::vector<double> part;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const Block& other = blocks_[i];
      part.assign(size * other.size, 0.0);
      curvature(i, part.data());
      for (std::size_t k = 0; k < size; ++k)
        for (std::size_t l = 0; l < other.size; ++l)
          at(first + k, other.first + l) = at(other.first + l, first + k) = part[k * other.size + l];
    }
    blocks_.back().steepest = steepest(blocks_.back());
  }

  std::size_t blocks() const { return blocks_.size(); }
  Block& block(std::size_t i) { return blocks_[i]; }
  std::span<double> x(std::size_t i) { return {&x_[blocks_[i].first], blocks_[i].size}; }
  std::span<double> slope(std::size_t i) { return {&slope_[blocks_[i].first], blocks_[i].size}; }

  // Minimises from x, where the slopes are those given, until every distance is small for its scale.
  void minimise(double tolerance) {
    for (int round = 0; round < kRounds; ++round) {
      for (int sweep = 0; sweep < 3; ++sweep)
        for (const Block& block : blocks_) descend(block);
      if (farthest() <= tolerance) return;
      newton();
      if (farthest() <= tolerance) return;
    }
  }

 private:
  static constexpr int kRounds = 200;
  static constexpr double kFlattest = 1e-9;           // steps stay finite where a loss is a straight line
  static constexpr std::size_t kMostForNewton = 400;  // parameters; beyond, its cube costs more than sweeps

  double& at(std::size_t i, std::size_t j) { return curvature_[i * stride_ + j]; }

  void reserve(std::size_t size) {
    if (size <= stride_) return;
    const std::size_t wider = std::max(2 * stride_, size + 8);
    std::vector<double> moved(wider * wider, 0.0);
    for (std::size_t i = 0; i < stride_; ++i)
      std::copy_n(&curvature_[i * stride_], stride_, &moved[i * wider]);
    curvature_ = std::move(moved);
    stride_ = wider;
  }

  // A bound of the largest eigenvalue of a block's own curvature.
  double steepest(const Block& block) {
    double most = 0;
    for (std::size_t k = 0; k < block.size; ++k) {
      double sum = 0;
      for (std::size_t l = 0; l < block.size; ++l) sum += std::abs(at(block.first + k, block.first + l));
      most = std::max(most, sum);
    }
    return std::max(most, kFlattest);
  }

  // One block to the minimum of its own majorant: exact for a single parameter.
  void descend(const Block& block) {
    const double* x = &x_[block.first];
    const double* slope = &slope_[block.first];
    double length = 0;
    for (std::size_t k = 0; k < block.size; ++k) {
      const double goal = block.steepest * x[k] - slope[k];
      length += goal * goal;
    }
    length = std::sqrt(length);
    const double kept = length > block.penalty ? (1 - block.penalty / length) / block.steepest : 0.0;
    for (std::size_t k = 0; k < block.size; ++k) {
      // The slopes of the block itself move while it is updated; its goal does not.
      goal_.resize(std::max(goal_.size(), block.size));
      goal_[k] = kept > 0 ? kept * (block.steepest * x[k] - slope[k]) - x[k] : -x[k];
    }
    for (std::size_t k = 0; k < block.size; ++k) step(block.first + k, goal_[k]);
  }

  void step(std::size_t i, double by) {
    if (by == 0) return;
    x_[i] += by;
    const double* row = &curvature_[i * stride_];
    for (std::size_t j = 0; j < x_.size(); ++j) slope_[j] += by * row[j];
  }

  double farthest() const { return farthest(x_, slope_); }

  double farthest(const std::vector<double>& x, const std::vector<double>& slope) const {
    double most = 0;
    for (const Block& block : blocks_)
      most = std::max(
          most, distance({&slope[block.first], block.size}, {&x[block.first], block.size}, block.penalty) /
                    block.scale);
    return most;
  }

  // Newton's step on the parameters that are not zero; taken if it helps.
  void newton() {
    std::vector<std::size_t> active;
    for (const Block& block : blocks_)
      if (block.penalty == 0 || norm({&x_[block.first], block.size}) > 0)
        for (std::size_t k = 0; k < block.size; ++k) active.push_back(block.first + k);
    const std::size_t size = active.size();
    if (size > kMostForNewton) return;
    std::vector<double> matrix(size * size), step(size);
    for (std::size_t i = 0; i < size; ++i) {
      step[i] = -slope_[active[i]];
      for (std::size_t j = 0; j <= i; ++j) matrix[i * size + j] = at(active[i], active[j]);
    }
    add_penalties(active, matrix, step);
    double trace = 0;
    for (std::size_t i = 0; i < size; ++i) trace += matrix[i * size + i];
    if (!solve_in_place(matrix, step, 1e-13 * trace / static_cast<double>(std::max<std::size_t>(size, 1))))
      return;
    std::vector<double> x = x_, slope = slope_;
    for (std::size_t i = 0; i < size; ++i) {
      x[active[i]] += step[i];
      const double* row = &curvature_[active[i] * stride_];
      for (std::size_t j = 0; j < x.size(); ++j) slope[j] += step[i] * row[j];
    }
    if (turns_round(x) || farthest(x, slope) >= farthest()) return;
    x_ = std::move(x);
    slope_ = std::move(slope);
  }

  // The slope and curvature of the penalties; the lower triangle.
  void add_penalties(const std::vector<std::size_t>& active, std::vector<double>& matrix,
                     std::vector<double>& step) {
    std::size_t at = 0;
    for (const Block& block : blocks_) {
      if (at == active.size() || active[at] != block.first) continue;
      const double* x = &x_[block.first];
      const double length = norm({x, block.size});
      if (block.penalty > 0)
        for (std::size_t k = 0; k < block.size; ++k) {
          const double along = x[k] / length;
          step[at + k] -= block.penalty * along;
          for (std::size_t l = 0; l <= k; ++l)
            matrix[(at + k) * active.size() + at + l] +=
                block.penalty / length * ((k == l ? 1.0 : 0.0) - along * x[l] / length);
        }
      at += block.size;
    }
  }

  // Whether a block has passed through zero: Newton's model ends there.
  bool turns_round(const std::vector<double>& x) const {
    for (const Block& block : blocks_) {
      double along = 0;
      for (std::size_t k = block.first; k < block.first + block.size; ++k) along += x[k] * x_[k];
      if (block.penalty > 0 && along < 0) return true;
    }
    return false;
  }

  std::vector<Block> blocks_;
  std::vector<double> curvature_;  // all blocks with all, rows of `stride_`
  std::size_t stride_ = 0;
  std::vector<double> x_, slope_, goal_;
};

}  // namespace isinglass

// A preconditioner for refits of many parameters: each state of the target by itself, all features
// together.
//
// The curvature of a cell is diag(p) - pp' between the target's states. Its diagonal, p(1 - p), taken
// for all states, the first one too, is as good as the whole of it: scaled by it, the curvature of one
// cell has eigenvalues 0 (all states rise together, which changes nothing) to 2. What it keeps is
// how features go together, for columns that are nearly functions of each other are what makes these
// problems hard.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/lanes.hpp"

namespace isinglass {

class StateFactors {
 public:
  // Features that may be left out, since others say the same, have `left_out` set.
  StateFactors(std::size_t states, const std::vector<char>& left_out)
      : states_(states), groups_((states + kLanes - 1) / kLanes) {
    for (const char out : left_out) index_.push_back(out ? kNowhere : size_++);
  }

  struct Cell {
    double rows;
    std::span<const std::uint32_t> features;
    const double* probability;  // of all states but the first
  };

  // Factors the curvature of the cells that `cell` gives by number.
  template <class Give>
  void prepare(std::size_t cells, double ridge, const Give& cell) {
    factors_.assign(groups_ * lane_entry(size_, 0), 0.0);
    std::vector<double> variance(groups_ * kLanes, 0.0);
    std::vector<std::size_t> indices;
    for (std::size_t s = 0; s < cells; ++s) {
      const auto [rows, features, probability] = cell(s);
      spread(rows, probability, variance);
      indices.clear();
      for (const std::uint32_t f : features)
        if (index_[f] != kNowhere) indices.push_back(index_[f]);
      for (std::size_t g = 0; g < groups_; ++g)
        add_to_lanes(indices.data(), indices.size(), &variance[g * kLanes], group(g));
    }
    for (std::size_t g = 0; g < groups_; ++g) {
      for (std::size_t i = 0; i < size_; ++i)
        for (std::size_t l = 0; l < kLanes; ++l) group(g)[lane_entry(i, i) + l] += i > 0 ? ridge : kLeast;
      factorise_lanes(group(g), size_);
    }
  }

  // out = an approximate inverse times the residual; both have rows of `stride` numbers, a row a
  // feature, a number for each state but the first.
  void solve(std::span<const double> residual, std::size_t stride, std::vector<double>& out) {
    lanes_.assign(groups_ * size_ * kLanes, 0.0);
    for (std::size_t f = 0; f < index_.size(); ++f) {
      if (index_[f] == kNowhere) continue;
      for (std::size_t a = 1; a < states_; ++a) {
        const double value = residual[f * stride + a - 1];
        lane(index_[f], a) = value;
        lane(index_[f], 0) -= value;
      }
    }
    for (std::size_t g = 0; g < groups_; ++g) substitute_lanes(group(g), size_, &lanes_[g * size_ * kLanes]);
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t f = 0; f < index_.size(); ++f)
      for (std::size_t a = 1; a < states_ && index_[f] != kNowhere; ++a)
        out[f * stride + a - 1] = lane(index_[f], a) - lane(index_[f], 0);
  }

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
  static constexpr double kLeast = 1e-14;  // of the field, which has no ridge

  double* group(std::size_t g) { return &factors_[g * lane_entry(size_, 0)]; }
  double& lane(std::size_t index, std::size_t state) {
    return lanes_[(state / kLanes * size_ + index) * kLanes + state % kLanes];
  }

  void spread(double rows, const double* probability, std::vector<double>& variance) const {
    double first = 1;
    for (std::size_t a = 1; a < states_; ++a) {
      variance[a] = rows * probability[a - 1] * (1 - probability[a - 1]);
      first -= probability[a - 1];
    }
    variance[0] = rows * std::max(first * (1 - first), 0.0);
  }

  std::size_t states_, groups_, size_ = 0;
  std::vector<std::size_t> index_;  // of each feature in the matrices
  std::vector<double> factors_, lanes_;
};

}  // namespace isinglass

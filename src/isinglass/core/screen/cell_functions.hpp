// The two functions of the cell whose sums over the rows of a candidate's states bound its gain: the fitted
// probability of the target's second state, p, and the curvature p(1 - p).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/vectors.hpp"
#include "bits/cells.hpp"

namespace isinglass {

// A function of the cell in two parts: the sums of the known one over the rows of every state, and
// the remainder, whose length, once it is centred, bounds its share of any sum.
struct SplitFunction {
  std::vector<double> of_cell;
  std::vector<double> sums;
  std::vector<double> left;
  double length = 0;
  double range = 0;  // how far the part that rough counts stand for is from zero

  // Mean of the remainder over all rows; its length about that mean is noted, rounded upwards.
  double measure(const double* rows_of_cell, double rows) {
    weighted_.resize(left.size());
    multiply(rows_of_cell, left.data(), weighted_.data(), weighted_.size());
    const double sum = total(weighted_.data(), weighted_.size()),
                 squares = dot(weighted_.data(), left.data(), weighted_.size()), mean = sum / rows;
    length = std::sqrt(std::max(squares - sum * mean, 0.0) + 1e-14 * squares);
    return mean;
  }

 private:
  std::vector<double> weighted_;
};

struct CellFunctions {
  double rows = 0, slope = 0, total_curvature = 0, least_curvature = 1;
  SplitFunction probability, curvature;

  // Begins anew with the probabilities of a fit, two per cell.
  void start(const Cells& cells, const std::vector<double>& probabilities) {
    rows = slope = total_curvature = 0;
    least_curvature = 1;
    probability.of_cell.resize(cells.size());
    curvature.of_cell.resize(cells.size());
    for (std::size_t s = 0; s < cells.size(); ++s) {
      const double p = probabilities[2 * s + 1], own = cells.total(s), variance = p * probabilities[2 * s];
      probability.of_cell[s] = p;
      curvature.of_cell[s] = variance;
      rows += own;
      slope += cells.count(s, 1) - own * p;  // zero at a free field
      total_curvature += own * variance;
      least_curvature = std::min(least_curvature, variance);
    }
  }

  // Whether the unknown part of the slopes loosens the bounds more than that of the curvatures.
  bool slope_matters() const {
    const double reach = 0.5 * std::sqrt(rows), typical = 0.5 * total_curvature;
    const double by_slope = 2 * std::log1p(reach * probability.length / (2 * std::sqrt(typical)));
    const double by_curvature = -std::log(std::max(1 - reach * curvature.length / typical, 0.02));
    return by_slope >= by_curvature;
  }
};

}  // namespace isinglass

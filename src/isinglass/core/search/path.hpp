// The settings of a search, and what it did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "refit/fitter.hpp"

namespace isinglass {

// For each target: columns that are neighbours from the start and are never dropped, and columns that
// are never looked at. Both in increasing order; none is both.
struct Constraints {
  std::vector<std::vector<std::size_t>> required, forbidden;
};

struct Settings {
  double threshold;
  double nu;
  bool intercept;
  std::size_t max_degree;
  bool check;  // evaluate every candidate, and fail if a skipped one was better
  const Constraints* constraints = nullptr;
  std::span<const double> scales = {};  // of the gains of each pair, columns x columns; see choice.hpp
  double unit = 1;                      // rows that a weight of one stands for
  const Forms* forms = nullptr;         // of edges; whole tables only, if there are none
  double level = std::numeric_limits<double>::infinity();  // gains above it are ranked without scales
};

struct NodeStep {
  bool add;
  std::size_t variable;
  double change;  // the gain of an add, the cost of a drop
  NodeFit fit;
};

enum class Stop { below_threshold, no_candidate, max_degree, interrupted };

struct NodePath {
  NodeFit start;
  std::vector<NodeStep> steps;
  Stop stop = Stop::below_threshold;
  std::int64_t evaluated = 0;  // candidates whose gain was computed exactly
};

}  // namespace isinglass

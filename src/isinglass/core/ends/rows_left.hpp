// How many rows a likelihood ratio has, once other parameters have been fitted.
//
// Ratios of fits with many parameters are too large, as sums of squares are that are divided by all rows:
// about as if rows were fewer, by one for as many parameters as a field has. Where neighbours say much of a
// column, a row says less of each parameter, and more rows go with it. That is near Bartlett's correction
// (Lawley 1956), whose own formula breaks down where states are nearly determined.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace isinglass {

// A feature takes no more rows than the inverse of this.
constexpr double kLeastUnexplained = 0.5;

// The share of a column's variance that its neighbours leave, but no less than a half: given the rows with
// each state in each cell, and what neighbours say there. A column without a field varies as if all states
// were alike.
inline double unexplained(std::span<const double> counts, std::span<const double> probabilities,
                          std::size_t states, bool intercept) {
  std::vector<double> rows(states, 0.0);
  double all = 0, left = 0, sure = 0;
  for (std::size_t cell = 0; cell < counts.size(); cell += states) {
    double here = 0, squares = 0;
    for (std::size_t a = 0; a < states; ++a) {
      rows[a] += counts[cell + a];
      here += counts[cell + a];
      squares += probabilities[cell + a] * probabilities[cell + a];
    }
    all += here;
    left += here * (1 - squares);
  }
  for (const double count : rows)
    sure += intercept ? count * count / all : all / static_cast<double>(states * states);
  return left < all - sure ? std::max(left / (all - sure), kLeastUnexplained) : 1.0;
}

// Of n rows, after so many features, if the column's neighbours leave such a share of its variance.
inline double rows_left(double n, double features, double unexplained) {
  return std::max(n - features / unexplained, 0.0);
}

}  // namespace isinglass

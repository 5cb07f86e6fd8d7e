// How many rows a likelihood ratio has, once all other parameters have been fitted.
//
// Ratios of fits with many parameters are too large, as a variance is too small if one divides by n and not
// by n - k. They are taken as if rows were fewer, by about one for each feature, which is as many parameters
// as a field has. Where the other neighbours explain much of a column, a row says less of each parameter, and
// more rows go with it. On average over columns that is near Bartlett's correction (Lawley 1956), whose own
// formula breaks down where states are nearly determined.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace isinglass {

// A feature takes no more rows than the inverse of this.
constexpr double kLeastUnexplained = 0.5;

// The share of a column's variance that its neighbours do not explain, by a fit that spends such a share of
// the rows on features: given the rows with each state in each cell, and the probabilities there. A column
// without a field varies as if all states were equally frequent.
inline double unexplained(std::span<const double> counts, std::span<const double> probabilities,
                          std::size_t states, bool intercept, double spent) {
  std::vector<double> rows(states, 0.0);
  double all = 0, left = 0, of_shares = 0;
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
    of_shares += intercept ? count * count / all : all / static_cast<double>(states * states);
  const double alone = (all - of_shares) * (1 - spent);
  return left < alone ? std::max(left / alone, kLeastUnexplained) : 1.0;
}

// Of n rows, after such a share of them has been spent on features.
inline double rows_left(double n, double spent, double unexplained_share) {
  return n * std::pow(std::max(1 - spent, 0.0), 1 / unexplained_share);
}

}  // namespace isinglass

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

// A column's cells, as far as its variance goes.
struct Variance {
  std::vector<double> rows;  // of each cell
  double alone = 0;          // of the column, times the rows

  Variance() = default;
  // Given the rows with each state in each cell. Without a field a column varies as if all states were
  // equally frequent.
  Variance(std::span<const double> counts, std::size_t states, bool intercept)
      : rows(counts.size() / states, 0.0) {
    std::vector<double> with_state(states, 0.0);
    for (std::size_t at = 0; at < counts.size(); ++at) {
      rows[at / states] += counts[at];
      with_state[at % states] += counts[at];
    }
    double all = 0, squares = 0;
    for (const double count : with_state) all += count;
    for (const double count : with_state)
      squares += intercept ? count * count / all : all / static_cast<double>(states * states);
    alone = all - squares;
  }

  // What probabilities in the cells leave of it.
  double left(std::span<const double> probabilities, std::size_t states) const {
    double sum = 0;
    for (std::size_t cell = 0; cell < rows.size(); ++cell) {
      double squares = 0;
      for (std::size_t a = cell * states; a < (cell + 1) * states; ++a)
        squares += probabilities[a] * probabilities[a];
      sum += rows[cell] * (1 - squares);
    }
    return sum;
  }
};

// The share of a column's variance that is left by a fit that spends such a share of the rows on features.
inline double unexplained(double left, double alone, double spent) {
  const double most = alone * (1 - spent);
  return left < most ? std::max(left / most, kLeastUnexplained) : 1.0;
}

// Of n rows, after such a share of them has been spent on features.
inline double rows_left(double n, double spent, double unexplained_share) {
  return n * std::pow(std::max(1 - spent, 0.0), 1 / unexplained_share);
}

}  // namespace isinglass

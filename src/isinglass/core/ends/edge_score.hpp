// What one end of an edge says of it: the likelihood ratio, and the efficient score behind it.
//
// The column is refitted without the edge. There the slope of the loss in the edge's parameters, less what
// the other parameters explain of it, is the edge's efficient score: a sum over rows, with a variance that
// the curvature gives. Scores of both ends are written in the same coordinates, orthonormal zero-sum
// contrasts of the two columns' states, so that they can be compared row by row.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rows.hpp"
#include "base/vectors.hpp"

namespace isinglass {

// Scores are rows of so many numbers as the edge has parameters, without anything between them; loops look at
// whole vectors of them, and at one number where there is one.
constexpr std::size_t lanes_of(std::size_t d) { return d == 1 ? 1 : whole_vectors(d); }

// Directions with a smaller share of the whole information about an edge say nothing.
constexpr double kLeastInformation = 1e-9;

struct EdgeScore {
  // The fit without the edge.
  double deviance = 0;          // twice the log-likelihood lost without the edge
  double loss = 0;              // per row
  std::size_t df = 0;           // parameters of the edge
  std::vector<double> without;  // free parameters; its own are zero
  std::vector<double> bend;     // how far that is from where the curvature of the whole fit leads
  // The score there; empty until it is asked for.
  std::vector<double> score;          // (df): for each contrast of the neighbour, those of the target
  std::vector<double> information;    // (df, df)
  std::vector<double> direction;      // (features x q, df): each contrast as a direction in field and tables
  std::vector<double> probabilities;  // (cells, states) of the target; empty once nobody needs them
};

// Differences of orthonormal zero-sum contrasts from their values at the first state: (m - 1, m - 1).
inline std::vector<double> contrasts_against_first(std::size_t m) {
  std::vector<double> basis((m - 1) * (m - 1), 0.0);
  for (std::size_t k = 1; k < m; ++k) {
    const double length = std::sqrt(static_cast<double>(k * (k + 1)));
    for (std::size_t c = k; c < m; ++c)
      basis[(c - 1) * (m - 1) + k - 1] = (c == k ? static_cast<double>(k) + 1 : 1.0) / length;
  }
  return basis;
}

constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};  // of states that a cell does not have

// The scores of the states that each cell has, each at its place: what the state's own direction moves, less
// what all do on average. Directions are rows of the features, d numbers for each of the q states but
// the first, and whole vectors in all; `room` is for those of one cell. So many numbers as the compiler
// knows, kD, for each of kQ states; zero stands for any.
template <std::size_t kQ, std::size_t kD>
ISINGLASS_INLINE inline void find_edge_scores_of(const Rows& rows, const double* direction,
                                                 const double* probability, const std::uint32_t* place,
                                                 std::size_t states, std::size_t many, double* room,
                                                 double* scores) {
  const std::size_t q = kQ ? kQ : states, d = kD ? kD : many, wide = lanes_of(d);
  constexpr std::size_t kWide = whole_vectors(kQ * kD);
  double few[kWide + 4] = {}, few_means[lanes_of(kD) + 1];
  double *const own = kWide ? few : room, *const means = kWide ? few_means : room + rows.width + 4;
  for (std::size_t s = 0; s < rows.cells; ++s, probability += q + 1, place += q + 1) {
    rows.gather<kWide>(s, direction, own);
    for (std::size_t e = 0; e < wide; ++e) means[e] = 0;
    for (std::size_t b = 0; b < q; ++b)
      for (std::size_t e = 0; e < wide; ++e) means[e] += probability[b + 1] * own[b * d + e];
    for (std::size_t a = 0; a <= q; ++a) {
      if (place[a] == kNoPlace) continue;
      double* const score = scores + place[a] * d;
      for (std::size_t e = 0; e < d; ++e) score[e] = (a ? own[(a - 1) * d + e] : 0.0) - means[e];
    }
  }
}

ISINGLASS_INLINE inline void find_edge_scores_loop(const Rows& rows, const double* direction,
                                                   const double* probability, const std::uint32_t* place,
                                                   std::size_t q, std::size_t d, double* room,
                                                   double* scores) {
  if (q == 3 && d == 9)  // tables of four states, and products of scores
    find_edge_scores_of<3, 9>(rows, direction, probability, place, q, d, room, scores);
  else if (q == 3 && d == 1)
    find_edge_scores_of<3, 1>(rows, direction, probability, place, q, d, room, scores);
  else
    find_edge_scores_of<0, 0>(rows, direction, probability, place, q, d, room, scores);
}
inline constexpr Vectorised<find_edge_scores_loop> find_edge_scores;

// The sum of the squares of some rows of numbers, each times a weight.
inline double sum_squares(const std::vector<double>& weights, std::size_t width, const double* numbers) {
  double sum = 0;
  for (const double weight : weights) {
    double squares = 0;
    for (std::size_t k = 0; k < width; ++k) squares += numbers[k] * numbers[k];
    sum += weight * squares;
    numbers += width;
  }
  return sum;
}

}  // namespace isinglass

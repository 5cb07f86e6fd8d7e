// Both ends of an edge together: what the two columns that it joins say of it, as one chi-square.
//
// Under no effect each end's likelihood ratio is a chi-square, and the two are correlated, for they look at
// the same rows. How far is measured: it is the correlation of their efficient scores, row by row. Both are
// added with the weights that are best for one table shared by both ends; a leaf of a star, whose end says
// all there is, gets all the weight. What comes out is brought to a chi-square with one degree of freedom.
// See docs/joint.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/eigen.hpp"
#include "ends/edge_score.hpp"
#include "ends/end.hpp"
#include "gains/equivalent.hpp"
#include "gains/nulls.hpp"

namespace isinglass {

// About `scale` times a chi-square with `df` degrees of freedom, if ends are chi-squares, as one with one
// degree; the null of an end says what it is relative to that. Of two forms it is the best of two looks.
inline double as_one_parameter(double chi2, const Null& null, double scale, double df, double looks) {
  return 2 * one_parameter_gain(0.5 * chi2 / (null.scale * scale), std::max(null.df * df, 1.0), 1.0, looks);
}

// An edge as it is tested: its null, relative to a chi-square, whether it is small, and how many forms
// competed for it.
struct Tested {
  Null null;
  Form form = Form::table;
  double looks = 1;
  std::size_t contrasts[2] = {0, 0};  // of either column
};

// The best weights of two ends with information of these sizes and scores so correlated: none is negative.
inline std::pair<double, double> best_weights(double one, double other, double correlation) {
  const double v = std::max(one - correlation * other, 0.0), w = std::max(other - correlation * one, 0.0);
  const double length = std::hypot(v, w);
  return length > 0 ? std::pair(v / length, w / length) : std::pair(1.0, 1.0);
}

// Scores of both ends of an edge, so many numbers each, as rows look them up.
struct ScoresOfRows {
  const std::uint32_t *place, *other_place;  // of each row
  const double *scores, *other_scores;
  std::size_t df;
};

// Adds x y' for every row, x and y being its scores, times its weight: df rows of lanes_of(df) numbers.
ISINGLASS_INLINE inline void add_products_of_any(const ScoresOfRows& by, std::size_t rows,
                                                 const double* weights, double* sums) {
  const std::size_t d = by.df, wide = lanes_of(d);
  for (std::size_t row = 0; row < rows; ++row) {
    const double weight = weights ? weights[row] : 1.0;
    const double* x = by.scores + by.place[row] * d;
    const double* y = by.other_scores + by.other_place[row] * d;
    for (std::size_t k = 0; k < d; ++k) {
      const double factor = weight * x[k];
      for (std::size_t l = 0; l < wide; ++l) sums[k * wide + l] += factor * y[l];
    }
  }
}

// The same for kD scores, as far as it concerns some of the first end's: so few that all sums stay in
// registers.
template <std::size_t kD, std::size_t kFirst, std::size_t kCount>
ISINGLASS_INLINE inline void add_some_products(const ScoresOfRows& by, std::size_t rows,
                                               const double* weights, double* sums) {
  constexpr std::size_t kFours = whole_vectors(kD) / 4;
  Four found[kCount][kFours], y[kFours];
  for (std::size_t k = 0; k < kCount; ++k)
    for (std::size_t l = 0; l < kFours; ++l) get(sums + (kFirst + k) * 4 * kFours + 4 * l, found[k][l]);
  for (std::size_t row = 0; row < rows; ++row) {
    const double weight = weights ? weights[row] : 1.0;
    const double* x = by.scores + by.place[row] * kD + kFirst;
    for (std::size_t l = 0; l < kFours; ++l) get(by.other_scores + by.other_place[row] * kD + 4 * l, y[l]);
    for (std::size_t k = 0; k < kCount; ++k)
      for (std::size_t l = 0; l < kFours; ++l) found[k][l] += weight * x[k] * y[l];
  }
  for (std::size_t k = 0; k < kCount; ++k)
    for (std::size_t l = 0; l < kFours; ++l) put(found[k][l], sums + (kFirst + k) * 4 * kFours + 4 * l);
}

template <std::size_t kD, std::size_t kFirst = 0>
ISINGLASS_INLINE inline void add_products_of(const ScoresOfRows& by, std::size_t rows, const double* weights,
                                             double* sums) {
  constexpr std::size_t kTogether = 48 / whole_vectors(kD), kLeft = kD - kFirst,
                        kCount = kLeft < kTogether ? kLeft : kTogether;
  add_some_products<kD, kFirst, kCount>(by, rows, weights, sums);
  if constexpr (kLeft > kCount) add_products_of<kD, kFirst + kCount>(by, rows, weights, sums);
}

ISINGLASS_INLINE inline void add_products_loop(const ScoresOfRows& by, std::size_t rows,
                                               const double* weights, double* sums) {
  switch (by.df) {
    case 4:
      return add_products_of<4>(by, rows, weights, sums);
    case 9:
      return add_products_of<9>(by, rows, weights, sums);
    case 16:
      return add_products_of<16>(by, rows, weights, sums);
    default:
      return add_products_of_any(by, rows, weights, sums);
  }
}
inline constexpr Vectorised<add_products_loop> add_products;

// What both ends of one edge say together.
class EdgeStatistic {
 public:
  // The edge's columns and its null, the fit of either, and its score of the other.
  EdgeStatistic(const Table& table, std::pair<std::size_t, std::size_t> columns, const Tested& tested,
                const End& one, const EdgeScore& score, const End& other, const EdgeScore& other_score)
      : table_(table),
        i_(columns.first),
        j_(columns.second),
        tested_(tested),
        ends_{&one, &other},
        scores_{&score, &other_score} {}

  // An end's score with unit variance, in the coordinates of the first end.
  struct Whitened {
    std::vector<double> vector;  // (df): as long as the likelihood ratio says
    double size = 0;             // root of the mean information
    double squares = 0;          // of the scores of all rows
    std::vector<double> scores;  // see `End::scores`
  };

  // Whether the ends are compared row by row, as one that was looked at knows.
  bool compares(std::size_t end) const { return scores_[end]->df <= kMostParameters; }

  // Of ends that are not compared: as if they said the same.
  double value() const { return as_one(mean_root(), 1.0, static_cast<double>(scores_[0]->df)); }

  double value(const Whitened& a, const Whitened& b) const {
    const std::size_t d = scores_[0]->df;
    const std::vector<double> common = correlation(a, b);
    double trace = 0;
    for (std::size_t k = 0; k < d; ++k) trace += common[k * d + k];
    const auto [v, w] = best_weights(a.size, b.size, std::clamp(trace / static_cast<double>(d), 0.0, kAlike));
    double length = 0, sum = 0, squares = 0;
    for (std::size_t k = 0; k < d; ++k) {
      const double both = v * a.vector[k] + w * b.vector[k];
      length += both * both;
      for (std::size_t l = 0; l < d; ++l) {
        const double spread =
            (k == l ? v * v + w * w : 0.0) + v * w * (common[k * d + l] + common[l * d + k]);
        if (k == l) sum += spread;
        squares += spread * spread;
      }
    }
    // The sum of chi-squares that this is, each with its own weight, has about the tail of the one with the
    // same mean and variance (Satterthwaite 1946).
    return sum > 0 && squares > 0 ? as_one(length, squares / sum, sum * sum / squares) : 0.0;
  }

  Whitened whiten(std::size_t end) const {
    const EdgeScore& edge = *scores_[end];
    const std::size_t d = edge.df;
    double trace = 0;
    for (std::size_t k = 0; k < d; ++k) trace += edge.information[k * d + k];
    const std::vector<double> root =
        end_to_first(inverse_root(edge.information, d, kLeastInformation * trace), end);
    Whitened found;
    found.vector.assign(d, 0.0);
    found.size = std::sqrt(std::max(trace, 0.0) / static_cast<double>(d));
    found.scores = ends_[end]->scores(edge, root, found.squares);
    double length = 0;
    for (std::size_t k = 0; k < d; ++k) {
      for (std::size_t l = 0; l < d; ++l) found.vector[k] += edge.score[l] * root[l * d + k];
      length += found.vector[k] * found.vector[k];
    }
    for (double& number : found.vector) number *= length > 0 ? std::sqrt(edge.deviance / length) : 0.0;
    return found;
  }

 private:
  static constexpr std::size_t kMostParameters = 64;  // of an edge whose ends are compared row by row
  static constexpr double kAlike = 0.98;  // scores that are more alike are weighted as if they were not

  double as_one(double chi2, double scale, double df) const {
    return as_one_parameter(chi2, tested_.null, scale, df, tested_.looks);
  }

  double mean_root() const {
    const double root = 0.5 * (std::sqrt(scores_[0]->deviance) + std::sqrt(scores_[1]->deviance));
    return root * root;
  }

  // The columns of a matrix in the order of the first end's contrasts: at the second end, the neighbour's
  // and the target's change places.
  std::vector<double> end_to_first(std::vector<double> root, std::size_t end) const {
    if (end == 0) return root;
    // Parameters of a small edge are in the order of the target's contrasts, those of a table in that of the
    // neighbour's.
    const std::size_t d = scores_[end]->df;
    const bool small = tested_.form == Form::small;
    const std::size_t slow = small ? tested_.contrasts[1] : d / target_parameters(table_.states(j_)),
                      fast = d / slow;
    std::vector<double> turned(root.size());
    for (std::size_t l = 0; l < d; ++l)
      for (std::size_t c = 0; c < slow; ++c)
        for (std::size_t a = 0; a < fast; ++a) turned[l * d + a * slow + c] = root[l * d + c * fast + a];
    return turned;
  }

  // How the scores of both ends go together: (df, df), the mean variance of either being one.
  std::vector<double> correlation(const Whitened& a, const Whitened& b) const {
    const std::size_t d = scores_[0]->df, wide = lanes_of(d);
    std::vector<double> sums(d * wide, 0.0), common;
    add_products({ends_[0]->place_of_row().data(), ends_[1]->place_of_row().data(), a.scores.data(),
                  b.scores.data(), d},
                 table_.rows(), table_.weights(), sums.data());
    const double scale =
        a.squares > 0 && b.squares > 0 ? static_cast<double>(d) / std::sqrt(a.squares * b.squares) : 0.0;
    for (std::size_t k = 0; k < d; ++k)
      for (std::size_t l = 0; l < d; ++l) common.push_back(scale * sums[k * wide + l]);
    return common;
  }

  const Table& table_;
  std::size_t i_, j_;
  const Tested& tested_;
  const End* ends_[2];
  const EdgeScore* scores_[2];
};

}  // namespace isinglass

// What the curvature at a minimum tells of its tables: which are open, and what their removal does.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/edge.hpp"
#include "base/linear.hpp"
#include "base/vectors.hpp"
#include "bits/cell_view.hpp"

namespace isinglass {

struct Minimum {
  const CellView& view;
  const Design& design;
  bool intercept;
  std::span<const double> x;           // free parameters: the field, with an intercept, then tables
  std::span<const double> hessian;     // lower triangle, of a point nearby
  double drift;                        // how far the scores may have moved since that point
  std::span<const std::size_t> begin;  // where the parameters of each column begin, and where they end
  std::span<const double> numbers;     // field and tables against the first states, as far as they are free

  std::size_t q() const { return target_parameters(view.width); }
  // Where the parameters of column t begin, and how many they are.
  std::size_t first(std::size_t t) const { return begin[t]; }
  std::size_t count(std::size_t t) const { return begin[t + 1] - begin[t]; }
  // Its table.
  const double* table(std::size_t t) const { return &numbers[(design.first(t) - (intercept ? 0 : 1)) * q()]; }
};

// Orthonormal zero-sum contrasts of m states, without the first state's row: (m - 1) x (m - 1).
inline std::vector<double> contrasts_but_first(std::size_t m) {
  std::vector<double> basis((m - 1) * (m - 1), 0.0);
  for (std::size_t k = 1; k < m; ++k)
    for (std::size_t i = 1; i <= k; ++i)
      basis[(i - 1) * (m - 1) + k - 1] =
          (i < k ? -1.0 : static_cast<double>(k)) / std::sqrt(static_cast<double>(k * (k + 1)));
  return basis;
}

// A row of m by q numbers in contrasts of both; written down a column of a matrix.
inline void to_contrasts(const double* row, std::size_t m, std::size_t q, const std::vector<double>& of_t,
                         const std::vector<double>& of_r, double* column, std::size_t stride) {
  std::vector<double> half(m * q, 0.0);
  for (std::size_t c = 0; c < m; ++c)
    for (std::size_t a = 0; a < q; ++a)
      for (std::size_t b = 0; b < q; ++b) half[c * q + b] += row[c * q + a] * of_r[a * q + b];
  for (std::size_t l = 0; l < m; ++l)
    for (std::size_t b = 0; b < q; ++b) {
      double sum = 0;
      for (std::size_t c = 0; c < m; ++c) sum += half[c * q + b] * of_t[c * m + l];
      column[(l * q + b) * stride] = sum;
    }
}

// Variance of column t's table between answers, in their zero-sum gauge, from the inverse of the
// curvature (lower triangle): contrasts of the target's states, then of the column's, from both sides.
inline std::vector<double> table_variance(const Minimum& at, const std::vector<double>& inverse,
                                          std::size_t t) {
  const std::size_t q = at.q(), kept = at.view.answers_of(t) - 1, few = kept * q, size = at.x.size(),
                    df = degrees_of_freedom(at.view.width, at.view.states[t]), start = at.first(t);
  const std::vector<double> of_t = contrasts_but_first(kept + 1), of_r = contrasts_but_first(q + 1);
  std::vector<double> half(df * few), matrix(few * few), row(df);
  for (std::size_t i = 0; i < df; ++i) {
    for (std::size_t j = 0; j < df; ++j)
      row[j] = inverse[(start + std::max(i, j)) * size + start + std::min(i, j)];
    to_contrasts(row.data(), kept, q, of_t, of_r, &half[i], df);
  }
  for (std::size_t k = 0; k < few; ++k) to_contrasts(&half[k * df], kept, q, of_t, of_r, &matrix[k], few);
  return matrix;
}

// The same of a small edge, whose parameters are in that gauge: of those that are about answers.
inline std::vector<double> small_variance(const Minimum& at, const std::vector<double>& inverse,
                                          std::size_t t) {
  const std::size_t start = at.first(t), size = at.x.size();
  std::vector<std::size_t> kept;
  for (std::size_t k = 0; k < at.count(t); ++k)
    if (at.view.design(t)->of_answers[k]) kept.push_back(start + k);
  std::vector<double> matrix;
  for (const std::size_t i : kept)
    for (const std::size_t j : kept) matrix.push_back(inverse[std::max(i, j) * size + std::min(i, j)]);
  return matrix;
}

// Which columns' tables have a direction, between answers, whose curvature is at most a limit.
inline std::vector<char> tables_flatter_than(const Minimum& at, double limit) {
  const std::size_t size = at.x.size();
  std::vector<char> flat(at.view.states.size(), 0);
  std::vector<double> factor(at.hessian.begin(), at.hessian.end());
  // No table is flatter than the flattest direction of all.
  for (std::size_t i = 0; i < size; ++i) factor[i * size + i] -= 2 * limit;
  if (factorise(factor, size, 0.0)) return flat;
  factor.assign(at.hessian.begin(), at.hessian.end());
  if (flat.empty() || !factorise(factor, size, 0.0)) return std::vector<char>(flat.size(), 1);
  invert(factor, size);
  for (std::size_t t = 0; t < flat.size(); ++t)
    flat[t] =
        at.view.answers_of(t) > 1 &&
        !below(at.view.design(t) ? small_variance(at, factor, t) : table_variance(at, factor, t), 1 / limit);
  return flat;
}

// What the removal of each column's table costs at least, the field re-optimised; for a target of
// two states with an intercept, else zero. With D the table and b the change of the field, the
// logits move by b - D within range(D), for the field makes up for the table; so by Lemma 2 of
// docs/engine.md the cost is at least (e^-s + s - 1)/s^2 times the curvature of the best such
// move, s = range(D). The ridge and the slope it leaves are far below the slack.
inline std::vector<double> least_removal_costs(const Minimum& at) {
  const std::size_t size = at.x.size();
  std::vector<double> least(at.view.states.size(), 0.0);
  if (at.q() != 1 || !at.intercept) return least;
  const double field = at.hessian[0];
  for (std::size_t t = 0; t < least.size(); ++t) {
    const std::size_t first = at.first(t);
    const double *table = at.table(t), *x = &at.x[first];
    double low = 0, high = 0, with_field = 0, own = 0;
    for (std::size_t c = 0; c < at.design.features_of(t); ++c) {
      low = std::min(low, table[c]);
      high = std::max(high, table[c]);
    }
    for (std::size_t c = 0; c < at.count(t); ++c) {
      with_field += x[c] * at.hessian[(first + c) * size];
      for (std::size_t d = 0; d <= c; ++d)
        own += (c == d ? 1 : 2) * x[c] * x[d] * at.hessian[(first + c) * size + first + d];
    }
    const double s = high - low, curvature = own - with_field * with_field / field;
    const double share = s > 1e-3 ? (std::exp(-s) + s - 1) / (s * s) : 0.5 - s / 6;
    // The curvature may be that of a point nearby; it changes by at most e^drift.
    least[t] = std::max(share * curvature * std::exp(-at.drift) * (1 - 1e-9) - 1e-6 * (1 + s), 0.0);
  }
  return least;
}

// Where the field goes, about, when each column's table is removed: a number for each of the target's
// states but the first. Nothing, where there is no field.
inline std::vector<double> field_responses(const Minimum& at) {
  const std::size_t q = at.q(), size = at.x.size(), columns = at.view.states.size();
  std::vector<double> field(q * q), responses;
  if (!at.intercept) return responses;
  for (std::size_t a = 0; a < q; ++a) std::copy_n(&at.hessian[a * size], a + 1, &field[a * q]);
  if (!factorise(field, q, 0.0)) return responses;
  responses.assign(columns * q, 0.0);
  for (std::size_t t = 0; t < columns; ++t) {
    const std::span<double> response(&responses[t * q], q);
    const std::size_t begin = at.first(t), count = at.count(t);
    for (std::size_t i = begin; i < begin + count; ++i)
      add_multiple(response.data(), at.x[i], &at.hessian[i * size], q);
    substitute(field, response);
  }
  return responses;
}

}  // namespace isinglass

// Rows of numbers for features that are on or off: sums over the features of a cell, and back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/vectors.hpp"

namespace isinglass {

// Numbers come in rows, one row per feature; a cell has some features, and scores that are the sum of their
// rows. Widths that the compiler knows, kWidth, stay in registers; zero stands for any.
struct Rows {
  std::size_t cells, features, width;
  const std::uint32_t* active;  // features of each cell

  static constexpr std::size_t kWidest = 256;

  template <std::size_t kWidth>
  ISINGLASS_INLINE void gather(std::size_t s, const double* u, double* scores) const {
    const std::size_t w = kWidth ? kWidth : width;
    for (std::size_t a = 0; a < w; ++a) scores[a] = 0;
    for (std::size_t i = 0; i < features; ++i) {
      add_few<kWidth>(scores, u + active[s * features + i] * w, w);
    }
  }

  template <std::size_t kWidth>
  ISINGLASS_INLINE void scatter(std::size_t s, const double* scores, double* out) const {
    const std::size_t w = kWidth ? kWidth : width;
    for (std::size_t i = 0; i < features; ++i) {
      add_few<kWidth>(out + active[s * features + i] * w, scores, w);
    }
  }
};

template <class Work>
ISINGLASS_INLINE inline void for_width(std::size_t width, const Work& work) {
  switch (width) {
    case 4:
      return work.template operator()<4>();
    case 8:
      return work.template operator()<8>();
    case 12:
      return work.template operator()<12>();
    case 16:
      return work.template operator()<16>();
    case 20:
      return work.template operator()<20>();
    case 24:
      return work.template operator()<24>();
    default:
      return work.template operator()<0>();
  }
}

// Scores of all cells.
ISINGLASS_INLINE inline void gather_scores_loop(const Rows& rows, const double* u, double* scores) {
  for_width(rows.width, [&]<std::size_t kWidth>() ISINGLASS_INLINE {
    for (std::size_t s = 0; s < rows.cells; ++s) rows.gather<kWidth>(s, u, scores + s * rows.width);
  });
}
inline constexpr Vectorised<gather_scores_loop> gather_scores;

// Adds the scores of each cell to the rows of its features.
ISINGLASS_INLINE inline void scatter_scores_loop(const Rows& rows, const double* scores, double* out) {
  for_width(rows.width, [&]<std::size_t kWidth>() ISINGLASS_INLINE {
    for (std::size_t s = 0; s < rows.cells; ++s) rows.scatter<kWidth>(s, scores + s * rows.width, out);
  });
}
inline constexpr Vectorised<scatter_scores_loop> scatter_scores;

// Adds to `out` the curvature of all cells times u: scores, less their mean under the probabilities, times
// the probabilities.
ISINGLASS_INLINE inline void add_curvature_times_any(const Rows& rows, const double* probability,
                                                     const double* share, const double* u, double* out) {
  const double* p = probability;
  for (std::size_t s = 0; s < rows.cells; ++s, p += rows.width) {
    double scores[Rows::kWidest];
    rows.gather<0>(s, u, scores);
    double mean = 0;
    for (std::size_t a = 0; a < rows.width; ++a) mean += p[a] * scores[a];
    for (std::size_t a = 0; a < rows.width; ++a) scores[a] = share[s] * p[a] * (scores[a] - mean);
    rows.scatter<0>(s, scores, out);
  }
}

// The same for kWidth numbers per row, which stay in registers.
template <std::size_t kWidth>
ISINGLASS_INLINE inline void add_curvature_times_of(const Rows& rows, const double* probability,
                                                    const double* share, const double* u, double* out) {
  constexpr std::size_t kFours = kWidth / 4;
  const double* p = probability;
  const std::uint32_t* active = rows.active;
  for (std::size_t s = 0; s < rows.cells; ++s, p += kWidth, active += rows.features) {
    Four scores[kFours] = {}, weights[kFours], products = {}, row;
    for (std::size_t i = 0; i < rows.features; ++i)
      for (std::size_t k = 0; k < kFours; ++k) {
        get(u + active[i] * kWidth + 4 * k, row);
        scores[k] += row;
      }
    for (std::size_t k = 0; k < kFours; ++k) {
      get(p + 4 * k, weights[k]);
      products += weights[k] * scores[k];
    }
    const double mean = sum_of(products);
    for (std::size_t k = 0; k < kFours; ++k) scores[k] = share[s] * weights[k] * (scores[k] - mean);
    for (std::size_t i = 0; i < rows.features; ++i)
      for (std::size_t k = 0; k < kFours; ++k) {
        double* const to = out + active[i] * kWidth + 4 * k;
        get(to, row);
        row += scores[k];
        put(row, to);
      }
  }
}

ISINGLASS_INLINE inline void add_curvature_times_loop(const Rows& rows, const double* probability,
                                                      const double* share, const double* u, double* out) {
  for_width(rows.width, [&]<std::size_t kWidth>() ISINGLASS_INLINE {
    if constexpr (kWidth == 0)
      add_curvature_times_any(rows, probability, share, u, out);
    else
      add_curvature_times_of<kWidth>(rows, probability, share, u, out);
  });
}
inline constexpr Vectorised<add_curvature_times_loop> add_curvature_times;

}  // namespace isinglass

// Losses, slopes and curvatures of cells, many cells at a time.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/vectors.hpp"

namespace isinglass {

// As many cells are looked at together as stay in the nearest cache with all that is kept of them.
constexpr std::size_t kCellBlock = 64;

// A target of two states in some cells: its logits, the probabilities of the likelier state and of the other.
struct TwoProbabilities {
  double logit[kCellBlock], likely[kCellBlock], unlikely[kCellBlock];
};

// Fills in the probabilities that go with the logits. Returns the sum of rows * log(1 / probability of the
// likelier).
ISINGLASS_INLINE inline double logits_to_probabilities_loop(std::size_t cells, const double* rows,
                                                            TwoProbabilities& two) {
  double logs[kCellBlock];
  for (std::size_t s = 0; s < cells; ++s) {
    const double small = exp_of_minus(std::abs(two.logit[s])), both = 1 + small, whole = 1 / both;
    two.likely[s] = whole;
    two.unlikely[s] = small * whole;
    logs[s] = rows[s] * log_of(both);
  }
  return sum_in_lanes(cells, [&](std::size_t s) ISINGLASS_INLINE { return logs[s]; });
}
inline constexpr Vectorised<logits_to_probabilities_loop> logits_to_probabilities;

// Scores of three states and more become probabilities. Returns the loss of the cells, all rows together.
ISINGLASS_INLINE inline double any_scores_to_probabilities(std::size_t cells, std::size_t width,
                                                           const double* counts, double* probability) {
  double rows[kCellBlock], sums[kCellBlock], linear = 0;
  for (std::size_t s = 0; s < cells; ++s) {
    double *scores = probability + s * width, top = scores[0], sum = 0;
    for (std::size_t a = 1; a < width; ++a) top = scores[a] > top ? scores[a] : top;
    for (std::size_t a = 0; a < width; ++a) {
      scores[a] = top - scores[a];
      linear += counts[s * width + a] * scores[a];
      sum += counts[s * width + a];
    }
    rows[s] = sum;
  }
  for (std::size_t i = 0; i < cells * width; ++i) probability[i] = exp_of_minus(probability[i]);
  for (std::size_t s = 0; s < cells; ++s) {
    double sum = 0;
    for (std::size_t a = 0; a < width; ++a) sum += probability[s * width + a];
    sums[s] = sum;  // from 1 to the width
  }
  for (std::size_t s = 0; s < cells; ++s) {
    const double whole = 1 / sums[s];
    for (std::size_t a = 0; a < width; ++a) probability[s * width + a] *= whole;
  }
  const auto loss = [&](std::size_t s) ISINGLASS_INLINE { return rows[s] * log_of(sums[s]); };
  return sum_in_lanes(cells, loss) + linear;
}

// The same for a few states, cells side by side: every step is one of whole vectors.
template <std::size_t kWidth>
ISINGLASS_INLINE inline double few_scores_to_probabilities(std::size_t cells, const double* counts,
                                                           double* probability) {
  double by_state[kWidth][kCellBlock], rows[kCellBlock], sums[kCellBlock], linear[kCellBlock];
  for (std::size_t s = 0; s < cells; ++s) {
    double top = probability[s * kWidth], weighted = 0, all = 0;
    for (std::size_t a = 1; a < kWidth; ++a)
      top = probability[s * kWidth + a] > top ? probability[s * kWidth + a] : top;
    for (std::size_t a = 0; a < kWidth; ++a) {
      const double below = top - probability[s * kWidth + a];
      weighted += counts[s * kWidth + a] * below;
      all += counts[s * kWidth + a];
      by_state[a][s] = below;
    }
    linear[s] = weighted;
    rows[s] = all;
  }
  for (std::size_t s = 0; s < cells; ++s) {
    double sum = 0;
    for (std::size_t a = 0; a < kWidth; ++a) {
      by_state[a][s] = exp_of_minus(by_state[a][s]);
      sum += by_state[a][s];
    }
    sums[s] = sum;  // from 1 to the width
  }
  for (std::size_t s = 0; s < cells; ++s) {
    const double whole = 1 / sums[s];
    for (std::size_t a = 0; a < kWidth; ++a) probability[s * kWidth + a] = by_state[a][s] * whole;
    linear[s] += rows[s] * log_of(sums[s]);
  }
  return sum_in_lanes(cells, [&](std::size_t s) ISINGLASS_INLINE { return linear[s]; });
}

ISINGLASS_INLINE inline double scores_to_probabilities_loop(std::size_t cells, std::size_t width,
                                                            const double* counts, double* probability) {
  switch (width) {
    case 3:
      return few_scores_to_probabilities<3>(cells, counts, probability);
    case 4:
      return few_scores_to_probabilities<4>(cells, counts, probability);
    case 5:
      return few_scores_to_probabilities<5>(cells, counts, probability);
    default:
      return any_scores_to_probabilities(cells, width, counts, probability);
  }
}
inline constexpr Vectorised<scores_to_probabilities_loop> scores_to_probabilities;

// A block, the lower triangle of a q x q matrix, takes whole vectors.
constexpr std::size_t block_size(std::size_t q) { return q == 1 ? 1 : whole_vectors(q * (q + 1) / 2); }

// Where the block of two features begins, f not before g.
constexpr std::size_t block_at(std::size_t f, std::size_t g, std::size_t size) {
  return (f * (f + 1) / 2 + g) * size;
}

// Some cells: counts and probabilities of the target's states. And where sums are added: q = width - 1 slopes
// per feature, and for each pair of features a block; no blocks, if nobody wants them.
struct CellSums {
  std::size_t cells;
  const double *counts, *probabilities;
  double *slopes, *blocks;
};

// The features that are 1 in each cell: from active[begin[s]] to active[begin[s + 1]].
struct ListedFeatures {
  const std::uint32_t* active;
  const std::size_t* begin;
};

// The same where each cell has one feature of each of some groups. Slopes take whole vectors, and there are
// several copies of all: a number that was just written is slow to read again, and neighbouring cells often
// have the same features. A feature's block with itself is the sum of its blocks with another group, and left
// out.
struct GroupedFeatures {
  const std::uint32_t* active;
  std::size_t groups, features;
};
constexpr std::size_t kSlopeCopies = 4;

// What a cell adds to the slopes of its features, and to their blocks.
ISINGLASS_INLINE inline void find_slope(const double* counts, const double* probability, std::size_t q,
                                        double* off) {
  double rows = 0;
  for (std::size_t a = 0; a <= q; ++a) rows += counts[a];
  for (std::size_t a = 1; a <= q; ++a) off[a - 1] = rows * probability[a] - counts[a];
}

ISINGLASS_INLINE inline void find_block(const double* counts, const double* probability, std::size_t q,
                                        double* block) {
  double rows = 0;
  for (std::size_t a = 0; a <= q; ++a) rows += counts[a];
  for (std::size_t a = 1, k = 0; a <= q; ++a) {
    const double expected = rows * probability[a];
    for (std::size_t b = 1; b < a; ++b) block[k++] = -expected * probability[b];
    double others = 0;  // not 1 - probability, which cancels
    for (std::size_t b = 0; b <= q; ++b) others += b == a ? 0.0 : probability[b];
    block[k++] = expected * others;
  }
}

// Calls add(cell, slope, block) with what each cell adds. It is found for some cells before any is added:
// numbers that were written one by one cannot be read as vectors at once. kQ is the number of the target's
// states but the first, where the compiler knows it; zero stands for any.
template <std::size_t kQ, class Add>
ISINGLASS_INLINE inline void find_and_add(const CellSums& by, std::size_t states, const Add& add) {
  constexpr std::size_t kTogether = kQ ? 16 : 1;
  const std::size_t q = kQ ? kQ : states, width = q + 1, lanes = whole_vectors(q), size = block_size(q);
  double few_off[kTogether * whole_vectors(kQ) + 1] = {}, few[kTogether * block_size(kQ) + 1] = {};
  std::vector<double> many_off(kQ ? 0 : lanes), many(kQ ? 0 : size);
  double *const off = kQ ? few_off : many_off.data(), *const found = kQ ? few : many.data();
  for (std::size_t first = 0; first < by.cells; first += kTogether) {
    const std::size_t count = by.cells - first < kTogether ? by.cells - first : kTogether;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = (first + i) * width;
      find_slope(by.counts + at, by.probabilities + at, q, off + i * lanes);
      if (by.blocks) find_block(by.counts + at, by.probabilities + at, q, found + i * size);
    }
    for (std::size_t i = 0; i < count; ++i) add(first + i, off + i * lanes, found + i * size);
  }
}

template <std::size_t kQ>
ISINGLASS_INLINE inline void add_listed_of(const CellSums by, const ListedFeatures features,
                                           std::size_t states) {
  const std::size_t q = kQ ? kQ : states, size = block_size(q);
  find_and_add<kQ>(by, q, [=](std::size_t s, const double* off, const double* found) ISINGLASS_INLINE {
    const std::uint32_t *begin = features.active + features.begin[s],
                        *end = features.active + features.begin[s + 1];
    for (const std::uint32_t* f = begin; f != end; ++f)
      for (std::size_t a = 0; a < q; ++a) by.slopes[*f * q + a] += off[a];
    if (!by.blocks) return;
    for (const std::uint32_t* f = begin; f != end; ++f) {
      double* row = by.blocks + block_at(*f, 0, size);
      for (const std::uint32_t* g = begin; g <= f; ++g)
        add_few<kQ ? block_size(kQ) : 0>(row + *g * size, found, size);
    }
  });
}

template <std::size_t kQ>
ISINGLASS_INLINE inline void add_grouped_of(const CellSums by, const GroupedFeatures features,
                                            std::size_t states) {
  const std::size_t q = kQ ? kQ : states, apart = whole_vectors(q), size = block_size(q);
  const std::size_t own = features.groups == 1;  // there is no other group
  find_and_add<kQ>(by, q, [=](std::size_t s, const double* off, const double* found) ISINGLASS_INLINE {
    const std::uint32_t *begin = features.active + s * features.groups, *end = begin + features.groups;
    double* slopes = by.slopes + s % kSlopeCopies * features.features * apart;
    for (const std::uint32_t* f = begin; f != end; ++f)
      add_few<kQ ? whole_vectors(kQ) : 0>(slopes + *f * apart, off, apart);
    if (!by.blocks) return;
    for (const std::uint32_t* f = begin; f != end; ++f) {
      double* row = by.blocks + block_at(*f, 0, size);
      for (const std::uint32_t* g = begin; g != f + own; ++g)
        add_few<kQ ? block_size(kQ) : 0>(row + *g * size, found, size);
    }
  });
}

ISINGLASS_INLINE inline void add_listed_loop(const CellSums& by, const ListedFeatures& features,
                                             std::size_t q) {
  switch (q) {
    case 2:
      return add_listed_of<2>(by, features, q);
    case 3:
      return add_listed_of<3>(by, features, q);
    case 4:
      return add_listed_of<4>(by, features, q);
    default:
      return add_listed_of<0>(by, features, q);
  }
}
inline constexpr Vectorised<add_listed_loop> add_listed;

ISINGLASS_INLINE inline void add_grouped_loop(const CellSums& by, const GroupedFeatures& features,
                                              std::size_t q) {
  switch (q) {
    case 2:
      return add_grouped_of<2>(by, features, q);
    case 3:
      return add_grouped_of<3>(by, features, q);
    case 4:
      return add_grouped_of<4>(by, features, q);
    default:
      return add_grouped_of<0>(by, features, q);
  }
}
inline constexpr Vectorised<add_grouped_loop> add_grouped;

}  // namespace isinglass

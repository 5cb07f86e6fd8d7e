// Losses, slopes and curvatures of cells, many cells at a time.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vectors.hpp"

namespace isinglass {

// As many cells are looked at together as stay in the nearest cache with all that is kept of them.
constexpr std::size_t kCellBlock = 64;

// A target of two states in some cells: its logits, the chances of the likelier state and of the other.
struct TwoChances {
  double logit[kCellBlock], likely[kCellBlock], unlikely[kCellBlock];
};

// Fills in the chances that go with the logits. Returns the sum of rows * log(1 / chance of the likelier).
ISINGLASS_CLONES inline double logits_to_chances(std::size_t cells, const double* rows, TwoChances& two) {
  double logs[kCellBlock];
  for (std::size_t s = 0; s < cells; ++s) {
    const double small = exp_of_minus(std::abs(two.logit[s])), both = 1 + small, whole = 1 / both;
    two.likely[s] = whole;
    two.unlikely[s] = small * whole;
    logs[s] = rows[s] * log_of(both);
  }
  return sum_in_lanes(cells, [&](std::size_t s) ISINGLASS_IN_CLONES { return logs[s]; });
}

// Scores of any number of states, the largest of a cell's being zero, to chances. Returns the sum of rows *
// log(sum of exp).
ISINGLASS_CLONES inline double scores_to_chances(std::size_t cells, std::size_t width, const double* rows,
                                                 double* chance) {
  for (std::size_t i = 0; i < cells * width; ++i) chance[i] = exp_of_minus(-chance[i]);
  double sums[kCellBlock];
  for (std::size_t s = 0; s < cells; ++s) {
    double sum = 0;
    for (std::size_t a = 0; a < width; ++a) sum += chance[s * width + a];
    const double whole = 1 / sum;
    for (std::size_t a = 0; a < width; ++a) chance[s * width + a] *= whole;
    sums[s] = sum;
  }
  double logs[kCellBlock];
  for (std::size_t s = 0; s < cells; ++s) logs[s] = rows[s] * log_of(sums[s]);  // sums are 1 to width
  return sum_in_lanes(cells, [&](std::size_t s) ISINGLASS_IN_CLONES { return logs[s]; });
}

// Some cells: the features that are 1 in each, from active[begin[s]] to active[begin[s + 1]], counts
// and chances of the target's states. And where sums are added: q = width - 1 slopes a feature, and for
// each pair of features a block, the lower triangle of a q x q matrix; no blocks, if nobody wants them.
struct CellSums {
  std::size_t cells;
  const std::uint32_t* active;
  const std::size_t* begin;
  const double *counts, *chances;
  double *slopes, *blocks;
};

// The number of the target's states but the first, where the compiler knows it; zero stands for any.
template <std::size_t kQ>
ISINGLASS_IN_CLONES inline void add_cells_of(const CellSums& by, std::size_t states) {
  const std::size_t q = kQ ? kQ : states, width = q + 1, triangle = q * (q + 1) / 2;
  double few[kQ + kQ * (kQ + 1) / 2 + 1];
  std::vector<double> many(kQ ? 0 : q + triangle);
  double *off = kQ ? few : many.data(), *curvature = off + q;
  for (std::size_t s = 0; s < by.cells; ++s) {
    const double *counts = by.counts + s * width, *chance = by.chances + s * width;
    double rows = 0;
    for (std::size_t a = 0; a < width; ++a) rows += counts[a];
    for (std::size_t a = 1, k = 0; a <= q; ++a) {
      const double expected = rows * chance[a];
      off[a - 1] = expected - counts[a];
      for (std::size_t b = 1; b < a; ++b) curvature[k++] = -expected * chance[b];
      double others = 0;  // not 1 - chance, which cancels
      for (std::size_t b = 0; b <= q; ++b) others += b == a ? 0.0 : chance[b];
      curvature[k++] = expected * others;
    }
    const std::uint32_t *begin = by.active + by.begin[s], *end = by.active + by.begin[s + 1];
    for (const std::uint32_t* f = begin; f != end; ++f) {
      for (std::size_t a = 0; a < q; ++a) by.slopes[*f * q + a] += off[a];
      if (!by.blocks) continue;
      double* row = by.blocks + std::size_t{*f} * (*f + 1) / 2 * triangle;
      for (const std::uint32_t* g = begin; g <= f; ++g)
        for (std::size_t k = 0; k < triangle; ++k) row[*g * triangle + k] += curvature[k];
    }
  }
}

ISINGLASS_CLONES inline void add_cells(const CellSums& by, std::size_t q) {
  switch (q) {
    case 2:
      return add_cells_of<2>(by, q);
    case 3:
      return add_cells_of<3>(by, q);
    case 4:
      return add_cells_of<4>(by, q);
    default:
      return add_cells_of<0>(by, q);
  }
}

}  // namespace isinglass

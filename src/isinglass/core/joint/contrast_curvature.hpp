// The curvature of one column's loss in zero-sum contrasts of its own states and of its neighbours'.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/dispatch.hpp"
#include "base/edge.hpp"
#include "base/vectors.hpp"

namespace isinglass {

// The covariance of contrasts of m states with some probabilities, times a weight: the lower triangle, row by
// row. `room` is for two rows of contrasts. Deviations from the mean are not small differences of large
// numbers, as p(1 - p) is where a state is almost certain.
ISINGLASS_INLINE inline void find_covariance_loop(const double* basis, std::size_t m, const double* p,
                                                  double weight, double* room, double* covariance) {
  const std::size_t q = m - 1;
  double *mean = room, *deviation = room + q;
  for (std::size_t k = 0; k < q; ++k) mean[k] = 0;
  for (std::size_t a = 0; a < m; ++a)
    for (std::size_t k = 0; k < q; ++k) mean[k] += p[a] * basis[a * q + k];
  for (std::size_t i = 0; i < q * (q + 1) / 2; ++i) covariance[i] = 0;
  for (std::size_t a = 0; a < m; ++a) {
    for (std::size_t k = 0; k < q; ++k) deviation[k] = basis[a * q + k] - mean[k];
    double* row = covariance;
    for (std::size_t k = 0; k < q; row += ++k) {
      const double scaled = weight * p[a] * deviation[k];
      for (std::size_t l = 0; l <= k; ++l) row[l] += scaled * deviation[l];
    }
  }
}
inline constexpr Vectorised<find_covariance_loop> find_covariance;

// Adds some numbers, which four divides, to the blocks of all pairs of some indices, which are in order.
ISINGLASS_INLINE inline void add_to_blocks_loop(const std::uint32_t* indices, std::size_t count,
                                                const double* numbers, std::size_t size, double* blocks) {
  for (std::size_t i = 0; i < count; ++i) {
    double* row = blocks + std::size_t{indices[i]} * (indices[i] + 1) / 2 * size;
    for (std::size_t j = 0; j <= i; ++j) add_few<0>(row + indices[j] * size, numbers, size);
  }
}
inline constexpr Vectorised<add_to_blocks_loop> add_to_blocks;

// The curvature of a column's loss, summed over cells: a block for each pair of its neighbours' states, in
// contrasts of its own states; then a matrix in contrasts of the neighbours' states too.
class ContrastCurvature {
 public:
  // States of the column and of its neighbours; the field is like a neighbour of one state, and comes first.
  ContrastCurvature(std::size_t m, const std::vector<std::size_t>& neighbours)
      : m_(m),
        size_(whole_vectors(m * (m - 1) / 2)),
        basis_(zero_sum_contrasts(m)),
        own_(size_, 0.0),
        room_(2 * m) {
    groups_.push_back({0, 0, 1, 1, {1.0}});
    for (const std::size_t states : neighbours) {
      const Group& last = groups_.back();
      groups_.push_back({last.feature + last.states, last.contrast + last.contrasts, states, states - 1,
                         zero_sum_contrasts(states)});
    }
    const std::size_t features = groups_.back().feature + groups_.back().states;
    blocks_.assign(features * (features + 1) / 2 * size_, 0.0);
  }

  // A cell with some features, of some weight, in which the states have such probabilities.
  void add(const std::uint32_t* features, std::size_t count, double weight, const double* p) {
    find_covariance(basis_.data(), m_, p, weight, room_.data(), own_.data());
    add_to_blocks(features, count, own_.data(), size_, blocks_.data());
  }

  // Both triangles: contrasts of the column's states within those of each neighbour's.
  std::vector<double> matrix() const {
    const std::size_t all = groups_.back().contrast + groups_.back().contrasts, dim = all * (m_ - 1);
    std::vector<double> matrix(dim * dim), half, block(size_);
    for (const Group& row : groups_) {
      const std::size_t features = row.feature + row.states;
      half.assign(row.contrasts * features * size_, 0.0);
      for (std::size_t k = 0; k < row.contrasts; ++k)
        for (std::size_t s = 0; s < row.states; ++s)
          if (const double by = row.basis[s * row.contrasts + k]; by != 0)
            add_row(row.feature + s, row.feature, by, &half[k * features * size_]);
      for (const Group& column : groups_) {
        if (column.feature > row.feature) break;
        for (std::size_t k = 0; k < row.contrasts; ++k)
          for (std::size_t l = 0; l < column.contrasts; ++l) {
            std::fill(block.begin(), block.end(), 0.0);
            for (std::size_t s = 0; s < column.states; ++s)
              if (const double by = column.basis[s * column.contrasts + l]; by != 0)
                add_multiple(block.data(), by, &half[(k * features + column.feature + s) * size_], size_);
            write(block, (row.contrast + k) * (m_ - 1), (column.contrast + l) * (m_ - 1), dim, matrix);
          }
      }
    }
    return matrix;
  }

 private:
  struct Group {
    std::size_t feature, contrast, states, contrasts;  // the first of both, and how many
    std::vector<double> basis;
  };

  // Adds a multiple of a feature's blocks with those of the groups before, and with itself: two states of one
  // column never go together.
  void add_row(std::size_t feature, std::size_t before, double by, double* to) const {
    const double* row = &blocks_[feature * (feature + 1) / 2 * size_];
    add_multiple(to, by, row, before * size_);
    add_multiple(to + feature * size_, by, row + feature * size_, size_);
  }

  void write(const std::vector<double>& block, std::size_t row, std::size_t column, std::size_t dim,
             std::vector<double>& matrix) const {
    for (std::size_t a = 0; a + 1 < m_; ++a)
      for (std::size_t b = 0; b + 1 < m_; ++b) {
        const double number = block[std::max(a, b) * (std::max(a, b) + 1) / 2 + std::min(a, b)];
        matrix[(row + a) * dim + column + b] = number;
        matrix[(column + b) * dim + row + a] = number;
      }
  }

  std::size_t m_, size_;
  std::vector<double> basis_, own_, room_, blocks_;
  std::vector<Group> groups_;
};

}  // namespace isinglass

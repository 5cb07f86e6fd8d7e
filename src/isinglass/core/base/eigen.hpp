// Eigenvalues and eigenvectors of small symmetric matrices, by Jacobi's rotations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace isinglass {

struct Eigen {
  std::vector<double> values;
  std::vector<double> vectors;  // one per column
};

inline Eigen eigen_of(std::vector<double> a, std::size_t size) {
  Eigen found{std::vector<double>(size), std::vector<double>(size * size, 0.0)};
  for (std::size_t i = 0; i < size; ++i) found.vectors[i * size + i] = 1;
  const auto rotate = [size](std::vector<double>& m, std::size_t p, std::size_t q, double c, double s,
                             bool rows) {
    for (std::size_t k = 0; k < size; ++k) {
      double &x = rows ? m[p * size + k] : m[k * size + p], &y = rows ? m[q * size + k] : m[k * size + q];
      const double old = x;
      x = c * old - s * y;
      y = s * old + c * y;
    }
  };
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0, on = 0;
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) (i == j ? on : off) += a[i * size + j] * a[i * size + j];
    if (!(off > 1e-30 * on)) break;
    for (std::size_t p = 0; p < size; ++p)
      for (std::size_t q = p + 1; q < size; ++q) {
        const double apq = a[p * size + q];
        if (apq == 0) continue;
        const double theta = (a[q * size + q] - a[p * size + p]) / (2 * apq);
        const double t = (theta >= 0 ? 1.0 : -1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        rotate(a, p, q, c, s, false);
        rotate(a, p, q, c, s, true);
        rotate(found.vectors, p, q, c, s, false);
      }
  }
  for (std::size_t i = 0; i < size; ++i) found.values[i] = a[i * size + i];
  return found;
}

// The inverse of the symmetric root of a matrix that has no negative eigenvalue; directions whose
// eigenvalue is at most `least` are left out.
inline std::vector<double> inverse_root(const std::vector<double>& a, std::size_t size, double least) {
  const Eigen found = eigen_of(a, size);
  std::vector<double> root(size * size, 0.0);
  for (std::size_t k = 0; k < size; ++k) {
    if (!(found.values[k] > least)) continue;
    const double factor = 1 / std::sqrt(found.values[k]);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j)
        root[i * size + j] += factor * found.vectors[i * size + k] * found.vectors[j * size + k];
  }
  return root;
}

}  // namespace isinglass

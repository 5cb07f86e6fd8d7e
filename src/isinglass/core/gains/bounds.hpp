// Safe upper bounds on gains, so that most candidates need not be evaluated.
//
// Within one state of a candidate the log-likelihood gained by a shift v of the logits is
// g.v - R(v), with g the slope and R the curvature's share. The loss is generalised
// self-concordant, |R'''| <= range(v) R'' along v, so R(v) >= (e^-s + s - 1)/s^2 v'Hv with
// s = range(v). With tau^2 = v'Hv, g.v <= lambda tau and s <= kappa tau, where
// lambda^2 = g'H^-1 g and kappa^2 is the largest (e_a - e_b)'H^-1(e_a - e_b). Maximising over
// tau gives  gain <= B(lambda kappa) / kappa^2,  B(u) = u + (1 - u) log(1 - u),  for u < 1.
// For two states H is a number h, and this is h B(|g| / h). Proofs: docs/engine.md.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/linear.hpp"

namespace isinglass {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

// B(u), rounded upwards a little.
inline double bound_curve(double u) {
  if (u < 1e-3) return u * u / (2 - u);
  if (u >= 1) return u == 1 ? 1.0 : kNoBound;
  return (u + (1 - u) * std::log1p(-u)) * (1 + 1e-12);
}

// The same without a logarithm: B(u) = u^2/2 + u^3/6 + u^4/12 + ... <= u^2 / (2 - u), term by term.
inline double quick_gain_bound(double g, double h) { return g < h ? g * g / (2 * h - g) : kNoBound; }

// Two states of the target: slope g and curvature h of the one shift.
inline double gain_bound(double g, double h) {
  if (g == 0) return 0;
  return h > 0 ? h * bound_curve(std::abs(g) / h) : kNoBound;
}

// More states: slopes and curvature (lower triangle) of the shifts of all states but the first.
// `guess` grows by the gain of the quadratic model.
inline double gain_bound(std::span<const double> g, std::span<const double> h, double& guess) {
  const std::size_t q = g.size();
  std::vector<double> factor(h.begin(), h.end()), inverse(q * q, 0.0);
  if (!factorise(factor, q, 0.0)) return kNoBound;
  for (std::size_t i = 0; i < q; ++i) {
    inverse[i * q + i] = 1;
    substitute(factor, std::span(&inverse[i * q], q));
  }
  double lambda2 = 0, kappa2 = 0;
  for (std::size_t i = 0; i < q; ++i) {
    for (std::size_t j = 0; j < q; ++j) lambda2 += g[i] * inverse[i * q + j] * g[j];
    kappa2 = std::max(kappa2, inverse[i * q + i]);
    for (std::size_t j = 0; j < i; ++j)
      kappa2 = std::max(kappa2, inverse[i * q + i] + inverse[j * q + j] - 2 * inverse[i * q + j]);
  }
  // Where a state has no weight the curvature is singular but for rounding, and its inverse means nothing.
  double steepest = 0;
  for (std::size_t i = 0; i < q; ++i) steepest = std::max(steepest, h[i * q + i]);
  if (!(lambda2 >= 0) || !(kappa2 > 0) || !(steepest * kappa2 < 1e10)) return kNoBound;
  guess += 0.5 * lambda2;
  return bound_curve(std::sqrt(lambda2 * kappa2) * (1 + 1e-9)) / kappa2 * (1 + 1e-9);
}

}  // namespace isinglass

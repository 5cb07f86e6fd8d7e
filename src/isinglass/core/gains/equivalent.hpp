// One-parameter equivalents: gains of edges of any size on one scale.
//
// A gain of df parameters is replaced by the gain of one parameter that would be as surprising,
// chi2_1.isf(chi2_df.sf(2 n gain)) / (2 n), by log tails, so that it is accurate for any gain.
#pragma once

#include <cmath>
#include <numbers>

namespace isinglass {

// log Gamma(df / 2) as a sum; std::lgamma is not safe in threads.
inline double log_gamma_half(int df) {
  double sum = df % 2 ? 0.5 * std::log(std::numbers::pi) : 0.0;
  for (double x = df % 2 ? 0.5 : 1.0; x < 0.5 * df; x += 1.0) sum += std::log(x);
  return sum;
}

// The same for any number of degrees of freedom, by Stirling's series.
inline double log_gamma_half(double df) {
  double x = 0.5 * df, shift = 0;
  for (; x < 12; x += 1) shift -= std::log(x);
  const double inverse = 1 / x, square = inverse * inverse;
  const double series = inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)));
  return shift + (x - 0.5) * std::log(x) - x + 0.5 * std::log(2 * std::numbers::pi) + series;
}

// Log of the upper tail of a chi-square: a series up to the mean, a continued fraction beyond.
template <class Number>
double log_chi2_tail(double chi2, Number df) {
  const double a = 0.5 * df, x = 0.5 * chi2;
  if (x <= 0) return 0.0;
  const double front = a * std::log(x) - x - log_gamma_half(df);
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int i = 1; i < 10000 && term > 1e-17 * sum; ++i) sum += term *= x / (a + i);
    return std::log1p(-std::exp(front) * sum);
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, fraction = d;
  for (int i = 1; i < 10000; ++i) {
    const double numerator = -i * (i - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    const double factor = c * d;
    fraction *= factor;
    if (std::abs(factor - 1) < 1e-16) break;
  }
  return front + std::log(fraction);
}

// exp(t^2) erfc(t); far out by its continued fraction.
inline double scaled_erfc(double t) {
  if (t <= 4) return std::exp(t * t) * std::erfc(t);
  double fraction = t;
  for (int i = 60; i > 0; --i) fraction = t + 0.5 * i / fraction;
  return 1 / (std::sqrt(std::numbers::pi) * fraction);
}

// The log of erfc(t), where exp(t^2) erfc(t) is known.
inline double log_erfc(double t, double scaled) {
  if (t > 4) return -t * t + std::log(scaled);
  return t < 0.5 ? std::log1p(-std::erf(t)) : std::log(std::erfc(t));
}

// `df` is a whole number, or any. The best of several looks is as surprising as its probability times `looks`
// says, one over the look's share of the level.
template <class Number>
double one_parameter_gain(double gain, Number df, double n, double looks = 1) {
  if (gain <= 0) return 0.0;
  if (df == 1 && looks == 1) return gain;
  double tail = log_chi2_tail(2 * n * gain, df);
  if (looks > 1) tail += std::log(looks);
  if (tail >= 0) return 0.0;
  // P(chi2_1 > 2 t^2) = erfc(t); its log is concave, so Newton cannot fail.
  double t = std::sqrt(-tail);
  for (int i = 0; i < 100; ++i) {
    const double scaled = scaled_erfc(t);
    const double step = (log_erfc(t, scaled) - tail) * scaled * 0.5 * std::sqrt(std::numbers::pi);
    t += step;
    if (std::abs(step) <= 1e-15 * (t + 1e-300)) break;
  }
  return t * t / n;
}

}  // namespace isinglass

// Loops over long vectors of numbers, compiled for more than one instruction set where that works.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/dispatch.hpp"

namespace isinglass {

// exp(-x) for x >= 0 to about 1e-15, in a form that compilers turn into vector code; not below exp(-700).
ISINGLASS_INLINE inline double exp_of_minus(double x) {
  constexpr double kShift = 0x1.8p52;  // adding it rounds to a whole number, which the low bits then hold
  constexpr auto kMost = std::bit_cast<std::int64_t>(700.0);
  std::int64_t bits;  // ordered as the numbers are
  std::memcpy(&bits, &x, sizeof x);
  bits = bits < kMost ? bits : kMost;
  std::memcpy(&x, &bits, sizeof x);
  x = -x;
  const double shifted = x * 1.4426950408889634 + kShift;
  const double k = shifted - kShift;
  const double r = (x - k * 0x1.62e42fefa38p-1) - k * 0x1.ef35793c7673p-45;
  double sum = 1.0 / 479001600;
  sum = sum * r + 1.0 / 39916800;
  sum = sum * r + 1.0 / 3628800;
  sum = sum * r + 1.0 / 362880;
  sum = sum * r + 1.0 / 40320;
  sum = sum * r + 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  std::uint64_t power;
  std::memcpy(&power, &shifted, sizeof power);
  power = (power + 1023) << 52;
  double scale;
  std::memcpy(&scale, &power, sizeof scale);
  return sum * scale;
}

// exp(x), not beyond exp(-700) and exp(700).
ISINGLASS_INLINE inline double exp_of(double x) {
  const double e = exp_of_minus(std::abs(x));
  return x > 0 ? 1 / e : e;
}

// log(x) for x from 1e-300 to 1e300, to about 4e-16 of it, in such a form too.
ISINGLASS_INLINE inline double log_of(double x) {
  constexpr std::uint64_t kOne = 0x3ff0000000000000, kHalfRoot = 0x3fe6a09e667f3bcd;  // 1, root of 1/2
  constexpr std::uint64_t kShift = 0x4330000000000000;  // 2^52: whole numbers go into the low bits
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof x);
  // x = 2^k m with m between the roots of 1/2 and of 2.
  const std::uint64_t above = bits - kHalfRoot + kOne, power = (above >> 52) | kShift,
                      rest = (above & 0x000fffffffffffff) + kHalfRoot;
  double k, m;
  std::memcpy(&k, &power, sizeof k);
  std::memcpy(&m, &rest, sizeof m);
  k -= 0x1p52 + 1023;
  const double s = (m - 1) / (m + 1), z = s * s;  // log m = 2 artanh(s)
  double sum = 2.0 / 23;
  sum = sum * z + 2.0 / 21;
  sum = sum * z + 2.0 / 19;
  sum = sum * z + 2.0 / 17;
  sum = sum * z + 2.0 / 15;
  sum = sum * z + 2.0 / 13;
  sum = sum * z + 2.0 / 11;
  sum = sum * z + 2.0 / 9;
  sum = sum * z + 2.0 / 7;
  sum = sum * z + 2.0 / 5;
  sum = sum * z + 2.0 / 3;
  return k * 0x1.62e42fefa38p-1 + (2 * s + (sum * z * s + k * 0x1.ef35793c7673p-45));
}

// Sums are kept in lanes, so that many numbers are worked on side by side.
constexpr std::size_t kSumLanes = 16;

ISINGLASS_INLINE inline double total_of_lanes(const double* lanes) {
  double eight[8], four[4];
  for (std::size_t l = 0; l < 8; ++l) eight[l] = lanes[l] + lanes[l + 8];
  for (std::size_t l = 0; l < 4; ++l) four[l] = eight[l] + eight[l + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

// The sum of what a function gives for each number below n.
template <class Term>
ISINGLASS_INLINE inline double sum_in_lanes(std::size_t n, const Term& term) {
  double lanes[kSumLanes] = {};
  std::size_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes)
    for (std::size_t l = 0; l < kSumLanes; ++l) lanes[l] += term(i + l);
  for (std::size_t l = 0; i < n; ++i, ++l) lanes[l] += term(i);
  return total_of_lanes(lanes);
}

// The sum of a[i] * b[i].
ISINGLASS_INLINE inline double dot_loop(const double* a, const double* b, std::size_t n) {
  return sum_in_lanes(n, [=](std::size_t i) ISINGLASS_INLINE { return a[i] * b[i]; });
}
inline constexpr Vectorised<dot_loop> dot;

// The sum of a[i].
ISINGLASS_INLINE inline double total_loop(const double* a, std::size_t n) {
  return sum_in_lanes(n, [=](std::size_t i) ISINGLASS_INLINE { return a[i]; });
}
inline constexpr Vectorised<total_loop> total;

// The sum of a[i] where the byte is one; bytes are zero or one.
ISINGLASS_INLINE inline double sum_where_loop(const std::uint8_t* one, const double* a, std::size_t n) {
  return sum_in_lanes(n, [=](std::size_t i) ISINGLASS_INLINE { return static_cast<double>(one[i]) * a[i]; });
}
inline constexpr Vectorised<sum_where_loop> sum_where;

// a[i] += factor * b[i].
ISINGLASS_INLINE inline void add_multiple_loop(double* a, double factor, const double* b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) a[i] += factor * b[i];
}
inline constexpr Vectorised<add_multiple_loop> add_multiple;

// Two combinations of the same vectors: out[i] += sum over k of weight[k] * vectors[k][i]. Four vectors at a
// time, so that what is summed up is fetched less often.
ISINGLASS_INLINE inline void add_combinations_loop(const double* const* vectors, std::size_t count,
                                                   std::size_t n, const double* weight,
                                                   double* __restrict out, const double* other_weight,
                                                   double* __restrict other_out) {
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const double *a = vectors[k], *b = vectors[k + 1], *c = vectors[k + 2], *d = vectors[k + 3];
    const double wa = weight[k], wb = weight[k + 1], wc = weight[k + 2], wd = weight[k + 3];
    const double va = other_weight[k], vb = other_weight[k + 1], vc = other_weight[k + 2],
                 vd = other_weight[k + 3];
    for (std::size_t i = 0; i < n; ++i) {
      out[i] += (wa * a[i] + wb * b[i]) + (wc * c[i] + wd * d[i]);
      other_out[i] += (va * a[i] + vb * b[i]) + (vc * c[i] + vd * d[i]);
    }
  }
  for (; k < count; ++k) {
    const double *a = vectors[k], wa = weight[k], va = other_weight[k];
    for (std::size_t i = 0; i < n; ++i) {
      out[i] += wa * a[i];
      other_out[i] += va * a[i];
    }
  }
}
inline constexpr Vectorised<add_combinations_loop> add_combinations;

// The sums of weight[i] and of weight[i] * a[i], where a[i] is above a level.
ISINGLASS_INLINE inline void sum_above_loop(double level, const double* a, const double* weight,
                                            std::size_t n, double& weights, double& sum) {
  const auto above = [=](std::size_t i) ISINGLASS_INLINE { return a[i] > level ? weight[i] : 0.0; };
  weights = sum_in_lanes(n, above);
  sum = sum_in_lanes(n, [=](std::size_t i) ISINGLASS_INLINE { return above(i) * a[i]; });
}
inline constexpr Vectorised<sum_above_loop> sum_above;

// Four numbers that are worked on together: compilers do not see by themselves that such short loops are
// vectors.
#if defined(__GNUC__)
using Four = double __attribute__((vector_size(32)));

ISINGLASS_INLINE inline double sum_of(const Four& of) { return (of[0] + of[1]) + (of[2] + of[3]); }
#else
struct Four {
  double of[4];

  template <class Work>
  static Four each(const Work& work) {
    return {{work(0), work(1), work(2), work(3)}};
  }
  Four& operator+=(const Four& other) {
    return *this = each([&](int l) { return of[l] + other.of[l]; });
  }
  friend Four operator*(double factor, const Four& by) {
    return each([&](int l) { return factor * by.of[l]; });
  }
  friend Four operator*(const Four& a, const Four& b) {
    return each([&](int l) { return a.of[l] * b.of[l]; });
  }
  friend Four operator-(const Four& a, double b) {
    return each([&](int l) { return a.of[l] - b; });
  }
};

inline double sum_of(const Four& of) { return (of.of[0] + of.of[1]) + (of.of[2] + of.of[3]); }
#endif

// They are copied, since they need not be aligned where they stand.
ISINGLASS_INLINE inline void get(const double* from, Four& to) { std::memcpy(&to, from, sizeof to); }
ISINGLASS_INLINE inline void put(const Four& from, double* to) { std::memcpy(to, &from, sizeof from); }

// So many numbers in whole vectors.
constexpr std::size_t whole_vectors(std::size_t count) { return (count + 3) / 4 * 4; }

// a[i] += b[i], for a few numbers: as many as the compiler knows, or `n`, which four divides.
template <std::size_t kCount>
ISINGLASS_INLINE inline void add_few(double* a, const double* b, std::size_t n) {
  for (std::size_t i = 0; i < (kCount ? kCount : n); i += 4) {
    Four sum, added;
    get(a + i, sum);
    get(b + i, added);
    sum += added;
    put(sum, a + i);
  }
}

// out[i] = a[i] * b[i].
ISINGLASS_INLINE inline void multiply_loop(const double* a, const double* b, double* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out[i] = a[i] * b[i];
}
inline constexpr Vectorised<multiply_loop> multiply;

}  // namespace isinglass

// Sums of many weighted logarithms, several at a time, with few logarithms taken.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/vectors.hpp"

namespace isinglass {

// The sum of weight * log(value). Values of weight one are multiplied up for a while: a product of a few
// values is off by as many roundings, as the sum of their logarithms would be.
class LogLanes {
 public:
  LogLanes() { std::fill_n(products_, kSumLanes, 1.0); }

  ISINGLASS_INLINE void add(const double* weights, const double* values) {
    constexpr auto kOne = std::bit_cast<std::int64_t>(1.0), kLeast = std::bit_cast<std::int64_t>(1e-30),
                   kMost = std::bit_cast<std::int64_t>(1e30);
    // Positive numbers are ordered as their bits are; whole numbers are counted side by side.
    std::int64_t plain = 0, ordinary = 0;
    for (std::size_t l = 0; l < kSumLanes; ++l) {
      std::int64_t weight, value;
      std::memcpy(&weight, weights + l, sizeof weight);
      std::memcpy(&value, values + l, sizeof value);
      ordinary += value > kLeast && value < kMost ? 1 : 0;
      plain += weight == kOne ? 1 : 0;
    }
    if (plain + ordinary == 2 * kSumLanes) {
      for (std::size_t l = 0; l < kSumLanes; ++l) products_[l] *= values[l];
      if (++factors_ == kFactors) flush();
    } else if (ordinary == kSumLanes) {
      for (std::size_t l = 0; l < kSumLanes; ++l) sums_[l] += weights[l] * log_of(values[l]);
    } else {
      for (std::size_t l = 0; l < kSumLanes; ++l) sums_[l] += weights[l] * std::log(values[l]);
    }
  }

  ISINGLASS_INLINE double sum() {
    if (factors_ > 0) flush();
    return total_of_lanes(sums_);
  }

 private:
  static constexpr int kFactors = 8;  // products stay where logarithms can be taken

  ISINGLASS_INLINE void flush() {
    for (std::size_t l = 0; l < kSumLanes; ++l) {
      sums_[l] += log_of(products_[l]);
      products_[l] = 1;
    }
    factors_ = 0;
  }

  double sums_[kSumLanes] = {}, products_[kSumLanes];
  int factors_ = 0;
};

}  // namespace isinglass

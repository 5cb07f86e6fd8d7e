// Sums of many weighted logarithms, with few logarithms taken.
#pragma once

#include <cmath>

#include "vectors.hpp"

namespace isinglass {

// The sum of weight * log(value). Values of small whole weight are multiplied up, as long as the
// product is far from the ends of the range of doubles; a product of m values is
// off by m roundings, as the sum of their logarithms would be.
class LogSum {
 public:
  ISINGLASS_IN_CLONES void add(double weight, double value) {
    if (weight <= kFewTimes && value > kLeast && value < kMost) {
      for (; weight >= 1; weight -= 1) {
        product_ *= value;
        if (!(product_ > kLeast && product_ < kMost)) flush();
      }
      if (weight == 0) return;
    }
    sum_ += weight * std::log(value);
  }

  double sum() {
    flush();
    return sum_;
  }

 private:
  static constexpr double kFewTimes = 4, kLeast = 1e-100, kMost = 1e100;

  void flush() {
    sum_ += std::log(product_);
    product_ = 1;
  }

  double sum_ = 0, product_ = 1;
};

}  // namespace isinglass

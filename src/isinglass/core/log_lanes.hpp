// Sums of many weighted logarithms, several at a time, with few logarithms taken.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "vectors.hpp"

namespace isinglass {

// Sums over cells are kept in lanes, so that many cells are worked on side by side.
constexpr std::size_t kCellLanes = 16;

ISINGLASS_IN_CLONES inline double total_of_lanes(const double* lanes) {
  double sum = 0;
  for (std::size_t l = 0; l < kCellLanes; ++l) sum += lanes[l];
  return sum;
}

// The sum of weight * log(value). Values of weight one are multiplied up for a while: a product of a few
// values is off by as many roundings, as the sum of their logarithms would be.
class LogLanes {
 public:
  LogLanes() { std::fill_n(products_, kCellLanes, 1.0); }

  ISINGLASS_IN_CLONES void add(const double* weights, const double* values) {
    double plain[kCellLanes], ordinary[kCellLanes];
    for (std::size_t l = 0; l < kCellLanes; ++l) {
      ordinary[l] = values[l] > kLeast && values[l] < kMost ? 1.0 : 0.0;
      plain[l] = weights[l] == 1 ? ordinary[l] : 0.0;
    }
    if (total_of_lanes(plain) == kCellLanes) {
      for (std::size_t l = 0; l < kCellLanes; ++l) products_[l] *= values[l];
      if (++factors_ == kFactors) flush();
    } else if (total_of_lanes(ordinary) == kCellLanes) {
      for (std::size_t l = 0; l < kCellLanes; ++l) sums_[l] += weights[l] * log_of(values[l]);
    } else {
      for (std::size_t l = 0; l < kCellLanes; ++l) sums_[l] += weights[l] * std::log(values[l]);
    }
  }

  ISINGLASS_IN_CLONES double sum() {
    flush();
    return total_of_lanes(sums_);
  }

 private:
  static constexpr double kLeast = 1e-30, kMost = 1e30;
  static constexpr int kFactors = 8;  // products stay where logarithms can be taken

  ISINGLASS_IN_CLONES void flush() {
    for (std::size_t l = 0; l < kCellLanes; ++l) {
      sums_[l] += log_of(products_[l]);
      products_[l] = 1;
    }
    factors_ = 0;
  }

  double sums_[kCellLanes] = {}, products_[kCellLanes];
  int factors_ = 0;
};

}  // namespace isinglass

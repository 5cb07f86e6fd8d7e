// The inverse of a fit's curvature, which says how all other parameters follow when some become zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/linear.hpp"
#include "base/vectors.hpp"

namespace isinglass {

// Parameters that follow each other.
struct Part {
  std::size_t first, count;
};

class Inverse {
 public:
  Inverse() = default;

  // Of a curvature with so many parameters, in its lower triangle. None if it cannot be inverted, or if the
  // curvature of a parameter, all others following, is less than that.
  Inverse(std::span<const double> curvature, std::size_t size, double flattest) : size_(size) {
    numbers_.assign(curvature.begin(), curvature.end());
    bool serves = factorise(numbers_, size, 0.0);
    if (serves) invert_whole();
    for (std::size_t k = 0; serves && k < size; ++k) serves = numbers_[k * size + k] < 1 / flattest;
    if (!serves) numbers_.clear();
  }

  bool none() const { return numbers_.empty(); }

  // The factor of a part of the inverse; empty if there is none.
  std::vector<double> factor(Part part) const {
    if (none()) return {};
    const std::size_t d = part.count;
    std::vector<double> own(d * d);
    for (std::size_t k = 0; k < d; ++k)
      std::copy_n(&numbers_[(part.first + k) * size_ + part.first], d, &own[k * d]);
    return factorise(own, d, 0.0) ? own : std::vector<double>();
  }

  // The inverse of the curvature of all other parameters: a Schur complement of this one. None, if it would
  // lose too many digits.
  Inverse without(Part part) const {
    const std::vector<double> own = factor(part);
    if (own.empty()) return {};
    const std::size_t first = part.first, d = part.count;
    const std::size_t left = size_ - d;
    const auto kept = [&](std::size_t k) { return k < first ? k : k + d; };
    std::vector<double> explained(left * d), numbers(left * left);
    for (std::size_t k = 0; k < left; ++k) {
      const std::span<double> row(&explained[k * d], d);
      std::copy_n(&numbers_[kept(k) * size_ + first], d, row.begin());
      substitute(own, row, false);
    }
    for (std::size_t k = 0; k < left; ++k) {
      for (std::size_t l = 0; l <= k; ++l) {
        double number = numbers_[kept(k) * size_ + kept(l)];
        for (std::size_t e = 0; e < d; ++e) number -= explained[k * d + e] * explained[l * d + e];
        numbers[k * left + l] = numbers[l * left + k] = number;
      }
      if (!(numbers[k * left + k] > kDigits * numbers_[kept(k) * size_ + kept(k)])) return {};
    }
    return Inverse(left, std::move(numbers));
  }

  std::vector<double> times(const std::vector<double>& by) const {
    std::vector<double> product(size_, 0.0);
    for (std::size_t k = 0; k < size_; ++k) add_multiple(product.data(), by[k], &numbers_[k * size_], size_);
    return product;
  }

  // Makes a part of x zero, all others following; `own` is the part's factor.
  void make_zero(Part part, const std::vector<double>& own, std::vector<double>& x) const {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(part.first),
               end = begin + static_cast<std::ptrdiff_t>(part.count);
    std::vector<double> shift(begin, end);
    substitute(own, shift);
    for (std::size_t k = 0; k < part.count; ++k)
      add_multiple(x.data(), -shift[k], &numbers_[(part.first + k) * size_], size_);
    std::fill(begin, end, 0.0);
  }

 private:
  static constexpr double kDigits = 1e-6;  // what must be left of a variance when others leave

  Inverse(std::size_t size, std::vector<double> numbers) : size_(size), numbers_(std::move(numbers)) {}

  // Both triangles.
  void invert_whole() {
    invert(numbers_, size_);
    for (std::size_t k = 0; k < size_; ++k)
      for (std::size_t l = 0; l < k; ++l) numbers_[l * size_ + k] = numbers_[k * size_ + l];
  }

  std::size_t size_ = 0;
  std::vector<double> numbers_;  // (size, size), or nothing
};

}  // namespace isinglass

// Gains and costs of a target's edges on one scale, and the choice among them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/edge.hpp"
#include "bits/table.hpp"
#include "gains/equivalent.hpp"

namespace isinglass {

constexpr double kTie = 1e-9;    // gains and costs this close to the best are equal to it
constexpr double kZero = 1e-12;  // a smaller gain counts as none

struct Choice {
  std::size_t column = 0;
  double value = 0;
};

// The lowest column whose value is within a tie of the best.
inline Choice first_within_tie(std::vector<Choice>& values) {
  std::sort(values.begin(), values.end(),
            [](const Choice& a, const Choice& b) { return a.column < b.column; });
  double best = values.front().value;
  for (const Choice& choice : values) best = std::max(best, choice.value);
  for (const Choice& choice : values)
    if (choice.value >= best - kTie) return choice;
  return values.front();
}

// Gains per row as those of edges of one parameter. `scales`, columns x columns, say how many times a
// chi-square the gains of a pair without effect are; none is given where all are one.
class Scale {
 public:
  Scale(const Table& table, std::span<const double> scales) : table_(table), scales_(scales) {}

  void set_target(std::size_t target) {
    target_ = target;
    const std::size_t p = table_.columns();
    if (scales_.empty()) return;
    of_target_ = scales_.subspan(target * p, p);
    least_ = std::ranges::min(of_target_);
  }

  // A gain of a column, or a bound on it, in chi-squares; and the least that a gain of any column becomes
  // when it is divided so.
  double divided(double raw, std::size_t column) const {
    return of_target_.empty() ? raw : raw / of_target_[column];
  }
  double least() const { return least_; }

  int degrees_of_freedom(std::size_t column) const {
    return static_cast<int>(isinglass::degrees_of_freedom(table_.states(target_), table_.states(column)));
  }

  double standardised(double raw, std::size_t column) const {
    return raw < kZero ? 0.0
                       : one_parameter_gain(divided(raw, column), degrees_of_freedom(column), table_.n());
  }

 private:
  const Table& table_;
  std::span<const double> scales_, of_target_;
  double least_ = 1;  // of the target's scales
  std::size_t target_ = 0;
};

}  // namespace isinglass

// Gains and costs of a target's edges on one scale, and the choice among them.
#pragma once

#include <algorithm>
#include <cstddef>
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

// Gains per row as those of edges of one parameter.
class Scale {
 public:
  explicit Scale(const Table& table) : table_(table) {}

  void set_target(std::size_t target) { target_ = target; }

  int degrees_of_freedom(std::size_t column) const {
    return static_cast<int>(isinglass::degrees_of_freedom(table_.states(target_), table_.states(column)));
  }

  double standardised(double raw, std::size_t column) const {
    return raw < kZero ? 0.0 : one_parameter_gain(raw, degrees_of_freedom(column), table_.n());
  }

 private:
  const Table& table_;
  std::size_t target_ = 0;
};

}  // namespace isinglass

// Known parts digit by digit, when cells are many and least squares cost more than they save.
//
// The known part of a function of the cell is the function itself to some binary *digits*: each digit is a
// set of rows, so again one popcount for each candidate still open, and each halves the remainder.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/dispatch.hpp"
#include "bits/cells.hpp"
#include "bits/table.hpp"
#include "counting/pairs.hpp"
#include "screen/cell_functions.hpp"
#include "screen/row_sets.hpp"

namespace isinglass {

// Halves what is left: a step is taken from what is above zero, which is noted, and given to the rest.
ISINGLASS_INLINE inline void take_digit_loop(double* left, std::size_t size, double step, char* above) {
  for (std::size_t i = 0; i < size; ++i) above[i] = left[i] > 0;
  for (std::size_t i = 0; i < size; ++i) left[i] += left[i] > 0 ? -step : step;
}
inline constexpr Vectorised<take_digit_loop> take_digit;

class DigitSums {
 public:
  DigitSums(const Table& table, const Pairs& pairs, const Cells& cells)
      : unit_(table.unit()), pairs_(pairs), cells_(cells) {}

  // The first digits of both functions, to be counted.
  void start(CellFunctions& functions, RowSets& sets) {
    rows_ = functions.rows;
    digits_.clear();
    start_at(functions.probability, probability_, 0.5);  // probabilities lie within 1/2 of 1/2,
    start_at(functions.curvature, curvature_, 0.125);    // curvatures within 1/8 of 1/8
    for (int digit = 0; digit < kFirstDigits; ++digit) add(functions.probability, probability_, sets);
    for (int digit = 0; digit < kFirstDigits / 2; ++digit) add(functions.curvature, curvature_, sets);
  }

  // Adds a digit of the function whose unknown part loosens the bounds more; false if it has enough.
  bool add_set(CellFunctions& functions, RowSets& sets) {
    return functions.slope_matters() ? add(functions.probability, probability_, sets)
                                     : add(functions.curvature, curvature_, sets);
  }

  // The counts of the sets, those of the digits added since, become parts of the sums.
  void take(const RowSets& sets) {
    for (std::size_t k = 0; k < sets.size(); ++k)
      for (std::size_t i = 0; i < sets.states().size(); ++i) {
        const std::size_t u = sets.states()[i];
        const double rows = pairs_.facts<double>().rows[u];
        digits_[k].function->sums[u] +=
            digits_[k].step * (2 * (unit_ * sets.counts(k)[i]) - rows) + digits_[k].drift * rows;
      }
    digits_.clear();
  }

 private:
  static constexpr int kFirstDigits = 6;  // of the probability, before any candidate is looked at
  static constexpr double kLastStep = 1e-6;

  // How far the remainder can be from zero before it is centred, and its mean, already among the sums.
  struct Remainder {
    double step = 0, mean = 0;
  };

  // What a digit that is not counted yet will change.
  struct Digit {
    SplitFunction* function;
    double step, drift;  // how much a row counts for, either way; by how much the mean has moved
  };

  void start_at(SplitFunction& function, Remainder& remainder, double middle) const {
    function.left = function.of_cell;
    for (double& value : function.left) value -= middle;
    function.range = 2 * middle;  // all digits together
    remainder.step = middle;
    remainder.mean = function.measure(cells_.totals(), rows_);
    function.sums = pairs_.facts<double>().rows;
    for (double& sum : function.sums) sum *= middle + remainder.mean;
  }

  // The remainder lies within a step of zero. Half of that is taken from cells above zero and given
  // to the others; then it lies within half a step.
  bool add(SplitFunction& function, Remainder& remainder, RowSets& sets) {
    if (remainder.step < kLastStep) return false;
    remainder.step /= 2;
    upper_.resize(function.left.size());
    take_digit(function.left.data(), function.left.size(), remainder.step, upper_.data());
    const double before = remainder.mean;
    remainder.mean = function.measure(cells_.totals(), rows_);
    sets.add(upper_);
    digits_.push_back({&function, remainder.step, remainder.mean - before});
    return true;
  }

  double unit_;  // of counts
  const Pairs& pairs_;
  const Cells& cells_;
  double rows_ = 0;
  Remainder probability_, curvature_;
  std::vector<Digit> digits_;
  std::vector<char> upper_;
};

}  // namespace isinglass

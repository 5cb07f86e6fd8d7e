// What a refit looks at: cells with the states of some columns, and counts of the target's states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isinglass {

struct CellView {
  std::size_t cells;
  int width;                       // states of the target
  std::vector<int> states;         // of each column
  const std::uint8_t* codes;       // cells x columns
  const double* counts;            // cells x width
  const double* offset = nullptr;  // cells x width: scores held fixed, or none
  std::vector<int> answers = {};   // of each column, how many states are answers; all, if nothing is said

  // The states of a column that are answers come first; a missing value, where it is a state of its own,
  // comes last.
  std::size_t answers_of(std::size_t t) const {
    return static_cast<std::size_t>(answers.empty() ? states[t] : answers[t]);
  }
};

}  // namespace isinglass

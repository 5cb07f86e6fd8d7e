// Sums over the rows of each code of functions of the cell.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/dispatch.hpp"

namespace isinglass {

// Rows with a code, a cell and a weight each.
struct ByCode {
  std::size_t rows;
  const std::uint8_t* codes;
  const std::uint32_t* cell;
  const double* weights;  // none: all one
};

// Sums over the rows of each code of kFunctions functions of the cell. Every other row has sums of its
// own, so that rows need not wait for each other.
template <std::size_t kFunctions>
ISINGLASS_INLINE inline void sum_few_by_code(const ByCode& by, const double* of_cell, double* even,
                                             double* odd) {
  const auto add = [&](std::size_t i, double* sums) ISINGLASS_INLINE {
    const double *values = of_cell + by.cell[i] * kFunctions, weight = by.weights ? by.weights[i] : 1.0;
    sums += by.codes[i] * kFunctions;
    for (std::size_t f = 0; f < kFunctions; ++f) sums[f] += weight * values[f];
  };
  std::size_t i = 0;
  for (; i + 2 <= by.rows; i += 2) {
    add(i, even);
    add(i + 1, odd);
  }
  if (i < by.rows) add(i, even);
}

// The same for as many functions as targets of two to five states have; false for other numbers.
ISINGLASS_INLINE inline bool sum_by_code_loop(const ByCode& by, std::size_t codes, std::size_t functions,
                                              const double* of_cell, double* out) {
  double odd[256 * 14];
  std::fill_n(odd, codes * std::min<std::size_t>(functions, 14), 0.0);
  switch (functions) {
    case 2:
      sum_few_by_code<2>(by, of_cell, out, odd);
      break;
    case 5:
      sum_few_by_code<5>(by, of_cell, out, odd);
      break;
    case 9:
      sum_few_by_code<9>(by, of_cell, out, odd);
      break;
    case 14:
      sum_few_by_code<14>(by, of_cell, out, odd);
      break;
    default:
      return false;
  }
  for (std::size_t k = 0; k < codes * functions; ++k) out[k] += odd[k];
  return true;
}
inline constexpr Vectorised<sum_by_code_loop> sum_by_code;

}  // namespace isinglass

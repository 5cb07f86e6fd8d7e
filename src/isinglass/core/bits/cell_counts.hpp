// The occupied cells of a support, as counts: states of the support, and rows by state of the target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace isinglass {

struct CellCounts {
  std::size_t members = 0, width = 0;  // columns of the support, states of the target
  std::vector<std::uint8_t> codes;     // cells x members
  std::vector<double> totals;          // rows of each cell
  std::vector<double> by_state;        // rows by state of the target: cells x width
  std::vector<std::uint32_t> parents;  // which of the cells before the last split each is a part of

  std::size_t size() const { return totals.size(); }
  std::span<const std::uint8_t> codes_of(std::size_t cell) const {
    return std::span(codes).subspan(cell * members, members);
  }
};

}  // namespace isinglass

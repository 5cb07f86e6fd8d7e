// Curvature that was summed for combinations of states, handed on to the states that they consist of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/vectors.hpp"
#include "bits/grouped_cells.hpp"
#include "refit/cell_sums.hpp"

namespace isinglass {

// Adds a feature's block with itself: the sum over all features of another group, of which each cell has one.
template <std::size_t kSize>
ISINGLASS_INLINE inline void add_own_block(const GroupedCells& grouped, const double* found, std::size_t size,
                                           std::size_t group, std::size_t f, double* sum) {
  if (grouped.groups() == 1) return add_few<kSize>(sum, found + block_at(f, f, size), size);
  const std::size_t other = group == 0 ? 1 : 0;
  for (std::size_t g = grouped.first(other); g < grouped.last(other); ++g)
    add_few<kSize>(sum, found + block_at(std::max(f, g), std::min(f, g), size), size);
}

// Two features of one group never go together, but each goes with itself. The field, the first feature,
// goes with all.
template <std::size_t kSize>
ISINGLASS_INLINE inline void hand_on_blocks_of(const GroupedCells& grouped, const double* found,
                                               std::size_t blocks_of, double* blocks) {
  const std::size_t size = kSize ? kSize : blocks_of;
  double few[kSize + 1];
  std::vector<double> many(kSize ? 0 : size);
  double* const own = kSize ? few : many.data();
  for (std::size_t group = 0; group < grouped.groups(); ++group)
    for (std::size_t f = grouped.first(group); f < grouped.last(group); ++f) {
      const std::span<const std::uint32_t> parts = grouped.parts(f);
      std::fill_n(own, size, 0.0);
      add_own_block<kSize>(grouped, found, size, group, f, own);
      if (group == 0) add_few<kSize>(blocks, own, size);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        add_few<kSize>(blocks + block_at(parts[i], 0, size), own, size);
        for (std::size_t j = 0; j <= i; ++j)
          add_few<kSize>(blocks + block_at(parts[i], parts[j], size), own, size);
      }
      for (std::size_t g = 0; g < grouped.first(group); ++g)
        for (const std::size_t part : parts)
          for (const std::size_t other : grouped.parts(g))
            add_few<kSize>(blocks + block_at(part, other, size), found + block_at(f, g, size), size);
    }
}

ISINGLASS_INLINE inline void hand_on_blocks_loop(const GroupedCells& grouped, const double* found,
                                                 std::size_t size, double* blocks) {
  switch (size) {
    case 4:
      return hand_on_blocks_of<4>(grouped, found, size, blocks);
    case 8:
      return hand_on_blocks_of<8>(grouped, found, size, blocks);
    case 12:
      return hand_on_blocks_of<12>(grouped, found, size, blocks);
    default:
      return hand_on_blocks_of<0>(grouped, found, size, blocks);
  }
}
inline constexpr Vectorised<hand_on_blocks_loop> hand_on_blocks;

}  // namespace isinglass

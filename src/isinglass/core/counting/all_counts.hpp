// Counts of all pairs of states, the first of each column too, as one table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/threads.hpp"
#include "bits/table.hpp"
#include "counting/tiles.hpp"

namespace isinglass {

// States x states, column by column. Weights that are no counts are summed row by row.
inline std::vector<double> all_counts(const Table& table, unsigned threads) {
  constexpr std::size_t kBlock = 64;
  std::vector<std::size_t> states;  // by place
  for (std::size_t j = 0; j < table.columns(); ++j)
    for (int c = 0; c < table.states(j); ++c) states.push_back(table.state(j, c));
  const std::size_t size = states.size();
  std::vector<std::size_t> places(size);
  for (std::size_t i = 0; i < size; ++i) places[states[i]] = i;
  std::vector<double> counts(size * size);
  if (!table.countable()) {
    share_out(size, threads,
              [&](std::size_t i) { table.count_many(table.row(states[i]), states, &counts[i * size]); });
    return counts;
  }
  share_out((size + kBlock - 1) / kBlock, threads, [&](std::size_t block) {
    const std::size_t begin = block * kBlock, end = std::min(begin + kBlock, size);
    SetsInPlanes sets(table, end - begin);
    for (std::size_t i = begin; i < end; ++i) sets.add(table.row(states[i]));
    count_tiles(table, sets.rows(), 0, size,
                [&](std::size_t first, std::size_t several, const std::uint32_t* found) {
                  for (std::size_t i = begin; i < end; ++i)
                    for (std::size_t plane = 0; plane < table.planes(); ++plane, found += several) {
                      const double weight = std::ldexp(1.0, static_cast<int>(plane));
                      for (std::size_t k = 0; k < several; ++k)
                        counts[i * size + places[first + k]] += weight * found[k];
                    }
                });
  });
  return counts;
}

}  // namespace isinglass

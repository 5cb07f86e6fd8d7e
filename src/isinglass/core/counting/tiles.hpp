// Many rows of bits against many states, in tiles whose bits stay in the fastest cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bits/table.hpp"

namespace isinglass {

// How many words of how many states are a tile: they are fetched once for all rows that pass by.
struct TileShape {
  static constexpr std::size_t kWords = 4096;  // 32 KB of bits
  static constexpr std::size_t kLongest = 512;

  explicit TileShape(std::size_t row_words)
      : words(std::min(row_words, kLongest)),
        states(std::clamp<std::size_t>(kWords / std::max<std::size_t>(words, 1) / 8 * 8, 8, 64)) {}

  std::size_t words, states;
};

// Counts of rows of bits against states, which are numbered as the table's; rows x states. Counts of blocks
// of words add.
inline void count_tile(const Table& table, std::span<const Word* const> rows, std::size_t first,
                       std::size_t states, std::uint32_t* counts) {
  const TileShape shape(table.words());
  std::fill_n(counts, rows.size() * states, 0u);
  for (std::size_t w = 0; w < table.words(); w += shape.words) {
    const std::size_t words = std::min(shape.words, table.words() - w);
    for (std::size_t r = 0; r < rows.size(); ++r)
      count_several(rows[r] + w, table.row(first) + w, table.words(), states, words, counts + r * states);
  }
}

// Calls take(first, states, counts) for one tile of states after another: counts are rows x states.
template <class Take>
void count_tiles(const Table& table, std::span<const Word* const> rows, std::size_t first, std::size_t last,
                 const Take& take) {
  const TileShape shape(table.words());
  std::vector<std::uint32_t> counts(rows.size() * shape.states);
  for (; first < last; first += shape.states) {
    const std::size_t states = std::min(shape.states, last - first);
    count_tile(table, rows, first, states, counts.data());
    take(first, states, counts.data());
  }
}

// Sets of rows as bits, each once for every binary digit of the weights.
class SetsInPlanes {
 public:
  SetsInPlanes(const Table& table, std::size_t sets)
      : table_(table), words_(sets * table.planes() * table.words()) {}

  void add(const Word* set) {
    Word* own = words_.data() + rows_.size() * table_.words();
    table_.in_planes(set, own);
    for (std::size_t p = 0; p < table_.planes(); ++p) rows_.push_back(own + p * table_.words());
  }

  // Sets x planes.
  std::span<const Word* const> rows() const { return rows_; }

 private:
  const Table& table_;
  Words words_;
  std::vector<const Word*> rows_;
};

}  // namespace isinglass

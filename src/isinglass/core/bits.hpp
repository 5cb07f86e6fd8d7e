// State indicators as bits: one row of 64-bit words for every state of every column.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace isinglass {

inline std::size_t words_for(std::size_t rows) { return (rows + 63) / 64; }

// Sets bit i of the words of state codes[i]; the bits of state s start at s * words.
template <class Code>
void pack_column(const Code* codes, std::size_t stride, std::size_t rows,
                 std::span<std::uint64_t> states) {
  const std::size_t words = words_for(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto state = static_cast<std::size_t>(codes[i * stride]);
    states[state * words + i / 64] |= std::uint64_t{1} << (i % 64);
  }
}

inline std::int64_t common(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  std::int64_t count = 0;
  for (std::size_t w = 0; w < a.size(); ++w) count += std::popcount(a[w] & b[w]);
  return count;
}

}  // namespace isinglass

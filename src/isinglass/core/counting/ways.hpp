// Which way a table is counted: what fits memory, and what fits the cache.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "bits/table.hpp"
#include "counting/pairs.hpp"

namespace isinglass {

// All ways give the same counts.
struct Ways {
  bool whole = true;         // whether all pairs are counted at first
  std::size_t gathered = 1;  // how many searches of a core are counted together
};

namespace detail {

// What was asked for; empty for what is best.
inline std::string& forced_way() {
  static std::string way;
  return way;
}

}  // namespace detail

// `memory`: bytes that are left.
inline Ways ways_to_count(const Table& table, const Pairs& pairs, double memory) {
  constexpr double kSmall = 64e6;  // bytes of pairs that are always kept
  constexpr double kShare = 0.25;  // of the memory that is left
  constexpr double kCached = 3e6;  // bytes of bits that stay in the cache of a core
  constexpr std::size_t kSearches = 32;
  const std::string& way = detail::forced_way();
  if (way == "whole") return {true, 1};
  if (way == "rows") return {false, 1};
  if (way == "gathered") return {true, kSearches};
  if (way == "gathered rows") return {false, kSearches};
  const double bits = static_cast<double>(pairs.size()) * static_cast<double>(table.words() * sizeof(Word));
  return {pairs.bytes() <= kSmall || pairs.bytes() <= kShare * memory, bits <= kCached ? 1 : kSearches};
}

// The switch that forces a way, for tests and measurements: "whole" (all pairs at first), "rows" (those of
// a state when they are asked for), "gathered" and "gathered rows" (with searches that are counted together);
// "best" undoes it.
inline void use_counting(const std::string& way) {
  for (const char* known : {"whole", "rows", "gathered", "gathered rows", "best"})
    if (way == known) {
      detail::forced_way() = way == "best" ? "" : way;
      return;
    }
  throw std::invalid_argument("there is no way to count called '" + way + "'");
}

}  // namespace isinglass

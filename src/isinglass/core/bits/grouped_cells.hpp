// Cells whose columns are taken together, a few at a time: a group of columns has a feature for every
// combination of their states, and a cell has one feature per group.
//
// Whatever is a sum over the columns of a cell has fewer terms then: with fourteen columns of four states, in
// pairs, scores are sums of seven numbers and not of fourteen, and the curvature has 21 entries per cell and
// not 120. What was summed up for combinations is handed on to the states that they consist of once at the
// end, which is little work where cells are many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/edge.hpp"

namespace isinglass {

class GroupedCells {
 public:
  // Codes are cells x columns. Columns stay alone where cells are few.
  GroupedCells(const std::uint8_t* codes, std::size_t cells, std::span<const int> states) : design_(states) {
    const std::size_t columns = states.size();
    for (std::size_t t = 0; t < columns; ++t) {
      const auto m = static_cast<std::size_t>(states[t]);
      if (groups_.empty() || cells < kManyCells || groups_.back().states * m > kMostStates)
        groups_.push_back({t, t, 1, 0});
      groups_.back().states *= m;
      groups_.back().end = t + 1;
    }
    for (Group& group : groups_) {
      group.begin = features_;
      features_ += group.states;
    }
    number(codes, cells, states);
    list_parts(states);
  }

  std::size_t groups() const { return groups_.size(); }
  // Of all groups.
  std::size_t features() const { return features_; }
  // The feature of each group in each cell: cells x groups.
  const std::uint32_t* active() const { return active_.data(); }
  // The features of the design that a feature of a group consists of: of first states there are none.
  std::span<const std::uint32_t> parts(std::size_t feature) const {
    return std::span(parts_).subspan(parts_begin_[feature],
                                     parts_begin_[feature + 1] - parts_begin_[feature]);
  }
  // The features of a group, from the first to before the last.
  std::size_t first(std::size_t group) const { return groups_[group].begin; }
  std::size_t last(std::size_t group) const { return groups_[group].begin + groups_[group].states; }

  // Whether it pays to take columns together.
  static bool suits(std::size_t cells, std::size_t columns) { return cells >= kManyCells && columns > 1; }

 private:
  static constexpr std::size_t kManyCells = 512, kMostStates = 16;

  struct Group {
    std::size_t start, end;     // its columns
    std::size_t states, begin;  // combinations of states, and where their features begin
  };

  void number(const std::uint8_t* codes, std::size_t cells, std::span<const int> states) {
    active_.resize(cells * groups_.size());
    std::uint32_t* active = active_.data();
    for (std::size_t s = 0; s < cells; ++s, codes += states.size())
      for (const Group& group : groups_) {
        std::size_t code = 0;
        for (std::size_t t = group.start; t < group.end; ++t)
          code = code * static_cast<std::size_t>(states[t]) + codes[t];
        *active++ = static_cast<std::uint32_t>(group.begin + code);
      }
  }

  void list_parts(std::span<const int> states) {
    for (const Group& group : groups_)
      for (std::size_t code = 0; code < group.states; ++code) {
        parts_begin_.push_back(parts_.size());
        std::size_t left = code;
        for (std::size_t t = group.end; t-- > group.start;) {
          const std::size_t c = left % static_cast<std::size_t>(states[t]);
          left /= static_cast<std::size_t>(states[t]);
          if (c > 0) parts_.push_back(static_cast<std::uint32_t>(design_.first(t) + c - 1));
        }
        std::reverse(parts_.begin() + static_cast<std::ptrdiff_t>(parts_begin_.back()), parts_.end());
      }
    parts_begin_.push_back(parts_.size());
  }

  Design design_;
  std::vector<Group> groups_;
  std::size_t features_ = 0;
  std::vector<std::uint32_t> active_, parts_;
  std::vector<std::size_t> parts_begin_;
};

}  // namespace isinglass

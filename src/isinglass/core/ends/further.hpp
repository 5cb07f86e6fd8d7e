// Pairs that no search of a single column has proposed, and that columns find from the fit of both ends.
//
// Each column looks at all others once, as in a forward step of Algorithm 1. A pair is nearly chosen if one
// of its ends would choose it by itself, or both at a smaller threshold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "base/edge.hpp"
#include "search/choice.hpp"
#include "search/engine.hpp"

namespace isinglass {

// An edge that nobody had proposed, who found it, and what the better of them would gain.
struct Further {
  std::size_t columns[2];
  Form form = Form::table;
  bool by[2] = {false, false};
  double gain = 0;
};

// When columns look further: once all edges are above `firm`. Whatever one end would choose `alone`, or
// both at the threshold of these settings, comes in if both together say that it is above `firm` as well.
struct LookingFurther {
  double firm, alone;
  Settings settings;
};

// Of what each column would choose, the pairs that are nearly chosen: by either end if one alone gains more
// than `alone`, else by both.
inline std::vector<Further> nearly_chosen(const std::vector<std::vector<Choice>>& choices, double alone) {
  std::map<std::pair<std::size_t, std::size_t>, Further> found;
  for (std::size_t r = 0; r < choices.size(); ++r)
    for (const Choice& choice : choices[r]) {
      const auto [i, j] = std::minmax(r, choice.column);
      Further& one = found.try_emplace({i, j}, Further{{i, j}, Form::small}).first->second;
      one.by[r == i ? 0 : 1] = true;
      one.gain = std::max(one.gain, choice.value);
      if (choice.of != Of::small) one.form = Form::table;
    }
  std::vector<Further> in_order;
  for (const auto& [columns, one] : found)
    if ((one.by[0] && one.by[1]) || one.gain > alone) in_order.push_back(one);
  return in_order;
}

}  // namespace isinglass

// What a refit looks at: cells with the states of some columns, and counts of the target's states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/forms.hpp"
#include "bits/grouped_cells.hpp"

namespace isinglass {

struct CellView {
  std::size_t cells;
  int width;                       // states of the target
  std::vector<int> states;         // of each column
  const std::uint8_t* codes;       // cells x columns
  const double* counts;            // cells x width
  const double* offset = nullptr;  // cells x width: scores held fixed, or none
  std::vector<int> answers = {};   // of each column, how many states are answers; all, if nothing is said
  std::vector<const SmallDesign*> designs = {};  // of each column, null for a whole table; all, if none
  const GroupedCells* grouped = nullptr;         // the same cells in groups of columns, if somebody has them

  const SmallDesign* design(std::size_t t) const { return designs.empty() ? nullptr : designs[t]; }

  // The states of a column that are answers come first; a missing value, where it is a state of its own,
  // comes last.
  std::size_t answers_of(std::size_t t) const {
    return static_cast<std::size_t>(answers.empty() ? states[t] : answers[t]);
  }
};

// Says which edges of a view are small; the columns come in the order of its states.
inline void set_designs(CellView& view, const Forms* forms, std::size_t target,
                        const std::vector<std::size_t>& columns, const std::vector<Form>& of_edges) {
  bool any = false;
  for (const Form form : of_edges) any = any || form == Form::small;
  for (std::size_t i = 0; any && i < columns.size(); ++i)
    view.designs.push_back(of_edges[i] == Form::small ? &forms->design(target, columns[i]) : nullptr);
}

}  // namespace isinglass

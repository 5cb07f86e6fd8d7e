// Sets of rows, counted together for the states of candidates: the bits of a state are fetched once.
#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "bits/cells.hpp"
#include "bits/pairs.hpp"
#include "bits/table.hpp"

namespace isinglass {

class RowSets {
 public:
  RowSets(const Table& table, const Pairs& pairs, const Cells& cells)
      : table_(table), pairs_(pairs), cells_(cells) {}

  std::size_t size() const { return sets_.size(); }
  bool empty() const { return sets_.empty(); }
  // For which states they are counted; none are listed at first.
  std::span<const std::size_t> states() const { return states_; }
  bool for_all_states() const { return for_all_; }
  // Rows of one of the sets in each listed state, once they are counted.
  const double* counts(std::size_t set) const { return &counts_[set * states_.size()]; }

  void clear() {
    sets_.clear();
    list_none();
  }

  void list_none() {
    states_.clear();
    for_all_ = false;
  }

  void list_all() {
    states_.resize(pairs_.size());
    std::iota(states_.begin(), states_.end(), std::size_t{0});
    for_all_ = true;
  }

  void list_column(std::size_t column) {
    for (std::size_t u = pairs_.first(column); u < pairs_.first(column + 1); ++u) states_.push_back(u);
  }

  // Adds the rows of chosen cells.
  void add(const std::vector<char>& chosen) { cells_.rows_of(chosen, sets_.emplace_back()); }

  void count() {
    counts_.resize(sets_.size() * states_.size());
    table_.count_sets(sets_, states_, counts_.data());
  }

  // Lets go of the sets; the states stay listed.
  void clear_sets() { sets_.clear(); }

 private:
  const Table& table_;
  const Pairs& pairs_;
  const Cells& cells_;
  std::vector<Words> sets_;
  std::vector<std::size_t> states_;
  bool for_all_ = false;
  std::vector<double> counts_;  // sets x states
};

}  // namespace isinglass

// Sets of rows, counted together for the states of candidates: the bits of a state are fetched once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bits/cells.hpp"
#include "counting/counter.hpp"
#include "counting/pairs.hpp"

namespace isinglass {

class RowSets {
 public:
  RowSets(Counter& counter, const Pairs& pairs, const Cells& cells)
      : counter_(counter), pairs_(pairs), cells_(cells) {}

  std::size_t size() const { return chosen_.size(); }
  bool empty() const { return chosen_.empty(); }
  // For which states they are counted, unless for all; none are listed at first.
  std::span<const std::size_t> states() const { return states_; }
  bool for_all_states() const { return for_all_; }
  // Rows of one of the sets in each listed state, in units, once they are counted.
  const double* counts(std::size_t set) const { return &counts_[set * states_.size()]; }

  void clear() {
    clear_sets();
    list_none();
  }

  void list_none() {
    states_.clear();
    for_all_ = false;
  }

  void list_all() { for_all_ = true; }

  void list_column(std::size_t column) {
    for (std::size_t u = pairs_.first(column); u < pairs_.first(column + 1); ++u) states_.push_back(u);
  }

  // Adds the rows of chosen cells.
  void add(const std::vector<char>& chosen) { chosen_.push_back(chosen); }

  void count() {
    std::vector<RowSet> sets;
    for (std::size_t k = 0; k < size(); ++k) sets.push_back(set(k));
    counts_.resize(size() * states_.size());
    counter_.count_some(sets, states_, counts_.data());
  }

  // Counts each set for all states, in a row of its own.
  void count(std::span<const CountPool::Row> rows) {
    std::vector<CountRequest> requests;
    for (std::size_t k = 0; k < size(); ++k) requests.push_back({set(k), rows[k].get()});
    counter_.count(requests);
  }

  // Lets go of the sets; the states stay listed.
  void clear_sets() { chosen_.clear(); }

 private:
  RowSet set(std::size_t k) const { return {.cells = &cells_, .chosen = &chosen_[k]}; }

  Counter& counter_;
  const Pairs& pairs_;
  const Cells& cells_;
  std::vector<std::vector<char>> chosen_;  // cells of each set
  std::vector<std::size_t> states_;
  bool for_all_ = false;
  std::vector<double> counts_;  // sets x states
};

}  // namespace isinglass

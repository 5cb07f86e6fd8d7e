// What is asked of whoever holds the rows, as flat arrays that can be sent anywhere.
//
// A question is one of three. How often states go together: those from one to another, against all from a
// third on. How often a set of cells goes with each state, or with those that are listed. How many rows each
// cell has by the states of some columns. Cells are those of a grouping: columns, and the combinations of
// their states that some row has, in the order of bits/cells.hpp. Answers are whole numbers, one question's
// after the other's, and those of blocks of rows add.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bits/cell_counts.hpp"

namespace isinglass {

// Arrays that belong to `Questions`, or came from elsewhere.
struct QuestionArrays {
  // Of each grouping: where its columns begin, and one past the last; the number of its cells; and the states
  // of all, cells x columns.
  std::span<const std::int64_t> support_begin, support, cells;
  std::span<const std::uint8_t> codes;
  // Of each question: its grouping, none for states; three numbers for states; where its own lists begin.
  std::span<const std::int64_t> grouping, range;
  std::span<const std::int64_t> chosen_begin, states_begin, by_begin;
  std::span<const std::uint8_t> chosen;      // whether each cell of the grouping is in the set
  std::span<const std::int64_t> states, by;  // listed states, counted from the second of each column; columns

  std::size_t size() const { return grouping.size(); }
};

// Answers questions with as many numbers as asked for; it may throw, and takes what time it takes.
using Holder = std::function<std::vector<std::uint64_t>(const QuestionArrays&)>;

// Who holds the rows, and how many searches wait for each other before it is asked.
struct Remote {
  Holder holder;
  std::size_t together = 64;
};

class Questions {
 public:
  static constexpr std::int64_t kStates = -1;

  // The cells that questions are about from now on.
  void group(const std::vector<std::size_t>& support, const CellCounts& cells) {
    support_.insert(support_.end(), support.begin(), support.end());
    support_begin_.push_back(static_cast<std::int64_t>(support_.size()));
    cells_.push_back(static_cast<std::int64_t>(cells.size()));
    codes_.insert(codes_.end(), cells.codes.begin(), cells.codes.end());
  }

  // How often each of the states from `first` to `last` goes with each from `from` on.
  void add_states(std::size_t first, std::size_t last, std::size_t from) {
    add(kStates, first, last, from);
    end();
  }

  // A set of cells, for some states; for all, if none are listed.
  void add_set(const std::vector<char>& chosen, std::span<const std::size_t> states) {
    add(static_cast<std::int64_t>(cells_.size()) - 1, 0, 0, 0);
    chosen_.insert(chosen_.end(), chosen.begin(), chosen.end());
    states_.insert(states_.end(), states.begin(), states.end());
    end();
  }

  // Rows of each cell by the states of some columns.
  void add_cells(std::span<const std::size_t> by) {
    add(static_cast<std::int64_t>(cells_.size()) - 1, 0, 0, 0);
    by_.insert(by_.end(), by.begin(), by.end());
    end();
  }

  QuestionArrays arrays() const {
    return {support_begin_, support_,      cells_,    codes_,  grouping_, range_,
            chosen_begin_,  states_begin_, by_begin_, chosen_, states_,   by_};
  }

 private:
  void add(std::int64_t grouping, std::size_t first, std::size_t last, std::size_t from) {
    grouping_.push_back(grouping);
    for (const std::size_t number : {first, last, from}) range_.push_back(static_cast<std::int64_t>(number));
  }

  void end() {
    chosen_begin_.push_back(static_cast<std::int64_t>(chosen_.size()));
    states_begin_.push_back(static_cast<std::int64_t>(states_.size()));
    by_begin_.push_back(static_cast<std::int64_t>(by_.size()));
  }

  std::vector<std::int64_t> support_begin_{0}, support_, cells_;
  std::vector<std::uint8_t> codes_;
  std::vector<std::int64_t> grouping_, range_;
  std::vector<std::int64_t> chosen_begin_{0}, states_begin_{0}, by_begin_{0};
  std::vector<std::uint8_t> chosen_;
  std::vector<std::int64_t> states_, by_;
};

}  // namespace isinglass

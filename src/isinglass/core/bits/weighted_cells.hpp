// Cells that take part in a search: how many rows of each, and the probabilities of the target's states
// there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/vectors.hpp"

namespace isinglass {

// Each state's probabilities lie together, so that many cells are worked on side by side; searches want all
// lanes full.
class WeightedCells {
 public:
  // Begins anew, with room for so many cells.
  void reset(std::size_t width, std::size_t room) {
    width_ = width;
    room_ = (room + kSumLanes - 1) / kSumLanes * kSumLanes;
    size_ = 0;
    if (numbers_.size() < (width + 1) * room_) numbers_.resize((width + 1) * room_);
  }

  // One more cell, with a probability for each state. A width that the compiler knows makes a short loop.
  template <std::size_t kWidth = 0>
  void add(double rows, const double* probability) {
    double* number = &numbers_[size_++];
    *number = rows;
    for (std::size_t a = 0; a < (kWidth ? kWidth : width_); ++a) *(number += room_) = probability[a];
  }

  // The same, if it has rows. What is written beyond the last cell is nobody's.
  template <std::size_t kWidth = 0>
  void add_if_any(double rows, const double* probability) {
    add<kWidth>(rows, probability);
    size_ -= rows > 0 ? 0 : 1;
  }

  // The cells of another, for two states: those of the other that are the first here, and the second.
  void append(const WeightedCells& other, std::size_t first, std::size_t second) {
    std::copy_n(other.rows(), other.size_, numbers_.data() + size_);
    std::copy_n(other.probabilities(first), other.size_, numbers_.data() + room_ + size_);
    std::copy_n(other.probabilities(second), other.size_, numbers_.data() + 2 * room_ + size_);
    size_ += other.size_;
  }

  // Adds cells of no rows, like the last one, until all lanes are full.
  void fill_lanes() {
    const std::size_t last = size_ - 1;
    for (; size_ % kSumLanes; ++size_) {
      numbers_[size_] = 0;
      for (std::size_t a = 1; a <= width_; ++a) numbers_[a * room_ + size_] = numbers_[a * room_ + last];
    }
  }

  std::size_t size() const { return size_; }
  const double* rows() const { return numbers_.data(); }
  const double* probabilities(std::size_t state) const { return numbers_.data() + (state + 1) * room_; }

 private:
  std::size_t width_ = 0, room_ = 0, size_ = 0;
  std::vector<double> numbers_;  // rows, then the probabilities of each state
};

// Cells by state of a column, from the rows of each cell in each of its states, as they were counted, and
// the probabilities of each cell; for a target of that many states, zero for any.
template <std::size_t kWidth>
void weigh_cells_for(std::span<const double> counts, const double* probabilities, std::size_t width,
                     std::vector<WeightedCells>& by_state) {
  const std::size_t m = by_state.size(), cells = counts.size() / m, step = kWidth ? kWidth : width;
  for (std::size_t c = 0; c < m; ++c) {
    by_state[c].reset(step, cells);
    for (std::size_t s = 0; s < cells; ++s)
      by_state[c].add_if_any<kWidth>(counts[s * m + c], probabilities + s * step);
    by_state[c].fill_lanes();
  }
}

// The same for m states of the column and any width.
inline void weigh_cells(std::span<const double> counts, std::size_t m, const double* probabilities,
                        std::size_t width, std::vector<WeightedCells>& by_state) {
  by_state.resize(m);
  switch (width) {
    case 2:
      return weigh_cells_for<2>(counts, probabilities, width, by_state);
    case 3:
      return weigh_cells_for<3>(counts, probabilities, width, by_state);
    case 4:
      return weigh_cells_for<4>(counts, probabilities, width, by_state);
    default:
      return weigh_cells_for<0>(counts, probabilities, width, by_state);
  }
}

}  // namespace isinglass

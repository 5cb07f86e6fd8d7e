// What field and tables add up to in each cell.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/vectors.hpp"
#include "bits/cell_view.hpp"

namespace isinglass {

// For each state of each column a row of numbers; the scores of a cell are the sum of its states' rows.
struct ScoreRows {
  std::size_t columns, length;
  const std::size_t* begin;  // where the rows of each column, or group of columns, begin
  const double *field, *rows;
};

// A length that the compiler knows makes short loops; zero stands for any.
template <std::size_t kLength, class Code>
ISINGLASS_INLINE inline void add_rows_of(const ScoreRows& by, const Code* codes, std::size_t cells,
                                         double* out) {
  const std::size_t length = kLength ? kLength : by.length;
  for (std::size_t s = 0; s < cells; ++s, codes += by.columns, out += length) {
    double few[kLength + 1];  // stays in registers
    double* sum = kLength ? few : out;
    for (std::size_t a = 0; a < length; ++a) sum[a] = by.field[a];
    for (std::size_t t = 0; t < by.columns; ++t) {
      const double* row = by.rows + (by.begin[t] + codes[t]) * length;
      for (std::size_t a = 0; a < length; ++a) sum[a] += row[a];
    }
    for (std::size_t a = 0; kLength && a < length; ++a) out[a] = sum[a];
  }
}

template <class Code>
ISINGLASS_INLINE inline void add_score_rows_loop(const ScoreRows& by, const Code* codes, std::size_t cells,
                                                 double* out) {
  switch (by.length) {
    case 1:
      return add_rows_of<1>(by, codes, cells, out);
    case 3:
      return add_rows_of<3>(by, codes, cells, out);
    case 4:
      return add_rows_of<4>(by, codes, cells, out);
    case 5:
      return add_rows_of<5>(by, codes, cells, out);
    default:
      return add_rows_of<0>(by, codes, cells, out);
  }
}
template <class Code>
inline constexpr Vectorised<add_score_rows_loop<Code>> add_score_rows;

// The scores of a target's states, the first one's zero; of two states the second one's alone, its logit.
class Scores {
 public:
  // `full`: field and tables against the first states, feature-major.
  Scores(const CellView& view, std::span<const double> full)
      : view_(view), length_(view.width == 2 ? 1 : static_cast<std::size_t>(view.width)) {
    const std::size_t q = static_cast<std::size_t>(view.width) - 1, zeros = length_ - q;
    const double* numbers = full.data();
    const auto add_row = [&](const double* of_states) {
      rows_.resize(rows_.size() + zeros, 0.0);
      rows_.insert(rows_.end(), of_states, of_states + q);
    };
    add_row(numbers);
    if (view.grouped) {
      add_groups(full);
      return;
    }
    for (const int m : view.states) {
      begin_.push_back(rows_.size() / length_);
      rows_.resize(rows_.size() + length_, 0.0);  // the first state's
      for (int c = 1; c < m; ++c) add_row(numbers += q);
    }
  }

  // Of some cells, one after another.
  void of_cells(std::size_t first, std::size_t cells, double* out) const {
    const ScoreRows rows{begin_.size(), length_, begin_.data(), rows_.data(), rows_.data()};
    if (view_.grouped)
      add_score_rows<std::uint32_t>(rows, view_.grouped->active() + first * begin_.size(), cells, out);
    else
      add_score_rows<std::uint8_t>(rows, view_.codes + first * begin_.size(), cells, out);
    if (!view_.offset) return;
    const double* offset = view_.offset + first * static_cast<std::size_t>(view_.width);
    if (length_ == 1)
      for (std::size_t s = 0; s < cells; ++s) out[s] += offset[2 * s + 1] - offset[2 * s];
    else
      for (std::size_t k = 0; k < cells * length_; ++k) out[k] += offset[k];
  }

 private:
  void add_groups(std::span<const double> full) {
    const std::size_t q = static_cast<std::size_t>(view_.width) - 1, zeros = length_ - q,
                      features = view_.grouped->features();
    begin_.assign(view_.grouped->groups(), 1);  // their features are numbered through
    rows_.resize(rows_.size() + features * length_, 0.0);
    for (std::size_t f = 0; f < features; ++f)
      for (const std::size_t part : view_.grouped->parts(f))
        for (std::size_t a = 0; a < q; ++a) rows_[(f + 1) * length_ + zeros + a] += full[part * q + a];
  }

  const CellView& view_;
  std::size_t length_;
  std::vector<std::size_t> begin_;
  std::vector<double> rows_;  // the field, then those of each state of each column, or group
};

}  // namespace isinglass

// The loss of a column in its cells: its value, slopes, curvature, and the probabilities of the target's
// states.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/edge.hpp"
#include "base/lines.hpp"
#include "base/vectors.hpp"
#include "bits/cell_view.hpp"
#include "refit/binary_design.hpp"
#include "refit/cell_sums.hpp"
#include "refit/scores.hpp"

namespace isinglass {

// Field and tables are given against the first states, as one vector: feature-major, the field first. All
// sums are over rows, not divided by n.
class CellLoss {
 public:
  // The view is looked at as long as this lives.
  CellLoss(const CellView& view, const Design& design)
      : view_(view), design_(design), q_(target_parameters(view.width)) {}

  // Probabilities in each cell, and the loss.
  double probabilities(std::span<const double> full, std::vector<double>& out) {
    const std::size_t width = q_ + 1;
    out.resize(view_.cells * width);
    if (binary_) return binary_->probabilities(full, view_.cells, out.data());
    const Scores scores(view_, full);
    if (q_ == 1) return probabilities_of_two(scores, out);
    double loss = 0;
    for (std::size_t s = 0; s < view_.cells; s += kCellBlock)
      loss += block_probabilities(s, scores, &out[s * width]);
    return loss;
  }

  // The loss; adds slopes of all features and, if they are wanted, a block of curvature for each pair of
  // them. And the probabilities, if there is a place for them.
  double sum(std::span<const double> full, double* slopes, double* blocks, std::vector<double>* out) {
    if (!binary_ && BinaryDesign::suits(view_)) binary_.emplace(view_);
    if (out && q_ == 1) probabilities(full, *out);
    if (binary_) return binary_->look(full, slopes, blocks);
    const Scores scores(view_, full);
    if (view_.grouped) return sum_grouped(scores, slopes, blocks, out);
    if (active_.empty()) list_active();
    return q_ == 1 ? sum_two_states(scores, slopes, blocks) : sum_many_states(scores, slopes, blocks, out);
  }

 private:
  double probabilities_of_two(const Scores& scores, std::vector<double>& out) const {
    TwoProbabilities two;
    double loss = 0;
    for (std::size_t first = 0; first < view_.cells; first += kCellBlock) {
      loss += block_probabilities(first, scores, two);
      for (std::size_t s = 0; s < cells_from(first); ++s) {
        const bool second = two.logit[s] > 0;
        out[2 * (first + s) + second] = two.likely[s];
        out[2 * (first + s) + !second] = two.unlikely[s];
      }
    }
    return loss;
  }

  std::size_t cells_from(std::size_t first) const { return std::min(view_.cells - first, kCellBlock); }

  // Loss of a block of cells of a target of two states, and its probabilities there.
  double block_probabilities(std::size_t first, const Scores& scores, TwoProbabilities& two) const {
    const double* counts = view_.counts + 2 * first;
    double rows[kCellBlock], linear[kCellBlock];
    scores.of_cells(first, cells_from(first), two.logit);
    for (std::size_t s = 0; s < cells_from(first); ++s) {
      rows[s] = counts[2 * s] + counts[2 * s + 1];
      linear[s] = (two.logit[s] > 0 ? counts[2 * s] : -counts[2 * s + 1]) * two.logit[s];
    }
    return logits_to_probabilities(cells_from(first), rows, two) + total(linear, cells_from(first));
  }

  // The same for any number of states; the probabilities go to `probability`.
  double block_probabilities(std::size_t first, const Scores& scores, double* probability) const {
    scores.of_cells(first, cells_from(first), probability);
    return scores_to_probabilities(cells_from(first), q_ + 1, view_.counts + first * (q_ + 1), probability);
  }

  // The features that are 1 in each cell, the field first.
  void list_active() {
    const std::size_t columns = design_.edges();
    active_.resize(view_.cells * (columns + 1));
    active_begin_.assign(1, 0);
    std::size_t found = 0;
    for (std::size_t s = 0; s < view_.cells; ++s) {
      active_[found++] = 0;
      for (std::size_t t = 0; t < columns; ++t) {
        const unsigned c = view_.codes[s * columns + t];
        active_[found] = static_cast<std::uint32_t>(design_.first(t)) + c - 1;
        found += c > 0;
      }
      active_begin_.push_back(found);
    }
  }

  double sum_two_states(const Scores& scores, double* slopes, double* blocks) const {
    std::vector<double*> rows;  // of the lower triangle
    for (std::size_t f = 0; blocks && f < design_.features(); ++f) rows.push_back(blocks + f * (f + 1) / 2);
    TwoProbabilities two;
    double value = 0;
    for (std::size_t first = 0; first < view_.cells; first += kCellBlock) {
      value += block_probabilities(first, scores, two);
      for (std::size_t s = 0; s < cells_from(first); ++s) {
        const double *counts = view_.counts + 2 * (first + s), rows_here = counts[0] + counts[1];
        const double off = rows_here * (two.logit[s] > 0 ? two.likely[s] : two.unlikely[s]) - counts[1];
        const double curvature = rows_here * two.likely[s] * two.unlikely[s];
        const std::uint32_t *begin = &active_[active_begin_[first + s]],
                            *end = &active_[0] + active_begin_[first + s + 1];
        for (const std::uint32_t* f = begin; f != end; ++f) slopes[*f] += off;
        if (!blocks) continue;
        for (const std::uint32_t* f = begin; f != end; ++f) {
          double* row = rows[*f];
          for (const std::uint32_t* g = begin; g <= f; ++g) row[*g] += curvature;
        }
      }
    }
    return value;
  }

  double sum_many_states(const Scores& scores, double* slopes, double* blocks,
                         std::vector<double>* out) const {
    const std::size_t width = q_ + 1;
    std::vector<double> room(out ? 0 : kCellBlock * width);
    if (out) out->resize(view_.cells * width);
    double value = 0;
    for (std::size_t s = 0; s < view_.cells; s += kCellBlock) {
      double* const probabilities = out ? &(*out)[s * width] : room.data();
      value += block_probabilities(s, scores, probabilities);
      const GroupedCells* grouped = view_.grouped;
      add_cells({.cells = cells_from(s),
                 .active = grouped ? grouped->active() + s * grouped->groups() : active_.data(),
                 .begin = grouped ? nullptr : &active_begin_[s],
                 .each = grouped ? grouped->groups() : 0,
                 .apart = grouped ? whole_vectors(q_) : q_,
                 .counts = view_.counts + s * width,
                 .probabilities = probabilities,
                 .slopes = slopes,
                 .blocks = blocks},
                q_);
    }
    return value;
  }

  // Sums over cells are made for combinations of states, and handed on to the states.
  double sum_grouped(const Scores& scores, double* slopes, double* blocks, std::vector<double>* out) {
    const GroupedCells& grouped = *view_.grouped;
    const std::size_t features = grouped.features(), size = block_size(q_), apart = whole_vectors(q_);
    grouped_slopes_.assign(features * apart, 0.0);
    if (blocks) grouped_blocks_.assign(features * (features + 1) / 2 * size, 0.0);
    const double value =
        sum_many_states(scores, grouped_slopes_.data(), blocks ? grouped_blocks_.data() : nullptr, out);
    for (std::size_t f = 0; f < features; ++f) {
      if (f < grouped.last(0)) add_few_numbers(slopes, &grouped_slopes_[f * apart], q_);
      for (const std::size_t part : grouped.parts(f))
        add_few_numbers(slopes + part * q_, &grouped_slopes_[f * apart], q_);
    }
    if (blocks) size == 8 ? hand_on_blocks<8>(blocks) : hand_on_blocks<0>(blocks);
    return value;
  }

  // Of a feature with itself: the sum over all features of another group, of which each cell has one.
  std::vector<double> own_block(std::size_t group, std::size_t f) const {
    const GroupedCells& grouped = *view_.grouped;
    const std::size_t size = block_size(q_), other = grouped.groups() == 1 ? group : group == 0 ? 1 : 0;
    std::vector<double> sum(size, 0.0);
    for (std::size_t g = grouped.first(other); g < grouped.last(other); ++g) {
      const std::size_t row = std::max(f, g), column = std::min(f, g);
      if (other != group || f == g)
        add_few<0>(sum.data(), &grouped_blocks_[(row * (row + 1) / 2 + column) * size], size);
    }
    return sum;
  }

  // Two features of one group never go together, but each goes with itself. A size of blocks that the
  // compiler knows makes short loops; zero stands for any.
  template <std::size_t kSize>
  void hand_on_blocks(double* blocks) const {
    const GroupedCells& grouped = *view_.grouped;
    const std::size_t size = kSize ? kSize : block_size(q_);
    const auto block = [&](std::size_t f, std::size_t g) { return (f * (f + 1) / 2 + g) * size; };
    for (std::size_t group = 0; group < grouped.groups(); ++group)
      for (std::size_t f = grouped.first(group); f < grouped.last(group); ++f) {
        const std::vector<double> sum = own_block(group, f);
        const double* own = sum.data();
        const std::span<const std::uint32_t> parts = grouped.parts(f);
        if (group == 0) add_few<kSize>(blocks, own, size);
        for (std::size_t i = 0; i < parts.size(); ++i) {
          add_few<kSize>(blocks + block(parts[i], 0), own, size);
          for (std::size_t j = 0; j <= i; ++j) add_few<kSize>(blocks + block(parts[i], parts[j]), own, size);
        }
        for (std::size_t g = 0; g < grouped.first(group); ++g)
          for (const std::size_t part : parts)
            for (const std::size_t other : grouped.parts(g))
              add_few<kSize>(blocks + block(part, other), &grouped_blocks_[block(f, g)], size);
      }
  }

  static void add_few_numbers(double* to, const double* from, std::size_t count) {
    for (std::size_t a = 0; a < count; ++a) to[a] += from[a];
  }

  const CellView& view_;
  const Design& design_;
  std::size_t q_;
  std::vector<std::uint32_t> active_;  // features that are 1, cell by cell
  std::vector<std::size_t> active_begin_;
  std::optional<BinaryDesign> binary_;  // in their place, where it is small
  std::vector<double> grouped_slopes_;
  LineVector<double> grouped_blocks_;
};

}  // namespace isinglass

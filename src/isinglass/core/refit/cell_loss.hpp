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
#include "refit/grouped_blocks.hpp"
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
      const CellSums sums{cells_from(s), view_.counts + s * width, probabilities, slopes, blocks};
      if (const GroupedCells* grouped = view_.grouped)
        add_grouped(sums, {grouped->active() + s * grouped->groups(), grouped->groups(), grouped->features()},
                    q_);
      else
        add_listed(sums, {active_.data(), &active_begin_[s]}, q_);
    }
    return value;
  }

  // Sums over cells are made for combinations of states, and handed on to the states.
  double sum_grouped(const Scores& scores, double* slopes, double* blocks, std::vector<double>* out) {
    const GroupedCells& grouped = *view_.grouped;
    const std::size_t features = grouped.features(), size = block_size(q_), apart = whole_vectors(q_);
    grouped_slopes_.assign(kSlopeCopies * features * apart, 0.0);
    if (blocks) grouped_blocks_.assign(features * (features + 1) / 2 * size, 0.0);
    const double value =
        sum_many_states(scores, grouped_slopes_.data(), blocks ? grouped_blocks_.data() : nullptr, out);
    double* const all = grouped_slopes_.data();
    for (std::size_t copy = 1; copy < kSlopeCopies; ++copy)
      add_few<0>(all, all + copy * features * apart, features * apart);
    for (std::size_t f = 0; f < features; ++f) {
      if (f < grouped.last(0)) add_few_numbers(slopes, all + f * apart, q_);
      for (const std::size_t part : grouped.parts(f))
        add_few_numbers(slopes + part * q_, all + f * apart, q_);
    }
    if (blocks) hand_on_blocks(grouped, grouped_blocks_.data(), size, blocks);
    return value;
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

// One column given its neighbours: a softmax regression on the cells that its rows fall into.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/rows.hpp"
#include "base/vectors.hpp"
#include "joint/cells.hpp"
#include "joint/contrast_curvature.hpp"
#include "joint/layout.hpp"

namespace isinglass {

// Scores of cells, in rows of so many numbers of which the first m count, become probabilities; the logarithm
// of what they were divided by goes to `logs`.
ISINGLASS_INLINE inline void softmax_loop(double* scores, std::size_t cells, std::size_t width, std::size_t m,
                                          double* logs) {
  for (std::size_t c = 0; c < cells; ++c) {
    double* row = scores + c * width;
    double top = row[0];
    for (std::size_t a = 1; a < m; ++a) top = std::max(top, row[a]);
    for (std::size_t a = 0; a < m; ++a) row[a] -= top;
    logs[c] = top;
  }
  for (std::size_t i = 0; i < cells * width; ++i) scores[i] = exp_of(scores[i]);
  for (std::size_t c = 0; c < cells; ++c) {
    double *row = scores + c * width, total = 0;
    for (std::size_t a = 0; a < m; ++a) total += row[a];
    for (std::size_t a = 0; a < m; ++a) row[a] /= total;
    for (std::size_t a = m; a < width; ++a) row[a] = 0;
    logs[c] += std::log(total);
  }
}
inline constexpr Vectorised<softmax_loop> softmax;

// Its block of numbers is its field, then a table for each neighbour, whose states are *features*: each has a
// number for every state of the column, in a row that is padded to whole vectors here.
class JointConditional {
 public:
  // Rows in which the column or a neighbour is missing (a code beyond its states) do not count.
  JointConditional(const JointLayout& layout, const CodedRows& table, std::size_t r)
      : r_(r),
        m_(layout.states(r)),
        width_(whole_vectors(m_)),
        degree_(layout.edges_of(r).size()),
        observed_(layout.block_size(r), 0.0) {
    std::size_t first = 1;
    for (const auto& edge : layout.edges_of(r)) {
      first_.push_back(first);
      first += layout.states(edge.other);
    }
    const JointCells cells(layout, table, r);
    std::vector<double> counts(cells.first.size() * m_, 0.0);
    for (std::size_t i = 0; i < table.rows; ++i)
      if (cells.seen[i]) counts[cells.of_row[i] * m_ + table.at(i, r)] += table.weights[i];
    for (std::size_t c = 0; c < cells.first.size(); ++c)
      add_cell(layout, table, cells.first[c], &counts[c * m_]);
  }

  std::size_t column() const { return r_; }
  std::size_t states() const { return m_; }
  std::size_t cells() const { return weight_.size(); }
  double weight(std::size_t c) const { return weight_[c]; }
  // The features of a cell, the field first.
  std::span<const std::uint32_t> features(std::size_t c) const {
    return std::span(active_).subspan(c * (degree_ + 1), degree_ + 1);
  }
  // How often each state, and each pair of states: as the block is laid out.
  const double* observed() const { return observed_.data(); }

  // Numbers looked at in a pass over the cells.
  std::size_t numbers() const { return active_.size() * width_; }
  // Bytes of the probabilities of all cells.
  std::size_t bytes() const { return cells() * width_ * sizeof(double); }
  void keep_probabilities() { kept_ = true; }

  bool has_all_states() const {
    return std::all_of(observed_.begin(), observed_.begin() + static_cast<std::ptrdiff_t>(m_),
                       [](double share) { return share > 0; });
  }

  // Moves to some coefficients: the loss there; its slope goes to `slope`.
  double move_to(const double* block, double* slope) {
    pad(block, block_);
    if (kept_) probability_.resize(cells() * width_);
    std::vector<double> expected(block_.size(), 0.0), room(kept_ ? 0 : kChunk * width_),
        scaled(kChunk * width_), logs(kChunk);
    double value = 0;
    for (std::size_t start = 0; start < cells(); start += kChunk) {
      const std::size_t count = std::min(kChunk, cells() - start);
      double* p = kept_ ? &probability_[start * width_] : room.data();
      find_probabilities(start, count, p, logs.data());
      for (std::size_t c = 0; c < count; ++c) {
        const double weight = weight_[start + c];
        value += weight * logs[c];
        for (std::size_t a = 0; a < width_; ++a) scaled[c * width_ + a] = weight * p[c * width_ + a];
      }
      scatter_scores(rows(start, count), scaled.data(), expected.data());
    }
    unpad(expected, slope);
    for (std::size_t i = 0; i < observed_.size(); ++i) {
      value -= observed_[i] * block[i];
      slope[i] -= observed_[i];
    }
    return value;
  }

  // The curvature at the coefficients moved to, times a direction.
  void multiply(const double* direction, double* product) const {
    std::vector<double> along, sums(block_.size(), 0.0);
    pad(direction, along);
    each_chunk([&](std::size_t start, std::size_t count, const double* p) {
      add_curvature_times(rows(start, count), p, &weight_[start], along.data(), sums.data());
    });
    unpad(sums, product);
  }

  // Adds the curvature within the rows of each state of the k-th neighbour: a square matrix of the column's
  // states for each.
  void add_curvature_by_state(std::size_t k, double* matrices) const {
    each_cell([&](std::size_t c, const double* p) {
      double* matrix = matrices + (features(c)[k + 1] - first_[k]) * m_ * m_;
      for (std::size_t a = 0; a < m_; ++a)
        for (std::size_t b = 0; b < m_; ++b)
          matrix[a * m_ + b] += weight_[c] * p[a] * ((a == b ? 1.0 : 0.0) - p[b]);
    });
  }

  // The curvature at the coefficients moved to, in contrasts; see contrast_curvature.hpp.
  std::vector<double> curvature() const {
    std::vector<std::size_t> neighbours;
    for (std::size_t k = 0; k < degree_; ++k)
      neighbours.push_back((k + 1 < degree_ ? first_[k + 1] : observed_.size() / m_) - first_[k]);
    ContrastCurvature sums(m_, neighbours);
    each_cell([&](std::size_t c, const double* p) {
      sums.add(features(c).data(), features(c).size(), weight_[c], p);
    });
    return sums.matrix();
  }

  // Calls visit(cell, probabilities of the column's states there).
  template <class Visit>
  void each_cell(const Visit& visit) const {
    each_chunk([&](std::size_t start, std::size_t count, const double* p) {
      for (std::size_t c = 0; c < count; ++c) visit(start + c, p + c * width_);
    });
  }

 private:
  static constexpr std::size_t kChunk = 128;  // cells that are looked at together

  // One more cell, with the rows of each state of the column; `first` is one of its rows.
  void add_cell(const JointLayout& layout, const CodedRows& table, std::size_t first, const double* counts) {
    active_.push_back(0);
    for (std::size_t k = 0; const auto& edge : layout.edges_of(r_))
      active_.push_back(static_cast<std::uint32_t>(first_[k++] + table.at(first, edge.other)));
    weight_.push_back(0.0);
    for (std::size_t a = 0; a < m_; ++a) weight_.back() += counts[a];
    for (const std::size_t f : features(weight_.size() - 1))
      for (std::size_t a = 0; a < m_; ++a) observed_[f * m_ + a] += counts[a];
  }

  Rows rows(std::size_t start, std::size_t count) const {
    return {count, degree_ + 1, width_, &active_[start * (degree_ + 1)]};
  }

  void pad(const double* block, std::vector<double>& padded) const {
    const std::size_t features = observed_.size() / m_;
    padded.assign(features * width_, 0.0);
    for (std::size_t f = 0; f < features; ++f) std::copy_n(block + f * m_, m_, &padded[f * width_]);
  }

  void unpad(const std::vector<double>& padded, double* block) const {
    for (std::size_t f = 0; f < observed_.size() / m_; ++f)
      std::copy_n(&padded[f * width_], m_, block + f * m_);
  }

  void find_probabilities(std::size_t start, std::size_t count, double* p, double* logs) const {
    gather_scores(rows(start, count), block_.data(), p);
    softmax(p, count, width_, m_, logs);
  }

  // Calls visit(first cell, how many, probabilities of their states).
  template <class Visit>
  void each_chunk(const Visit& visit) const {
    if (kept_) return visit(0, cells(), probability_.data());
    std::vector<double> room(kChunk * width_), logs(kChunk);
    for (std::size_t start = 0; start < cells(); start += kChunk) {
      const std::size_t count = std::min(kChunk, cells() - start);
      find_probabilities(start, count, room.data(), logs.data());
      visit(start, count, room.data());
    }
  }

  std::size_t r_, m_, width_, degree_;
  std::vector<std::size_t> first_;     // feature of each neighbour
  std::vector<double> weight_;         // of each cell
  std::vector<std::uint32_t> active_;  // (cells, degree + 1): the features of each cell
  std::vector<double> observed_;
  std::vector<double> block_;        // the coefficients moved to, padded
  std::vector<double> probability_;  // (cells, width), if kept
  bool kept_ = false;
};

}  // namespace isinglass

// One column given its neighbours: a softmax regression on the cells that its rows fall into.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "joint/cells.hpp"
#include "joint/layout.hpp"

namespace isinglass {

class JointConditional {
 public:
  // Rows in which the column or a neighbour is missing (a code beyond its states) do not count.
  JointConditional(const JointLayout& layout, const CodedRows& table, std::size_t r)
      : r_(r),
        m_(layout.states(r)),
        degree_(layout.edges_of(r).size()),
        observed_(layout.block_size(r), 0.0) {
    std::size_t begin = m_;
    for (const auto& edge : layout.edges_of(r)) {
      begin_.push_back(begin);
      begin += layout.states(edge.other) * m_;
    }
    const JointCells cells(layout, table, r);
    cells_ = cells.first.size();
    weight_.assign(cells_, 0.0);
    std::vector<double> counts(cells_ * m_, 0.0);
    for (std::size_t i = 0; i < table.rows; ++i)
      if (cells.seen[i]) counts[cells.of_row[i] * m_ + table.at(i, r)] += table.weights[i];
    for (std::size_t c = 0; c < cells_; ++c) {
      for (const auto& edge : layout.edges_of(r)) code_.push_back(table.at(cells.first[c], edge.other));
      for (std::size_t a = 0; a < m_; ++a) weight_[c] += counts[c * m_ + a];
      with_states([&](auto states) { add(states, c, &counts[c * m_], 1.0, observed_.data()); });
    }
  }

  std::size_t column() const { return r_; }
  std::size_t states() const { return m_; }
  std::size_t cells() const { return cells_; }
  std::size_t degree() const { return degree_; }
  double weight(std::size_t c) const { return weight_[c]; }
  // Where the numbers of a neighbour's state in a cell stand in the block.
  std::size_t place(std::size_t c, std::size_t k) const { return begin_[k] + code_[c * degree_ + k] * m_; }
  const double* observed() const { return observed_.data(); }

  // Bytes of the probabilities of all cells.
  std::size_t bytes() const { return cells_ * m_ * sizeof(double); }
  void keep_probabilities() { kept_ = true; }

  bool has_all_states() const {
    return std::all_of(observed_.begin(), observed_.begin() + static_cast<std::ptrdiff_t>(m_),
                       [](double share) { return share > 0; });
  }

  // Moves to some coefficients: the loss there; its slope is added up in `slope`.
  double move_to(const double* block, double* slope) {
    block_.assign(block, block + observed_.size());
    if (kept_) probability_.resize(cells_ * m_);
    std::vector<double> expected(observed_.size(), 0.0);
    double value = 0;
    with_states([&](auto states) {
      std::array<double, 256> room;
      for (std::size_t c = 0; c < cells_; ++c) {
        double* p = kept_ ? &probability_[c * m_] : room.data();
        value += weight_[c] * softmax(states, c, p);
        add(states, c, p, weight_[c], expected.data());
      }
    });
    for (std::size_t i = 0; i < observed_.size(); ++i) {
      value -= observed_[i] * block_[i];
      slope[i] = expected[i] - observed_[i];
    }
    return value;
  }

  // The curvature at the coefficients moved to, times a direction.
  void multiply(const double* direction, double* product) const {
    std::fill_n(product, observed_.size(), 0.0);
    with_states([&](auto states) {
      const std::size_t m = count(states);
      std::array<double, 256> room, shift;
      for (std::size_t c = 0; c < cells_; ++c) {
        const double* p = probabilities(states, c, room.data());
        sum(states, c, direction, shift.data());
        double mean = 0;
        for (std::size_t a = 0; a < m; ++a) mean += p[a] * shift[a];
        for (std::size_t a = 0; a < m; ++a) shift[a] = p[a] * (shift[a] - mean);
        add(states, c, shift.data(), weight_[c], product);
      }
    });
  }

  // Adds the curvature at the coefficients moved to: a square matrix of the numbers of the block.
  void add_curvature(double* matrix) const {
    const std::size_t size = observed_.size();
    std::vector<std::size_t> places(degree_ + 1, 0);
    std::vector<double> block(m_ * m_);
    each_cell([&](std::size_t c, const double* p) {
      for (std::size_t a = 0; a < m_; ++a)
        for (std::size_t b = 0; b < m_; ++b)
          block[a * m_ + b] = weight_[c] * p[a] * ((a == b ? 1.0 : 0.0) - p[b]);
      for (std::size_t k = 0; k < degree_; ++k) places[k + 1] = place(c, k);
      for (const std::size_t i : places)
        for (const std::size_t j : places)
          for (std::size_t a = 0; a < m_; ++a)
            for (std::size_t b = 0; b < m_; ++b) matrix[(i + a) * size + j + b] += block[a * m_ + b];
    });
  }

  // Calls visit(cell, probabilities of the column's states there).
  template <class Visit>
  void each_cell(const Visit& visit) const {
    std::array<double, 256> room;
    for (std::size_t c = 0; c < cells_; ++c) visit(c, probabilities(Any{m_}, c, room.data()));
  }

 private:
  // Numbers of states: known when compiled, so that loops unroll, or not.
  template <std::size_t M>
  struct Known {};
  struct Any {
    std::size_t m;
  };
  template <std::size_t M>
  static constexpr std::size_t count(Known<M>) {
    return M;
  }
  static std::size_t count(Any any) { return any.m; }

  template <class Work>
  void with_states(const Work& work) const {
    switch (m_) {
      case 2:
        return work(Known<2>{});
      case 3:
        return work(Known<3>{});
      case 4:
        return work(Known<4>{});
      case 5:
        return work(Known<5>{});
      case 6:
        return work(Known<6>{});
      default:
        return work(Any{m_});
    }
  }

  template <class States>
  void sum(States states, std::size_t c, const double* block, double* total) const {
    const std::size_t m = count(states);
    for (std::size_t a = 0; a < m; ++a) total[a] = block[a];
    for (std::size_t k = 0; k < degree_; ++k) {
      const double* table = block + begin_[k] + code_[c * degree_ + k] * m;
      for (std::size_t a = 0; a < m; ++a) total[a] += table[a];
    }
  }

  template <class States>
  void add(States states, std::size_t c, const double* numbers, double factor, double* block) const {
    const std::size_t m = count(states);
    std::array<double, 256> scaled;
    for (std::size_t a = 0; a < m; ++a) scaled[a] = factor * numbers[a];
    for (std::size_t a = 0; a < m; ++a) block[a] += scaled[a];
    for (std::size_t k = 0; k < degree_; ++k) {
      double* table = block + begin_[k] + code_[c * degree_ + k] * m;
      for (std::size_t a = 0; a < m; ++a) table[a] += scaled[a];
    }
  }

  // Probabilities of the column's states in a cell; returns the logarithm of what they were divided by.
  template <class States>
  double softmax(States states, std::size_t c, double* p) const {
    const std::size_t m = count(states);
    sum(states, c, block_.data(), p);
    double top = p[0];
    for (std::size_t a = 1; a < m; ++a) top = std::max(top, p[a]);
    double total = 0;
    for (std::size_t a = 0; a < m; ++a) total += p[a] = std::exp(p[a] - top);
    for (std::size_t a = 0; a < m; ++a) p[a] /= total;
    return top + std::log(total);
  }

  template <class States>
  const double* probabilities(States states, std::size_t c, double* room) const {
    if (kept_) return &probability_[c * m_];
    softmax(states, c, room);
    return room;
  }

  std::size_t r_, m_, degree_, cells_ = 0;
  std::vector<double> weight_;       // of each cell
  std::vector<std::size_t> begin_;   // where each neighbour's table begins in the block
  std::vector<std::uint8_t> code_;   // (cells, degree): the neighbours' states
  std::vector<double> observed_;     // how often each state, and each pair of states
  std::vector<double> block_;        // the coefficients moved to
  std::vector<double> probability_;  // (cells, m), if kept
  bool kept_ = false;
};

}  // namespace isinglass

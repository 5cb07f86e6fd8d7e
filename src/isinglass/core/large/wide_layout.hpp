// Numbers of a large refit: every state of every column has its own, the first one too, and the field
// besides.
//
// That is more than is needed, and makes steps easy: two states of one column never meet in a cell, and a
// cell touches one row of numbers per column, whatever its states.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/rows.hpp"
#include "base/vectors.hpp"
#include "bits/cell_view.hpp"

namespace isinglass {

// A feature is the field, or a state of a column; it has a number for each state of the target but the
// first, in a row padded to whole vectors.
class WideLayout {
 public:
  WideLayout(const CellView& view, double n) : view_(view), q_(static_cast<std::size_t>(view.width - 1)) {
    row_ = whole_vectors(q_);
    for (const int m : view_.states) {
      first_.push_back(features_);
      features_ += static_cast<std::size_t>(m);
    }
    list_active(n);
    find_commonest();
  }

  const CellView& view() const { return view_; }
  std::size_t columns() const { return first_.size(); }
  std::size_t states(std::size_t t) const { return static_cast<std::size_t>(view_.states[t]); }
  std::size_t numbers() const { return q_; }  // of a feature
  std::size_t row() const { return row_; }    // the same, padded
  std::size_t features() const { return features_; }
  std::size_t size() const { return features_ * row_; }
  std::size_t first(std::size_t t) const { return first_[t]; }              // feature of the first state
  const std::vector<std::size_t>& commonest() const { return commonest_; }  // feature of each column's
  const std::vector<double>& shares() const { return share_; }              // of the rows, cell by cell
  std::span<const std::uint32_t> active(std::size_t cell) const {           // its features, the field first
    return std::span(active_).subspan(cell * (columns() + 1), columns() + 1);
  }
  Rows rows() const { return {view_.cells, columns() + 1, row_, active_.data()}; }

  // From numbers against the first states, field, then tables; and back.
  std::vector<double> widened(std::span<const double> x) const {
    std::vector<double> u(size(), 0.0);
    const double* from = x.data();
    const auto take = [&](std::size_t feature) {
      std::copy_n(from, q_, &u[feature * row_]);
      from += q_;
    };
    take(0);
    for (std::size_t t = 0; t < columns(); ++t)
      for (std::size_t c = 1; c < states(t); ++c) take(first_[t] + c);
    return u;
  }

  std::vector<double> narrowed(std::span<const double> u) const {
    std::vector<double> x(u.begin(), u.begin() + static_cast<std::ptrdiff_t>(q_));
    for (std::size_t t = 0; t < columns(); ++t) {
      const double* base = &u[first_[t] * row_];
      for (std::size_t a = 0; a < q_; ++a) x[a] += base[a];
      for (std::size_t c = 1; c < states(t); ++c)
        for (std::size_t a = 0; a < q_; ++a) x.push_back(base[c * row_ + a] - base[a]);
    }
    return x;
  }

  // A number for every state of a column is as good as one for the field, so slopes along the states
  // add up to that along the field. What rounding adds to that is taken from the commonest state.
  void make_consistent(std::vector<double>& slopes) const {
    for (std::size_t t = 0; t < columns(); ++t) {
      double* common = &slopes[commonest_[t] * row_];
      for (std::size_t a = 0; a < q_; ++a) {
        double excess = -slopes[a];
        for (std::size_t c = 0; c < states(t); ++c) excess += slopes[(first_[t] + c) * row_ + a];
        common[a] -= excess;
      }
    }
  }

  // Adds a factor times column t's table between its first m states in the zero-sum gauge. Returns the
  // product of both.
  double add_gauged(std::span<const double> u, std::size_t t, std::size_t m, double factor,
                    std::vector<double>& out) const {
    const double* table = &u[first_[t] * row_];
    const auto fewer = 1.0 / static_cast<double>(m), narrower = 1.0 / static_cast<double>(q_ + 1);
    std::vector<double> means(q_, 0.0);  // over the column's states
    for (std::size_t c = 0; c < m; ++c)
      for (std::size_t a = 0; a < q_; ++a) means[a] += fewer * table[c * row_ + a];
    double overall = 0, product = 0;
    for (const double mean : means) overall += narrower * mean;
    for (std::size_t c = 0; c < m; ++c) {
      const double* row = table + c * row_;
      double mean = 0;
      for (std::size_t a = 0; a < q_; ++a) mean += narrower * row[a];
      for (std::size_t a = 0; a < q_; ++a) {
        const double slope = factor * (row[a] - means[a] - mean + overall);
        out[(first_[t] + c) * row_ + a] += slope;
        product += row[a] * slope;
      }
    }
    return product;
  }

 private:
  void list_active(double n) {
    active_.reserve(view_.cells * (columns() + 1));
    for (std::size_t s = 0; s < view_.cells; ++s) {
      active_.push_back(0);
      for (std::size_t t = 0; t < columns(); ++t)
        active_.push_back(static_cast<std::uint32_t>(first_[t] + view_.codes[s * columns() + t]));
      double rows = 0;
      for (std::size_t a = 0; a <= q_; ++a) rows += view_.counts[s * (q_ + 1) + a];
      share_.push_back(rows / n);
    }
  }

  void find_commonest() {
    std::vector<double> rows(features_, 0.0);
    for (std::size_t s = 0; s < view_.cells; ++s)
      for (const std::uint32_t feature : active(s)) rows[feature] += share_[s];
    for (std::size_t t = 0; t < columns(); ++t) {
      const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first_[t]);
      const auto most = std::max_element(begin, begin + view_.states[t]);
      commonest_.push_back(static_cast<std::size_t>(most - rows.begin()));
    }
  }

  CellView view_;
  std::size_t q_, row_ = 0, features_ = 1;
  std::vector<std::size_t> first_, commonest_;
  std::vector<std::uint32_t> active_;
  std::vector<double> share_;
};

}  // namespace isinglass

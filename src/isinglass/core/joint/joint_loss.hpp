// Minus the pseudo-log-likelihood of a pairwise model per row, plus a ridge: all columns given their
// neighbours, one table per edge that both its ends share. Value, slope, products with the curvature, and a
// preconditioner; who minimises it is in Python.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "joint/column_solver.hpp"
#include "joint/conditional.hpp"
#include "joint/layout.hpp"

namespace isinglass {

class JointLoss {
 public:
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

  // `memory`: bytes that may be kept; what does not fit is computed again, or done without. The last
  // `adjusted` columns are given, and not explained.
  JointLoss(const CodedRows& table, std::span<const int> states, const Pairs& edges, double ridge,
            bool intercept, double memory, unsigned threads, std::size_t adjusted)
      : layout_(states, edges), ridge_(ridge), intercept_(intercept), threads_(std::max(threads, 1u)) {
    std::vector<std::size_t> varying;
    for (std::size_t r = 0; r < layout_.columns() - adjusted; ++r)
      if (layout_.states(r) > 1) varying.push_back(r);
    std::vector<std::unique_ptr<JointConditional>> made(varying.size());
    share_out(varying.size(), threads_, [&](std::size_t k) {
      made[k] = std::make_unique<JointConditional>(layout_, table, varying[k]);
    });
    double kept = 0;
    solver_of_.assign(layout_.columns(), kNone);
    for (auto& column : made) {
      kept += static_cast<double>(column->bytes());
      if (kept <= memory / 2) column->keep_probabilities();
      solver_of_[column->column()] = columns_.size();
      columns_.push_back(std::move(*column));
    }
    for (const JointConditional& column : columns_) numbers_ += column.numbers();
    pass_threads_ = numbers_ < kWorthThreads ? 1 : threads_;
    make_solvers(memory / 2);
    blocks_.resize(columns_.size());
    for (std::size_t k = 0; k < columns_.size(); ++k)
      blocks_[k].resize(layout_.block_size(columns_[k].column()));
  }

  std::size_t size() const { return layout_.size(); }
  std::size_t columns() const { return layout_.columns(); }

  // Value and slope at some numbers; products and easing are then about this place.
  double move_to(std::span<const double> numbers, std::span<double> slope) {
    std::vector<double> at(numbers.begin(), numbers.end());
    if (!intercept_) hold_fields(at.data());
    std::vector<double> values(columns_.size());
    share_out(columns_.size(), pass_threads_, [&](std::size_t k) {
      std::vector<double> block(blocks_[k].size());
      layout_.gather(columns_[k].column(), at.data(), block.data());
      values[k] = columns_[k].move_to(block.data(), blocks_[k].data());
    });
    collect(slope.data());
    double value = 0;
    for (const double part : values) value += part;
    std::vector<double> pull(size(), 0.0);
    add_ridge(at.data(), pull.data());
    for (std::size_t i = 0; i < size(); ++i) {
      value += 0.5 * pull[i] * at[i];
      slope[i] += pull[i];
    }
    if (!intercept_) hold_fields(slope.data());
    moved_ = std::move(at);
    return value;
  }

  // The curvature and the damping, times a direction.
  void multiply(std::span<const double> direction, std::span<double> product) {
    std::vector<double> along(direction.begin(), direction.end());
    if (!intercept_) hold_fields(along.data());
    share_out(columns_.size(), pass_threads_, [&](std::size_t k) {
      std::vector<double> block(blocks_[k].size());
      layout_.gather(columns_[k].column(), along.data(), block.data());
      columns_[k].multiply(block.data(), blocks_[k].data());
    });
    collect(product.data());
    add_ridge(along.data(), product.data());
    for (std::size_t i = 0; i < size(); ++i) product[i] += damping_ * along[i];
    if (!intercept_) hold_fields(product.data());
  }

  // The share of all rows with each state of each column, where it and its neighbours are seen; of constant
  // columns, nothing.
  std::vector<double> shares() const {
    std::vector<double> shares(layout_.fields_end(), 0.0);
    for (const JointConditional& column : columns_)
      std::copy_n(column.observed(), column.states(), &shares[layout_.field(column.column())]);
    return shares;
  }

  // The curvature of one column's loss alone, without the ridge, where the last move led: between contrasts
  // of its states within those of each neighbour's, the field first; row by row. Empty for a constant column.
  std::vector<double> curvature_of(std::size_t r) const {
    return solver_of_[r] == kNone ? std::vector<double>() : columns_[solver_of_[r]].curvature();
  }

  // The curvature of one column's loss in the states of one of its neighbours: for each of these, a square
  // matrix of the column's states. Tables of other neighbours and the ridge are left out.
  std::vector<double> curvature_by_state(std::size_t r, std::size_t t) const {
    const auto& edges = layout_.edges_of(r);
    const auto at = std::ranges::find(edges, t, &JointLayout::Edge::other);
    if (solver_of_[r] == kNone || at == edges.end()) return {};
    std::vector<double> matrices(layout_.states(t) * layout_.states(r) * layout_.states(r), 0.0);
    columns_[solver_of_[r]].add_curvature_by_state(static_cast<std::size_t>(at - edges.begin()),
                                                   matrices.data());
    return matrices;
  }

  // Numbers that a product looks at.
  std::size_t numbers() const { return numbers_; }

  // Products are with the curvature and this on its diagonal; the preconditioner waits until it is renewed.
  void damp(double damping) {
    if (damping != damping_) looked_.assign(looked_.size(), {});
    damping_ = damping;
  }

  // Looks again at the columns whose numbers have moved since the preconditioner looked at them; at all of
  // them if the damping, which adds to the curvature of every number, is another one.
  void renew(double damping) {
    damp(damping);
    std::vector<std::size_t> moved;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      std::vector<double> block(blocks_[k].size());
      layout_.gather(columns_[k].column(), moved_.data(), block.data());
      const bool near =
          !looked_[k].empty() && std::equal(block.begin(), block.end(), looked_[k].begin(),
                                            [](double a, double b) { return std::abs(a - b) <= kMoved; });
      if (near) continue;
      moved.push_back(k);
      looked_[k] = std::move(block);
    }
    share_out(moved.size(), threads_, [&](std::size_t i) { solvers_[moved[i]].look_at(columns_[moved[i]]); });
    share_out(moved.size(), threads_,
              [&](std::size_t i) { solvers_[moved[i]].finish(other_ends(moved[i])); });
  }

  // About the inverse of the curvature, times a slope. What comes out is in the zero-sum gauge, so that steps
  // have no part in directions that change nothing.
  void ease(std::span<const double> slope, std::span<double> eased) {
    std::vector<double> wide(slope.begin(), slope.end());
    intercept_ ? layout_.to_gauge_transposed(wide.data()) : hold_fields(wide.data());
    share_out(columns_.size(), pass_threads_, [&](std::size_t k) {
      layout_.gather(columns_[k].column(), wide.data(), blocks_[k].data());
      solvers_[k].ease(blocks_[k].data());
    });
    collect(eased.data());
    intercept_ ? layout_.to_gauge(eased.data()) : hold_fields(eased.data());
  }

 private:
  static constexpr double kMoved = 0.3;    // a column is looked at again when one of its numbers moves so far
  static constexpr double kLeast = 1e-12;  // curvature that every number has at least: a field has no ridge
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr std::size_t kWorthThreads = 500'000;  // numbers of a pass that takes longer than a thread

  // The columns with the smallest matrices get them, as far as memory goes.
  void make_solvers(double memory) {
    std::vector<std::size_t> order(columns_.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    const auto needed = [&](std::size_t k) {
      return ColumnSolver::bytes(columns_[k].states(), layout_.block_size(columns_[k].column()));
    };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return needed(a) < needed(b); });
    std::vector<bool> whole(columns_.size());
    double taken = 0;
    for (const std::size_t k : order) whole[k] = (taken += static_cast<double>(needed(k))) <= memory;
    for (std::size_t k = 0; k < columns_.size(); ++k)
      solvers_.emplace_back(columns_[k], layout_.block_size(columns_[k].column()), whole[k]);
    looked_.resize(columns_.size());
  }

  void collect(double* vector) const {
    std::fill_n(vector, size(), 0.0);
    for (std::size_t k = 0; k < columns_.size(); ++k)
      layout_.scatter(columns_[k].column(), blocks_[k].data(), vector);
  }

  // Without intercepts there are no fields, and tables say nothing of one column alone.
  void hold_fields(double* vector) const {
    std::fill_n(vector, layout_.fields_end(), 0.0);
    layout_.each_table(vector, centre);
  }

  // The ridge pulls at what a table says of both columns together; and at the field of a column with a state
  // in no row, which nothing else holds.
  void add_ridge(const double* at, double* pull) const {
    std::vector<double> tables(at, at + size());
    layout_.each_table(tables.data(), centre);
    for (std::size_t i = layout_.fields_end(); i < size(); ++i) pull[i] += ridge_ * tables[i];
    if (!intercept_) return;
    for (const JointConditional& column : columns_)
      if (!column.has_all_states()) add_ridge_of_field(column.column(), at, pull);
  }

  // Of the field in the zero-sum gauge, where tables have given up what they say of this column alone.
  void add_ridge_of_field(std::size_t r, const double* at, double* pull) const {
    const std::size_t m = layout_.states(r);
    std::vector<double> block(layout_.block_size(r)), field(m, 0.0);
    layout_.gather(r, at, block.data());
    const auto each = [&](const auto& visit) {  // numbers of the block, and their part in the field
      std::size_t place = 0;
      for (std::size_t a = 0; a < m; ++a) visit(place++, a, 1.0);
      for (const auto& edge : layout_.edges_of(r)) {
        const std::size_t others = layout_.states(edge.other);
        for (std::size_t s = 0; s < others; ++s)
          for (std::size_t a = 0; a < m; ++a) visit(place++, a, 1.0 / static_cast<double>(others));
      }
    };
    each([&](std::size_t place, std::size_t a, double part) { field[a] += part * block[place]; });
    double mean = 0;
    for (const double number : field) mean += number / static_cast<double>(m);
    each([&](std::size_t place, std::size_t a, double part) {
      block[place] = ridge_ * part * (field[a] - mean);
    });
    layout_.scatter(r, block.data(), pull);
  }

  // What the other ends of a column's edges, the ridge and the least curvature add to its diagonal.
  std::vector<double> other_ends(std::size_t k) const {
    const std::size_t r = columns_[k].column(), m = columns_[k].states();
    std::vector<double> extra(m, kLeast + damping_);
    for (const auto& edge : layout_.edges_of(r)) {
      const std::size_t others = layout_.states(edge.other);
      const double* spread = solver_of_[edge.other] == kNone ? nullptr : spread_of(edge.other, r);
      for (std::size_t s = 0; s < others; ++s)
        for (std::size_t a = 0; a < m; ++a)
          extra.push_back(ridge_ + kLeast + damping_ + (spread ? spread[a * others + s] : 0.0));
    }
    return extra;
  }

  // The diagonal of column t's curvature for its edge with r: r's states in rows.
  const double* spread_of(std::size_t t, std::size_t r) const {
    std::size_t begin = layout_.states(t);
    for (const auto& edge : layout_.edges_of(t)) {
      if (edge.other == r) break;
      begin += layout_.states(edge.other) * layout_.states(t);
    }
    return &solvers_[solver_of_[t]].spread()[begin];
  }

  JointLayout layout_;
  double ridge_, damping_ = 0;
  bool intercept_;
  unsigned threads_, pass_threads_ = 1;
  std::size_t numbers_ = 0;
  std::vector<JointConditional> columns_;
  std::vector<ColumnSolver> solvers_;
  std::vector<std::size_t> solver_of_;
  std::vector<std::vector<double>> blocks_;  // of each column: what the last call left for `collect`
  std::vector<std::vector<double>> looked_;  // the numbers at which the preconditioner looked at each column
  std::vector<double> moved_;
};

}  // namespace isinglass

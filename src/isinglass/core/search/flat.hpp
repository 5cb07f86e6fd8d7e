// Results as flat arrays, in the zero-sum gauge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/edge.hpp"
#include "refit/fitter.hpp"
#include "search/path.hpp"

namespace isinglass {

// Fit 0 of a column is its start, fit i the one after step i; fits of all columns stand in a row.
struct Flat {
  std::vector<std::int64_t> fit_begin{0};  // of each column
  std::vector<std::int64_t> stop, evaluated;
  std::vector<std::uint8_t> add;       // of each fit: whether the step before it was forward
  std::vector<std::int64_t> variable;  // of each fit
  std::vector<double> change, loss;    // of each fit
  std::vector<std::int64_t> support_begin{0}, support;
  std::vector<std::uint8_t> unbounded, small;  // beside support: the latter are no whole tables
  std::vector<std::int64_t> number_begin{0};
  std::vector<double> numbers;  // the field, then the table of each neighbour, row by row
};

class Flattener {
 public:
  explicit Flattener(const Table& table) : table_(table) {}

  Flat flatten(const std::vector<std::size_t>& targets, const std::vector<NodePath>& results) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const NodePath& path = results[i];
      append(targets[i], path.start, true, 0, 0.0);
      for (std::size_t k = 0; k < path.steps.size(); ++k) {
        const NodeStep& step = path.steps[k];
        append(targets[i], step.fit, step.add, step.variable, step.change);
      }
      flat_.fit_begin.push_back(static_cast<std::int64_t>(flat_.loss.size()));
      flat_.stop.push_back(static_cast<std::int64_t>(path.stop));
      flat_.evaluated.push_back(path.evaluated);
    }
    return std::move(flat_);
  }

 private:
  void append(std::size_t r, const NodeFit& fit, bool add, std::size_t variable, double change) {
    flat_.add.push_back(add);
    flat_.variable.push_back(static_cast<std::int64_t>(variable));
    flat_.change.push_back(change);
    flat_.loss.push_back(fit.loss);
    append_numbers(r, fit);
    flat_.support_begin.push_back(static_cast<std::int64_t>(flat_.support.size()));
    flat_.number_begin.push_back(static_cast<std::int64_t>(flat_.numbers.size()));
  }

  // Tables lose their means, by row and by column; the field takes those of the rows, and is centred.
  void append_numbers(std::size_t r, const NodeFit& fit) {
    const auto width = static_cast<std::size_t>(table_.states(r)), q = width - 1;
    std::vector<double> field(width, 0.0);
    for (std::size_t a = 0; a < q && !fit.parameters.empty(); ++a) field[a + 1] = fit.parameters[a];
    std::vector<std::vector<double>> tables;
    const Design design = design_of(table_, fit.support);
    for (std::size_t i = 0; i < fit.support.size(); ++i) {
      const auto m = static_cast<std::size_t>(table_.states(fit.support[i]));
      const std::size_t first = design.first(i);
      std::vector<double> table(width * m, 0.0);
      for (std::size_t c = 1; c < m; ++c)
        for (std::size_t a = 0; a < q; ++a) table[(a + 1) * m + c] = fit.parameters[(first + c - 1) * q + a];
      centre(table, width, m, field);
      tables.push_back(std::move(table));
    }
    const double mean = std::accumulate(field.begin(), field.end(), 0.0) / static_cast<double>(width);
    for (double& number : field) number -= mean;
    flat_.numbers.insert(flat_.numbers.end(), field.begin(), field.end());
    std::vector<std::size_t> order(fit.support.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return fit.support[a] < fit.support[b]; });
    for (const std::size_t i : order) {
      flat_.support.push_back(static_cast<std::int64_t>(fit.support[i]));
      flat_.unbounded.push_back(static_cast<std::uint8_t>(fit.unbounded[i]));
      flat_.small.push_back(fit.form(i) == Form::small);
      flat_.numbers.insert(flat_.numbers.end(), tables[i].begin(), tables[i].end());
    }
  }

  static void centre(std::vector<double>& table, std::size_t width, std::size_t m,
                     std::vector<double>& field) {
    for (std::size_t a = 0; a < width; ++a) {
      const double mean = std::accumulate(&table[a * m], &table[a * m] + m, 0.0) / static_cast<double>(m);
      for (std::size_t c = 0; c < m; ++c) table[a * m + c] -= mean;
      field[a] += mean;
    }
    for (std::size_t c = 0; c < m; ++c) {
      double mean = 0;
      for (std::size_t a = 0; a < width; ++a) mean += table[a * m + c] / static_cast<double>(width);
      for (std::size_t a = 0; a < width; ++a) table[a * m + c] -= mean;
    }
  }

  const Table& table_;
  Flat flat_;
};

}  // namespace isinglass

// The fit of a column on its neighbours, from the cells of their states.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/edge.hpp"
#include "bits/cells.hpp"
#include "refit/refit.hpp"

namespace isinglass {

// The minimiser over a support, against the first states: the field, then one block per column.
struct NodeFit {
  std::vector<std::size_t> support;  // in the order of the blocks
  std::vector<double> parameters;
  std::vector<char> unbounded;
  double loss = 0;
};

// The same with what a search asks of it, which takes a number for each cell and is soon made again.
struct CurrentFit : NodeFit {
  std::vector<double> probabilities;  // cells x states of the target
  std::vector<double> least_costs;    // what removing each column costs at least, raw
  std::vector<double> responses;      // where the field then goes, about; or nothing
};

// Where the features of each column of a support stand.
inline Design design_of(const Table& table, std::span<const std::size_t> support) {
  std::vector<int> states;
  for (const std::size_t t : support) states.push_back(table.states(t));
  return Design(states);
}

class Fitter {
 public:
  Fitter(const Table& table, bool intercept) : table_(table), intercept_(intercept) {}

  // The minimiser over the support of the cells. It starts from a nearby fit, if there is one, and from
  // the shifts that the best table of a new column alone would make.
  CurrentFit minimise(const Cells& cells, const NodeFit* near = nullptr,
                      std::span<const double> shifts = {}) const {
    CurrentFit fit;
    fit.support = cells.support();
    if (cells.width() < 2) {
      fit.probabilities.assign(cells.size(), 1.0);
      return fit;
    }
    Refit problem(cells.view(), table_.n(), intercept_, kRidge);
    std::vector<double> x = start(cells, near, shifts);
    problem.minimise(x, kTolerance);
    fit.parameters = problem.expand(x);
    fit.loss = problem.probabilities(fit.parameters, fit.probabilities);
    fit.unbounded = problem.held_by_ridge(x);
    fit.least_costs = problem.least_removal_costs(x);
    fit.responses = problem.field_responses(x);
    return fit;
  }

  // A fit that was kept, with its probabilities; the cells are those of its support.
  CurrentFit restore(const Cells& cells, const NodeFit& kept) const {
    CurrentFit fit{kept, {}, {}, {}};
    Refit(cells.view(), table_.n(), intercept_, kRidge).probabilities(fit.parameters, fit.probabilities);
    return fit;
  }

 private:
  static constexpr double kTolerance = 1e-18;

  std::vector<double> start(const Cells& cells, const NodeFit* near, std::span<const double> shifts) const {
    const std::size_t q = cells.width() - 1;
    std::vector<double> x(intercept_ ? q : 0, 0.0);
    for (std::size_t a = 0; near && a < x.size(); ++a)
      x[a] = near->parameters[a] + (shifts.empty() ? 0.0 : shifts[a]);
    for (const std::size_t t : cells.support()) {
      const std::size_t length = degrees_of_freedom(table_.states(cells.target()), table_.states(t)),
                        at = x.size();
      x.resize(at + length, 0.0);
      const std::size_t i = near ? position(*near, t) : 0;
      if (near && i < near->support.size()) {
        const std::size_t first = design_of(table_, near->support).first(i) * q;
        std::copy_n(near->parameters.begin() + static_cast<std::ptrdiff_t>(first), length,
                    x.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        for (std::size_t k = 0; k < length && !shifts.empty(); ++k) x[at + k] = shifts[q + k] - shifts[k % q];
      }
    }
    return x;
  }

  static std::size_t position(const NodeFit& fit, std::size_t column) {
    return static_cast<std::size_t>(std::ranges::find(fit.support, column) - fit.support.begin());
  }

  const Table& table_;
  bool intercept_;
};

}  // namespace isinglass

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
  std::vector<Form> forms = {};      // of each; all are whole tables, if there are none
  std::vector<double> parameters;
  std::vector<char> unbounded;
  double loss = 0;

  Form form(std::size_t i) const { return forms.empty() ? Form::table : forms[i]; }
};

// What a forward step begins its refit with: what its column alone would add to the scores of each of its
// states, relative to the first state of the target.
struct Added {
  std::size_t column = static_cast<std::size_t>(-1);
  std::vector<double> shifts = {};
};

// The same with what a search asks of it, which takes a number for each cell and is soon made again.
struct CurrentFit : NodeFit {
  std::vector<std::size_t> upgraded;        // neighbours whose small edge became a table by a step of its own
  std::vector<double> probabilities;        // cells x states of the target
  std::vector<double> least_costs;          // what removing each column costs at least, raw
  std::vector<double> least_upgrade_costs;  // what making its table a smaller form does
  std::vector<double> responses;            // where the field then goes, about; or nothing

  bool is_upgraded(std::size_t column) const { return std::ranges::find(upgraded, column) != upgraded.end(); }
  // Variables of the support: an edge that was upgraded is two.
  std::size_t size() const { return support.size() + upgraded.size(); }
};

// Where the features of each column of a support stand.
inline Design design_of(const Table& table, std::span<const std::size_t> support) {
  std::vector<int> states;
  for (const std::size_t t : support) states.push_back(table.states(t));
  return Design(states);
}

class Fitter {
 public:
  Fitter(const Table& table, bool intercept, const Forms* forms = nullptr)
      : table_(table), intercept_(intercept), forms_(forms) {}

  // The minimiser over the support of the cells, whose edges have these forms, or else are whole tables. It
  // starts from a nearby fit, if there is one, and from what a new column adds. Tables of `upgraded` columns
  // may become smaller forms again.
  CurrentFit minimise(const Cells& cells, std::vector<Form> forms = {}, const NodeFit* near = nullptr,
                      const Added& added = {}, std::vector<std::size_t> upgraded = {}) const {
    CurrentFit fit;
    fit.support = cells.support();
    fit.forms = std::move(forms);
    fit.upgraded = std::move(upgraded);
    if (cells.width() < 2) {
      fit.probabilities.assign(cells.size(), 1.0);
      return fit;
    }
    CellView view = cells.view();
    set_designs(view, forms_, cells.target(), cells.support(), fit.forms);
    Refit problem(view, table_.n(), intercept_, kRidge);
    std::vector<double> x = start(view, cells, near, added);
    problem.minimise(x, kTolerance);
    fit.parameters = problem.expand(x);
    fit.loss = problem.probabilities(fit.parameters, fit.probabilities);
    fit.unbounded = problem.held_by_ridge(x);
    std::vector<const SmallDesign*> smaller(fit.support.size(), nullptr);
    for (std::size_t i = 0; i < smaller.size(); ++i)
      if (fit.is_upgraded(fit.support[i])) smaller[i] = &forms_->design(cells.target(), fit.support[i]);
    LeastCosts least = problem.least_costs(x, smaller);
    fit.least_costs = std::move(least.whole);
    fit.least_upgrade_costs = std::move(least.upgrade);
    fit.responses = problem.field_responses(x);
    return fit;
  }

  // A fit that was kept, with its probabilities; the cells are those of its support.
  CurrentFit restore(const Cells& cells, const NodeFit& kept) const {
    CurrentFit fit{kept, {}, {}, {}, {}, {}};
    Refit(cells.view(), table_.n(), intercept_, kRidge).probabilities(fit.parameters, fit.probabilities);
    return fit;
  }

 private:
  static constexpr double kTolerance = 1e-18;

  std::vector<double> start(const CellView& view, const Cells& cells, const NodeFit* near,
                            const Added& added) const {
    const std::size_t q = cells.width() - 1;
    const std::vector<double>& shifts = added.shifts;
    std::vector<double> x(intercept_ ? q : 0, 0.0), table;
    for (std::size_t a = 0; near && a < x.size(); ++a)
      x[a] = near->parameters[a] + (shifts.empty() ? 0.0 : shifts[a]);
    for (std::size_t at = 0; at < cells.support().size(); ++at) {
      const std::size_t t = cells.support()[at],
                        length = degrees_of_freedom(table_.states(cells.target()), table_.states(t));
      table.assign(length, 0.0);
      const std::size_t i = near ? position(*near, t) : 0;
      if (near && i < near->support.size()) {
        const std::size_t first = design_of(table_, near->support).first(i) * q;
        std::copy_n(near->parameters.begin() + static_cast<std::ptrdiff_t>(first), length, table.begin());
      }
      if (t == added.column)
        for (std::size_t k = 0; k < length && !shifts.empty(); ++k) table[k] += shifts[q + k] - shifts[k % q];
      const SmallDesign* small = view.design(at);
      const std::size_t end = x.size();
      x.resize(end + (small ? small->size : length));
      if (small)
        small->project(table.data(), &x[end]);
      else
        std::copy(table.begin(), table.end(), x.begin() + static_cast<std::ptrdiff_t>(end));
    }
    return x;
  }

  static std::size_t position(const NodeFit& fit, std::size_t column) {
    return static_cast<std::size_t>(std::ranges::find(fit.support, column) - fit.support.begin());
  }

  const Table& table_;
  bool intercept_;
  const Forms* forms_;
};

}  // namespace isinglass

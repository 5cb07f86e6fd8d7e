// One end of an edge: a column fitted on its neighbours, and asked what it loses without one of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/edge.hpp"
#include "base/eigen.hpp"
#include "base/linear.hpp"
#include "base/rows.hpp"
#include "base/vectors.hpp"
#include "bits/cells.hpp"
#include "ends/edge_score.hpp"
#include "ends/inverse.hpp"
#include "ends/rows_left.hpp"
#include "refit/deviance.hpp"
#include "refit/fitter.hpp"
#include "refit/minimum.hpp"
#include "refit/quasi_newton.hpp"
#include "refit/refit.hpp"

namespace isinglass {

class End {
 public:
  // `start` are free parameters near the minimum, or nothing; `forms` are those of the neighbours' edges,
  // whole tables if there are none.
  End(const Table& table, const Conditional& conditional, Cells& cells, std::size_t target,
      const std::vector<std::size_t>& neighbours, std::vector<Form> forms = {},
      std::vector<double> start = {})
      : table_(&table),
        intercept_(conditional.intercept),
        forms_(conditional.forms),
        target_(target),
        neighbours_(neighbours),
        of_edges_(std::move(forms)) {
    if (neighbours.empty()) return;
    take_cells(cells);
    fit(std::move(start));
  }

  // The column without its i-th neighbour, whose fit without it is known. As long as few have left, the
  // curvature is that of the fit with all of them, and so are the cells, which may then be finer than need
  // be.
  static End without(End before, std::size_t i, const EdgeScore& known, Cells& cells) {
    std::vector<double> x = before.fewer(known.without, i);
    Inverse inverse;
    if (before.left_ < kMostLeft && before.neighbours_.size() > 1)
      inverse = before.inverse_.without(before.part(i));
    End end = std::move(before);
    if (!inverse.none()) end.codes_ = end.codes_without(i);
    const auto at = static_cast<std::ptrdiff_t>(i);
    end.neighbours_.erase(end.neighbours_.begin() + at);
    if (!end.of_edges_.empty()) end.of_edges_.erase(end.of_edges_.begin() + at);
    if (inverse.none())
      return End(*end.table_, {end.intercept_, end.forms_}, cells, end.target_, end.neighbours_,
                 std::move(end.of_edges_), std::move(x));
    end.group_cells();
    end.find_parameters();
    end.x_ = std::move(x);
    end.loss_ = known.loss;
    end.inverse_ = std::move(inverse);
    ++end.left_;
    return end;
  }

  End() = default;

  // The same fit with a neighbour more, whose parameters are zero: it knows of no curvature.
  End with(std::size_t neighbour, Form form, Cells& cells) const {
    End more;
    more.table_ = table_;
    more.intercept_ = intercept_;
    more.forms_ = forms_;
    more.target_ = target_;
    more.neighbours_ = neighbours_;
    more.of_edges_ = of_edges_;
    const auto at = std::ranges::lower_bound(neighbours_, neighbour) - neighbours_.begin();
    more.neighbours_.insert(more.neighbours_.begin() + at, neighbour);
    if (forms_) more.of_edges_.insert(more.of_edges_.begin() + at, form);
    more.take_cells(cells);
    more.find_parameters();
    more.x_ = neighbours_.empty() ? more.field_alone() : x_;
    const auto first = static_cast<std::ptrdiff_t>(more.begin(static_cast<std::size_t>(at)));
    more.x_.insert(more.x_.begin() + first, more.parameters_of(static_cast<std::size_t>(at)), 0.0);
    return more;
  }

  // The minimum, from where it is.
  void refit() { fit(std::move(x_)); }

  const std::vector<std::size_t>& neighbours() const { return neighbours_; }
  std::size_t position(std::size_t neighbour) const {
    return static_cast<std::size_t>(std::ranges::find(neighbours_, neighbour) - neighbours_.begin());
  }
  std::size_t parameters_of(std::size_t i) const { return (end(i) - begin(i)); }
  // About how long it takes to find what is lost without a neighbour.
  std::size_t work() const { return counts_.size() * x_.size(); }
  // Where the score of each row stands among those of its cell and its state; see `scores`.
  std::span<const std::uint32_t> place_of_row() const { return place_of_row_; }

  // Calls that are given a deviance that is lost at least, and say whether that is all one wants to know.
  using Enough = std::function<bool(double)>;

  // What is lost without the i-th neighbour; at least, if that is `enough`: then there is no fit. What the
  // way there bent by when there were more neighbours, if that is known, saves steps.
  EdgeScore without(std::size_t i, std::vector<double> bend = {}, const Enough& enough = nullptr) const {
    const CellView view = this->view();
    Refit problem(view, table_->n(), intercept_, kRidge);
    EdgeScore found;
    found.df = parameters_of(i);
    found.bend = std::move(bend);
    const auto lost = [&](double loss, double rows) { return 2 * rows * std::max(loss - loss_, 0.0); };
    const double fewest = isinglass::rows_left(table_->n(), spent_without(i), kLeastUnexplained);
    std::vector<double> probabilities;
    found.loss = leave_out(problem, i, found, probabilities, [&](double loss) {
      return enough && enough(found.deviance = lost(loss, fewest));
    });
    if (found.without.empty()) return found;
    if (probabilities.empty()) problem.probabilities(problem.expand(found.without), probabilities);
    found.deviance = lost(found.loss, rows_left(i, probabilities));
    return found;
  }

  // What would be gained by the i-th neighbour, whose parameters are zero at this fit, as its score says.
  EdgeScore score_of(std::size_t i) const {
    EdgeScore found;
    found.df = parameters_of(i);
    found.without = x_;
    add_score(i, found);
    double trace = 0;
    for (std::size_t k = 0; k < found.df; ++k) trace += found.information[k * found.df + k];
    const std::vector<double> root = inverse_root(found.information, found.df, kLeastInformation * trace);
    for (std::size_t k = 0; k < found.df; ++k) {
      const double number = dot(&root[k * found.df], found.score.data(), found.df);
      found.deviance += number * number;
    }
    found.deviance *= rows_left(i, found.probabilities) / table_->n();
    return found;
  }

  // The fit, as searches have it.
  NodeFit as_node_fit() const {
    NodeFit fit{neighbours_, of_edges_, {}, {}, loss_};
    if (neighbours_.empty()) return fit;
    const CellView view = this->view();
    fit.parameters = Refit(view, table_->n(), intercept_, kRidge).expand(x_);
    return fit;
  }

  // Adds the score of the i-th neighbour to the fit without it.
  void add_score(std::size_t i, EdgeScore& found) const {
    const CellView view = this->view();
    Refit problem(view, table_->n(), intercept_, kRidge);
    add_score(problem, Design(view.states), i, found);
  }

  // The scores of rows, in units that `root` makes of them: one for each cell and each state that it has, df
  // numbers each. And the sum over all rows of their squares.
  std::vector<double> scores(const EdgeScore& edge, std::span<const double> root, double& squares) const {
    const CellView view = this->view();
    const std::size_t q = width() - 1, d = edge.df, wide = whole_vectors(q * d);
    // One row of directions per feature of a group; the field's goes with the first group.
    std::vector<double> direction(grouped_->features() * wide, 0.0), of_state, again;
    const auto add = [&](std::size_t to, std::size_t feature) {
      for (std::size_t at = 0; at < q * d; ++at) direction[to * wide + at] += of_state[feature * q * d + at];
    };
    of_state.assign(edge.direction.size(), 0.0);
    for (std::size_t at = 0; at < of_state.size(); at += d)
      for (std::size_t l = 0; l < d; ++l)
        add_multiple(&of_state[at], edge.direction[at + l], &root[l * d], d);
    for (std::size_t f = 0; f < grouped_->features(); ++f) {
      if (f < grouped_->last(0)) add(f, 0);
      for (const std::size_t part : grouped_->parts(f)) add(f, part);
    }
    if (edge.probabilities.empty()) again = probabilities_at(edge.without);
    const std::vector<double>& probabilities = again.empty() ? edge.probabilities : again;
    // Loops look at up to three numbers beyond the last score.
    std::vector<double> scores((places_.size() + 1) * d + 4), room(wide + 4 + lanes_of(d));
    find_edge_scores({view.cells, grouped_->groups(), wide, grouped_->active()}, direction.data(),
                     probabilities.data(), place_.data(), q, d, room.data(), scores.data());
    squares = sum_squares(places_, d, scores.data());
    return scores;
  }

  // Free parameters less those of the i-th neighbour.
  std::vector<double> fewer(std::vector<double> x, std::size_t i) const {
    x.erase(x.begin() + static_cast<std::ptrdiff_t>(begin(i)),
            x.begin() + static_cast<std::ptrdiff_t>(end(i)));
    return x;
  }

 private:
  static constexpr double kTolerance = 1e-18;
  static constexpr double kEnough = 1e-11;     // of a likelihood ratio, whose score is flat there
  static constexpr int kSteps = 12;            // with the same curvature
  static constexpr double kContracts = 0.25;   // what a step must leave at most of what is predicted
  static constexpr double kToSpare = 4;        // times what is predicted, steps that contract do not gain
  static constexpr double kFirstToSpare = 50;  // and before they are known to contract
  static constexpr double kDrift = 0.1;        // of scores, since the curvature that serves
  static constexpr int kMostLeft = 6;          // neighbours that have left since then
  static constexpr double kFlattest = 1e-2;    // the ridge, as a share of the least curvature that serves
  using Bound = std::function<bool(double)>;   // whether a loss that is left at least is enough

  std::size_t width() const { return static_cast<std::size_t>(table_->states(target_)); }

  // Scores of cells and states that have rows stand in the order in which rows come upon them, so that
  // whoever walks along the rows finds them side by side.
  void find_places(const std::vector<std::uint32_t>& cell_of_row) {
    place_.assign(counts_.size(), kNoPlace);
    place_of_row_.resize(cell_of_row.size());
    const std::uint8_t* codes = table_->codes(target_);
    for (std::size_t row = 0; row < cell_of_row.size(); ++row) {
      const std::size_t at = cell_of_row[row] * width() + codes[row];
      if (counts_[at] != 0 && place_[at] == kNoPlace) {
        place_[at] = static_cast<std::uint32_t>(places_.size());
        places_.push_back(counts_[at]);
      }
      place_of_row_[row] = place_[at];
    }
    // One place more, for rows without weight.
    const auto nowhere = static_cast<std::uint32_t>(places_.size());
    std::ranges::replace(place_of_row_, kNoPlace, nowhere);
  }

  CellView view() const {
    CellView view{counts_.size() / width(), static_cast<int>(width()), {}, codes_.data(), counts_.data()};
    for (const std::size_t t : neighbours_) view.states.push_back(table_->states(t));
    set_designs(view, forms_, target_, neighbours_, of_edges_);
    if (width() > 2) view.grouped = &*grouped_;
    return view;
  }

  // Where the free parameters of the i-th neighbour stand.
  std::size_t begin(std::size_t i) const { return begin_[i]; }
  std::size_t end(std::size_t i) const { return begin_[i + 1]; }
  Part part(std::size_t i) const { return {begin(i), parameters_of(i)}; }

  void take_cells(Cells& cells) {
    cells.set_target(target_);
    cells.become(neighbours_);
    const CellView view = cells.view();
    codes_.assign(view.codes, view.codes + view.cells * neighbours_.size());
    counts_.assign(view.counts, view.counts + view.cells * width());
    variance_ = Variance(counts_, width(), intercept_);
    group_cells();
    find_places(cells.numbers());
  }

  void group_cells() {
    std::vector<int> states;
    for (const std::size_t t : neighbours_) states.push_back(table_->states(t));
    grouped_.emplace(codes_.data(), counts_.size() / width(), states);
  }

  // The neighbours' codes in all cells, without those of the i-th.
  std::vector<std::uint8_t> codes_without(std::size_t i) const {
    const std::size_t columns = neighbours_.size(), cells = codes_.size() / columns;
    std::vector<std::uint8_t> left(codes_.size() - cells);
    auto to = left.begin();
    for (const std::uint8_t* cell = codes_.data(); to != left.end(); cell += columns)
      to = std::copy(cell + i + 1, cell + columns, std::copy(cell, cell + i, to));
    return left;
  }

  void find_parameters() {
    const CellView view = this->view();
    begin_.assign(1, intercept_ ? width() - 1 : 0);
    for (std::size_t i = 0; i < neighbours_.size(); ++i)
      begin_.push_back(begin_.back() + (view.design(i) ? view.design(i)->size
                                                       : degrees_of_freedom(view.width, view.states[i])));
  }

  // The field of a column without neighbours, against its first state.
  std::vector<double> field_alone() const {
    std::vector<double> rows(width(), 0.0), field;
    for (std::size_t at = 0; at < counts_.size(); ++at) rows[at % width()] += counts_[at];
    for (std::size_t a = 1; a < width() && intercept_; ++a)
      field.push_back(std::log(std::max(rows[a], kTolerance) / std::max(rows[0], kTolerance)));
    return field;
  }

  void fit(std::vector<double> start) {
    find_parameters();
    const CellView view = this->view();
    Refit problem(view, table_->n(), intercept_, kRidge);
    x_ = std::move(start);
    x_.resize(problem.size(), 0.0);
    problem.minimise(x_, kTolerance);
    std::vector<double> probabilities;
    loss_ = problem.probabilities(problem.expand(x_), probabilities);
    // Along directions that the ridge alone holds, a fit may be far from its minimum while its loss is not:
    // what is said of such an end comes from refits to the last digit.
    inverse_ = Inverse(problem.curvature_near_minimum(x_, kDrift), x_.size(), kRidge / kFlattest);
  }

  // The minimum without the i-th neighbour, and its loss: with the curvature of the fit if it serves, else
  // anew. Nothing, if a loss that is left at least is enough. The probabilities there come by the way, or
  // not.
  double leave_out(Refit& problem, std::size_t i, EdgeScore& found, std::vector<double>& probabilities,
                   const Bound& enough) const {
    const std::vector<double> own = inverse_.factor(part(i));
    std::vector<double>& x = found.without;
    if (!own.empty())
      if (const std::optional<double> loss = slide(problem, i, own, found, probabilities, enough))
        return *loss;
    found.bend.clear();
    probabilities.clear();
    const CellView view = this->view();
    const MergedCells merged(view, i);
    x = fewer(x_, i);
    const CellView fewer_cells = merged.view(view, i);
    Refit without(fewer_cells, table_->n(), intercept_, kRidge);
    without.minimise(x, kTolerance);
    std::vector<double> of_fewer_cells;
    const double loss = without.probabilities(without.expand(x), of_fewer_cells);
    x.insert(x.begin() + static_cast<std::ptrdiff_t>(begin(i)), parameters_of(i), 0.0);
    return loss;
  }

  // Moves to the minimum in which the i-th neighbour's parameters are zero, by steps with the curvature of
  // the fit, and returns the loss there; nothing if they do not contract. Once they do, they gain no more
  // than a few times what is predicted: if the loss that is then left is `enough`, x is emptied.
  std::optional<double> slide(Refit& problem, std::size_t i, const std::vector<double>& own, EdgeScore& found,
                              std::vector<double>& probabilities, const Bound& enough) const {
    const std::size_t size = x_.size(), first = begin(i), d = parameters_of(i);
    std::vector<double> straight = x_;
    inverse_.make_zero(part(i), own, straight);
    std::vector<double>& x = found.without = straight;
    if (found.bend.size() == size) add_multiple(x.data(), 1.0, found.bend.data(), size);
    const auto arrive = [&](double loss) {
      found.bend = x;
      add_multiple(found.bend.data(), -1.0, straight.data(), size);
      return loss;
    };
    QuasiNewton learned;
    double last = 0;
    for (int step = 0; step < kSteps; ++step) {
      // Of more states than two, probabilities are on the way to slopes.
      const std::span<const double> all = problem.slope(x, width() > 2 ? &probabilities : nullptr);
      std::vector<double> slope(all.begin(), all.end());
      std::fill_n(&slope[first], d, 0.0);
      const std::vector<double> move = learned.move(slope, [&](const std::vector<double>& by) {
        std::vector<double> product = inverse_.times(by);
        inverse_.make_zero(part(i), own, product);
        return product;
      });
      const double predicted = -0.5 * dot(slope.data(), move.data(), size);
      if (!(predicted > kEnough))
        return predicted >= -kEnough ? std::optional(arrive(problem.plain_loss())) : std::nullopt;
      if (step > 0 && !(predicted < kContracts * last)) return std::nullopt;
      if (enough(problem.plain_loss() - (step > 0 ? kToSpare : kFirstToSpare) * predicted)) {
        x.clear();
        return problem.plain_loss();
      }
      add_multiple(x.data(), 1.0, move.data(), size);
      // The curvature is as wrong as steps contract, and so is what this step gains.
      if (step > 0 && predicted * std::sqrt(predicted / last) <= kEnough)
        return arrive(problem.plain_loss() - predicted);
      last = predicted;
    }
    return std::nullopt;
  }

  // Score and information at the fit without the edge, and the directions that they belong to.
  void add_score(Refit& problem, const Design& design, std::size_t i, EdgeScore& found) const {
    const std::size_t q = width() - 1, size = x_.size(), first = begin(i), d = found.df,
                      features = design.features_of(i);
    const std::span<const double> curvature = problem.curvature(found.without, &found.probabilities);
    const auto at = [&](std::size_t k, std::size_t l) {
      return curvature[std::max(k, l) * size + std::min(k, l)];
    };
    // The others' curvature; the edge's own rows stand alone.
    std::vector<double> factor(curvature.begin(), curvature.end());
    double largest = 1e-300;
    for (std::size_t k = 0; k < size; ++k) largest = std::max(largest, curvature[k * size + k]);
    for (std::size_t e = first; e < first + d; ++e) {
      for (std::size_t k = 0; k < size; ++k) factor[std::max(e, k) * size + std::min(e, k)] = 0;
      factor[e * size + e] = largest;
    }
    const bool solvable = factorise(factor, size, 1e-13 * largest);

    const std::vector<double> of_t = contrasts_against_first(features + 1),
                              of_r = contrasts_against_first(q + 1);
    const std::size_t apart = whole_vectors(d);
    std::vector<double> directions(d * size, 0.0), pull(size * apart, 0.0);
    for (std::size_t k = 0; k < d; ++k) {
      const std::span<double> x(&directions[k * size], size);
      if (is_small(i)) x[first + k] = 1;  // its parameters are orthonormal already
      for (std::size_t c = 0; c < features && !is_small(i); ++c)
        for (std::size_t a = 0; a < q; ++a)
          x[first + c * q + a] = of_t[c * features + k / q] * of_r[a * q + k % q];
      for (std::size_t l = 0; l < size; ++l)
        for (std::size_t e = first; e < first + d && (l < first || l >= first + d); ++e)
          pull[l * apart + k] += at(l, e) * x[e];
    }
    if (solvable) {
      substitute_side_by_side(factor.data(), size, pull.data(), apart);
      for (std::size_t k = 0; k < d; ++k)
        for (std::size_t l = 0; l < size; ++l)
          if (l < first || l >= first + d) directions[k * size + l] = -pull[l * apart + k];
    }
    take_score(problem, at, directions, first, found);
  }

  template <class At>
  void take_score(Refit& problem, const At& at, const std::vector<double>& directions, std::size_t first,
                  EdgeScore& found) const {
    const std::size_t size = x_.size(), d = found.df;
    const std::span<const double> slope = problem.slope();
    found.score.assign(d, 0.0);
    found.information.assign(d * d, 0.0);
    for (std::size_t k = 0; k < d; ++k) {
      const double* x = &directions[k * size];
      for (std::size_t l = 0; l < size; ++l) found.score[k] -= table_->n() * slope[l] * x[l];
      for (std::size_t e = first; e < first + d; ++e) {  // in the others' rows nothing is left
        double product = 0;
        for (std::size_t l = 0; l < size; ++l) product += at(e, l) * x[l];
        for (std::size_t j = 0; j < d; ++j)
          found.information[j * d + k] += table_->n() * directions[j * size + e] * product;
      }
      const std::vector<double> expanded = problem.expand({x, size});
      found.direction.resize(expanded.size() * d);
      for (std::size_t l = 0; l < expanded.size(); ++l) found.direction[l * d + k] = expanded[l];
    }
  }

  // Of a likelihood ratio of the i-th neighbour, given the probabilities of the fit without it.
  double rows_left(std::size_t i, std::span<const double> probabilities) const {
    const double spent = spent_without(i);
    const double left = variance_.left(probabilities, width());
    return isinglass::rows_left(table_->n(), spent, unexplained(left, variance_.alone, spent));
  }

  // The features of the fit without the i-th neighbour, as a share of the rows.
  double spent_without(std::size_t i) const {
    return static_cast<double>(x_.size() - parameters_of(i)) / static_cast<double>(width() - 1) / table_->n();
  }

  // Of the column's states in each cell, as these free parameters say.
  std::vector<double> probabilities_at(std::span<const double> x) const {
    const CellView view = this->view();
    Refit problem(view, table_->n(), intercept_, kRidge);
    std::vector<double> probabilities;
    problem.probabilities(problem.expand(x), probabilities);
    return probabilities;
  }

  bool is_small(std::size_t i) const { return !of_edges_.empty() && of_edges_[i] == Form::small; }

  const Table* table_ = nullptr;
  bool intercept_ = true;
  const Forms* forms_ = nullptr;
  std::size_t target_ = 0;
  std::vector<std::size_t> neighbours_;
  std::vector<Form> of_edges_;
  std::vector<std::uint8_t> codes_;  // cells x neighbours
  std::vector<double> counts_;       // cells x width
  Variance variance_;
  std::optional<GroupedCells> grouped_;
  std::vector<std::uint32_t> place_, place_of_row_;  // of the scores of each cell and state, and of each row
  std::vector<double> places_;                       // rows of each cell with each state that it has
  std::vector<std::size_t> begin_;                   // where each neighbour's free parameters begin
  std::vector<double> x_;                            // the fit
  Inverse inverse_;                                  // of its curvature
  int left_ = 0;  // neighbours that have left since the curvature was that of the fit
  double loss_ = 0;
};

}  // namespace isinglass

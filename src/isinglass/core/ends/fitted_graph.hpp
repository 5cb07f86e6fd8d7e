// A graph whose columns are all fitted on their neighbours, and what both ends say of its edges.
//
// When an edge leaves, its two columns are fitted again; what others say of their edges stands.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bits/cells.hpp"
#include "ends/edge_score.hpp"
#include "ends/edge_statistic.hpp"
#include "ends/end.hpp"
#include "ends/further.hpp"
#include "ends/pair_graph.hpp"
#include "ends/starts.hpp"
#include "ends/watched_crew.hpp"
#include "search/engine.hpp"

namespace isinglass {

class FittedGraph {
 public:
  // `scales` has one number for each pair of columns, or none if all are one; see choice.hpp. A weight of one
  // stands for `unit` rows. The last `adjusted` columns are neighbours of all others, and have no edges.
  // Where columns are adjusted for, there are no starts.
  FittedGraph(const Table& table, const Conditional& conditional, std::span<const double> scales, double unit,
              std::size_t adjusted, const Starts& starts, WatchedCrew& crew)
      : table_(table),
        conditional_(conditional),
        starts_(starts),
        scales_(scales),
        unit_(unit),
        graph_(table.columns()),
        ends_(table.columns()),
        own_(table.columns() - adjusted),
        crew_(crew) {
    for (unsigned t = 0; t < std::max(crew.threads(), 2u); ++t) cells_.emplace_back(table, 0);
  }

  void add(const PairGraph::Pair& columns, Form form) {
    graph_.add(columns);
    tested_.push_back(test_of(columns, form));
    edges_.emplace_back();
  }

  std::size_t size() const { return graph_.size(); }
  const PairGraph& pairs() const { return graph_; }
  bool live(std::size_t e) const { return edges_[e].live; }

  // Fits all columns, when all edges are there.
  void fit() {
    crew_.share_at_length(ends_.size(), [&](std::size_t r, unsigned thread) {
      const std::vector<std::size_t> neighbours = neighbours_of(r);
      const std::vector<Form> forms = forms_of(r, neighbours);
      ends_[r] =
          End(table_, conditional_, cells_[thread], r, neighbours, forms, start_of(r, neighbours, forms));
    });
  }

  // What the end says that is less sure; anything above `far`, if that is where it is.
  double weaker_end(std::size_t e, double far) {
    Edge& edge = edges_[e];
    const std::size_t columns[2] = {graph_[e].first, graph_[e].second};
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < 2; ++k) {
      const End& end = ends_[columns[k]];
      const std::size_t at = end.position(columns[1 - k]);
      const auto alone = [&](double deviance) {
        return as_one_parameter(deviance, tested_[e].null, 1.0, static_cast<double>(end.parameters_of(at)),
                                tested_[e].looks);
      };
      if (!edge.stands[k]) {
        edge.score[k] = end.without(at, std::move(edge.score[k].bend),
                                    [&](double deviance) { return alone(deviance) > far; });
        forget(edge.whitened[k]);
        edge.stands[k] = !edge.score[k].without.empty();
      }
      least = std::min(least, alone(edge.score[k].deviance));
    }
    return least;
  }

  // What both ends say together, once they were looked at.
  double statistic(std::size_t e) const { return edges_[e].statistic; }

  // Threads share the ends of edges, those first that take longest; whoever looks from the last end of an
  // edge compares both. A thread that would wait looks at what is likely to be next: `likely` lists so many.
  template <class Likely>
  void look_at(const std::vector<std::size_t>& some, const Likely& likely) {
    std::vector<std::size_t> open, ready;  // twice the edge, and which end
    for (const std::size_t e : some) {
      for (std::size_t k = 0; k < 2; ++k)
        if (!looked_from(e, k)) open.push_back(2 * e + k);
      edges_[e].open = !looked_from(e, 0) + !looked_from(e, 1);
      if (edges_[e].open == 0) ready.push_back(e);
    }
    std::ranges::stable_sort(open, std::greater(), [&](std::size_t end) { return end_at(end).work(); });
    const std::size_t idle = open.size() % crew_.threads();
    if (idle > 0 && kept_ <= kMostKept) add_likely_next(crew_.threads() - idle, some, likely, open);
    crew_.share(open, [&](std::size_t end) {
      const std::size_t e = end / 2;
      look_from(e, end % 2);
      if (edges_[e].open > 0 && --edges_[e].open == 0) compare_ends(e);
    });
    crew_.share(ready, [&](std::size_t e) { compare_ends(e); });
  }

  // Its two columns are fitted without it.
  void remove(std::size_t e) {
    edges_[e].live = false;
    forget_scores(edges_[e]);
    const std::size_t columns[2] = {graph_[e].first, graph_[e].second};
    crew_.share_quickly(2, [&](std::size_t k) {
      End& end = ends_[columns[k]];
      const std::size_t at = end.position(columns[1 - k]);
      for (const std::size_t other : graph_.of_column(columns[k])) {
        EdgeScore& score = edges_[other].score[graph_.end_of(other, columns[k])];
        if (!score.bend.empty()) score.bend = end.fewer(std::move(score.bend), at);
      }
      end = End::without(std::move(end), at, edges_[e].score[k], cells_[k]);
    });
    for (const std::size_t column : columns) no_longer_stands(column);
  }

  // Every column looks for neighbours from where it is. Of the pairs that are found so, those that both ends
  // together find firm.
  std::vector<Further> further(const LookingFurther& looking) {
    const std::vector<Further> found = all_nearly_chosen(looking);
    std::vector<char> passes(found.size(), 0);
    std::vector<Tested> tested;
    for (const Further& one : found) tested.push_back(test_of({one.columns[0], one.columns[1]}, one.form));
    crew_.share_at_length(found.size(), [&](std::size_t k, unsigned thread) {
      passes[k] = joint_score(found[k], tested[k], cells_[thread]) > looking.firm;
    });
    std::vector<Further> firm;
    for (std::size_t k = 0; k < found.size(); ++k)
      if (passes[k]) firm.push_back(found[k]);
    return firm;
  }

  // Adds edges to columns that are fitted, fits these again, and says which they are.
  std::vector<std::size_t> let_in(const std::vector<Further>& some) {
    std::vector<std::vector<std::size_t>> added(own_);  // edges of each column
    std::vector<std::size_t> columns;
    for (const Further& one : some) {
      for (const std::size_t column : one.columns) {
        if (added[column].empty()) columns.push_back(column);
        added[column].push_back(size());
      }
      add({one.columns[0], one.columns[1]}, one.form);
    }
    crew_.share_at_length(columns.size(), [&](std::size_t k, unsigned thread) {
      End& end = ends_[columns[k]];
      for (const std::size_t e : added[columns[k]])
        end = end.with(graph_.other_end(e, columns[k]), tested_[e].form, cells_[thread]);
      end.refit();
    });
    for (const std::size_t column : columns) {
      no_longer_stands(column);
      for (const std::size_t e : graph_.of_column(column))
        edges_[e].score[graph_.end_of(e, column)].bend.clear();
    }
    return columns;
  }

 private:
  static constexpr std::size_t kMostKept = std::size_t{1} << 23;  // numbers of rows' scores: 64 megabytes

  struct Edge {
    bool live = true;
    double statistic = 0;
    EdgeScore score[2];                   // what each end says, as last seen
    EdgeStatistic::Whitened whitened[2];  // the same for all rows, as far as there is room
    bool stands[2] = {false, false};      // whether the end still says so
    std::atomic<int> open{0};             // ends that are yet to be looked from, before they are compared
  };

  Tested test_of(const PairGraph::Pair& columns, Form form) {
    const auto [i, j] = columns;
    const auto rows = [&](std::size_t column) { return rows_of_states(table_, column, unit_); };
    Tested tested;
    tested.form = form;
    if (const Forms* forms = conditional_.forms) {
      tested.looks = forms->looks(i, j, tested.form);
      tested.contrasts[0] = forms->width(i);
      tested.contrasts[1] = forms->width(j);
    }
    if (conditional_.intercept && tested.form == Form::table)
      tested.null = relative(nulls_.of(rows(i), rows(j)),
                             static_cast<double>(degrees_of_freedom(table_.states(i), table_.states(j))));
    if (!scales_.empty()) tested.null.scale *= scales_[i * table_.columns() + j];
    return tested;
  }

  std::vector<std::size_t> neighbours_of(std::size_t column) const {
    std::vector<std::size_t> neighbours;
    for (const std::size_t e : graph_.of_column(column))
      if (live(e)) neighbours.push_back(graph_.other_end(e, column));
    for (std::size_t t = own_; column < own_ && table_.states(column) > 1 && t < table_.columns(); ++t)
      if (table_.states(t) > 1) neighbours.push_back(t);
    std::ranges::sort(neighbours);
    return neighbours;
  }

  std::vector<Form> forms_of(std::size_t column, const std::vector<std::size_t>& neighbours) const {
    std::vector<Form> forms;
    if (!conditional_.forms) return forms;
    forms.assign(neighbours.size(), Form::table);
    for (const std::size_t e : graph_.of_column(column)) {
      const auto at = std::ranges::lower_bound(neighbours, graph_.other_end(e, column));
      if (live(e)) forms[static_cast<std::size_t>(at - neighbours.begin())] = tested_[e].form;
    }
    return forms;
  }

  // Free parameters of a column, as far as something is known of them; nothing, if nothing is.
  std::vector<double> start_of(std::size_t r, const std::vector<std::size_t>& neighbours,
                               const std::vector<Form>& forms) const {
    std::vector<double> start, tables;
    if (!starts_.of_column(r)) return start;
    start = starts_.field(r, static_cast<std::size_t>(table_.states(r)));
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      const std::size_t t = neighbours[i], e = graph_.edge_to(r, t);
      const bool small = !forms.empty() && forms[i] == Form::small;
      starts_.append(e, graph_.end_of(e, r), static_cast<std::size_t>(table_.states(r)),
                     static_cast<std::size_t>(table_.states(t)),
                     small ? &conditional_.forms->design(r, t) : nullptr, start, tables);
    }
    if (!conditional_.intercept) return tables;
    start.insert(start.end(), tables.begin(), tables.end());
    return start;
  }

  // Columns that their own searches have left as they are need not look: no gain is above the threshold.
  bool as_searched(std::size_t r) const {
    if (!starts_.of_column(r) || conditional_.forms) return false;
    return std::ranges::all_of(
        graph_.of_column(r), [&](std::size_t e) { return live(e) == starts_.chose(e, graph_.end_of(e, r)); });
  }

  std::vector<Further> all_nearly_chosen(const LookingFurther& looking) {
    Settings settings = looking.settings;
    Constraints constraints = *settings.constraints;
    std::vector<std::optional<NodeFit>> fits(table_.columns());
    for (std::size_t r = 0; r < own_; ++r) {
      std::vector<std::size_t>& closed = constraints.forbidden[r];
      for (const std::size_t e : graph_.of_column(r)) closed.push_back(graph_.other_end(e, r));
      for (std::size_t t = own_; t < table_.columns(); ++t) closed.push_back(t);
      std::ranges::sort(closed);
      if (table_.states(r) > 1 && !as_searched(r)) fits[r] = ends_[r].as_node_fit();
    }
    settings.constraints = &constraints;
    Engine engine(table_, settings, crew_.threads());
    return nearly_chosen(engine.look_from(fits, [&](std::size_t) { return crew_.may_go_on(); }),
                         looking.alone);
  }

  // What both ends say of a pair that is not in the graph, as its scores tell.
  double joint_score(const Further& pair, const Tested& tested, Cells& cells) const {
    const auto [i, j] = pair.columns;
    const End one = ends_[i].with(j, pair.form, cells), other = ends_[j].with(i, pair.form, cells);
    const EdgeScore score = one.score_of(one.position(j)), other_score = other.score_of(other.position(i));
    const EdgeStatistic statistic(table_, {i, j}, tested, one, score, other, other_score);
    return statistic.compares(0) ? statistic.value(statistic.whiten(0), statistic.whiten(1))
                                 : statistic.value();
  }

  const End& end_at(std::size_t end) const {
    const auto [i, j] = graph_[end / 2];
    return ends_[end % 2 ? j : i];
  }

  bool looked_from(std::size_t e, std::size_t k) const {
    return edges_[e].stands[k] && !edges_[e].whitened[k].scores.empty();
  }

  // Adds ends of edges that are likely to be next and not among `some`. What they say stands until their
  // column changes.
  template <class Likely>
  void add_likely_next(std::size_t count, const std::vector<std::size_t>& some, const Likely& likely,
                       std::vector<std::size_t>& open) const {
    for (const std::size_t e : likely(some.size() + count))
      for (std::size_t k = 0; k < 2 && count > 0; ++k)
        if (!looked_from(e, k) && std::ranges::find(some, e) == some.end()) {
          open.push_back(2 * e + k);
          --count;
        }
  }

  // What one end says: the fit without the edge, the score there, and the scores of all rows.
  void look_from(std::size_t e, std::size_t k) {
    if (looked_from(e, k)) return;
    Edge& edge = edges_[e];
    const auto [i, j] = graph_[e];
    const End& end = ends_[k ? j : i];
    const std::size_t at = end.position(k ? i : j);
    if (!edge.stands[k]) {
      edge.score[k] = end.without(at, std::move(edge.score[k].bend));
      forget(edge.whitened[k]);
      edge.stands[k] = true;
    }
    if (edge.score[k].score.empty()) end.add_score(at, edge.score[k]);
    const EdgeStatistic statistic = statistic_of(e);
    if (statistic.compares(k)) {
      edge.whitened[k] = statistic.whiten(k);
      kept_ += edge.whitened[k].scores.size();
    }
    edge.score[k].probabilities = {};
  }

  void compare_ends(std::size_t e) {
    Edge& edge = edges_[e];
    const EdgeStatistic statistic = statistic_of(e);
    edge.statistic =
        statistic.compares(0) ? statistic.value(edge.whitened[0], edge.whitened[1]) : statistic.value();
    if (kept_ > kMostKept) forget_scores(edge);
  }

  EdgeStatistic statistic_of(std::size_t e) const {
    const auto [i, j] = graph_[e];
    return {table_, graph_[e], tested_[e], ends_[i], edges_[e].score[0], ends_[j], edges_[e].score[1]};
  }

  // What a column said of its edges, which has changed since.
  void no_longer_stands(std::size_t column) {
    for (const std::size_t e : graph_.of_column(column)) edges_[e].stands[graph_.end_of(e, column)] = false;
  }

  void forget(EdgeStatistic::Whitened& whitened) {
    kept_ -= whitened.scores.size();
    whitened = {};
  }
  void forget_scores(Edge& edge) {
    for (EdgeStatistic::Whitened& whitened : edge.whitened) forget(whitened);
  }

  const Table& table_;
  Conditional conditional_;
  Starts starts_;
  std::span<const double> scales_;  // of all pairs of columns, or nothing
  double unit_;                     // rows that a weight of one stands for
  Nulls nulls_;
  PairGraph graph_;
  std::vector<Tested> tested_;  // of each edge
  std::deque<Edge> edges_;
  std::vector<End> ends_;
  std::size_t own_;  // columns that are not adjusted for
  WatchedCrew& crew_;
  std::deque<Cells> cells_;           // one per thread, and one for either end
  std::atomic<std::size_t> kept_{0};  // numbers of rows' scores
};

}  // namespace isinglass

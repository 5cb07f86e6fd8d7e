// The rule "joint": edges of a graph leave one by one, the weakest first, as both their ends say.
//
// Only the two columns of an edge that left are fitted again, and a statistic is found again only where it
// may be among the weakest. Once all edges are above the threshold of firm ones, all columns look once for
// neighbours that nobody has proposed. See docs/joint.md.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "bits/cells.hpp"
#include "refit/edge_score.hpp"
#include "refit/end.hpp"
#include "search/both_ends.hpp"
#include "search/engine.hpp"
#include "search/further.hpp"
#include "search/pair_graph.hpp"
#include "search/starts.hpp"

namespace isinglass {

// The edges of a graph leave, the weakest first. What is known of an edge is what was last seen of it: at
// first the smaller of its ends' own likelihood ratios, then its statistic when it was last looked at. That
// is stale once one of its columns has changed. Whatever is stale and might be the weakest, with a twentieth
// to spare, is looked at before an edge leaves. The graph of firm edges is looked at more closely: nothing in
// it is stale that was last seen below twice their threshold.
class Elimination {
 public:
  using Pairs = std::vector<PairGraph::Pair>;

  struct Found {
    std::vector<double> statistic;  // of each edge, as last seen
    std::vector<double> entry;      // the largest of all least numbers seen by the time it left; infinite for
                                    // those that stay
    std::vector<Further> further;   // edges that came in; their numbers stand behind the others'
  };

  // `scales` has one number for each pair of columns, or none if all are one; see choice.hpp. A weight of one
  // stands for `unit` rows. The last `adjusted` columns are neighbours of all others, and have no edges.
  // `small` marks edges that are no whole tables. Where columns are adjusted for, there are no starts.
  Elimination(const Table& table, const Conditional& conditional, const Pairs& edges,
              std::span<const std::uint8_t> small, std::span<const double> scales, double unit,
              std::size_t adjusted, const Starts& starts, unsigned threads)
      : table_(table),
        conditional_(conditional),
        starts_(starts),
        scales_(scales),
        unit_(unit),
        graph_(table.columns()),
        ends_(table.columns()),
        own_(table.columns() - adjusted),
        threads_(std::max(threads, 1u)),
        crew_(threads_) {
    for (unsigned t = 0; t < std::max(threads_, 2u); ++t) cells_.emplace_back(table, 0);
    for (std::size_t e = 0; e < edges.size(); ++e)
      add_edge(edges[e], conditional.forms && small[e] ? Form::small : Form::table);
    proposed_ = edges.size();
  }

  // Finds the statistics of all edges of the graph.
  Found statistics(const WatchWork& watch) {
    fit_all(watch);
    look_at_all(all_edges(), watch);
    for (Edge& edge : edges_) take_look(edge);
    return found();
  }

  // Removes the weakest edge while what was seen of it is at most `top`; edges that are `held` stay. On the
  // way columns look further, if they shall: then edges leave up to `firm` at least.
  Found run(double top, const std::vector<char>& held, const WatchWork& watch,
            const LookingFurther* looking = nullptr) {
    for (std::size_t e = 0; e < edges_.size(); ++e) edges_[e].held = held[e];
    if (looking) top = std::max(top, looking->firm);
    far_ = std::max(kToSpare * (top + tie()), looking ? kSurely * looking->firm : 0.0);
    fit_all(watch);
    share(all_edges(), watch, [&](std::size_t e) { weigh_ends(e); });
    if (looking) {
      leave_firm_ones(looking->firm, watch);
      look_further(*looking, watch);
      leave_firm_ones(looking->firm, watch);
    }
    remove_up_to(top, watch);
    return found();
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kTie = 1e-9;                            // gains so near each other are equal
  static constexpr double kToSpare = 1.05;                        // what is stale may have fallen by this
  static constexpr double kSurely = 2;                            // and surely not by this
  static constexpr std::size_t kTogether = 4;                     // edges that are looked at for each thread
  static constexpr std::size_t kMostKept = std::size_t{1} << 23;  // numbers of rows' scores: 64 megabytes

  struct Edge {
    bool live = true, held = false;
    bool stale = true;     // whether it has not been looked at since one of its columns was fitted
    bool weighed = false;  // whether its ends' own likelihood ratios have been found since then
    double seen = 0;
    double statistic = 0;  // what is seen when it is looked at
    double entry = kInfinity;
    EdgeScore score[2];                   // what each end says, as last seen
    EdgeStatistic::Whitened whitened[2];  // the same for all rows, as far as there is room
    bool stands[2] = {false, false};      // whether the end still says so
    std::atomic<int> open{0};             // ends that are yet to be looked from, before they are compared
  };

  // Stops once nothing is left that is at most `top`, or may have fallen to it.
  void remove_up_to(double top, const WatchWork& watch) {
    while (!interrupted_) {
      const double fresh = least_seen(false), stale = could_be(least_seen(true));
      if (!(std::min(fresh, stale) <= top) || std::min(fresh, stale) == kInfinity) return;
      if (stale <= fresh) {
        look_in_order(std::min(fresh, top), watch);
      } else {
        level_ = std::max(level_, fresh);
        remove(first_of_weakest(fresh), level_);
      }
      decided_ = std::min(std::max(decided_, decided_at(top)), proposed_);
    }
  }

  // Until no edge is below the threshold, nor was last seen below twice that and is stale. What is far above
  // it and stale is weighed again: its ends' own likelihood ratios are above twice the threshold, too.
  void leave_firm_ones(double firm, const WatchWork& watch) {
    remove_up_to(firm, watch);
    const auto close = [&](double seen) { return seen < kSurely * firm; };
    while (!interrupted_) {
      const std::vector<std::size_t> stale = stale_if(close);
      const std::vector<std::size_t> unsure = stale.empty() ? not_weighed() : std::vector<std::size_t>();
      if (stale.empty() && unsure.empty()) return;
      look_at_all(stale, watch);
      share(unsure, watch, [&](std::size_t e) { weigh_ends(e); });
      if (interrupted_) return;
      for (const std::size_t e : stale) take_look(edges_[e]);
      remove_up_to(firm, watch);
    }
  }

  // What an edge may say now, if this was seen before.
  double could_be(double seen) const { return seen / kToSpare - tie(); }

  void add_edge(std::pair<std::size_t, std::size_t> columns, Form form) {
    graph_.add(columns);
    tested_.push_back(test_of(columns, form));
    edges_.emplace_back();
  }

  Tested test_of(std::pair<std::size_t, std::size_t> columns, Form form) {
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

  // Every column looks for neighbours from where it is. Of the pairs that are found so, those come in that
  // both ends together say may stay.
  void look_further(const LookingFurther& looking, const WatchWork& watch) {
    std::vector<Further> found = all_nearly_chosen(looking, watch);
    std::vector<char> passes(found.size(), 0);
    std::vector<Tested> tested;
    for (const Further& one : found) tested.push_back(test_of({one.columns[0], one.columns[1]}, one.form));
    share_out_watched(
        found.size(), threads_, interrupted_, [&](std::size_t) { return watch(decided_); },
        [&](std::size_t k, unsigned thread) {
          passes[k] = joint_score(found[k], tested[k], cells_[thread]) > looking.firm;
        });
    if (interrupted_) return;
    for (std::size_t k = 0; k < found.size(); ++k)
      if (passes[k]) further_.push_back(found[k]);
    for (const Further& one : further_) add_edge({one.columns[0], one.columns[1]}, one.form);
    refit_with_further(watch);
  }

  // Columns that their own searches have left as they are need not look: no gain is above the threshold.
  bool as_searched(std::size_t r) const {
    if (!starts_.of_column(r) || conditional_.forms) return false;
    return std::ranges::all_of(graph_.of_column(r), [&](std::size_t e) {
      return edges_[e].live == starts_.chose(e, graph_.end_of(e, r));
    });
  }

  std::vector<Further> all_nearly_chosen(const LookingFurther& looking, const WatchWork& watch) {
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
    Engine engine(table_, settings, threads_);
    const auto go_on = [&](std::size_t) { return !interrupted_ && watch(decided_); };
    return nearly_chosen(engine.look_from(fits, go_on), looking.alone);
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

  // Columns with new neighbours are fitted, and what they said of others no longer stands.
  void refit_with_further(const WatchWork& watch) {
    std::vector<std::vector<std::size_t>> added(own_);  // edges of each column
    std::vector<std::size_t> columns, fresh(further_.size());
    std::iota(fresh.begin(), fresh.end(), proposed_);
    for (const std::size_t e : fresh)
      for (const std::size_t column : {graph_[e].first, graph_[e].second}) {
        if (added[column].empty()) columns.push_back(column);
        added[column].push_back(e);
      }
    share_out_watched(
        columns.size(), threads_, interrupted_, [&](std::size_t) { return watch(decided_); },
        [&](std::size_t k, unsigned thread) {
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
    share(fresh, watch, [&](std::size_t e) { weigh_ends(e); });
  }

  // What a column said of its edges, which has changed since.
  void no_longer_stands(std::size_t column) {
    for (const std::size_t e : graph_.of_column(column)) {
      edges_[e].stands[graph_.end_of(e, column)] = false;
      edges_[e].stale = true;
      edges_[e].weighed = false;
    }
  }

  Found found() const {
    Found found;
    found.further = further_;
    for (const Edge& edge : edges_) {
      found.statistic.push_back(edge.seen);
      found.entry.push_back(edge.entry);
    }
    return found;
  }

  std::vector<std::size_t> all_edges() const {
    std::vector<std::size_t> all(edges_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }

  // All threads share the work at some edges. This one tells now and then how many of all are decided.
  template <class Work>
  void share(const std::vector<std::size_t>& some, const WatchWork& watch, const Work& work) {
    const std::thread::id here = std::this_thread::get_id();
    crew_.share_out(some.size(), [&](std::size_t k) {
      if (interrupted_) return;
      work(some[k]);
      if (std::this_thread::get_id() == here) tell(watch);
    });
  }

  void tell(const WatchWork& watch) {
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < std::chrono::milliseconds(100)) return;
    told_ = now;
    if (!watch(decided_)) interrupted_ = true;
  }

  void fit_all(const WatchWork& watch) {
    share_out_watched(
        ends_.size(), threads_, interrupted_, [&](std::size_t) { return watch(decided_); },
        [&](std::size_t r, unsigned thread) {
          const std::vector<std::size_t> neighbours = neighbours_of(r);
          const std::vector<Form> forms = forms_of(r, neighbours);
          ends_[r] =
              End(table_, conditional_, cells_[thread], r, neighbours, forms, start_of(r, neighbours, forms));
        });
  }

  std::vector<std::size_t> neighbours_of(std::size_t column) const {
    std::vector<std::size_t> neighbours;
    for (const std::size_t e : graph_.of_column(column))
      if (edges_[e].live) neighbours.push_back(graph_.other_end(e, column));
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
      if (edges_[e].live) forms[static_cast<std::size_t>(at - neighbours.begin())] = tested_[e].form;
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

  static bool takes_part(const Edge& edge) { return edge.live && !edge.held; }

  // Of the edges that are stale, or of the others; infinite if there are none.
  double least_seen(bool stale) const {
    double least = kInfinity;
    for (const Edge& edge : edges_)
      if (takes_part(edge) && edge.stale == stale) least = std::min(least, edge.seen);
    return least;
  }

  // Edges that are stale, if what was seen of them is wanted: the weakest first, and no more than so many.
  template <class Wanted>
  std::vector<std::size_t> stale_if(const Wanted& wanted,
                                    std::size_t most = static_cast<std::size_t>(-1)) const {
    std::vector<std::pair<double, std::size_t>> found;
    for (std::size_t e = 0; e < edges_.size(); ++e)
      if (takes_part(edges_[e]) && edges_[e].stale && wanted(edges_[e].seen))
        found.emplace_back(edges_[e].seen, e);
    const std::size_t count = std::min(most, found.size());
    std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<std::size_t> first;
    for (std::size_t k = 0; k < count; ++k) first.push_back(found[k].second);
    return first;
  }

  // Edges that are stale, whose ends have not been weighed since.
  std::vector<std::size_t> not_weighed() const {
    std::vector<std::size_t> found;
    for (std::size_t e = 0; e < edges_.size(); ++e)
      if (takes_part(edges_[e]) && edges_[e].stale && !edges_[e].weighed) found.push_back(e);
    return found;
  }

  // Edges that left, and those that were last seen above `top`.
  std::size_t decided_at(double top) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        edges_, [&](const Edge& edge) { return !takes_part(edge) || edge.seen > top; }));
  }

  // The first of those that are as weak as any that is not stale.
  std::size_t first_of_weakest(double least) const {
    const auto first = std::ranges::find_if(edges_, [&](const Edge& edge) {
      return takes_part(edge) && !edge.stale && edge.seen <= least + tie();
    });
    return static_cast<std::size_t>(first - edges_.begin());
  }

  double tie() const { return 2 * table_.n() * kTie; }

  // Instead of a look: what the end says that is less sure.
  void weigh_ends(std::size_t e) {
    Edge& edge = edges_[e];
    const std::size_t columns[2] = {graph_[e].first, graph_[e].second};
    edge.seen = kInfinity;
    for (std::size_t k = 0; k < 2; ++k) {
      const End& end = ends_[columns[k]];
      const std::size_t at = end.position(columns[1 - k]);
      const auto alone = [&](double deviance) {
        return as_one_parameter(deviance, tested_[e].null, 1.0, static_cast<double>(end.parameters_of(at)),
                                tested_[e].looks);
      };
      if (!edge.stands[k]) {
        edge.score[k] = end.without(at, std::move(edge.score[k].bend),
                                    [&](double deviance) { return alone(deviance) > far_; });
        forget(edge.whitened[k]);
        edge.stands[k] = !edge.score[k].without.empty();
      }
      edge.seen = std::min(edge.seen, alone(edge.score[k].deviance));
    }
    edge.weighed = true;
  }

  // Looks at edges that are stale and could be as weak as this, the weakest first, until those that are left
  // could not be weaker than what was seen. Threads look at several at a time.
  void look_in_order(double level, const WatchWork& watch) {
    const std::vector<std::size_t> next =
        stale_if([&](double seen) { return could_be(seen) <= level; }, kTogether * threads_);
    look_at_all(next, watch);
    double fresh = least_seen(false);
    for (const std::size_t e : next) {
      const double stale = could_be(edges_[e].seen);
      if (interrupted_ || stale > fresh) return;
      level_ = std::max(level_, stale);
      take_look(edges_[e]);
      fresh = std::min(fresh, edges_[e].seen);
    }
  }

  void take_look(Edge& edge) {
    edge.seen = edge.statistic;
    edge.stale = false;
  }

  // Threads share the ends of edges, those first that take longest; whoever looks from the last end of an
  // edge compares both. A thread that would wait looks at what is likely to be next.
  void look_at_all(const std::vector<std::size_t>& some, const WatchWork& watch) {
    std::vector<std::size_t> open, ready;  // twice the edge, and which end
    for (const std::size_t e : some) {
      for (std::size_t k = 0; k < 2; ++k)
        if (!looked_from(e, k)) open.push_back(2 * e + k);
      edges_[e].open = !looked_from(e, 0) + !looked_from(e, 1);
      if (edges_[e].open == 0) ready.push_back(e);
    }
    std::ranges::stable_sort(open, std::greater(), [&](std::size_t end) { return end_at(end).work(); });
    if (open.size() % threads_ > 0 && kept_ <= kMostKept)
      add_likely_next(threads_ - open.size() % threads_, some, open);
    share(open, watch, [&](std::size_t end) {
      const std::size_t e = end / 2;
      look_from(e, end % 2);
      if (edges_[e].open > 0 && --edges_[e].open == 0) compare_ends(e);
    });
    share(ready, watch, [&](std::size_t e) { compare_ends(e); });
  }

  const End& end_at(std::size_t end) const {
    const auto [i, j] = graph_[end / 2];
    return ends_[end % 2 ? j : i];
  }

  // Adds ends of the weakest edges that are stale and not among `some`. What they say stands until their
  // column changes.
  void add_likely_next(std::size_t count, const std::vector<std::size_t>& some,
                       std::vector<std::size_t>& open) const {
    for (const std::size_t e : stale_if([&](double seen) { return seen < far_; }, some.size() + count))
      for (std::size_t k = 0; k < 2 && count > 0; ++k)
        if (!looked_from(e, k) && std::ranges::find(some, e) == some.end()) {
          open.push_back(2 * e + k);
          --count;
        }
  }

  bool looked_from(std::size_t e, std::size_t k) const {
    return edges_[e].stands[k] && !edges_[e].whitened[k].scores.empty();
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

  void forget(EdgeStatistic::Whitened& whitened) {
    kept_ -= whitened.scores.size();
    whitened = {};
  }
  void forget_scores(Edge& edge) {
    for (EdgeStatistic::Whitened& whitened : edge.whitened) forget(whitened);
  }

  void remove(std::size_t e, double entry) {
    edges_[e].live = false;
    edges_[e].entry = entry;
    forget_scores(edges_[e]);
    const std::size_t columns[2] = {graph_[e].first, graph_[e].second};
    crew_.share_out(2, [&](std::size_t k) {
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

  const Table& table_;
  Conditional conditional_;
  Starts starts_;
  std::span<const double> scales_;  // of all pairs of columns, or nothing
  double unit_;                     // rows that a weight of one stands for
  Nulls nulls_;
  PairGraph graph_;
  std::vector<Tested> tested_;    // of each edge
  std::deque<Edge> edges_;        // first those that were proposed, then further ones
  std::size_t proposed_ = 0;      // how many were
  std::vector<Further> further_;  // the others
  std::vector<End> ends_;
  std::size_t own_;   // columns that are not adjusted for
  double level_ = 0;  // the largest of all least numbers seen so far
  double far_ = 0;    // what was seen above it is never looked at, however far above it is
  unsigned threads_;
  Crew crew_;                         // for what is done sooner than threads are made
  std::size_t decided_ = 0;           // edges that left, or were above the top when last seen
  std::deque<Cells> cells_;           // one per thread, and one for either end
  std::atomic<std::size_t> kept_{0};  // numbers of rows' scores
  std::atomic<bool> interrupted_{false};
  std::chrono::steady_clock::time_point told_;
};

}  // namespace isinglass

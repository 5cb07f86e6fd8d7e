// The rule "joint": edges of a graph leave one by one, the weakest first, as both their ends say.
//
// A statistic is found again only where it may be among the weakest. Once all edges are above the threshold
// of firm ones, all columns look once for neighbours that nobody has proposed. See docs/joint.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "ends/fitted_graph.hpp"
#include "ends/further.hpp"
#include "ends/pair_graph.hpp"
#include "ends/starts.hpp"
#include "ends/watched_crew.hpp"

namespace isinglass {

// What is known of an edge is what was last seen of it: at first the smaller of its ends' own likelihood
// ratios, then its statistic when it was last looked at. That is stale once one of its columns has changed.
// Whatever is stale and might be the weakest, with a twentieth to spare, is looked at before an edge leaves.
// The graph of firm edges is looked at more closely: nothing in it is stale that was last seen below twice
// their threshold.
class Elimination {
 public:
  using Pairs = std::vector<PairGraph::Pair>;

  struct Found {
    std::vector<double> statistic;  // of each edge, as last seen
    std::vector<double> entry;      // the largest of all least numbers seen by the time it left; infinite for
                                    // those that stay
    std::vector<Further> further;   // edges that came in; their numbers stand behind the others'
  };

  // `small` marks edges that are no whole tables; for the others see fitted_graph.hpp.
  Elimination(const Table& table, const Conditional& conditional, const Pairs& edges,
              std::span<const std::uint8_t> small, std::span<const double> scales, double unit,
              std::size_t adjusted, const Starts& starts, unsigned threads)
      : n_(table.n()),
        crew_(threads),
        graph_(table, conditional, scales, unit, adjusted, starts, crew_),
        edges_(edges.size()),
        proposed_(edges.size()) {
    for (std::size_t e = 0; e < edges.size(); ++e)
      graph_.add(edges[e], conditional.forms && small[e] ? Form::small : Form::table);
  }

  // Finds the statistics of all edges of the graph.
  Found statistics(const WatchWork& watch) {
    crew_.watched_by(watch);
    graph_.fit();
    look_at(all_edges());
    for (const std::size_t e : all_edges()) take_look(e);
    return found({});
  }

  // Removes the weakest edge while what was seen of it is at most `top`; edges that are `held` stay. On the
  // way columns look further, if they shall: then edges leave up to `firm` at least.
  Found run(double top, const std::vector<char>& held, const WatchWork& watch,
            const LookingFurther* looking = nullptr) {
    crew_.watched_by(watch);
    for (std::size_t e = 0; e < edges_.size(); ++e) edges_[e].held = held[e];
    if (looking) top = std::max(top, looking->firm);
    far_ = std::max(kToSpare * (top + tie()), looking ? kSurely * looking->firm : 0.0);
    graph_.fit();
    weigh(all_edges());
    std::vector<Further> further;
    if (looking) {
      leave_firm_ones(looking->firm);
      further = look_further(*looking);
      leave_firm_ones(looking->firm);
    }
    remove_up_to(top);
    return found(std::move(further));
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kTie = 1e-9;         // gains so near each other are equal
  static constexpr double kToSpare = 1.05;     // what is stale may have fallen by this
  static constexpr double kSurely = 2;         // and surely not by this
  static constexpr std::size_t kTogether = 4;  // edges that are looked at for each thread

  struct Edge {
    bool held = false;
    bool stale = true;     // whether it has not been looked at since one of its columns was fitted
    bool weighed = false;  // whether its ends' own likelihood ratios have been found since then
    double seen = 0;
    double entry = kInfinity;
  };

  struct Below {
    double level;
    bool operator()(double seen) const { return seen < level; }
  };

  // Stops once nothing is left that is at most `top`, or may have fallen to it.
  void remove_up_to(double top) {
    while (!crew_.interrupted()) {
      const double fresh = least_seen(false), stale = could_be(least_seen(true));
      if (!(std::min(fresh, stale) <= top) || std::min(fresh, stale) == kInfinity) return;
      if (stale <= fresh) {
        look_in_order(std::min(fresh, top));
      } else {
        level_ = std::max(level_, fresh);
        remove(first_of_weakest(fresh));
      }
      crew_.set_done(std::min(std::max(crew_.done(), decided_at(top)), proposed_));
    }
  }

  // Until every edge is above the threshold, and none that is stale was last seen below twice that. What is
  // stale and far above it is weighed again: its ends' own likelihood ratios are above twice the threshold,
  // too.
  void leave_firm_ones(double firm) {
    remove_up_to(firm);
    while (!crew_.interrupted()) {
      const std::vector<std::size_t> stale = stale_if(Below{kSurely * firm});
      const std::vector<std::size_t> unsure = stale.empty() ? not_weighed() : std::vector<std::size_t>();
      if (stale.empty() && unsure.empty()) return;
      look_at(stale);
      weigh(unsure);
      if (crew_.interrupted()) return;
      for (const std::size_t e : stale) take_look(e);
      remove_up_to(firm);
    }
  }

  // Lets in what both ends together say may stay, though nobody had proposed it.
  std::vector<Further> look_further(const LookingFurther& looking) {
    std::vector<Further> further = graph_.further(looking);
    if (crew_.interrupted()) return {};
    const std::vector<std::size_t> columns = graph_.let_in(further);
    edges_.resize(graph_.size());
    for (const std::size_t column : columns) make_stale(column);
    std::vector<std::size_t> fresh(further.size());
    std::iota(fresh.begin(), fresh.end(), proposed_);
    weigh(fresh);
    return further;
  }

  // Looks at edges that are stale and could be as weak as this, the weakest first, until those that are left
  // could not be weaker than what was seen. Threads look at several at a time.
  void look_in_order(double level) {
    const std::vector<std::size_t> next =
        stale_if([&](double seen) { return could_be(seen) <= level; }, kTogether * crew_.threads());
    look_at(next);
    double fresh = least_seen(false);
    for (const std::size_t e : next) {
      const double stale = could_be(edges_[e].seen);
      if (crew_.interrupted() || stale > fresh) return;
      level_ = std::max(level_, stale);
      take_look(e);
      fresh = std::min(fresh, edges_[e].seen);
    }
  }

  // Both ends of some edges say what they know; the edges are stale until a look is taken.
  void look_at(const std::vector<std::size_t>& some) {
    graph_.look_at(some, [&](std::size_t most) { return stale_if(Below{far_}, most); });
  }

  void take_look(std::size_t e) {
    edges_[e].seen = graph_.statistic(e);
    edges_[e].stale = false;
  }

  // Instead of a look: what the end says that is less sure.
  void weigh(const std::vector<std::size_t>& some) {
    crew_.share(some, [&](std::size_t e) {
      edges_[e].seen = graph_.weaker_end(e, far_);
      edges_[e].weighed = true;
    });
  }

  void remove(std::size_t e) {
    edges_[e].entry = level_;
    graph_.remove(e);
    const auto [i, j] = graph_.pairs()[e];
    for (const std::size_t column : {i, j}) make_stale(column);
  }

  void make_stale(std::size_t column) {
    for (const std::size_t e : graph_.pairs().of_column(column)) {
      edges_[e].stale = true;
      edges_[e].weighed = false;
    }
  }

  // What an edge may say now, if this was seen before.
  double could_be(double seen) const { return seen / kToSpare - tie(); }
  double tie() const { return 2 * n_ * kTie; }

  bool takes_part(std::size_t e) const { return graph_.live(e) && !edges_[e].held; }

  std::vector<std::size_t> all_edges() const {
    std::vector<std::size_t> all(edges_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }

  // Of the edges that are stale, or of the others; infinite if there are none.
  double least_seen(bool stale) const {
    double least = kInfinity;
    for (std::size_t e = 0; e < edges_.size(); ++e)
      if (takes_part(e) && edges_[e].stale == stale) least = std::min(least, edges_[e].seen);
    return least;
  }

  // Edges that are stale, if what was seen of them is wanted: the weakest first, and no more than so many.
  template <class Wanted>
  std::vector<std::size_t> stale_if(const Wanted& wanted,
                                    std::size_t most = static_cast<std::size_t>(-1)) const {
    std::vector<std::pair<double, std::size_t>> found;
    for (std::size_t e = 0; e < edges_.size(); ++e)
      if (takes_part(e) && edges_[e].stale && wanted(edges_[e].seen)) found.emplace_back(edges_[e].seen, e);
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
      if (takes_part(e) && edges_[e].stale && !edges_[e].weighed) found.push_back(e);
    return found;
  }

  // Edges that left, and those that were last seen above `top`.
  std::size_t decided_at(double top) const {
    std::size_t decided = 0;
    for (std::size_t e = 0; e < edges_.size(); ++e) decided += !takes_part(e) || edges_[e].seen > top;
    return decided;
  }

  // The first of those that are as weak as any that is not stale.
  std::size_t first_of_weakest(double least) const {
    std::size_t e = 0;
    while (!(takes_part(e) && !edges_[e].stale && edges_[e].seen <= least + tie())) ++e;
    return e;
  }

  Found found(std::vector<Further> further) const {
    Found found;
    found.further = std::move(further);
    for (const Edge& edge : edges_) {
      found.statistic.push_back(edge.seen);
      found.entry.push_back(edge.entry);
    }
    return found;
  }

  double n_;
  WatchedCrew crew_;  // for what is done sooner than threads are made
  FittedGraph graph_;
  std::vector<Edge> edges_;  // first those that were proposed, then further ones
  std::size_t proposed_;     // how many were
  double level_ = 0;         // the largest of all least numbers seen so far
  double far_ = 0;           // what was seen above it is never looked at, however far above it is
};

}  // namespace isinglass

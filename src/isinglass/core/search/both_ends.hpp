// Both ends of an edge together: what the two columns that it joins say of it, as one chi-square.
//
// Under no effect each end's likelihood ratio is a chi-square, and the two are correlated, for they look at
// the same rows. How far is measured: it is the correlation of their efficient scores, row by row. Both are
// added with the weights that are best for one table shared by both ends; a leaf of a star, whose end says
// all there is, gets all the weight. What comes out is brought to a chi-square with one degree of freedom.
// Edges leave one by one, the weakest first, and only the two columns of an edge that left are fitted again.
// A statistic is found again only where it may be among the weakest. See docs/joint.md.
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
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/eigen.hpp"
#include "base/threads.hpp"
#include "bits/cells.hpp"
#include "gains/equivalent.hpp"
#include "gains/nulls.hpp"
#include "refit/edge_score.hpp"
#include "search/starts.hpp"

namespace isinglass {

// About `scale` times a chi-square with `df` degrees of freedom, if ends are chi-squares, as one with one
// degree; the null of an end says what it is relative to that. Of two forms it is the best of two looks.
inline double as_one_parameter(double chi2, const Null& null, double scale, double df, double looks) {
  return 2 * one_parameter_gain(0.5 * chi2 / (null.scale * scale), std::max(null.df * df, 1.0), 1.0, looks);
}

// An edge as it is tested: its null, relative to a chi-square, whether it is small, and how many forms
// competed for it.
struct Tested {
  Null null;
  Form form = Form::table;
  double looks = 1;
  std::size_t contrasts[2] = {0, 0};  // of either column
};

// The best weights of two ends with information of these sizes and scores so correlated: none is negative.
inline std::pair<double, double> best_weights(double one, double other, double correlation) {
  const double v = std::max(one - correlation * other, 0.0), w = std::max(other - correlation * one, 0.0);
  const double length = std::hypot(v, w);
  return length > 0 ? std::pair(v / length, w / length) : std::pair(1.0, 1.0);
}

// Scores of both ends of an edge, so many numbers each, as rows look them up.
struct ScoresOfRows {
  const std::uint32_t *place, *other_place;  // of each row
  const double *scores, *other_scores;
  std::size_t df;
};

// Adds x y' for every row, x and y being its scores, times its weight: df rows of lanes_of(df) numbers. So
// many numbers as the compiler knows; zero stands for any.
template <std::size_t kD>
ISINGLASS_INLINE inline void add_products_of(const ScoresOfRows& by, std::size_t rows, const double* weights,
                                             double* sums) {
  const std::size_t d = kD ? kD : by.df, wide = lanes_of(d);
  for (std::size_t row = 0; row < rows; ++row) {
    const double weight = weights ? weights[row] : 1.0;
    const double* x = by.scores + by.place[row] * d;
    const double* y = by.other_scores + by.other_place[row] * d;
    for (std::size_t k = 0; k < d; ++k) {
      const double factor = weight * x[k];
      for (std::size_t l = 0; l < wide; ++l) sums[k * wide + l] += factor * y[l];
    }
  }
}

ISINGLASS_INLINE inline void add_products_loop(const ScoresOfRows& by, std::size_t rows,
                                               const double* weights, double* sums) {
  switch (by.df) {
    case 1:
      return add_products_of<1>(by, rows, weights, sums);
    case 4:
      return add_products_of<4>(by, rows, weights, sums);
    case 9:
      return add_products_of<9>(by, rows, weights, sums);
    case 16:
      return add_products_of<16>(by, rows, weights, sums);
    default:
      return add_products_of<0>(by, rows, weights, sums);
  }
}
inline constexpr Vectorised<add_products_loop> add_products;

// What both ends of one edge say together.
class EdgeStatistic {
 public:
  // The edge's columns and its null, the fit of either, and its score of the other.
  EdgeStatistic(const Table& table, std::pair<std::size_t, std::size_t> columns, const Tested& tested,
                const End& one, const EdgeScore& score, const End& other, const EdgeScore& other_score)
      : table_(table),
        i_(columns.first),
        j_(columns.second),
        tested_(tested),
        ends_{&one, &other},
        scores_{&score, &other_score} {}

  // An end's score with unit variance, in the coordinates of the first end.
  struct Whitened {
    std::vector<double> vector;  // (df): as long as the likelihood ratio says
    double size = 0;             // root of the mean information
    double squares = 0;          // of the scores of all rows
    std::vector<double> scores;  // see `End::scores`
  };

  // Whether the ends are compared row by row, as one that was looked at knows.
  bool compares(std::size_t end) const { return scores_[end]->df <= kMostParameters; }

  // Of ends that are not compared: as if they said the same.
  double value() const { return as_one(mean_root(), 1.0, static_cast<double>(scores_[0]->df)); }

  double value(const Whitened& a, const Whitened& b) const {
    const std::size_t d = scores_[0]->df;
    const std::vector<double> common = correlation(a, b);
    double trace = 0;
    for (std::size_t k = 0; k < d; ++k) trace += common[k * d + k];
    const auto [v, w] = best_weights(a.size, b.size, std::clamp(trace / static_cast<double>(d), 0.0, kAlike));
    double length = 0, sum = 0, squares = 0;
    for (std::size_t k = 0; k < d; ++k) {
      const double both = v * a.vector[k] + w * b.vector[k];
      length += both * both;
      for (std::size_t l = 0; l < d; ++l) {
        const double spread =
            (k == l ? v * v + w * w : 0.0) + v * w * (common[k * d + l] + common[l * d + k]);
        if (k == l) sum += spread;
        squares += spread * spread;
      }
    }
    // The sum of chi-squares that this is, each with its own weight, has about the tail of the one with the
    // same mean and variance (Satterthwaite 1946).
    return sum > 0 && squares > 0 ? as_one(length, squares / sum, sum * sum / squares) : 0.0;
  }

  Whitened whiten(std::size_t end) const {
    const EdgeScore& edge = *scores_[end];
    const std::size_t d = edge.df;
    double trace = 0;
    for (std::size_t k = 0; k < d; ++k) trace += edge.information[k * d + k];
    const std::vector<double> root = end_to_first(inverse_root(edge.information, d, 1e-9 * trace), end);
    Whitened found;
    found.vector.assign(d, 0.0);
    found.size = std::sqrt(std::max(trace, 0.0) / static_cast<double>(d));
    found.scores = ends_[end]->scores(edge, root, found.squares);
    double length = 0;
    for (std::size_t k = 0; k < d; ++k) {
      for (std::size_t l = 0; l < d; ++l) found.vector[k] += edge.score[l] * root[l * d + k];
      length += found.vector[k] * found.vector[k];
    }
    for (double& number : found.vector) number *= length > 0 ? std::sqrt(edge.deviance / length) : 0.0;
    return found;
  }

 private:
  static constexpr std::size_t kMostParameters = 64;  // of an edge whose ends are compared row by row
  static constexpr double kAlike = 0.98;  // scores that are more alike are weighted as if they were not

  double as_one(double chi2, double scale, double df) const {
    return as_one_parameter(chi2, tested_.null, scale, df, tested_.looks);
  }

  double mean_root() const {
    const double root = 0.5 * (std::sqrt(scores_[0]->deviance) + std::sqrt(scores_[1]->deviance));
    return root * root;
  }

  // The columns of a matrix in the order of the first end's contrasts: at the second end, the neighbour's
  // and the target's change places.
  std::vector<double> end_to_first(std::vector<double> root, std::size_t end) const {
    if (end == 0) return root;
    // Parameters of a small edge are in the order of the target's contrasts, those of a table in that of the
    // neighbour's.
    const std::size_t d = scores_[end]->df;
    const bool small = tested_.form == Form::small;
    const std::size_t slow = small ? tested_.contrasts[1] : d / target_parameters(table_.states(j_)),
                      fast = d / slow;
    std::vector<double> turned(root.size());
    for (std::size_t l = 0; l < d; ++l)
      for (std::size_t c = 0; c < slow; ++c)
        for (std::size_t a = 0; a < fast; ++a) turned[l * d + a * slow + c] = root[l * d + c * fast + a];
    return turned;
  }

  // How the scores of both ends go together: (df, df), the mean variance of either being one.
  std::vector<double> correlation(const Whitened& a, const Whitened& b) const {
    const std::size_t d = scores_[0]->df, wide = lanes_of(d);
    std::vector<double> sums(d * wide, 0.0), common;
    add_products({ends_[0]->place_of_row().data(), ends_[1]->place_of_row().data(), a.scores.data(),
                  b.scores.data(), d},
                 table_.rows(), table_.weights(), sums.data());
    const double scale =
        a.squares > 0 && b.squares > 0 ? static_cast<double>(d) / std::sqrt(a.squares * b.squares) : 0.0;
    for (std::size_t k = 0; k < d; ++k)
      for (std::size_t l = 0; l < d; ++l) common.push_back(scale * sums[k * wide + l]);
    return common;
  }

  const Table& table_;
  std::size_t i_, j_;
  const Tested& tested_;
  const End* ends_[2];
  const EdgeScore* scores_[2];
};

// The edges of a graph leave, the weakest first. What is known of an edge is what was last seen of it: at
// first the smaller of its ends' own likelihood ratios, then its statistic when it was last looked at.
// Whoever might be the weakest, with a quarter to spare, is looked at before one leaves.
class Elimination {
 public:
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

  struct Found {
    std::vector<double> statistic;  // of each edge, as last seen
    std::vector<double> entry;      // the largest of all least numbers seen by the time it left; infinite for
                                    // those that stay
  };

  // `scales` has one number for each edge, or none if all are one; see choice.hpp. A weight of one stands for
  // `unit` rows. The last `adjusted` columns are neighbours of all others, and have no edges. `small` marks
  // edges that are no whole tables. Where columns are adjusted for, there are no starts.
  Elimination(const Table& table, const Conditional& conditional, const Pairs& edges,
              std::span<const std::uint8_t> small, std::span<const double> scales, double unit,
              std::size_t adjusted, const Starts& starts, unsigned threads)
      : table_(table),
        conditional_(conditional),
        starts_(starts),
        pairs_(edges),
        edges_(edges.size()),
        ends_(table.columns()),
        of_column_(table.columns()),
        own_(table.columns() - adjusted),
        threads_(std::max(threads, 1u)),
        crew_(threads_) {
    for (unsigned t = 0; t < std::max(threads_, 2u); ++t) cells_.emplace_back(table, 0);
    for (std::size_t e = 0; e < edges.size(); ++e)
      for (const std::size_t column : {edges[e].first, edges[e].second}) of_column_[column].push_back(e);
    Nulls nulls;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const auto [i, j] = edges[e];
      const auto df = static_cast<double>(degrees_of_freedom(table.states(i), table.states(j)));
      const auto rows = [&](std::size_t column) { return rows_of_states(table, column, unit); };
      Tested tested;
      if (const Forms* forms = conditional.forms) {
        tested.form = small[e] ? Form::small : Form::table;
        tested.looks = forms->looks(i, j, tested.form);
        tested.contrasts[0] = forms->width(i);
        tested.contrasts[1] = forms->width(j);
      }
      if (conditional.intercept && tested.form == Form::table)
        tested.null = relative(nulls.of(rows(i), rows(j)), df);
      if (!scales.empty()) tested.null.scale *= scales[e];
      tested_.push_back(tested);
    }
  }

  // Finds the statistics of all edges of the graph.
  Found statistics(const WatchWork& watch) {
    fit_all(watch);
    look_at_all(all_edges(), watch);
    return found();
  }

  // Removes the weakest edge while what was seen of it is at most `top`; edges that are `held` stay.
  Found run(double top, const std::vector<char>& held, const WatchWork& watch) {
    for (std::size_t e = 0; e < edges_.size(); ++e) edges_[e].held = held[e];
    far_ = kToSpare * as_weak_as(top);
    fit_all(watch);
    share(all_edges(), watch, [&](std::size_t e) { begin_with(e); });
    double level = 0;
    for (double least; !interrupted_ && (least = least_seen()) <= top && std::isfinite(least);) {
      level = std::max(level, least);
      const std::vector<std::size_t> doubtful = stale_up_to(kToSpare * as_weak_as(least));
      if (!doubtful.empty())
        look_at_all(doubtful, watch);
      else
        remove(first_of_weakest(least), level);
      decided_ = std::max(decided_, decided_at(top));
    }
    return found();
  }

 private:
  static constexpr double kTie = 1e-9;  // gains so near each other are equal
  static constexpr double kToSpare = 1.25;
  static constexpr std::size_t kMostKept = std::size_t{1} << 23;  // numbers of rows' scores: 64 megabytes

  struct Edge {
    bool live = true, held = false;
    bool stale = true;  // whether it has not been looked at since one of its columns was fitted
    double seen = 0;
    double entry = std::numeric_limits<double>::infinity();
    EdgeScore score[2];                   // what each end says, as last seen
    EdgeStatistic::Whitened whitened[2];  // the same for all rows, as far as there is room
    bool stands[2] = {false, false};      // whether the end still says so
    std::atomic<int> open{0};             // ends that are yet to be looked from, before they are compared
  };

  Found found() const {
    Found found;
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
    for (const std::size_t e : of_column_[column])
      if (edges_[e].live) neighbours.push_back(other_end(e, column));
    for (std::size_t t = own_; column < own_ && table_.states(column) > 1 && t < table_.columns(); ++t)
      if (table_.states(t) > 1) neighbours.push_back(t);
    std::ranges::sort(neighbours);
    return neighbours;
  }

  std::vector<Form> forms_of(std::size_t column, const std::vector<std::size_t>& neighbours) const {
    std::vector<Form> forms;
    if (!conditional_.forms) return forms;
    forms.assign(neighbours.size(), Form::table);
    for (const std::size_t e : of_column_[column]) {
      const auto at = std::ranges::lower_bound(neighbours, other_end(e, column));
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
      const std::size_t t = neighbours[i], e = edge_to(r, t);
      const bool small = !forms.empty() && forms[i] == Form::small;
      starts_.append(e, pairs_[e].first == r ? 0 : 1, static_cast<std::size_t>(table_.states(r)),
                     static_cast<std::size_t>(table_.states(t)),
                     small ? &conditional_.forms->design(r, t) : nullptr, start, tables);
    }
    if (!conditional_.intercept) return tables;
    start.insert(start.end(), tables.begin(), tables.end());
    return start;
  }

  std::size_t edge_to(std::size_t column, std::size_t neighbour) const {
    return *std::ranges::find_if(of_column_[column],
                                 [&](std::size_t e) { return other_end(e, column) == neighbour; });
  }

  std::size_t other_end(std::size_t e, std::size_t column) const {
    return pairs_[e].first == column ? pairs_[e].second : pairs_[e].first;
  }

  static bool takes_part(const Edge& edge) { return edge.live && !edge.held; }

  // Infinite once none is left.
  double least_seen() const {
    double least = std::numeric_limits<double>::infinity();
    for (const Edge& edge : edges_)
      if (takes_part(edge)) least = std::min(least, edge.seen);
    return least;
  }

  std::vector<std::size_t> stale_up_to(double level) const {
    std::vector<std::size_t> found;
    for (std::size_t e = 0; e < edges_.size(); ++e)
      if (takes_part(edges_[e]) && edges_[e].stale && edges_[e].seen <= level) found.push_back(e);
    return found;
  }

  // Edges that left, and those that were last seen above `top`.
  std::size_t decided_at(double top) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        edges_, [&](const Edge& edge) { return !takes_part(edge) || edge.seen > top; }));
  }

  // The first of those that are as weak as any.
  std::size_t first_of_weakest(double least) const {
    const auto first = std::ranges::find_if(
        edges_, [&](const Edge& edge) { return takes_part(edge) && edge.seen <= as_weak_as(least); });
    return static_cast<std::size_t>(first - edges_.begin());
  }

  double as_weak_as(double least) const { return least + 2 * table_.n() * kTie; }

  // Before the first look: what the end says that is less sure.
  void begin_with(std::size_t e) {
    Edge& edge = edges_[e];
    const std::size_t columns[2] = {pairs_[e].first, pairs_[e].second};
    edge.seen = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < 2; ++k) {
      const End& end = ends_[columns[k]];
      const std::size_t at = end.position(columns[1 - k]);
      const auto alone = [&](double deviance) {
        return as_one_parameter(deviance, tested_[e].null, 1.0, static_cast<double>(end.parameters_of(at)),
                                tested_[e].looks);
      };
      edge.score[k] = end.without(at, {}, [&](double deviance) { return alone(deviance) > far_; });
      edge.stands[k] = !edge.score[k].without.empty();
      edge.seen = std::min(edge.seen, alone(edge.score[k].deviance));
    }
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
    const auto [i, j] = pairs_[end / 2];
    return ends_[end % 2 ? j : i];
  }

  // Adds ends of the weakest edges that are stale and not among `some`. What they say stands until their
  // column changes.
  void add_likely_next(std::size_t count, const std::vector<std::size_t>& some,
                       std::vector<std::size_t>& open) const {
    std::vector<std::pair<double, std::size_t>> next;
    for (const std::size_t e : stale_up_to(far_))
      for (std::size_t k = 0; k < 2; ++k)
        if (!looked_from(e, k) && !std::ranges::binary_search(some, e))
          next.emplace_back(edges_[e].seen, 2 * e + k);
    count = std::min(count, next.size());
    std::ranges::partial_sort(next, next.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t k = 0; k < count; ++k) open.push_back(next[k].second);
  }

  bool looked_from(std::size_t e, std::size_t k) const {
    return edges_[e].stands[k] && !edges_[e].whitened[k].scores.empty();
  }

  // What one end says: the fit without the edge, the score there, and the scores of all rows.
  void look_from(std::size_t e, std::size_t k) {
    if (looked_from(e, k)) return;
    Edge& edge = edges_[e];
    const auto [i, j] = pairs_[e];
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
    edge.seen =
        statistic.compares(0) ? statistic.value(edge.whitened[0], edge.whitened[1]) : statistic.value();
    if (kept_ > kMostKept) forget_scores(edge);
    edge.stale = false;
  }

  EdgeStatistic statistic_of(std::size_t e) const {
    const auto [i, j] = pairs_[e];
    return {table_, pairs_[e], tested_[e], ends_[i], edges_[e].score[0], ends_[j], edges_[e].score[1]};
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
    const std::size_t columns[2] = {pairs_[e].first, pairs_[e].second};
    crew_.share_out(2, [&](std::size_t k) {
      End& end = ends_[columns[k]];
      const std::size_t at = end.position(columns[1 - k]);
      for (const std::size_t other : of_column_[columns[k]]) {
        EdgeScore& score = edges_[other].score[pairs_[other].first == columns[k] ? 0 : 1];
        if (!score.bend.empty()) score.bend = end.fewer(std::move(score.bend), at);
      }
      end = End::without(std::move(end), at, edges_[e].score[k], cells_[k]);
    });
    for (const std::size_t column : columns)
      for (const std::size_t other : of_column_[column]) {
        edges_[other].stands[pairs_[other].first == column ? 0 : 1] = false;
        edges_[other].stale = true;
      }
  }

  const Table& table_;
  Conditional conditional_;
  Starts starts_;
  const Pairs pairs_;
  std::vector<Tested> tested_;  // of each edge
  std::vector<Edge> edges_;
  std::vector<End> ends_;
  std::vector<std::vector<std::size_t>> of_column_;  // the edges of each column
  std::size_t own_;                                  // columns that are not adjusted for
  double far_ = 0;  // what was seen above it is never looked at, however far above it is
  unsigned threads_;
  Crew crew_;                         // for what is done sooner than threads are made
  std::size_t decided_ = 0;           // edges that left, or were above the top when last seen
  std::deque<Cells> cells_;           // one per thread, and one for either end
  std::atomic<std::size_t> kept_{0};  // numbers of rows' scores
  std::atomic<bool> interrupted_{false};
  std::chrono::steady_clock::time_point told_;
};

}  // namespace isinglass

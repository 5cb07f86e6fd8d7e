// Both ends of an edge together: what the two columns that it joins say of it, as one chi-square.
//
// Under no effect each end's likelihood ratio is a chi-square, and the two are correlated, for they look at
// the same rows. How far is measured: it is the correlation of their efficient scores, row by row. Both are
// added with the weights that are best for one table shared by both ends; a leaf of a star, whose end says
// all there is, gets all the weight. What comes out is brought to a chi-square with one degree of freedom.
// Edges leave one by one, the weakest first, and only the two columns of an edge that left are fitted again.
// See docs/joint.md.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/eigen.hpp"
#include "base/threads.hpp"
#include "bits/cells.hpp"
#include "gains/equivalent.hpp"
#include "refit/edge_score.hpp"

namespace isinglass {

// About `scale` times a chi-square with `df` degrees of freedom, as one with one degree.
inline double as_one_parameter(double chi2, double scale, double df) {
  return 2 * one_parameter_gain(0.5 * chi2 / scale, df, 1.0);
}

// The best weights of two ends with information of these sizes and scores so correlated: none is negative.
inline std::pair<double, double> best_weights(double one, double other, double correlation) {
  const double v = std::max(one - correlation * other, 0.0), w = std::max(other - correlation * one, 0.0);
  const double length = std::hypot(v, w);
  return length > 0 ? std::pair(v / length, w / length) : std::pair(1.0, 1.0);
}

// What both ends of one edge say together.
class EdgeStatistic {
 public:
  // The edge's columns and its scale, the fit of either, and its score of the other.
  EdgeStatistic(const Table& table, std::pair<std::size_t, std::size_t> columns, double scale, const End& one,
                const EdgeScore& score, const End& other, const EdgeScore& other_score)
      : table_(table),
        i_(columns.first),
        j_(columns.second),
        scale_(scale),
        ends_{&one, &other},
        scores_{&score, &other_score} {}

  double value() const {
    const std::size_t d = scores_[0]->df;
    if (d > kMostParameters) return as_one_parameter(mean_root(), scale_, static_cast<double>(d));
    const Whitened a = whiten(0), b = whiten(1);
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
    return sum > 0 && squares > 0 ? as_one_parameter(length, scale_ * squares / sum, sum * sum / squares) : 0.0;
  }

 private:
  static constexpr std::size_t kMostParameters = 64;  // of an edge whose ends are compared row by row
  static constexpr double kAlike = 0.98;  // scores that are more alike are weighted as if they were not

  struct Whitened {
    std::vector<double> vector;   // (df): the score with unit variance, as long as the likelihood ratio says
    std::vector<double> by_cell;  // (cells, width, df)
    double size = 0;              // root of the mean information
  };

  // Of ends that are not compared: as if they said the same.
  double mean_root() const {
    const double root = 0.5 * (std::sqrt(scores_[0]->deviance) + std::sqrt(scores_[1]->deviance));
    return root * root;
  }

  // In the coordinates of the first end.
  Whitened whiten(std::size_t end) const {
    const EdgeScore& edge = *scores_[end];
    const std::size_t d = edge.df;
    double trace = 0;
    for (std::size_t k = 0; k < d; ++k) trace += edge.information[k * d + k];
    const std::vector<double> root = end_to_first(inverse_root(edge.information, d, 1e-9 * trace), end);
    Whitened found{std::vector<double>(d, 0.0), ends_[end]->scores_by_cell(edge, root),
                   std::sqrt(std::max(trace, 0.0) / static_cast<double>(d))};
    double length = 0;
    for (std::size_t k = 0; k < d; ++k) {
      for (std::size_t l = 0; l < d; ++l) found.vector[k] += edge.score[l] * root[l * d + k];
      length += found.vector[k] * found.vector[k];
    }
    for (double& number : found.vector) number *= length > 0 ? std::sqrt(edge.deviance / length) : 0.0;
    return found;
  }

  // The columns of a matrix in the order of the first end's contrasts: at the second end, the neighbour's
  // and the target's change places.
  std::vector<double> end_to_first(std::vector<double> root, std::size_t end) const {
    if (end == 0) return root;
    const std::size_t d = scores_[end]->df, q = target_parameters(table_.states(j_)), m = d / q;
    std::vector<double> turned(root.size());
    for (std::size_t l = 0; l < d; ++l)
      for (std::size_t c = 0; c < m; ++c)
        for (std::size_t a = 0; a < q; ++a) turned[l * d + a * m + c] = root[l * d + c * q + a];
    return turned;
  }

  // How the scores of both ends go together: (df, df), the mean variance of either being one.
  std::vector<double> correlation(const Whitened& a, const Whitened& b) const {
    const std::size_t d = scores_[0]->df, wide_i = static_cast<std::size_t>(table_.states(i_)),
                      wide_j = static_cast<std::size_t>(table_.states(j_));
    const std::uint8_t *of_i = table_.codes(i_), *of_j = table_.codes(j_);
    std::vector<double> common(d * d, 0.0);
    double own = 0, other = 0;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      const double weight = table_.weight(row);
      const double* x = &a.by_cell[(ends_[0]->cell(row) * wide_i + of_i[row]) * d];
      const double* y = &b.by_cell[(ends_[1]->cell(row) * wide_j + of_j[row]) * d];
      for (std::size_t k = 0; k < d; ++k) {
        own += weight * x[k] * x[k];
        other += weight * y[k] * y[k];
        for (std::size_t l = 0; l < d; ++l) common[k * d + l] += weight * x[k] * y[l];
      }
    }
    const double scale = own > 0 && other > 0 ? static_cast<double>(d) / std::sqrt(own * other) : 0.0;
    for (double& number : common) number *= scale;
    return common;
  }

  const Table& table_;
  std::size_t i_, j_;
  double scale_;  // how many times a chi-square it is without effect
  const End* ends_[2];
  const EdgeScore* scores_[2];
};

// The edges of a graph leave, the weakest first. A statistic is found only when a forecast says that it might
// be the least of all.
class Elimination {
 public:
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

  struct Found {
    std::vector<double>
        statistic;              // of each edge, with all others that are left; of one that left, when it did
    std::vector<double> entry;  // the largest statistic with which one has left by then; infinite for
                                // those that stay
  };

  // `scales` has one number for each edge, or none if all are one.
  Elimination(const Table& table, bool intercept, const Pairs& edges, std::span<const double> scales,
              unsigned threads)
      : table_(table),
        intercept_(intercept),
        pairs_(edges),
        scales_(scales),
        edges_(edges.size()),
        ends_(table.columns()),
        of_column_(table.columns()),
        threads_(std::max(threads, 1u)) {
    for (unsigned t = 0; t < std::max(threads_, 2u); ++t) cells_.emplace_back(table, 0);
    for (std::size_t e = 0; e < edges.size(); ++e)
      for (const std::size_t column : {edges[e].first, edges[e].second}) of_column_[column].push_back(e);
  }

  // Removes the weakest edge while its statistic is at most `top`; edges that are `held` stay. With `all`,
  // the statistics of those that stay are found as well.
  Found run(double top, const std::vector<char>& held, bool all, const WatchWork& watch) {
    for (std::size_t e = 0; e < edges_.size(); ++e) edges_[e].held = held[e];
    fit_all(watch);
    Found found{{}, std::vector<double>(edges_.size(), std::numeric_limits<double>::infinity())};
    double highest = 0;
    for (std::size_t looks = 0; !interrupted_; ++looks) {
      if (looks % 16 == 0 && !watch(table_.columns())) break;
      const std::size_t weakest = first_of_weakest();
      if (weakest == kNone || !(edges_[weakest].least <= top)) break;
      if (!edges_[weakest].is_known) {
        look_at_some(weakest, top);
        continue;
      }
      found.entry[weakest] = highest = std::max(highest, edges_[weakest].least);
      remove(weakest);
    }
    if (all && !interrupted_)
      share_out(edges_.size(), threads_, [&](std::size_t e) {
        if (edges_[e].live && !edges_[e].is_known) look_at(e);
      });
    for (const Edge& edge : edges_) found.statistic.push_back(edge.statistic);
    return found;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr double kTie = 1e-9;      // gains so near each other are equal
  static constexpr double kForeseen = 0.5;  // a statistic is at least this share of what is foreseen
  static constexpr double kForecast = 0.5;  // and of what it was, where what is foreseen has hardly changed
  static constexpr double kHardly = 0.05;
  static constexpr std::size_t kAtOnce = 2;

  struct Edge {
    bool live = true, held = false;
    bool is_known = false;            // whether the statistic is that of the graph as it is
    double statistic = 0;             // as last seen
    double least = 0;                 // it, or what it is at least
    double foreseen = 0;              // what was foreseen then; zero if there was no look
    EdgeScore score[2];               // what each end says, as last seen
    bool stands[2] = {false, false};  // whether the end still says so
  };

  void fit_all(const WatchWork& watch) {
    share_out_watched(ends_.size(), threads_, interrupted_, watch, [&](std::size_t r, unsigned thread) {
      ends_[r] = End(table_, intercept_, cells_[thread], r, neighbours_of(r));
    });
    if (interrupted_) return;
    for (std::size_t e = 0; e < edges_.size(); ++e) forecast(e);
  }

  std::vector<std::size_t> neighbours_of(std::size_t column) const {
    std::vector<std::size_t> neighbours;
    for (const std::size_t e : of_column_[column])
      if (edges_[e].live) neighbours.push_back(other_end(e, column));
    std::ranges::sort(neighbours);
    return neighbours;
  }

  std::size_t other_end(std::size_t e, std::size_t column) const {
    return pairs_[e].first == column ? pairs_[e].second : pairs_[e].first;
  }

  // The first of those that are as weak as any.
  std::size_t first_of_weakest() const {
    const auto takes_part = [](const Edge& edge) { return edge.live && !edge.held; };
    double least = std::numeric_limits<double>::infinity();
    for (const Edge& edge : edges_)
      if (takes_part(edge)) least = std::min(least, edge.least);
    // What is only forecast is looked at first: it might be as weak.
    const double as_weak = least + 2 * table_.n() * kTie;
    std::size_t found = kNone;
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      if (!takes_part(edges_[e]) || edges_[e].least > as_weak) continue;
      if (!edges_[e].is_known) return e;
      if (found == kNone) found = e;
    }
    return found;
  }

  // What the statistic of an edge is at least, as far as can be told without looking.
  void forecast(std::size_t e) {
    Edge& edge = edges_[e];
    edge.is_known = false;
    const double now = foreseen(e), change = edge.foreseen > 0 ? now / edge.foreseen : 0.0;
    edge.least = kForeseen * now;
    if (std::abs(change - 1) < kHardly)
      edge.least = std::max(edge.least, kForecast * edge.statistic * std::min(change, 1.0));
  }

  // The statistic, as if both ends were sure of the same: their forecasts' mean.
  double foreseen(std::size_t e) const {
    const auto [i, j] = pairs_[e];
    const std::vector<double>&one = ends_[i].forecast(ends_[i].position(j)),
          &other = ends_[j].forecast(ends_[j].position(i));
    const std::size_t q = target_parameters(table_.states(i)), m = one.size() / q;
    double length = 0, least[2] = {0, 0};
    for (std::size_t c = 0; c < m; ++c)
      for (std::size_t a = 0; a < q; ++a) {
        const double x = one[c * q + a], y = other[a * m + c];
        length += 0.25 * (x + y) * (x + y);
        least[0] += x * x;
        least[1] += y * y;
      }
    return as_one_parameter(std::min({length, least[0], least[1]}), scale(e), static_cast<double>(one.size()));
  }

  double scale(std::size_t e) const { return scales_.empty() ? 1.0 : scales_[e]; }

  // Looks at an edge, and at the next ones that may be asked for: several at once take no longer.
  void look_at_some(std::size_t e, double top) {
    std::vector<std::size_t> some;
    for (std::size_t other = 0; other < edges_.size(); ++other)
      if (edges_[other].live && !edges_[other].held && !edges_[other].is_known && edges_[other].least <= top)
        some.push_back(other);
    const auto sooner = [&](std::size_t a, std::size_t b) {
      return std::pair(edges_[a].least, a) < std::pair(edges_[b].least, b);
    };
    const std::size_t count = std::min(some.size(), kAtOnce);
    std::partial_sort(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count), some.end(), sooner);
    some.resize(count);
    if (std::ranges::find(some, e) == some.end()) some.push_back(e);
    share_out(some.size(), threads_, [&](std::size_t k) { look_at(some[k]); });
  }

  void look_at(std::size_t e) {
    Edge& edge = edges_[e];
    const auto [i, j] = pairs_[e];
    if (!edge.stands[0]) edge.score[0] = ends_[i].score(ends_[i].position(j));
    if (!edge.stands[1]) edge.score[1] = ends_[j].score(ends_[j].position(i));
    edge.stands[0] = edge.stands[1] = edge.is_known = true;
    edge.statistic = edge.least =
        EdgeStatistic(table_, pairs_[e], scale(e), ends_[i], edge.score[0], ends_[j], edge.score[1]).value();
    edge.foreseen = foreseen(e);
  }

  void remove(std::size_t e) {
    edges_[e].live = false;
    const std::size_t columns[2] = {pairs_[e].first, pairs_[e].second};
    share_out(2, std::min(threads_, 2u), [&](std::size_t k) {
      End& end = ends_[columns[k]];
      std::vector<double> start = end.fewer(edges_[e].score[k].without, end.position(columns[1 - k]));
      end = End(table_, intercept_, cells_[k], columns[k], neighbours_of(columns[k]), std::move(start));
    });
    for (const std::size_t column : columns)
      for (const std::size_t other : of_column_[column]) {
        edges_[other].stands[pairs_[other].first == column ? 0 : 1] = false;
        if (edges_[other].live) forecast(other);
      }
  }

  const Table& table_;
  bool intercept_;
  const Pairs pairs_;
  std::span<const double> scales_;
  std::vector<Edge> edges_;
  std::vector<End> ends_;
  std::vector<std::vector<std::size_t>> of_column_;  // the edges of each column
  unsigned threads_;
  std::deque<Cells> cells_;  // one per thread, and one for either end
  std::atomic<bool> interrupted_{false};
};

}  // namespace isinglass

// Pair counts: one whole table while that is small, single rows on demand otherwise.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <unordered_map>
#include <vector>

#include "bits/table.hpp"

namespace isinglass {

// Counts between all states but the first of each column; the others follow by subtraction. They are
// as exact as the table counts roughly: within its slack, which is zero for whole weights.
class Pairs {
 public:
  static constexpr std::size_t kWholeTableBytes = std::size_t{64} << 20;

  explicit Pairs(const Table& table) : table_(table), states_(table.first(table.columns())) {
    std::iota(states_.begin(), states_.end(), std::size_t{0});
    double all = 0;
    for (int c = 0; table.columns() > 0 && c < table.states(0); ++c) all += table.marginal(table.state(0, c));
    const auto reach = [&](double rows) { return std::sqrt(std::max(rows * (all - rows) / all, 0.0)); };
    for (const std::size_t u : states_) {
      marginals_.push_back(table.marginal(u));
      reaches_.push_back(reach(marginals_.back()));
      inverse_variances_.push_back(reaches_.back() > 0 ? 1 / (reaches_.back() * reaches_.back()) : 0.0);
    }
    for (std::size_t j = 0; j < table.columns(); ++j) {
      all_of_two_ = all_of_two_ && table.states(j) == 2;
      first_marginals_.push_back(table.marginal(table.state(j, 0)));
      first_reaches_.push_back(reach(first_marginals_.back()));
    }
  }

  std::size_t size() const { return states_.size(); }
  // Number of state 1 of a column; also for one past the last column.
  std::size_t first(std::size_t column) const { return table_.first(column); }
  // Rows of each state, and what a function of the rows with unit length, orthogonal to the
  // constant one, can add up to on them: sqrt(n pi (1 - pi)).
  std::span<const double> marginals() const { return marginals_; }
  std::span<const double> reaches() const { return reaches_; }
  // 1 / (n pi (1 - pi)); zero for a state that all rows have.
  std::span<const double> inverse_variances() const { return inverse_variances_; }
  // Whether all columns have two states, so that states are numbered as columns are.
  bool all_of_two() const { return all_of_two_; }
  std::span<const double> first_marginals() const { return first_marginals_; }
  double first_marginal(std::size_t column) const { return first_marginals_[column]; }
  double first_reach(std::size_t column) const { return first_reaches_[column]; }
  bool whole() const { return !counts_.empty(); }

  // Counts all pairs, if the table is small; threads take rows in turn.
  void prepare(unsigned threads) {
    if (size() * size() * sizeof(double) > kWholeTableBytes) return;
    counts_.resize(size() * size());
    // Tiles of state pairs whose bits stay in the cache; each tile also fills its mirror image.
    constexpr std::size_t kTile = 32;
    const std::size_t tiles = (size() + kTile - 1) / kTile;
    share_out(tiles * (tiles + 1) / 2, threads, [&](std::size_t number) {
      std::size_t i = 0;
      while ((i + 1) * (i + 2) / 2 <= number) ++i;
      fill_tile(i * kTile, (number - i * (i + 1) / 2) * kTile, kTile);
    });
  }

  // Rows on demand, kept until tidied away; one reader for each thread.
  class Reader {
   public:
    explicit Reader(const Pairs& pairs) : pairs_(pairs) {}

    // Lets go of rows that were read before; between two searches, when nobody looks at them.
    void tidy() {
      if (kept_.size() > kKept) kept_.clear();
    }

    std::span<const double> row(std::size_t u) {
      if (pairs_.whole()) return {pairs_.counts_.data() + u * pairs_.size(), pairs_.size()};
      if (const auto found = kept_.find(u); found != kept_.end()) return found->second;
      std::vector<double>& row = kept_[u];
      row.resize(pairs_.size());
      pairs_.table_.count_roughly(pairs_.table_.row(u), pairs_.states_, row.data());
      return row;
    }

    // Exact counts of the rows with each state of a column and each of a target: states x target's states.
    void cross_counts(std::size_t column, std::size_t target, std::vector<double>& out) {
      const Table& table = pairs_.table_;
      const auto m = static_cast<std::size_t>(table.states(column)),
                 width = static_cast<std::size_t>(table.states(target));
      out.assign(m * width, 0.0);
      if (!table.countable()) {
        for (std::size_t c = 0; c < m; ++c)
          for (std::size_t a = 0; a < width; ++a)
            out[c * width + a] =
                table.count(table.bits(target, static_cast<int>(a)), table.bits(column, static_cast<int>(c)));
        return;
      }
      // Pair counts know all but the first states; the rest are differences of whole numbers.
      double* first = out.data();
      for (std::size_t a = 0; a < width; ++a)
        first[a] = table.marginal(table.state(target, static_cast<int>(a)));
      for (std::size_t a = 1; a < width; ++a) {
        const double* counts = row(pairs_.first(target) + a - 1).data() + pairs_.first(column);
        for (std::size_t c = 1; c < m; ++c) first[a] -= out[c * width + a] = counts[c - 1];
      }
      for (std::size_t c = 1; c < m; ++c) {
        double& own = out[c * width];
        own = table.marginal(table.state(column, static_cast<int>(c)));
        for (std::size_t a = 1; a < width; ++a) own -= out[c * width + a];
        first[0] -= own;
      }
    }

   private:
    static constexpr std::size_t kKept = 64;
    const Pairs& pairs_;
    std::unordered_map<std::size_t, std::vector<double>> kept_;
  };

 private:
  void fill_tile(std::size_t top, std::size_t left, std::size_t side) {
    const std::size_t bottom = std::min(top + side, size()), right = std::min(left + side, size());
    for (std::size_t u = top; u < bottom; ++u) {
      const std::size_t stop = std::min(right, u + 1);
      if (stop <= left) continue;
      table_.count_roughly(table_.row(u), std::span(states_).subspan(left, stop - left),
                           &counts_[u * size() + left]);
      for (std::size_t v = left; v < stop; ++v) counts_[v * size() + u] = counts_[u * size() + v];
    }
  }

  const Table& table_;
  bool all_of_two_ = true;
  std::vector<std::size_t> states_;
  std::vector<double> marginals_, reaches_, inverse_variances_, first_marginals_, first_reaches_, counts_;
};

}  // namespace isinglass

// Pair counts: one whole table while that is small, single rows on demand otherwise.
#pragma once

#include <algorithm>
#include <cmath>
#include <list>
#include <numeric>
#include <span>
#include <unordered_map>
#include <vector>

#include "table.hpp"

namespace isinglass {

// Every state but the first of its column has a number; the first ones follow by subtraction.
class Pairs {
 public:
  static constexpr std::size_t kWholeTableBytes = std::size_t{64} << 20;

  explicit Pairs(const Table& table) : table_(table) {
    for (std::size_t j = 0; j < table.columns(); ++j) {
      first_.push_back(rows_.size());
      for (int c = 1; c < table.states(j); ++c) rows_.push_back(table.first(j) + static_cast<std::size_t>(c));
    }
    first_.push_back(rows_.size());
    double all = 0;
    if (table.columns())
      for (std::size_t u = 0; u < table.first(1); ++u) all += table.marginal(u);
    const auto reach = [&](double rows) { return std::sqrt(std::max(rows * (all - rows) / all, 0.0)); };
    for (const std::size_t u : rows_) {
      marginals_.push_back(table.marginal(u));
      reaches_.push_back(reach(marginals_.back()));
    }
    for (std::size_t j = 0; j < table.columns(); ++j) {
      first_marginals_.push_back(table.marginal(table.first(j)));
      first_reaches_.push_back(reach(first_marginals_.back()));
    }
  }

  std::size_t size() const { return rows_.size(); }
  // Number of state 1 of a column; also for one past the last column.
  std::size_t first(std::size_t column) const { return first_[column]; }
  // Rows of each state, and what a function of the rows with unit length, orthogonal to the
  // constant one, can add up to on them: sqrt(n pi (1 - pi)).
  std::span<const double> marginals() const { return marginals_; }
  std::span<const double> reaches() const { return reaches_; }
  double first_marginal(std::size_t column) const { return first_marginals_[column]; }
  double first_reach(std::size_t column) const { return first_reaches_[column]; }
  std::size_t state_row(std::size_t u) const { return rows_[u]; }
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

  // Rows on demand, the latest ones kept; one for each thread.
  class Reader {
   public:
    explicit Reader(const Pairs& pairs) : pairs_(pairs) {}

    std::span<const double> row(std::size_t u) {
      if (pairs_.whole()) return {pairs_.counts_.data() + u * pairs_.size(), pairs_.size()};
      if (const auto found = kept_.find(u); found != kept_.end()) return found->second;
      if (order_.size() >= kKept) {
        kept_.erase(order_.front());
        order_.pop_front();
      }
      order_.push_back(u);
      std::vector<double>& row = kept_[u];
      row.resize(pairs_.size());
      pairs_.table_.count_many(pairs_.table_.row(pairs_.rows_[u]), pairs_.rows_, row.data());
      return row;
    }

   private:
    static constexpr std::size_t kKept = 64;
    const Pairs& pairs_;
    std::unordered_map<std::size_t, std::vector<double>> kept_;
    std::list<std::size_t> order_;
  };

 private:
  void fill_tile(std::size_t top, std::size_t left, std::size_t side) {
    const std::size_t bottom = std::min(top + side, size()), right = std::min(left + side, size());
    for (std::size_t u = top; u < bottom; ++u) {
      const std::size_t stop = std::min(right, u + 1);
      if (stop <= left) continue;
      table_.count_many(table_.row(rows_[u]), std::span(rows_).subspan(left, stop - left), &counts_[u * size() + left]);
      for (std::size_t v = left; v < stop; ++v) counts_[v * size() + u] = counts_[u * size() + v];
    }
  }

  const Table& table_;
  std::vector<std::size_t> first_, rows_;
  std::vector<double> marginals_, reaches_, first_marginals_, first_reaches_, counts_;
};

}  // namespace isinglass

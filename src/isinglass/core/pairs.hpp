// Pair counts: one whole table while that is small, single rows on demand otherwise.
#pragma once

#include <atomic>
#include <list>
#include <numeric>
#include <span>
#include <thread>
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
    for (const std::size_t u : rows_) marginals_.push_back(table.marginal(u));
  }

  std::size_t size() const { return rows_.size(); }
  // Number of state 1 of a column; also for one past the last column.
  std::size_t first(std::size_t column) const { return first_[column]; }
  std::span<const double> marginals() const { return marginals_; }
  std::size_t state_row(std::size_t u) const { return rows_[u]; }
  bool whole() const { return !counts_.empty(); }

  // Counts all pairs, if the table is small; threads take rows in turn.
  void prepare(unsigned threads) {
    if (size() * size() * sizeof(double) > kWholeTableBytes) return;
    counts_.resize(size() * size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      constexpr std::size_t kBlock = 16;
      for (std::size_t start; (start = next.fetch_add(kBlock)) < size();)
        for (std::size_t u = start; u < std::min(start + kBlock, size()); ++u) fill_lower(u);
    };
    std::vector<std::thread> pool;
    for (unsigned i = 1; i < threads; ++i) pool.emplace_back(work);
    work();
    for (auto& thread : pool) thread.join();
    for (std::size_t u = 0; u < size(); ++u)
      for (std::size_t v = 0; v < u; ++v) counts_[v * size() + u] = counts_[u * size() + v];
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
  void fill_lower(std::size_t u) {
    table_.count_many(table_.row(rows_[u]), std::span(rows_).first(u + 1), &counts_[u * size()]);
  }

  const Table& table_;
  std::vector<std::size_t> first_, rows_;
  std::vector<double> marginals_, counts_;
};

}  // namespace isinglass

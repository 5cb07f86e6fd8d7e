// Pair counts: one whole table while memory allows, single rows on demand otherwise.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/threads.hpp"
#include "bits/table.hpp"
#include "counting/counter.hpp"
#include "counting/counts.hpp"
#include "counting/questions.hpp"
#include "counting/tiles.hpp"

namespace isinglass {

// What is known of every state but the first of each column.
template <class Real>
struct StateFacts {
  std::vector<Real> rows;     // of each state
  std::vector<Real> reaches;  // what a function of the rows with unit length, orthogonal to the constant one,
                              // can add up to on them: sqrt(n pi (1 - pi))
  std::vector<Real> inverse_variances;          // 1 / (n pi (1 - pi)); zero for a state that all rows have
  std::vector<Real> first_rows, first_reaches;  // of the first state of each column

  template <class Other>
  StateFacts<Other> as() const {
    const auto copy = [](const std::vector<Real>& from) {
      return std::vector<Other>(from.begin(), from.end());
    };
    return {copy(rows), copy(reaches), copy(inverse_variances), copy(first_rows), copy(first_reaches)};
  }
};

// Counts between all states but the first of each column; the others follow by subtraction. They are
// whole numbers of the table's unit, and as exact as it counts roughly: within its slack, which is zero for
// whole weights.
class Pairs {
 public:
  explicit Pairs(const Table& table)
      : table_(table), size_(table.first(table.columns())), count_size_(size_of_counts(table)) {
    double all = 0;
    for (int c = 0; table.columns() > 0 && c < table.states(0); ++c) all += table.marginal(table.state(0, c));
    const auto reach = [&](double rows) { return std::sqrt(std::max(rows * (all - rows) / all, 0.0)); };
    for (std::size_t u = 0; u < size_; ++u) {
      facts_.rows.push_back(table.marginal(u));
      facts_.reaches.push_back(reach(facts_.rows.back()));
      const double variance = facts_.reaches.back() * facts_.reaches.back();
      facts_.inverse_variances.push_back(variance > 0 ? 1 / variance : 0.0);
    }
    for (std::size_t j = 0; j < table.columns(); ++j) {
      all_of_two_ = all_of_two_ && table.states(j) == 2;
      facts_.first_rows.push_back(table.marginal(table.state(j, 0)));
      facts_.first_reaches.push_back(reach(facts_.first_rows.back()));
    }
    rough_facts_ = facts_.as<float>();
  }

  std::size_t size() const { return size_; }
  // Number of state 1 of a column; also for one past the last column.
  std::size_t first(std::size_t column) const { return table_.first(column); }
  template <class Real>
  const StateFacts<Real>& facts() const {
    if constexpr (sizeof(Real) == sizeof(double))
      return facts_;
    else
      return rough_facts_;
  }
  // Whether all columns have two states, so that states are numbered as columns are.
  bool all_of_two() const { return all_of_two_; }
  bool whole() const { return counts_ != nullptr; }
  // Bytes of the whole table.
  double bytes() const {
    return static_cast<double>(size_) * static_cast<double>(size_) * static_cast<double>(count_size_);
  }

  // Counts all pairs; threads take blocks of them in turn. Not whole if it was interrupted, or if the memory
  // was not to be had after all.
  void prepare(unsigned threads, std::atomic<bool>& interrupted, const WatchWork& watch) {
    const std::size_t bytes = size_ * size_ * static_cast<std::size_t>(count_size_);
    std::unique_ptr<std::byte[]> counts(new (std::nothrow) std::byte[bytes]);
    if (!counts) return;
    const std::size_t blocks = (size_ + kBlock - 1) / kBlock;
    share_out_watched(
        blocks * (blocks + 1) / 2, threads, interrupted, [&](std::size_t) { return watch(0); },
        [&](std::size_t number, unsigned) {
          auto i = static_cast<std::size_t>(std::sqrt(2.0 * static_cast<double>(number)));
          while (i * (i + 1) / 2 > number) --i;
          while ((i + 1) * (i + 2) / 2 <= number) ++i;
          fill_block(i * kBlock, (number - i * (i + 1) / 2) * kBlock, counts.get());
        });
    if (!interrupted) counts_ = std::move(counts);
  }

  // The same, asked of whoever holds the rows: some states at once against all that follow, whose mirror
  // image is filled in. `watch` is called after every question.
  void prepare(const Holder& holder, std::atomic<bool>& interrupted, const WatchWork& watch) {
    constexpr std::size_t kAtOnce = 1 << 22;  // counts
    const std::size_t bytes = size_ * size_ * static_cast<std::size_t>(count_size_);
    std::unique_ptr<std::byte[]> counts(new (std::nothrow) std::byte[bytes]);
    if (!counts) return;
    for (std::size_t first = 0, last; first < size_ && !interrupted; first = last) {
      last = std::min(size_, first + std::max<std::size_t>(kAtOnce / (size_ - first), 1));
      Questions questions;
      questions.add_states(first, last, first);
      const std::vector<std::uint64_t> found = holder(questions.arrays());
      for (std::size_t u = first; u < last; ++u)
        copy_counts(&found[(u - first) * (size_ - first)], size_ - first, count_size_,
                    place(counts.get(), u, first));
      if (last < size_) mirror(first, last, last, size_, counts.get());
      if (!watch(0)) interrupted = true;
    }
    if (!interrupted) counts_ = std::move(counts);
  }

  // Rows of the whole table, or on demand; one reader for each search.
  class Reader {
   public:
    Reader(const Pairs& pairs, Counter& counter)
        : pairs_(pairs), counter_(counter), pool_(pairs.size(), pairs.count_size_) {}

    // Lets go of rows that were read before; between two searches, when nobody looks at them.
    void tidy() {
      for (auto& [state, row] : kept_) pool_.give_back(std::move(row));
      kept_.clear();
    }

    // Of a state, in units.
    CountRow row(std::size_t u) {
      if (pairs_.whole()) return {pairs_.place(pairs_.counts_.get(), u, 0), pairs_.count_size_};
      CountPool::Row& row = kept_[u];
      if (!row) {
        row = pool_.take();
        counter_.count(std::vector{CountRequest{{.state = u}, row.get()}});
      }
      return pool_.view(row);
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
        const CountRow counts = row(pairs_.first(target) + a - 1);
        for (std::size_t c = 1; c < m; ++c)
          first[a] -= out[c * width + a] = counts[pairs_.first(column) + c - 1];
      }
      for (std::size_t c = 1; c < m; ++c) {
        double& own = out[c * width];
        own = table.marginal(table.state(column, static_cast<int>(c)));
        for (std::size_t a = 1; a < width; ++a) own -= out[c * width + a];
        first[0] -= own;
      }
    }

   private:
    const Pairs& pairs_;
    Counter& counter_;
    CountPool pool_;
    std::unordered_map<std::size_t, CountPool::Row> kept_;
  };

 private:
  // States of a block: bits of as many rows stay in the second cache while tiles of others pass by, and what
  // is written in the mirror image is some cache lines long.
  static constexpr std::size_t kBlock = 96;

  // Where a count is.
  std::byte* place(std::byte* counts, std::size_t u, std::size_t v) const {
    return counts + (u * size_ + v) * static_cast<std::size_t>(count_size_);
  }

  // Counts of a block of states with another, not beyond it; it also fills their mirror image.
  void fill_block(std::size_t top, std::size_t left, std::byte* counts) const {
    const std::size_t bottom = std::min(top + kBlock, size_), right = std::min(left + kBlock, size_);
    SetsInPlanes sets(table_, bottom - top);
    for (std::size_t u = top; u < bottom; ++u) sets.add(table_.row(u));
    for (std::size_t u = top; u < bottom; ++u)
      std::fill(place(counts, u, left), place(counts, u, right), std::byte{0});
    count_tiles(table_, sets.rows(), left, right,
                [&](std::size_t first, std::size_t states, const std::uint32_t* found) {
                  for (std::size_t u = top; u < bottom; ++u)
                    for (std::size_t plane = 0; plane < table_.planes(); ++plane, found += states)
                      store_counts(found, states, static_cast<int>(plane), count_size_, place(counts, u, 0),
                                   first);
                });
    if (top != left) mirror(top, bottom, left, right, counts);
  }

  void mirror(std::size_t top, std::size_t bottom, std::size_t left, std::size_t right,
              std::byte* counts) const {
    with_counts(count_size_, counts, [&]<class Count>(const Count*) {
      for (std::size_t v = left; v < right; ++v) {
        auto* own = reinterpret_cast<Count*>(place(counts, v, 0));
        for (std::size_t u = top; u < bottom; ++u)
          own[u] = reinterpret_cast<const Count*>(place(counts, u, 0))[v];
      }
    });
  }

  const Table& table_;
  std::size_t size_;
  CountSize count_size_;
  bool all_of_two_ = true;
  StateFacts<double> facts_;
  StateFacts<float> rough_facts_;
  std::unique_ptr<std::byte[]> counts_;  // size x size
};

}  // namespace isinglass

// Edges as pairs of columns, by number, and the edges of each column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace isinglass {

class PairGraph {
 public:
  using Pair = std::pair<std::size_t, std::size_t>;

  explicit PairGraph(std::size_t columns) : of_column_(columns) {}

  void add(const Pair& pair) {
    for (const std::size_t column : {pair.first, pair.second}) of_column_[column].push_back(pairs_.size());
    pairs_.push_back(pair);
  }

  std::size_t size() const { return pairs_.size(); }
  const Pair& operator[](std::size_t e) const { return pairs_[e]; }
  const std::vector<std::size_t>& of_column(std::size_t column) const { return of_column_[column]; }

  // Which end of an edge a column is, 0 or 1, and the column at the other one.
  std::size_t end_of(std::size_t e, std::size_t column) const { return pairs_[e].first == column ? 0 : 1; }
  std::size_t other_end(std::size_t e, std::size_t column) const {
    return pairs_[e].first == column ? pairs_[e].second : pairs_[e].first;
  }
  std::size_t edge_to(std::size_t column, std::size_t neighbour) const {
    return *std::ranges::find_if(of_column_[column],
                                 [&](std::size_t e) { return other_end(e, column) == neighbour; });
  }

 private:
  std::vector<Pair> pairs_;
  std::vector<std::vector<std::size_t>> of_column_;
};

}  // namespace isinglass

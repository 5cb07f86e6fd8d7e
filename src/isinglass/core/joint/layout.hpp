// Where the numbers of a pairwise model stand in one vector: a number for every state of every column, then
// one for every pair of states of every edge. That is more than is needed; slopes and products do not mind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace isinglass {

// Numbers less their mean, in place.
inline void centre_row(double* row, std::size_t size) {
  double mean = 0;
  for (std::size_t a = 0; a < size; ++a) mean += row[a] / static_cast<double>(size);
  for (std::size_t a = 0; a < size; ++a) row[a] -= mean;
}

// A table less the means of its rows and columns, in place: what it says of both columns together.
inline void centre(double* table, std::size_t rows, std::size_t columns) {
  for (std::size_t s = 0; s < rows; ++s) centre_row(table + s * columns, columns);
  for (std::size_t a = 0; a < columns; ++a) {
    double mean = 0;
    for (std::size_t s = 0; s < rows; ++s) mean += table[s * columns + a];
    mean /= static_cast<double>(rows);
    for (std::size_t s = 0; s < rows; ++s) table[s * columns + a] -= mean;
  }
}

class JointLayout {
 public:
  // An edge as one of its ends sees it.
  struct Edge {
    std::size_t other;    // the column at the other end
    std::size_t begin;    // where the edge's table stands in the vector
    bool other_is_first;  // whether the rows of the table are the other column's states
  };

  JointLayout(std::span<const int> states, std::span<const std::pair<std::size_t, std::size_t>> edges)
      : edges_(edges.begin(), edges.end()), ends_(states.size()) {
    for (const int m : states) {
      states_.push_back(static_cast<std::size_t>(m));
      fields_.push_back(size_);
      size_ += states_.back();
    }
    fields_end_ = size_;
    for (const auto& [i, j] : edges_) {
      tables_.push_back(size_);
      ends_[i].push_back({j, size_, false});
      ends_[j].push_back({i, size_, true});
      size_ += states_[i] * states_[j];
    }
  }

  std::size_t size() const { return size_; }
  std::size_t columns() const { return states_.size(); }
  std::size_t states(std::size_t r) const { return states_[r]; }
  // Where a column's field stands.
  std::size_t field(std::size_t r) const { return fields_[r]; }
  // Where the tables begin.
  std::size_t fields_end() const { return fields_end_; }
  const std::vector<Edge>& edges_of(std::size_t r) const { return ends_[r]; }

  // Column r's numbers, one after the other: its field, then each edge's table, the other's states in rows.
  std::size_t block_size(std::size_t r) const {
    std::size_t size = 1;
    for (const Edge& edge : ends_[r]) size += states_[edge.other];
    return size * states_[r];
  }

  void gather(std::size_t r, const double* vector, double* block) const {
    walk(r, [&](std::size_t at, std::size_t place) { block[place] = vector[at]; });
  }

  void scatter(std::size_t r, const double* block, double* vector) const {
    walk(r, [&](std::size_t at, std::size_t place) { vector[at] += block[place]; });
  }

  // The same model in the zero-sum gauge: what a table says of one column alone goes to that column's field.
  void to_gauge(double* vector) const {
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      const auto [i, j] = edges_[e];
      const std::size_t rows = states_[i], columns = states_[j];
      double *table = vector + tables_[e], *left = vector + fields_[i], *right = vector + fields_[j];
      for (std::size_t s = 0; s < rows; ++s)
        for (std::size_t a = 0; a < columns; ++a) {
          left[s] += table[s * columns + a] / static_cast<double>(columns);
          right[a] += table[s * columns + a] / static_cast<double>(rows);
        }
      centre(table, rows, columns);
    }
    for (std::size_t r = 0; r < states_.size(); ++r) centre_row(vector + fields_[r], states_[r]);
  }

  // The transpose of `to_gauge`, for slopes.
  void to_gauge_transposed(double* vector) const {
    for (std::size_t r = 0; r < states_.size(); ++r) centre_row(vector + fields_[r], states_[r]);
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      const auto [i, j] = edges_[e];
      const std::size_t rows = states_[i], columns = states_[j];
      double *table = vector + tables_[e], *left = vector + fields_[i], *right = vector + fields_[j];
      centre(table, rows, columns);
      for (std::size_t s = 0; s < rows; ++s)
        for (std::size_t a = 0; a < columns; ++a)
          table[s * columns + a] +=
              left[s] / static_cast<double>(columns) + right[a] / static_cast<double>(rows);
    }
  }

  // Calls visit(table, rows, columns) for every edge.
  template <class Visit>
  void each_table(double* vector, const Visit& visit) const {
    for (std::size_t e = 0; e < edges_.size(); ++e)
      visit(vector + tables_[e], states_[edges_[e].first], states_[edges_[e].second]);
  }

 private:
  template <class Visit>
  void walk(std::size_t r, const Visit& visit) const {
    const std::size_t m = states_[r];
    std::size_t place = 0;
    for (std::size_t a = 0; a < m; ++a) visit(fields_[r] + a, place++);
    for (const Edge& edge : ends_[r]) {
      const std::size_t others = states_[edge.other];
      for (std::size_t s = 0; s < others; ++s)
        for (std::size_t a = 0; a < m; ++a)
          visit(edge.begin + (edge.other_is_first ? s * m + a : a * others + s), place++);
    }
  }

  std::vector<std::size_t> states_;
  std::vector<std::pair<std::size_t, std::size_t>> edges_;
  std::vector<std::size_t> fields_, tables_;
  std::vector<std::vector<Edge>> ends_;
  std::size_t size_ = 0, fields_end_ = 0;
};

}  // namespace isinglass

// Forms of an edge: a whole table, or a smaller one that scores of the states span.
//
// Each column has a score matrix, states x k, orthonormal and with columns that sum to zero. A small edge is
// a combination of tables outer(a, b), with a of the target's matrix and b of the neighbour's. Between two
// ordered columns, k = 1 for both, that is one product of scores; an unordered column has a whole basis, and
// a trend for each state. See isinglass/losses/forms.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace isinglass {

enum class Form : std::uint8_t { small, table };  // by size

// The tables that a small edge is a combination of. A table's numbers against the first states stand in a
// row: the target's states but the first, for each of the neighbour's but the first.
struct SmallDesign {
  std::size_t size = 0;                   // parameters
  std::size_t target = 0, neighbour = 0;  // states
  std::vector<double> tables;             // numbers of a table x parameters
  std::vector<double> in_gauge;           // the same shape: how much each number counts in each parameter
  std::vector<double> shifts;             // for each state of the neighbour, q x parameters
  std::vector<char> of_answers;           // whether a parameter says something of answers

  std::size_t numbers() const { return (target - 1) * (neighbour - 1); }

  void expand(const double* x, double* table) const {
    for (std::size_t i = 0; i < numbers(); ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < size; ++k) sum += tables[i * size + k] * x[k];
      table[i] = sum;
    }
  }

  // The parameters of a table that is such a combination; of any other, those nearest to it.
  void project(const double* table, double* x) const {
    for (std::size_t k = 0; k < size; ++k) x[k] = 0;
    for (std::size_t i = 0; i < numbers(); ++i)
      for (std::size_t k = 0; k < size; ++k) x[k] += in_gauge[i * size + k] * table[i];
  }
};

class Forms {
 public:
  // A score matrix for each column, row by row, and how many of its columns are about answers. Edges to
  // columns from `own` on are whole tables. Without `tables`, other pairs that have a smaller form have
  // nothing else.
  Forms(std::vector<std::vector<double>> matrices, std::vector<std::size_t> states,
        std::vector<std::size_t> answered, std::size_t own, bool tables)
      : states_(std::move(states)), answered_(std::move(answered)), own_(own), tables_(tables) {
    std::map<std::vector<double>, std::size_t> known;
    for (std::size_t j = 0; j < matrices.size(); ++j) {
      // Columns of equal scores share their designs.
      std::vector<double> key = matrices[j];
      key.push_back(static_cast<double>(states_[j]));
      key.push_back(static_cast<double>(answered_[j]));
      number_.push_back(known.emplace(std::move(key), known.size()).first->second);
    }
    matrices_ = std::move(matrices);
  }

  Forms(const Forms&) = delete;
  Forms& operator=(const Forms&) = delete;

  std::size_t columns() const { return states_.size(); }
  std::size_t degrees(std::size_t r, std::size_t t) const { return width(r) * width(t); }
  bool small(std::size_t r, std::size_t t) const {
    return r < own_ && t < own_ && degrees(r, t) > 0 && degrees(r, t) < (states_[r] - 1) * (states_[t] - 1);
  }
  bool table(std::size_t r, std::size_t t) const { return tables_ || !small(r, t); }
  // What a probability is multiplied by where two forms compete for an edge: a look has a share of the level.
  double looks(std::size_t r, std::size_t t, Form form) const {
    if (!tables_ || !small(r, t)) return 1;
    return form == Form::small ? 1.25 : 1.5;
  }
  Form smallest(std::size_t r, std::size_t t) const { return small(r, t) ? Form::small : Form::table; }

  // Columns of a score matrix.
  std::size_t width(std::size_t j) const { return matrices_[j].size() / states_[j]; }

  const SmallDesign& design(std::size_t r, std::size_t t) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<SmallDesign>& found = designs_[{number_[r], number_[t]}];
    if (!found) found = std::make_unique<SmallDesign>(make(r, t));
    return *found;
  }

 private:
  double score(std::size_t j, std::size_t state, std::size_t k) const {
    return matrices_[j][state * width(j) + k];
  }

  SmallDesign make(std::size_t r, std::size_t t) const {
    SmallDesign made;
    made.size = degrees(r, t);
    made.target = states_[r];
    made.neighbour = states_[t];
    const auto add = [&](std::vector<double>& to, std::size_t a, std::size_t c, bool first, bool other) {
      for (std::size_t i = 0; i < width(r); ++i)
        for (std::size_t j = 0; j < width(t); ++j)
          to.push_back((score(r, a, i) - (first ? score(r, 0, i) : 0.0)) *
                       (score(t, c, j) - (other ? score(t, 0, j) : 0.0)));
    };
    for (std::size_t c = 0; c < made.neighbour; ++c)
      for (std::size_t a = 1; a < made.target; ++a) {
        add(made.shifts, a, c, true, false);
        if (c == 0) continue;
        add(made.tables, a, c, true, true);
        add(made.in_gauge, a, c, false, false);
      }
    for (std::size_t i = 0; i < width(r); ++i)
      for (std::size_t j = 0; j < width(t); ++j) made.of_answers.push_back(j < answered_[t]);
    return made;
  }

  std::vector<std::vector<double>> matrices_;
  std::vector<std::size_t> states_, answered_, number_;
  std::size_t own_;
  bool tables_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::size_t, std::size_t>, std::unique_ptr<SmallDesign>> designs_;
};

}  // namespace isinglass

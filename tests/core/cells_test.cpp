// Cells, as bits and as rows, against a map from the states of the support to counts.
#include "bits/cells.hpp"

#include <map>
#include <numeric>

#include "core_test.hpp"

namespace core_test {
namespace {

using namespace isinglass;
using Support = std::vector<std::size_t>;
using Key = std::vector<int>;  // states of the support

Key key_of(const Sample& sample, const Support& support, std::size_t i) {
  Key key;
  for (const std::size_t t : support) key.push_back(sample.at(i, t));
  return key;
}

std::map<Key, std::size_t> numbers(const Cells& cells) {
  std::map<Key, std::size_t> found;
  for (std::size_t s = 0; s < cells.size(); ++s) {
    Key key;
    for (std::size_t i = 0; i < cells.support().size(); ++i) key.push_back(cells.code(s, i));
    found[key] = s;
  }
  return found;
}

// A sample, one of its columns, and cells of some others.
struct Case {
  const Sample& sample;
  std::size_t target;
  const Cells& cells;
  std::map<Key, std::size_t> number = numbers(cells);

  std::size_t cell(std::size_t i) const { return number.at(key_of(sample, cells.support(), i)); }
};

void counts_agree(const Case& c) {
  std::vector<double> expected(c.cells.size() * c.cells.width(), 0.0);
  check(c.number.size() == c.cells.size(), "no two cells have the same states");
  for (std::size_t i = 0; i < c.sample.rows; ++i)
    expected[c.cell(i) * c.cells.width() + c.sample.at(i, c.target)] += c.sample.weight(i);
  for (std::size_t s = 0; s < c.cells.size(); ++s) {
    double total = 0;
    for (std::size_t a = 0; a < c.cells.width(); ++a) {
      check_near(c.cells.count(s, static_cast<int>(a)), expected[s * c.cells.width() + a], 1e-10,
                 "rows of a cell");
      total += expected[s * c.cells.width() + a];
    }
    check_near(c.cells.total(s), total, 1e-10, "all rows of a cell");
  }
}

// A split knows cells by their probabilities, here their numbers; rows may come in several portions.
void split_agrees(const Case& c, std::size_t column) {
  const auto m = static_cast<std::size_t>(c.sample.states[column]);
  const std::size_t width = c.cells.width();
  std::vector<double> probabilities(c.cells.size() * width);
  std::iota(probabilities.begin(), probabilities.end(), 0.0);
  std::vector<WeightedCells> by_state;
  c.cells.split(column, probabilities.data(), by_state);
  check(by_state.size() == m, "a split has a list for each state");
  std::vector<double> left(c.cells.size() * m, 0.0);
  for (std::size_t i = 0; i < c.sample.rows; ++i)
    left[c.cell(i) * m + c.sample.at(i, column)] += c.sample.weight(i);
  for (std::size_t state = 0; state < m; ++state)
    for (std::size_t i = 0; i < by_state[state].size(); ++i) {
      const double first = by_state[state].probabilities(0)[i];
      left[static_cast<std::size_t>(first) / width * m + state] -= by_state[state].rows()[i];
      for (std::size_t a = 0; a < width; ++a)
        check(by_state[state].probabilities(a)[i] == first + static_cast<double>(a),
              "probabilities of one cell");
    }
  for (const double rows : left) check_near(rows, 0, 1e-10, "split");
}

void sums_agree(const Case& c, std::size_t column) {
  const auto m = static_cast<std::size_t>(c.sample.states[column]);
  std::vector<double> functions, sums;
  for (std::size_t s = 0; s < c.cells.size(); ++s) {
    functions.push_back(std::sin(static_cast<double>(s)));
    functions.push_back(std::cos(static_cast<double>(s)));
  }
  c.cells.sums_by_state(column, functions, 2, sums);
  check(sums.size() == 2 * m, "two sums for each state");
  for (std::size_t i = 0; i < c.sample.rows; ++i)
    for (std::size_t k = 0; k < 2; ++k)
      sums[2 * c.sample.at(i, column) + k] -= c.sample.weight(i) * functions[2 * c.cell(i) + k];
  for (const double sum : sums) check_near(sum, 0, 1e-9, "sums of functions of the cell");
}

void rows_agree(const Case& c) {
  std::vector<char> chosen(c.cells.size());
  for (std::size_t s = 0; s < chosen.size(); ++s) chosen[s] = s % 3 == 1;
  Words rows;
  c.cells.rows_of(chosen, rows);
  for (std::size_t i = 0; i < 64 * rows.size(); ++i) {
    const bool expected = i < c.sample.rows && chosen[c.cell(i)];
    check((rows[i / 64] >> (i % 64) & 1) == expected, "the rows of some cells");
  }
}

void view_agrees(const Case& c) {
  const CellView view = c.cells.view();
  check(view.cells == c.cells.size() && view.states.size() == c.cells.support().size(),
        "a view shows the cells");
  for (std::size_t s = 0; s < view.cells; ++s)
    for (std::size_t t = 0; t < view.states.size(); ++t)
      check(view.codes[s * view.states.size() + t] == c.cells.code(s, t), "a view shows the states");
}

void all_agree(const Sample& sample, std::size_t target, const Cells& cells, std::size_t column) {
  const Case c{sample, target, cells};
  counts_agree(c);
  split_agrees(c, column);
  sums_agree(c, column);
  rows_agree(c);
  view_agrees(c);
}

// Adds columns until cells are numbered row by row, and takes some away again.
void grow_and_shrink(const Sample& sample, std::size_t target) {
  const Table table = sample.table();
  const std::size_t last = table.columns() - 1;
  Cells cells(table, target);
  all_agree(sample, target, cells, last);
  for (std::size_t j = 0; j < last; ++j)
    if (j != target) {
      cells.add(j);
      all_agree(sample, target, cells, last);
    }
  check(sample.rows < 1500 || cells.size() > Cells::kMostMasks, "many rows have many cells");
  const Cells before = cells;
  for (const std::size_t j : {std::size_t{1}, std::size_t{3}}) {
    cells.remove(j == target ? j + 1 : j);
    all_agree(sample, target, cells, last);
  }
  const Support other{4, 2};
  cells.become(other);
  check(cells.support() == other, "cells become those of another support");
  all_agree(sample, target, cells, last);
  cells = before;
  all_agree(sample, target, cells, last);
}

}  // namespace

void test_cells() {
  Random random(11);
  for (const std::size_t rows : {1, 40, 64, 200, 1500}) {
    Sample sample = random_sample(random, rows, {2, 3, 2, 4, 2, 1, 3, 2, 3, 2, 5});
    for (const auto& weights : {no_weights(), whole_weights(random, rows, 3), real_weights(random, rows)}) {
      sample.weights = weights;
      grow_and_shrink(sample, 0);
      if (!small) grow_and_shrink(sample, 6);
    }
  }
}

}  // namespace core_test

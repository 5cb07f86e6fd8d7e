// Sums over the rows of numbers, dense and sparse, against plain loops; and searches over one column.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core_test.hpp"
#include "moments/closer.hpp"
#include "moments/ends.hpp"
#include "moments/moments.hpp"
#include "moments/pairs.hpp"
#include "moments/stored.hpp"

namespace core_test {
namespace {

using namespace isinglass;

// Numbers by row, many of them 0.
struct Numbers {
  std::size_t rows, columns;
  std::vector<float> cells;

  Numbers(Random& random, std::size_t n, std::size_t p) : rows(n), columns(p), cells(n * p) {
    for (float& cell : cells)
      if (random.bernoulli(0.3)) cell = static_cast<float>(random.normal());
    if (p > 1)
      for (std::size_t i = 0; i < n; ++i) cells[i * p + 1] = 1;  // a column without zeros
  }

  double operator()(std::size_t i, std::size_t j) const { return cells[i * columns + j]; }
};

// The same row by row or column by column, without zeros.
struct Kept {
  std::vector<float> values;
  std::vector<std::int32_t> places, begin{0};
  std::size_t length;

  Kept(const Numbers& X, bool by_row) : length(by_row ? X.columns : X.rows) {
    for (std::size_t one = 0; one < (by_row ? X.rows : X.columns); ++one) {
      for (std::size_t at = 0; at < length; ++at) {
        const double x = by_row ? X(one, at) : X(at, one);
        if (x == 0) continue;
        values.push_back(static_cast<float>(x));
        places.push_back(static_cast<std::int32_t>(at));
      }
      begin.push_back(static_cast<std::int32_t>(values.size()));
    }
  }

  Stored<float, std::int32_t> stored() const {
    return {values.data(), places.data(), begin.data(), begin.size() - 1, length};
  }
};

std::vector<double> normals(Random& random, std::size_t count) {
  std::vector<double> numbers(count);
  for (double& number : numbers) number = random.normal();
  return numbers;
}

void sums_are_those_of_plain_loops(Random& random) {
  const std::size_t n = random.below(90) + 1, p = random.below(40) + 1;
  const Numbers X(random, n, p);
  const std::vector<double> a = normals(random, n), b = normals(random, n);
  std::vector<double> once = a;
  once.insert(once.end(), b.begin(), b.end());
  const std::vector<double> centre(p);
  const unsigned threads = 1 + static_cast<unsigned>(random.below(3));
  std::vector<float> by_column(n * p);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < p; ++j) by_column[j * n + i] = static_cast<float>(X(i, j));
  const auto dense = [&](const float* data, bool by_row) {
    return column_moments(Matrix<float>{data, n, p, by_row}, centre.data(), {once.data(), 2, n},
                          {b.data(), 1, n}, threads);
  };
  const auto rows = dense(X.cells.data(), true), columns = dense(by_column.data(), false);
  const Kept kept_rows(X, true), kept_columns(X, false);
  const auto sparse = stored_moments(kept_columns.stored(), a.data(), b.data(), threads);
  std::vector<std::int64_t> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<std::int64_t>(i);
  const auto few = moments_of_rows<true>(kept_rows.stored(), all.data(), n, a.data(), b.data(), threads);
  const auto one = moments_of_rows<false>(kept_rows.stored(), all.data(), n, a.data(), nullptr, threads);
  for (std::size_t j = 0; j < p; ++j) {
    double sums[3] = {};
    for (std::size_t i = 0; i < n; ++i) {
      sums[0] += a[i] * X(i, j);
      sums[1] += b[i] * X(i, j);
      sums[2] += b[i] * X(i, j) * X(i, j);
    }
    check_near(one[j], sums[0], 1e-10, "the first sum alone");
    for (std::size_t at = 0; at < 3; ++at) {
      check_near(rows[at * p + j], sums[at], 1e-10, "dense by row");
      check_near(columns[at * p + j], sums[at], 1e-10, "dense by column");
      check_near(sparse[at * p + j], sums[at], 1e-10, "sparse by column");
      check_near(few[3 * j + at], sums[at], 1e-10, "sparse by row");
    }
  }
}

// Smallest and largest values, in either order of storage; what is not finite is not overlooked.
void ends_are_those_of_plain_loops(Random& random) {
  const std::size_t n = random.below(600) + 1, p = random.below(40) + 1;
  Numbers X(random, n, p);
  const std::size_t odd = random.below(3 * p), where = random.below(n);  // most often, no column
  if (odd < p)
    X.cells[where * p + odd] = random.bernoulli(0.5) ? std::numeric_limits<float>::infinity() : std::nanf("");
  std::vector<float> by_column(n * p);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < p; ++j) by_column[j * n + i] = X.cells[i * p + j];
  const unsigned threads = 1 + static_cast<unsigned>(random.below(3));
  const auto rows = column_ends(Matrix<float>{X.cells.data(), n, p, true}, threads);
  const auto columns = column_ends(Matrix<float>{by_column.data(), n, p, false}, threads);
  for (std::size_t j = 0; j < p; ++j) {
    const auto first = by_column.begin() + static_cast<std::ptrdiff_t>(j * n);
    const auto [low, high] = std::minmax_element(first, first + static_cast<std::ptrdiff_t>(n));
    for (const auto& ends : {rows, columns})
      check(
          j == odd ? std::isnan(ends[j]) && std::isnan(ends[p + j]) : ends[j] == *low && ends[p + j] == *high,
          "the ends of a column");
  }
}

void columns_are_found_in_rows(Random& random) {
  const std::size_t n = random.below(300), p = random.below(30) + 1;
  const Numbers X(random, n, p);
  const Kept by_row(X, true), by_column(X, false);
  const auto places = column_places(by_row.stored());
  check(places.begin == by_column.begin, "where columns begin");
  for (std::size_t at = 0; at < places.places.size(); ++at) {
    const auto place = places.places[at];
    check(row_of(place, by_row.begin.data(), places.row_at.data()) == by_column.places[at], "the row");
    check(by_row.values[static_cast<std::size_t>(place)] == by_column.values[at], "the value");
  }
  check(extremes_of_rows(by_row.stored(), places.begin.data()) == stored_extremes(by_column.stored()),
        "extremes");
}

// What any coefficient and level gain is at most what the search finds, and a closer look bounds it.
void searches_find_the_least(Random& random) {
  const std::size_t n = random.below(60) + 10;
  const RowLoss loss = random.bernoulli(0.5) ? RowLoss::kLogistic : RowLoss::kPoisson;
  std::vector<double> z(n), eta(n, 0.2), y(n), share(n, 1.0 / static_cast<double>(n));
  std::vector<double> values;
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < n; ++i) {
    if (random.bernoulli(0.3)) z[i] = random.normal();
    y[i] = static_cast<double>(random.below(loss == RowLoss::kLogistic ? 2 : 5));
    if (z[i] == 0) continue;
    values.push_back(z[i]);
    rows.push_back(static_cast<std::int64_t>(i));
  }
  const Held held{eta.data(), y.data(), share.data(), n};
  const auto [low, high] = std::minmax_element(z.begin(), z.end());
  const double reach = std::max(std::abs(*low), std::abs(*high)) + 1e-300;
  PairTerms start, there;
  pair_terms(loss, held, z.data(), 0, 0, &start);
  double bar = -kUnbounded;
  PairStep where;
  const HeldTerms known = held_terms(loss, held);
  PairTerms first;
  first_terms(known, z.data(), &first);
  check(first.value == start.value && first.level == start.level && first.slope == start.slope &&
            first.level_form == start.level_form && first.cross == start.cross && first.form == start.form,
        "the terms of no step");
  const double least = PairSearch(loss, true).least(held, known, z.data(), reach, &bar, &where);
  for (int trial = 0; trial < 20; ++trial) {
    pair_terms(loss, held, z.data(), random.normal(), random.normal(), &there);
    check_below(least, there.value + 1e-9, "no other point is lower");
  }
  CloserLook look(loss, held, true, {start.level, start.level_form});
  const Between between = look.at(values.data(), rows.data(), values.size(), std::min(*low, 0.0),
                                  std::max(*high, 0.0), std::max(reach, 1e-3));
  check_below(between.least, start.value - least + 1e-9, "at least");
  check_below(start.value - least, between.most + 1e-9, "at most");
}

}  // namespace

void test_moments() {
  Random random(11);
  for (int i = 0; i < times(100); ++i) sums_are_those_of_plain_loops(random);
  for (int i = 0; i < times(100); ++i) ends_are_those_of_plain_loops(random);
  for (int i = 0; i < times(100); ++i) columns_are_found_in_rows(random);
  for (int i = 0; i < times(200); ++i) searches_find_the_least(random);
}

}  // namespace core_test

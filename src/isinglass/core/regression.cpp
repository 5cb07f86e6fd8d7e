// What regressions ask of the core: sums over rows, bounds, and searches over one column.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "arrays.hpp"
#include "moments/bounds.hpp"
#include "moments/closer.hpp"
#include "moments/ends.hpp"
#include "moments/moments.hpp"
#include "moments/pairs.hpp"
#include "moments/stored.hpp"

using namespace isinglass;

template <class Value>
using Dense = nb::ndarray<const Value, nb::ndim<2>, nb::device::cpu>;

template <class Value>
Matrix<Value> matrix(const Dense<Value>& X) {
  const std::size_t rows = X.shape(0), columns = X.shape(1);
  // Of a single row or column, nobody uses the stride.
  const auto strides = [&](std::size_t down, std::size_t across) {
    return (rows < 2 || X.stride(0) == static_cast<std::int64_t>(down)) &&
           (columns < 2 || X.stride(1) == static_cast<std::int64_t>(across));
  };
  const bool by_row = strides(columns, 1);
  if (!by_row && !strides(1, rows)) throw std::invalid_argument("a matrix without gaps");
  return {X.data(), rows, columns, by_row};
}

// Sums over rows for all columns of a matrix: see moments/moments.hpp.
template <class Value>
Array<double> moments(const Dense<Value>& X, const Vector<double>& centre, Matrix2D once, Matrix2D twice,
                      unsigned threads) {
  const Matrix<Value> own = matrix(X);
  if (centre.shape(0) != own.columns || once.shape(1) != own.rows || twice.shape(1) != own.rows)
    throw std::invalid_argument("one centre per column, one number per row");
  std::vector<double> sums;
  {
    const nb::gil_scoped_release release;
    sums = column_moments(own, centre.data(), {once.data(), once.shape(0), own.rows},
                          {twice.data(), twice.shape(0), own.rows}, threads);
  }
  return owned(std::move(sums));
}

// The columns' smallest and largest values: see moments/ends.hpp.
template <class Value>
Array<double> ends(const Dense<Value>& X, unsigned threads) {
  const Matrix<Value> own = matrix(X);
  std::vector<double> found;
  {
    const nb::gil_scoped_release release;
    found = column_ends(own, threads);
  }
  return owned(std::move(found));
}

// A sparse matrix as scipy has it, checked.
template <class Value, class Index>
Stored<Value, Index> stored(const Vector<Value>& values, const Vector<Index>& places,
                            const Vector<Index>& begin, std::size_t length) {
  const std::size_t entries = values.shape(0);
  bool sound = begin.shape(0) > 0 && places.shape(0) == entries;
  const std::size_t count = sound ? begin.shape(0) - 1 : 0;
  const Index* const starts = begin.data();
  sound = sound && starts[0] == 0 && starts[count] == static_cast<Index>(entries);
  for (std::size_t j = 0; sound && j < count; ++j) sound = starts[j] <= starts[j + 1];
  Index low = 0, high = -1;
  for (std::size_t at = 0; sound && at < entries; ++at) {
    low = std::min(low, places.data()[at]);
    high = std::max(high, places.data()[at]);
  }
  if (!sound || low < 0 || high >= static_cast<Index>(length))
    throw std::invalid_argument("vectors one after the other, and places within their length");
  return {values.data(), places.data(), starts, count, length};
}

// Sums over what the columns of a sparse matrix store: see moments/stored.hpp.
template <class Value, class Index>
Array<double> stored_sums(const Vector<Value>& values, const Vector<Index>& rows, const Vector<Index>& begin,
                          const Vector<double>& a, const Vector<double>& b, unsigned threads) {
  const auto X = stored(values, rows, begin, a.shape(0));
  if (b.shape(0) != X.length) throw std::invalid_argument("one number per row");
  std::vector<double> sums;
  {
    const nb::gil_scoped_release release;
    sums = stored_moments(X, a.data(), b.data(), threads);
  }
  return owned(std::move(sums));
}

// Some columns of a matrix, or rows of one that is kept row by row: they must be there, and lie within it.
template <class Value, class Index>
Stored<Value, Index> stored_there(const Vector<Value>& values, const Vector<Index>& places,
                                  const Vector<Index>& begin, std::size_t length,
                                  const Vector<std::int64_t>& which) {
  const std::size_t entries = values.shape(0), count = begin.shape(0) - 1;
  bool sound = begin.shape(0) > 0 && places.shape(0) == entries;
  for (std::size_t i = 0; sound && i < which.shape(0); ++i) {
    const auto one = static_cast<std::size_t>(which.data()[i]);
    sound = which.data()[i] >= 0 && one < count;
    if (!sound) break;
    const Index first = begin.data()[one], last = begin.data()[one + 1];
    sound = first >= 0 && first <= last && static_cast<std::size_t>(last) <= entries;
    for (Index at = first; sound && at < last; ++at)
      sound = places.data()[at] >= 0 && static_cast<std::size_t>(places.data()[at]) < length;
  }
  if (!sound) throw std::invalid_argument("vectors one after the other, and places within their length");
  return {values.data(), places.data(), begin.data(), count, length};
}

// The same over a few rows, of a matrix that is kept row by row; b may be empty.
template <class Value, class Index>
Array<double> sums_of_rows(const Vector<Value>& values, const Vector<Index>& columns,
                           const Vector<Index>& begin, std::size_t length, const Vector<std::int64_t>& rows,
                           const Vector<double>& a, const Vector<double>& b, unsigned threads) {
  const std::size_t count = rows.shape(0);
  const bool both = b.shape(0) > 0;
  if (a.shape(0) != count || (both && b.shape(0) != count)) throw std::invalid_argument("one number per row");
  const auto X = stored_there(values, columns, begin, length, rows);
  std::vector<double> sums;
  {
    const nb::gil_scoped_release release;
    sums = (both ? moments_of_rows<true, Value, Index>
                 : moments_of_rows<false, Value, Index>)(X, rows.data(), count, a.data(), b.data(), threads);
  }
  return owned(std::move(sums));
}

template <class Value, class Index>
Array<double> stored_ends(const Vector<Value>& values, const Vector<Index>& places,
                          const Vector<Index>& begin, std::size_t length) {
  return owned(stored_extremes(stored(values, places, begin, length)));
}

// For a matrix that is kept row by row: see ColumnPlaces; then the columns' smallest and largest values.
template <class Value, class Index>
std::tuple<Array<Index>, Array<Index>, Array<Index>, Array<double>> places_of_columns(
    const Vector<Value>& values, const Vector<Index>& columns, const Vector<Index>& begin,
    std::size_t length) {
  const auto X = stored(values, columns, begin, length);
  auto found = column_places(X);
  auto ends = extremes_of_rows(X, found.begin.data());
  return {owned(std::move(found.begin)), owned(std::move(found.places)), owned(std::move(found.row_at)),
          owned(std::move(ends))};
}

// Rows, then values, of some columns of a matrix that is kept row by row, one column after the other.
template <class Value, class Index>
std::tuple<Array<std::int64_t>, Array<double>> entries_of_columns(
    const Vector<Value>& values, const Vector<Index>& begin, const Vector<Index>& column_begin,
    const Vector<Index>& places, const Vector<Index>& row_at, const Vector<std::int64_t>& which) {
  const std::size_t entries = values.shape(0), rows = begin.shape(0) - 1;
  const auto lists = stored_there(places, places, column_begin, entries, which);
  bool sound = begin.shape(0) > 0 && row_at.shape(0) == (entries + kRowsEvery - 1) / kRowsEvery + 1;
  for (std::size_t i = 0; sound && i < row_at.shape(0); ++i)
    sound = row_at.data()[i] >= -1 && row_at.data()[i] < static_cast<Index>(rows);
  if (!sound) throw std::invalid_argument("the places of the columns of this matrix");
  std::vector<std::int64_t> found_rows;
  std::vector<double> found_values;
  for (std::size_t i = 0; i < which.shape(0); ++i) {
    const auto column = static_cast<std::size_t>(which.data()[i]);
    for (Index at = lists.begin[column]; at < lists.begin[column + 1]; ++at) {
      const Index place = places.data()[at];
      found_rows.push_back(row_of(place, begin.data(), row_at.data()));
      found_values.push_back(static_cast<double>(values.data()[place]));
    }
  }
  return {owned(std::move(found_rows)), owned(std::move(found_values))};
}

// What some sparse columns gain at least, then at most: see moments/closer.hpp. They are one after the other.
Array<double> closer_look(const Vector<double>& values, const Vector<std::int64_t>& rows,
                          const Vector<std::int64_t>& begin, const Vector<double>& low,
                          const Vector<double>& high, const Vector<double>& scale, bool poisson,
                          bool intercept, double level_slope, double level_curvature,
                          const Vector<double>& eta, const Vector<double>& y, const Vector<double>& share) {
  const std::size_t n = eta.shape(0);
  const auto X = stored(values, rows, begin, n);
  if (y.shape(0) != n || share.shape(0) != n) throw std::invalid_argument("one number per row");
  if (low.shape(0) != X.count || high.shape(0) != X.count || scale.shape(0) != X.count)
    throw std::invalid_argument("one number per column");
  std::vector<double> found(2 * X.count);
  const RowLoss loss = poisson ? RowLoss::kPoisson : RowLoss::kLogistic;
  CloserLook look(loss, {eta.data(), y.data(), share.data(), n}, intercept, {level_slope, level_curvature});
  for (std::size_t j = 0; j < X.count; ++j) {
    const auto first = X.begin[j], count = X.begin[j + 1] - first;
    const Between between = look.at(X.values + first, X.places + first, static_cast<std::size_t>(count),
                                    low.data()[j], high.data()[j], scale.data()[j]);
    found[j] = between.least;
    found[X.count + j] = between.most;
  }
  return owned(std::move(found));
}

// What all columns can gain at most, then guesses at it: see moments/bounds.hpp. A margin is that of Huber's
// loss; the others have none.
Array<double> prospects(const Vector<double>& slope, const Vector<double>& first,
                        const Vector<double>& second, const Vector<double>& low, const Vector<double>& high,
                        const Vector<double>& centre, const Vector<double>& scale, bool intercept,
                        double level_slope, double weight, double margin) {
  const std::size_t count = slope.shape(0);
  for (const auto* part : {&first, &second, &low, &high, &centre, &scale})
    if (part->shape(0) != count) throw std::invalid_argument("one number per column");
  const ColumnSums X{slope.data(), first.data(),  second.data(), low.data(),
                     high.data(),  centre.data(), scale.data(),  count};
  const Level level = intercept ? Level{level_slope, std::max(weight, 1e-300)} : Level{0.0, kUnbounded};
  std::vector<double> found(2 * count);
  double *most = found.data(), *guess = most + count;
  if (margin > 0)
    prospects_loop(X, level, weight, intercept, InsideBend{margin}, most, guess);
  else
    prospects_loop(X, level, weight, intercept, SelfConcordant{}, most, guess);
  return owned(std::move(found));
}

// Least losses over one column and the intercept, problem by problem: see moments/pairs.hpp. The held
// predictors are one for all problems, or one for each.
Array<double> least_pairs(bool poisson, bool intercept, Matrix2D columns, const Vector<double>& reach,
                          Matrix2D held, const Vector<double>& y, const Vector<double>& share, double bar) {
  const std::size_t problems = held.shape(0) > 1 ? held.shape(0) : columns.shape(0), rows = y.shape(0);
  if (columns.shape(1) != rows || held.shape(1) != rows || share.shape(0) != rows)
    throw std::invalid_argument("one number per row");
  if ((columns.shape(0) != 1 && columns.shape(0) != problems) || columns.shape(0) == 0 ||
      (held.shape(0) != 1 && held.shape(0) != problems) || reach.shape(0) != columns.shape(0))
    throw std::invalid_argument("one column and one predictor per problem, or one for all");
  std::vector<double> found(3 * problems);
  {
    const nb::gil_scoped_release release;
    const RowLoss loss = poisson ? RowLoss::kPoisson : RowLoss::kLogistic;
    const PairSearch search(loss, intercept);
    HeldTerms start;
    for (std::size_t at = 0; at < problems; ++at) {
      const std::size_t column = columns.shape(0) > 1 ? at : 0, predictor = held.shape(0) > 1 ? at : 0;
      const Held rows_of{held.data() + predictor * rows, y.data(), share.data(), rows};
      if (at == 0 || predictor > 0) start = held_terms(loss, rows_of);
      PairStep where;
      double own = bar;  // without a bar, nobody races
      const double* const z = columns.data() + column * rows;
      found[at] = search.least(rows_of, start, z, reach.data()[column], &own, &where);
      if (std::isfinite(bar)) bar = own;
      found[problems + at] = where.level;
      found[2 * problems + at] = where.coefficient;
    }
  }
  return owned(std::move(found));
}

// The mean loss at a predictor, after shares times slopes and curvatures of the rows.
Array<double> row_terms_at(bool poisson, const Vector<double>& eta, const Vector<double>& y,
                           const Vector<double>& share) {
  const std::size_t rows = eta.shape(0);
  if (y.shape(0) != rows || share.shape(0) != rows) throw std::invalid_argument("one number per row");
  std::vector<double> found(2 * rows + 1);
  {
    const nb::gil_scoped_release release;
    const Held held{eta.data(), y.data(), share.data(), rows};
    double *slopes = found.data(), *curvatures = slopes + rows;
    found[2 * rows] =
        poisson ? poisson_terms(held, slopes, curvatures) : logistic_terms(held, slopes, curvatures);
  }
  return owned(std::move(found));
}

void define_regression(nb::module_& m) {
  m.def("moments", &moments<double>, nb::arg("X").noconvert(), nb::arg("centre"), nb::arg("once"),
        nb::arg("twice"), nb::arg("threads"));
  m.def("moments", &moments<float>, nb::arg("X").noconvert(), nb::arg("centre"), nb::arg("once"),
        nb::arg("twice"), nb::arg("threads"));
  m.def("ends", &ends<double>, nb::arg("X").noconvert(), nb::arg("threads"));
  m.def("ends", &ends<float>, nb::arg("X").noconvert(), nb::arg("threads"));
  const auto sparse = [&]<class Value, class Index>(Value, Index) {
    m.def("stored_moments", &stored_sums<Value, Index>, nb::arg("values").noconvert(),
          nb::arg("rows").noconvert(), nb::arg("begin").noconvert(), nb::arg("a"), nb::arg("b"),
          nb::arg("threads"));
    m.def("moments_of_rows", &sums_of_rows<Value, Index>, nb::arg("values").noconvert(),
          nb::arg("columns").noconvert(), nb::arg("begin").noconvert(), nb::arg("length"), nb::arg("rows"),
          nb::arg("a"), nb::arg("b"), nb::arg("threads"));
    m.def("stored_extremes", &stored_ends<Value, Index>, nb::arg("values").noconvert(),
          nb::arg("places").noconvert(), nb::arg("begin").noconvert(), nb::arg("length"));
    m.def("places_of_columns", &places_of_columns<Value, Index>, nb::arg("values").noconvert(),
          nb::arg("columns").noconvert(), nb::arg("begin").noconvert(), nb::arg("length"));
    m.def("entries_of_columns", &entries_of_columns<Value, Index>, nb::arg("values").noconvert(),
          nb::arg("begin").noconvert(), nb::arg("column_begin").noconvert(), nb::arg("places").noconvert(),
          nb::arg("row_at").noconvert(), nb::arg("which"));
  };
  sparse(double{}, std::int32_t{});
  sparse(float{}, std::int32_t{});
  sparse(double{}, std::int64_t{});
  sparse(float{}, std::int64_t{});
  m.def("closer_look", &closer_look, nb::arg("values"), nb::arg("rows"), nb::arg("begin"), nb::arg("low"),
        nb::arg("high"), nb::arg("scale"), nb::arg("poisson"), nb::arg("intercept"), nb::arg("level_slope"),
        nb::arg("level_curvature"), nb::arg("eta"), nb::arg("y"), nb::arg("share"));
  m.def("prospects", &prospects, nb::arg("slope"), nb::arg("first"), nb::arg("second"), nb::arg("low"),
        nb::arg("high"), nb::arg("centre"), nb::arg("scale"), nb::arg("intercept"), nb::arg("level_slope"),
        nb::arg("weight"), nb::arg("margin"));
  m.def("least_pairs", &least_pairs, nb::arg("poisson"), nb::arg("intercept"), nb::arg("columns"),
        nb::arg("reach"), nb::arg("held"), nb::arg("y"), nb::arg("share"), nb::arg("bar"));
  m.def("row_terms", &row_terms_at, nb::arg("poisson"), nb::arg("eta"), nb::arg("y"), nb::arg("share"));
}

// What models ask of the core: the joint fit of all parameters, draws, and completed rows.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "base/linear.hpp"
#include "joint/joint_loss.hpp"
#include "sampling/completion.hpp"
#include "sampling/gibbs.hpp"
#include "watch.hpp"

using namespace isinglass;

// Adds to the upper triangle of a symmetric matrix a part that belongs to some rows and columns, each times
// its scale. The part's upper triangle counts.
void add_scaled(nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu> matrix,
                const Vector<std::int64_t>& positions, Matrix2D part, const Vector<double>& scale) {
  const std::size_t size = matrix.shape(0), count = positions.shape(0);
  if (matrix.shape(1) != size || scale.shape(0) != size || part.shape(0) != count || part.shape(1) != count)
    throw std::invalid_argument("a square matrix, one scale for each of its rows, and a part for positions");
  const std::int64_t* at = positions.data();
  for (std::size_t k = 0; k < count; ++k)
    if (at[k] < 0 || static_cast<std::size_t>(at[k]) >= size)
      throw std::invalid_argument("a position beyond the matrix");
  const nb::gil_scoped_release release;
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t l = k; l < count; ++l) {
      const auto row = static_cast<std::size_t>(std::min(at[k], at[l])),
                 column = static_cast<std::size_t>(std::max(at[k], at[l]));
      matrix.data()[row * size + column] +=
          static_cast<float>(part.data()[k * count + l] * scale.data()[row] * scale.data()[column]);
    }
}

// Addresses of LAPACK's dpotrf and dpotri.
void lend_lapack(std::uintptr_t factorise, std::uintptr_t invert) {
  lapack().factorise = reinterpret_cast<Lapack::Routine>(factorise);
  lapack().invert = reinterpret_cast<Lapack::Routine>(invert);
}

// Every index of a model points into its arrays, so that a chain need not look.
void check_model(const PairwiseModel& model) {
  const auto refuse_unless = [](bool holds) {
    if (!holds) throw std::invalid_argument("the arrays of the model do not fit together");
  };
  const auto within = [](std::int64_t begin, std::int64_t length, std::size_t size) {
    return begin >= 0 && length >= 0 && static_cast<std::size_t>(begin + length) <= size;
  };
  const std::size_t p = model.columns(), entries = model.neighbours.size();
  refuse_unless(model.field_begin.size() == p && model.neighbour_begin.size() == p + 1);
  refuse_unless(model.table_begin.size() == entries);
  for (std::size_t i = 0; i < p; ++i) {
    const std::int64_t m = model.states[i], first = model.neighbour_begin[i];
    refuse_unless(m >= 1 && m <= 256 && within(model.field_begin[i], m - 1, model.fields.size()));
    refuse_unless(within(first, model.neighbour_begin[i + 1] - first, entries));
    for (auto e = static_cast<std::size_t>(first); std::cmp_less(e, model.neighbour_begin[i + 1]); ++e) {
      refuse_unless(within(model.neighbours[e], 1, p));
      const std::int64_t rows = model.states[static_cast<std::size_t>(model.neighbours[e])];
      refuse_unless(within(model.table_begin[e], rows * (m - 1), model.tables.size()));
    }
  }
}

auto gibbs(Vector<std::int32_t> states, Vector<std::int64_t> field_begin, Vector<double> fields,
           Vector<std::int64_t> neighbour_begin, Vector<std::int64_t> neighbours,
           Vector<std::int64_t> table_begin, Vector<double> tables, std::size_t chains, std::size_t burn_in,
           std::size_t thin, std::size_t draws, std::uint64_t seed, unsigned threads, nb::object progress) {
  const auto view = [](const auto& vector) { return std::span(vector.data(), vector.shape(0)); };
  const PairwiseModel model{view(states),     view(field_begin), view(fields), view(neighbour_begin),
                            view(neighbours), view(table_begin), view(tables)};
  check_model(model);
  Watch watch(std::move(progress));
  std::vector<std::uint8_t> codes;
  {
    const nb::gil_scoped_release release;
    codes = gibbs_sample(model, {chains, burn_in, thin, draws}, seed, threads, std::ref(watch));
  }
  watch.rethrow();
  return owned(std::move(codes));
}

// Missing cells, drawn given those seen; codes row by row, a stream of random numbers for each row.
Arrays complete(Vector<std::int32_t> states, Vector<std::int64_t> field_begin, Vector<double> fields,
                Vector<std::int64_t> neighbour_begin, Vector<std::int64_t> neighbours,
                Vector<std::int64_t> table_begin, Vector<double> tables, Vector<std::uint8_t> codes,
                Vector<std::uint64_t> streams, std::size_t draws, std::size_t most_cells, std::size_t sweeps,
                std::uint64_t seed, unsigned threads, nb::object progress) {
  const auto view = [](const auto& vector) { return std::span(vector.data(), vector.shape(0)); };
  const PairwiseModel model{view(states),     view(field_begin), view(fields), view(neighbour_begin),
                            view(neighbours), view(table_begin), view(tables)};
  check_model(model);
  if (codes.shape(0) != streams.shape(0) * model.columns())
    throw std::invalid_argument("one stream per row of codes");
  Watch watch(std::move(progress));
  Completed found;
  {
    const nb::gil_scoped_release release;
    found = complete_rows(model, view(codes), view(streams), {draws, most_cells, sweeps}, seed, threads,
                          std::ref(watch));
  }
  watch.rethrow();
  Arrays out;
  out["codes"] = owned(std::move(found.codes));
  out["rows_by_gibbs"] = found.rows_by_gibbs;
  return out;
}

// Codes beyond a column's states are missing values.
std::unique_ptr<JointLoss> joint_loss(const Codes& codes, const Vector<std::int32_t>& states,
                                      const Vector<double>& weights, const Vector<std::int64_t>& pairs,
                                      double ridge, bool intercept, double memory, unsigned threads,
                                      std::size_t adjusted) {
  const std::size_t rows = codes.shape(0), columns = codes.shape(1);
  if (adjusted > columns) throw std::invalid_argument("more columns to adjust for than columns");
  if (states.shape(0) != columns || weights.shape(0) != rows)
    throw std::invalid_argument("one number of states per column, one weight per row");
  const JointLoss::Pairs edges = edges_of(pairs, columns);
  const nb::gil_scoped_release release;
  return std::make_unique<JointLoss>(CodedRows{codes.data(), rows, {weights.data(), rows}},
                                     std::span<const int>(states.data(), columns), edges, ridge, intercept,
                                     memory, threads, adjusted);
}

void check_size(const JointLoss& loss, const Vector<double>& vector) {
  if (vector.shape(0) != loss.size()) throw std::invalid_argument("one number for every parameter");
}

std::tuple<double, Array<double>> joint_move_to(JointLoss& loss, const Vector<double>& numbers) {
  check_size(loss, numbers);
  std::vector<double> slope(loss.size());
  double value = 0;
  {
    const nb::gil_scoped_release release;
    value = loss.move_to({numbers.data(), loss.size()}, slope);
  }
  return {value, owned(std::move(slope))};
}

template <void (JointLoss::*apply)(std::span<const double>, std::span<double>)>
Array<double> joint_apply(JointLoss& loss, const Vector<double>& vector) {
  check_size(loss, vector);
  std::vector<double> out(loss.size());
  {
    const nb::gil_scoped_release release;
    (loss.*apply)({vector.data(), loss.size()}, out);
  }
  return owned(std::move(out));
}

Array<double> joint_shares(const JointLoss& loss) { return owned(loss.shares()); }

Array<double> joint_curvature_of(const JointLoss& loss, std::size_t column) {
  if (column >= loss.columns()) throw std::invalid_argument("no such column");
  std::vector<double> matrix;
  {
    const nb::gil_scoped_release release;
    matrix = loss.curvature_of(column);
  }
  return owned(std::move(matrix));
}

Array<double> joint_curvature_by_state(const JointLoss& loss, std::size_t column, std::size_t neighbour) {
  if (std::max(column, neighbour) >= loss.columns()) throw std::invalid_argument("no such column");
  return owned(loss.curvature_by_state(column, neighbour));
}

void define_models(nb::module_& m) {
  m.def("gibbs", &gibbs, nb::arg("states"), nb::arg("field_begin"), nb::arg("fields"),
        nb::arg("neighbour_begin"), nb::arg("neighbours"), nb::arg("table_begin"), nb::arg("tables"),
        nb::arg("chains"), nb::arg("burn_in"), nb::arg("thin"), nb::arg("draws"), nb::arg("seed"),
        nb::arg("threads"), nb::arg("progress").none());
  m.def("complete", &complete, nb::arg("states"), nb::arg("field_begin"), nb::arg("fields"),
        nb::arg("neighbour_begin"), nb::arg("neighbours"), nb::arg("table_begin"), nb::arg("tables"),
        nb::arg("codes"), nb::arg("streams"), nb::arg("draws"), nb::arg("most_cells"), nb::arg("sweeps"),
        nb::arg("seed"), nb::arg("threads"), nb::arg("progress").none());
  nb::class_<JointLoss>(m, "JointLoss")
      .def_prop_ro("size", &JointLoss::size)
      .def("move_to", &joint_move_to, nb::arg("numbers"))
      .def("multiply", &joint_apply<&JointLoss::multiply>, nb::arg("direction"))
      .def("ease", &joint_apply<&JointLoss::ease>, nb::arg("slope"))
      .def("shares", &joint_shares)
      .def_prop_ro("numbers", &JointLoss::numbers)
      .def("curvature_of", &joint_curvature_of, nb::arg("column"))
      .def("curvature_by_state", &joint_curvature_by_state, nb::arg("column"), nb::arg("neighbour"))
      .def("damp", &JointLoss::damp, nb::arg("damping"))
      .def("renew", &JointLoss::renew, nb::arg("damping") = 0.0, nb::call_guard<nb::gil_scoped_release>());
  m.def("joint_loss", &joint_loss, nb::arg("codes"), nb::arg("states"), nb::arg("weights"), nb::arg("pairs"),
        nb::arg("ridge"), nb::arg("intercept"), nb::arg("memory"), nb::arg("threads"), nb::arg("adjusted"));
  m.def("add_scaled", &add_scaled, nb::arg("matrix").noconvert(), nb::arg("positions"), nb::arg("part"),
        nb::arg("scale"));
  m.def("lend_lapack", &lend_lapack, nb::arg("factorise"), nb::arg("invert"));
}

// The border between Python and the core: arrays in, arrays out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <numeric>
#include <set>

#include "arrays.hpp"
#include "bits/integers.hpp"
#include "counting/all_counts.hpp"
#include "counting/answers.hpp"
#include "counting/questions.hpp"
#include "counting/ways.hpp"
#include "ends/elimination.hpp"
#include "l1/l1_columns.hpp"
#include "refit/deviance.hpp"
#include "search/engine.hpp"
#include "search/flat.hpp"
#include "watch.hpp"

using namespace isinglass;

// Weights without an element are ones; n not above zero is their sum; of states, all are answers unless
// their numbers are given.
Table make_table(const Codes& codes, const Vector<std::int32_t>& states, const Vector<double>& weights,
                 double n, unsigned threads, std::span<const int> answers = {}) {
  const std::size_t rows = codes.shape(0), columns = codes.shape(1);
  if (weights.shape(0) != 0 && weights.shape(0) != rows) throw std::invalid_argument("one weight per row");
  if (!answers.empty() && answers.size() != columns)
    throw std::invalid_argument("as many answers as columns");
  for (std::size_t j = 0; j < columns && !answers.empty(); ++j)
    if (answers[j] < 0 || answers[j] > states.data()[j])
      throw std::invalid_argument("more answers than states");
  check_codes(codes, states);
  return Table(codes.data(), rows, {states.data(), columns},
               std::vector<double>(weights.data(), weights.data() + weights.shape(0)), n, threads, answers);
}

// Rows that are elsewhere, as Python knows them: how many, the weight of each state of each column, how many
// binary digits the weights have; a function that answers questions, one that makes it give up, and how many
// searches wait for each other before it is asked.
struct Elsewhere {
  std::size_t rows;
  std::vector<double> marginals;
  std::size_t n_planes;
  nb::object answer, stop;
  std::size_t together;
};

nb::object stop_of(const Elsewhere* elsewhere) { return elsewhere ? elsewhere->stop : nb::none(); }

Elsewhere make_elsewhere(std::size_t rows, const Vector<double>& marginals, std::size_t n_planes,
                         nb::object answer, nb::object stop, std::size_t together) {
  return {rows,
          {marginals.data(), marginals.data() + marginals.shape(0)},
          n_planes,
          std::move(answer),
          std::move(stop),
          std::max<std::size_t>(together, 1)};
}

// The same, or one whose rows are elsewhere; then there are no codes.
Table make_table(const Codes& codes, const Vector<std::int32_t>& states, const Vector<double>& weights,
                 double n, unsigned threads, const Elsewhere* elsewhere, std::span<const int> answers = {}) {
  if (!elsewhere) return make_table(codes, states, weights, n, threads, answers);
  std::size_t all = 0;
  for (std::size_t j = 0; j < states.shape(0); ++j) all += static_cast<std::size_t>(states.data()[j]);
  if (elsewhere->marginals.size() != all) throw std::invalid_argument("one count per state");
  return Table(RemoteRows{elsewhere->rows, elsewhere->marginals, elsewhere->n_planes},
               {states.data(), states.shape(0)}, n, answers);
}

// Codes, smallest values and counts of a table of integers; None if a column spans too many values.
template <class Value>
std::optional<std::tuple<Array<std::uint8_t>, Array<std::int64_t>, Array<std::int64_t>>> factorise(
    nb::ndarray<const Value, nb::ndim<2>, nb::device::cpu> data, unsigned threads) {
  Factors factors;
  const std::size_t rows = data.shape(0), columns = data.shape(1);
  {
    const nb::gil_scoped_release release;
    factors = factorise_integers(
        IntegerTable<Value>{data.data(), rows, columns, data.stride(0), data.stride(1)}, threads);
  }
  if (!factors.fits) return std::nullopt;
  std::vector<std::int64_t> counts(columns * 256);
  for (std::size_t j = 0; j < columns; ++j)
    std::copy_n(factors.counts[j].begin(), 256, counts.begin() + static_cast<std::ptrdiff_t>(256 * j));
  return std::make_tuple(owned(std::move(factors.codes)), owned(std::move(factors.least)),
                         owned(std::move(counts)));
}

Arrays to_dict(const QuestionArrays& questions) {
  const auto copied = []<class T>(std::span<const T> from) {
    return owned(std::vector<T>(from.begin(), from.end()));
  };
  Arrays out;
  out["support_begin"] = copied(questions.support_begin);
  out["support"] = copied(questions.support);
  out["cells"] = copied(questions.cells);
  out["codes"] = copied(questions.codes);
  out["grouping"] = copied(questions.grouping);
  out["range"] = copied(questions.range);
  out["chosen_begin"] = copied(questions.chosen_begin);
  out["states_begin"] = copied(questions.states_begin);
  out["by_begin"] = copied(questions.by_begin);
  out["chosen"] = copied(questions.chosen);
  out["states"] = copied(questions.states);
  out["by"] = copied(questions.by);
  return out;
}

// Asks Python from whichever thread counts. What Python raises is kept until its own thread can raise it.
class Asking {
 public:
  Asking(const Elsewhere* elsewhere, std::span<const int> states) : elsewhere_(elsewhere), states_(states) {
    if (!elsewhere) return;
    remote_ = {[this](const QuestionArrays& questions) { return ask(questions); }, elsewhere->together};
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  const Remote* remote() const { return elsewhere_ ? &remote_ : nullptr; }

  void rethrow() {
    if (failed_) throw std::move(*failed_);
  }

 private:
  std::vector<std::uint64_t> ask(const QuestionArrays& questions) {
    const std::size_t size = size_of_answers(questions, states_);
    const nb::gil_scoped_acquire gil;
    try {
      const nb::object given = elsewhere_->answer(to_dict(questions));
      const auto answers = nb::cast<Vector<std::uint64_t>>(given);
      if (answers.shape(0) != size) throw std::invalid_argument("as many answers as were asked for");
      return {answers.data(), answers.data() + size};
    } catch (nb::python_error& error) {
      if (!failed_) failed_ = std::make_unique<nb::python_error>(std::move(error));
    }
    throw std::runtime_error("whoever holds the rows gave up");
  }

  const Elsewhere* elsewhere_;
  std::span<const int> states_;
  Remote remote_;
  std::unique_ptr<nb::python_error> failed_;
};

// Lets the core work without Python's lock. Ctrl-C and what Python raised come first among all that went
// wrong.
template <class Work>
void run(Watch& watch, Asking& asking, const Work& work) {
  try {
    const nb::gil_scoped_release release;
    work();
  } catch (...) {
    watch.rethrow();
    asking.rethrow();
    throw;
  }
  watch.rethrow();
  asking.rethrow();
}

Arrays to_dict(Flat&& flat) {
  Arrays out;
  out["fit_begin"] = owned(std::move(flat.fit_begin));
  out["stop"] = owned(std::move(flat.stop));
  out["evaluated"] = owned(std::move(flat.evaluated));
  out["add"] = owned(std::move(flat.add));
  out["variable"] = owned(std::move(flat.variable));
  out["change"] = owned(std::move(flat.change));
  out["loss"] = owned(std::move(flat.loss));
  out["support_begin"] = owned(std::move(flat.support_begin));
  out["support"] = owned(std::move(flat.support));
  out["unbounded"] = owned(std::move(flat.unbounded));
  out["small"] = owned(std::move(flat.small));
  out["number_begin"] = owned(std::move(flat.number_begin));
  out["numbers"] = owned(std::move(flat.numbers));
  return out;
}

// For each column the other members of its pairs, which come as (column, other), (column, other), ...
std::vector<std::set<std::size_t>> by_column(const Vector<std::int64_t>& pairs, std::size_t columns) {
  std::vector<std::set<std::size_t>> others(columns);
  for (std::size_t i = 0; i + 1 < pairs.shape(0); i += 2)
    if (const auto other = static_cast<std::size_t>(pairs.data()[i + 1]); other < columns)
      others.at(static_cast<std::size_t>(pairs.data()[i])).insert(other);
    else
      throw std::out_of_range("no such column");
  return others;
}

std::vector<std::vector<std::size_t>> in_order(const std::vector<std::set<std::size_t>>& others) {
  std::vector<std::vector<std::size_t>> sorted;
  for (const auto& some : others) sorted.emplace_back(some.begin(), some.end());
  return sorted;
}

// Score matrices of all columns, one after another, from where each begins, and how many columns of each are
// about answers.
std::unique_ptr<Forms> make_forms(const Vector<std::int32_t>& states, const Vector<double>& scores,
                                  const Vector<std::int64_t>& begin, const Vector<std::int64_t>& answered,
                                  std::size_t own, bool tables) {
  const std::size_t columns = states.shape(0);
  if (begin.shape(0) != columns + 1 || answered.shape(0) != columns)
    throw std::invalid_argument("one score matrix per column");
  std::vector<std::vector<double>> matrices;
  std::vector<std::size_t> of_states, of_answers;
  for (std::size_t j = 0; j < columns; ++j) {
    const std::int64_t from = begin.data()[j], to = begin.data()[j + 1], m = states.data()[j];
    if (from < 0 || to < from || std::cmp_greater(to, scores.shape(0)) || m < 1 || (to - from) % m)
      throw std::invalid_argument("the score matrices do not fit the columns");
    matrices.emplace_back(scores.data() + from, scores.data() + to);
    of_states.push_back(static_cast<std::size_t>(m));
    of_answers.push_back(static_cast<std::size_t>(answered.data()[j]));
  }
  return std::make_unique<Forms>(std::move(matrices), std::move(of_states), std::move(of_answers), own,
                                 tables);
}

void check_forms(const Forms* forms, std::size_t columns) {
  if (forms && forms->columns() != columns) throw std::invalid_argument("forms of other columns");
}

// A table that several calls work on: its bits are made once, and its pairs are counted once.
class Prepared {
 public:
  Prepared(Codes codes, const Vector<std::int32_t>& states, const Vector<double>& weights, double n,
           const Vector<std::int32_t>& answers, unsigned threads, double memory, const Elsewhere* elsewhere)
      : codes_(std::move(codes)),
        elsewhere_(elsewhere),
        table_(
            make_table(codes_, states, weights, n, threads, elsewhere, {answers.data(), answers.shape(0)})),
        shared_(std::make_shared<SharedPairs>(table_, memory)) {}
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  const Table& table() const { return table_; }
  const std::shared_ptr<SharedPairs>& shared() const { return shared_; }
  // Who holds the rows; nobody, where they are here.
  const Elsewhere* elsewhere() const { return elsewhere_; }

 private:
  Codes codes_;  // the table looks at them as long as it lives
  const Elsewhere* elsewhere_;
  Table table_;
  std::shared_ptr<SharedPairs> shared_;
};

std::unique_ptr<Prepared> prepare(Codes codes, Vector<std::int32_t> states, Vector<double> weights, double n,
                                  Vector<std::int32_t> answers, unsigned threads, double memory,
                                  const Elsewhere* elsewhere) {
  const nb::gil_scoped_release release;
  return std::make_unique<Prepared>(std::move(codes), states, weights, n, answers, threads, memory,
                                    elsewhere);
}

Arrays search(const Prepared& prepared, Vector<std::int64_t> targets, Vector<std::int64_t> required,
              Vector<std::int64_t> forbidden, Vector<double> scales, double unit, const Forms* forms,
              double level, double threshold, double nu, bool intercept, std::int64_t max_degree,
              unsigned threads, bool check, nb::object progress) {
  const Table& table = prepared.table();
  const std::size_t p = table.columns();
  check_forms(forms, p);
  const std::vector<std::size_t> columns(targets.data(), targets.data() + targets.shape(0));
  for (const std::size_t r : columns)
    if (r >= p) throw std::out_of_range("no such column");
  if (scales.shape(0) != 0 && scales.shape(0) != p * p)
    throw std::invalid_argument("one scale for every pair of columns");
  const Constraints constraints{in_order(by_column(required, p)), in_order(by_column(forbidden, p))};
  const bool constrained = required.shape(0) + forbidden.shape(0) > 0;
  const auto limit = max_degree < 0 ? p : static_cast<std::size_t>(max_degree);
  Watch watch(std::move(progress), stop_of(prepared.elsewhere()));
  Asking asking(prepared.elsewhere(), table.states());
  Flat flat;
  run(watch, asking, [&] {
    Engine engine(prepared.shared(),
                  {threshold,
                   nu,
                   intercept,
                   limit,
                   check,
                   constrained ? &constraints : nullptr,
                   {scales.data(), scales.shape(0)},
                   unit,
                   forms,
                   level},
                  threads, asking.remote());
    const std::vector<NodePath> results = engine.run(columns, std::ref(watch));
    flat = Flattener(table).flatten(columns, results);
  });
  return to_dict(std::move(flat));
}

// Neighbours of some columns, from where each list begins; any other number is refused.
std::vector<std::vector<std::size_t>> read_neighbours(std::span<const int> states,
                                                      std::span<const std::size_t> targets,
                                                      const Vector<std::int64_t>& begin,
                                                      const Vector<std::int64_t>& neighbours) {
  if (begin.shape(0) != targets.size() + 1) throw std::invalid_argument("one list of neighbours per column");
  std::vector<std::vector<std::size_t>> lists(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i)
    for (std::int64_t k = begin.data()[i]; k < begin.data()[i + 1]; ++k) {
      if (k < 0 || std::cmp_greater_equal(k, neighbours.shape(0)))
        throw std::out_of_range("no such position");
      const auto r = targets[i], t = static_cast<std::size_t>(neighbours.data()[k]);
      if (r >= states.size() || t >= states.size() || t == r) throw std::out_of_range("no such neighbour");
      if (std::min(states[r], states[t]) < 2)
        throw std::invalid_argument("a constant column has no neighbours");
      lists[i].push_back(t);
    }
  return lists;
}

// Which of the neighbours of some columns have a small edge, as marks beside them.
std::vector<std::vector<Form>> read_forms(const Forms* forms, std::span<const std::size_t> targets,
                                          const std::vector<std::vector<std::size_t>>& neighbours,
                                          const Vector<std::uint8_t>& small) {
  std::vector<std::vector<Form>> found(targets.size());
  std::size_t at = 0;
  for (std::size_t i = 0; forms && i < targets.size(); ++i)
    for (const std::size_t t : neighbours[i]) {
      if (at >= small.shape(0)) throw std::invalid_argument("one mark per neighbour");
      if (small.data()[at] && !forms->small(targets[i], t))
        throw std::invalid_argument("no smaller form of this edge");
      found[i].push_back(small.data()[at++] ? Form::small : Form::table);
    }
  return found;
}

// No search: the fit of every column on given neighbours, as flat arrays.
Arrays fit(Codes codes, Vector<std::int32_t> states, Vector<double> weights, double n,
           Vector<std::int64_t> begin, Vector<std::int64_t> neighbours, const Forms* forms,
           Vector<std::uint8_t> small, bool intercept, unsigned threads, nb::object progress,
           const Elsewhere* elsewhere) {
  const std::size_t columns = codes.shape(1);
  check_forms(forms, columns);
  std::vector<std::size_t> targets(columns);
  std::iota(targets.begin(), targets.end(), std::size_t{0});
  const auto supports = read_neighbours({states.data(), states.shape(0)}, targets, begin, neighbours);
  const auto of_edges = read_forms(forms, targets, supports, small);
  Watch watch(std::move(progress), stop_of(elsewhere));
  Asking asking(elsewhere, {states.data(), states.shape(0)});
  Flat flat;
  run(watch, asking, [&] {
    const Table table = make_table(codes, states, weights, n, threads, elsewhere);
    Settings settings{0, 0.5, intercept, columns, false};
    settings.forms = forms;
    Engine engine(table, settings, threads, asking.remote());
    flat = Flattener(table).flatten(targets, engine.fit(supports, of_edges, std::ref(watch)));
  });
  return to_dict(std::move(flat));
}

// The losses of some columns with given neighbours and without each one that is to be left out, and the rows
// expected without it.
Arrays deviances(const Prepared& prepared, Vector<std::int64_t> targets, Vector<std::int64_t> begin,
                 Vector<std::int64_t> neighbours, Vector<std::uint8_t> leave_out, const Forms* forms,
                 Vector<std::uint8_t> small, bool intercept, unsigned threads, nb::object progress) {
  const Table& table = prepared.table();
  check_forms(forms, table.columns());
  const std::vector<std::size_t> columns(targets.data(), targets.data() + targets.shape(0));
  const auto supports = read_neighbours(table.states(), columns, begin, neighbours);
  if (leave_out.shape(0) != neighbours.shape(0)) throw std::invalid_argument("one mark per neighbour");
  const auto of_edges = read_forms(forms, columns, supports, small);
  std::vector<std::vector<std::size_t>> left_out(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    for (std::size_t k = 0; k < supports[i].size(); ++k)
      if (leave_out.data()[static_cast<std::size_t>(begin.data()[i]) + k]) left_out[i].push_back(k);
  Watch watch(std::move(progress), stop_of(prepared.elsewhere()));
  Asking asking(prepared.elsewhere(), table.states());
  std::vector<double> loss, without, expected;
  run(watch, asking, [&] {
    for (const Deviances& one : find_deviances(table, {intercept, forms}, columns, supports, of_edges,
                                               left_out, threads, std::ref(watch), asking.remote())) {
      loss.push_back(one.loss);
      without.insert(without.end(), one.without.begin(), one.without.end());
      expected.insert(expected.end(), one.expected.begin(), one.expected.end());
    }
  });
  Arrays out;
  out["loss"] = owned(std::move(loss));
  out["without"] = owned(std::move(without));
  out["expected"] = owned(std::move(expected));
  return out;
}

Arrays l1_paths(Codes codes, Vector<std::int32_t> states, Vector<double> weights, double n,
                Vector<std::int64_t> targets, Vector<double> penalties, Vector<double> scales,
                const std::string& loss, bool intercept, double tolerance, unsigned threads,
                nb::object progress) {
  const std::vector<std::size_t> columns(targets.data(), targets.data() + targets.shape(0));
  for (const std::size_t r : columns)
    if (r >= codes.shape(1)) throw std::out_of_range("no such column");
  if (scales.shape(0) != codes.shape(1)) throw std::invalid_argument("one scale per column");
  const auto kind = loss == "rise"      ? SpinLoss::rise
                    : loss == "logrise" ? SpinLoss::log_rise
                                        : SpinLoss::pseudo;
  const L1Settings settings{kind,
                            intercept,
                            tolerance,
                            {penalties.data(), penalties.data() + penalties.shape(0)},
                            {scales.data(), scales.data() + scales.shape(0)}};
  Watch watch(std::move(progress));
  L1Flat flat;
  {
    const nb::gil_scoped_release release;
    const Table table = make_table(codes, states, weights, n, threads);
    flat = L1Columns(table, settings).run(columns, threads, std::ref(watch));
  }
  watch.rethrow();
  Arrays out;
  out["largest"] = owned(std::move(flat.largest));
  out["loss"] = owned(std::move(flat.loss));
  out["distance"] = owned(std::move(flat.distance));
  out["support_begin"] = owned(std::move(flat.support_begin));
  out["support"] = owned(std::move(flat.support));
  out["number_begin"] = owned(std::move(flat.number_begin));
  out["numbers"] = owned(std::move(flat.numbers));
  return out;
}

auto pair_counts(Codes codes, Vector<std::int32_t> states, Vector<double> weights, std::size_t a,
                 std::size_t b) {
  if (a >= codes.shape(1) || b >= codes.shape(1)) throw std::out_of_range("no such column");
  const Table table = make_table(codes, states, weights, 0, 1);
  std::vector<double> counts;
  for (int i = 0; i < table.states(a); ++i)
    for (int j = 0; j < table.states(b); ++j)
      counts.push_back(table.count(table.bits(a, i), table.bits(b, j)));
  return owned(std::move(counts));
}

// Shift, scale and degrees of freedom of the deviance of two columns whose states have so many rows each.
std::tuple<double, double, double> pair_null(Vector<double> rows, Vector<double> other) {
  const Null null = Nulls().of({rows.data(), rows.shape(0)}, {other.data(), other.shape(0)});
  return {null.shift, null.scale, null.df};
}

// Rows in each combination of two states of any two columns: a square matrix, states in column order.
auto all_pair_counts(Codes codes, Vector<std::int32_t> states, Vector<double> weights, unsigned threads) {
  std::vector<double> counts;
  {
    const nb::gil_scoped_release release;
    const Table table = make_table(codes, states, weights, 0, threads);
    counts = all_counts(table, threads);
  }
  return owned(std::move(counts));
}

// All of a column's field, and all of an edge's table, must be among the numbers.
void check_starts(const Starts& starts, const Vector<std::int32_t>& states, const Elimination::Pairs& edges,
                  std::size_t adjusted) {
  const std::size_t columns = states.shape(0);
  if (starts.fields.empty()) return;
  if (adjusted > 0) throw std::invalid_argument("no starts where columns are adjusted for");
  if (starts.fields.size() != columns || starts.tables.size() != 2 * edges.size() ||
      starts.turned.size() != 2 * edges.size())
    throw std::invalid_argument("one start for every column, and for both ends of every edge");
  const auto check = [&](std::int64_t begin, std::int64_t count) {
    if (begin >= 0 && begin > static_cast<std::int64_t>(starts.numbers.size()) - count)
      throw std::invalid_argument("a start beyond the numbers");
  };
  const auto of = [&](std::size_t j) { return static_cast<std::int64_t>(states.data()[j]); };
  for (std::size_t j = 0; j < columns; ++j) check(starts.fields[j], of(j));
  for (std::size_t end = 0; end < starts.tables.size(); ++end)
    check(starts.tables[end], of(edges[end / 2].first) * of(edges[end / 2].second));
}

// What both ends say of each edge, and when it leaves.
Arrays both_ends(Codes codes, Vector<std::int32_t> states, Vector<double> weights, double n,
                 Vector<std::int64_t> pairs, Vector<std::uint8_t> held, Vector<double> scales, double unit,
                 double top, bool all, double firm, double alone, double gain, Vector<std::int64_t> forbidden,
                 std::int64_t max_degree, std::size_t adjusted, const Forms* forms,
                 Vector<std::uint8_t> small, Vector<double> start_numbers, Vector<std::int64_t> start_fields,
                 Vector<std::int64_t> start_tables, Vector<std::uint8_t> start_turned, bool intercept,
                 unsigned threads, nb::object progress) {
  check_forms(forms, codes.shape(1));
  if (adjusted > codes.shape(1)) throw std::invalid_argument("more columns to adjust for than columns");
  const Elimination::Pairs edges = edges_of(pairs, codes.shape(1) - adjusted);
  const std::size_t p = codes.shape(1);
  if (scales.shape(0) != 0 && scales.shape(0) != p * p)
    throw std::invalid_argument("one scale for every pair of columns");
  if (held.shape(0) != edges.size()) throw std::invalid_argument("one number for every edge");
  if (small.shape(0) != edges.size()) throw std::invalid_argument("one mark for every edge");
  for (std::size_t e = 0; e < edges.size(); ++e)
    if (small.data()[e] && !(forms && forms->small(edges[e].first, edges[e].second)))
      throw std::invalid_argument("no smaller form of this edge");
  const Starts starts{{start_numbers.data(), start_numbers.shape(0)},
                      {start_fields.data(), start_fields.shape(0)},
                      {start_tables.data(), start_tables.shape(0)},
                      {start_turned.data(), start_turned.shape(0)}};
  check_starts(starts, states, edges, adjusted);
  const std::vector<char> kept(held.data(), held.data() + edges.size());
  const Constraints constraints{std::vector<std::vector<std::size_t>>(p), in_order(by_column(forbidden, p))};
  const auto most = max_degree < 0 ? p : static_cast<std::size_t>(max_degree);
  const std::span<const double> of_pairs(scales.data(), scales.shape(0));
  const LookingFurther looking{
      firm, alone, {gain, 0.5, intercept, most, false, &constraints, of_pairs, unit, forms}};
  Watch watch(std::move(progress));
  Elimination::Found found;
  {
    const nb::gil_scoped_release release;
    const Table table = make_table(codes, states, weights, n, threads);
    for (const auto& [i, j] : edges)
      if (std::min(table.states(i), table.states(j)) < 2)
        throw std::invalid_argument("a constant column has no edges");
    Elimination elimination(table, {intercept, forms}, edges, {small.data(), small.shape(0)}, of_pairs, unit,
                            adjusted, starts, threads);
    found = all ? elimination.statistics(std::ref(watch))
                : elimination.run(top, kept, std::ref(watch), gain < 0 ? nullptr : &looking);
  }
  watch.rethrow();
  Arrays out;
  out["statistic"] = owned(std::move(found.statistic));
  out["entry"] = owned(std::move(found.entry));
  // Two columns, whether the edge is a small one, and whether either column found it.
  std::vector<std::int64_t> further;
  for (const Further& one : found.further) {
    for (const std::size_t column : one.columns) further.push_back(static_cast<std::int64_t>(column));
    for (const bool mark : {one.form == Form::small, one.by[0], one.by[1]}) further.push_back(mark);
  }
  out["further"] = owned(std::move(further));
  return out;
}

NB_MODULE(_core, m) {
  m.doc() = "Bits, counts, and Algorithm 1 on them.";
  nb::class_<Forms>(m, "Forms");
  m.def("make_forms", &make_forms, nb::arg("states"), nb::arg("scores"), nb::arg("begin"),
        nb::arg("answered"), nb::arg("own"), nb::arg("tables"));
  nb::class_<Prepared>(m, "Prepared");
  m.def("prepare", &prepare, nb::arg("codes"), nb::arg("states"), nb::arg("weights"), nb::arg("n"),
        nb::arg("answers"), nb::arg("threads"), nb::arg("memory"), nb::arg("elsewhere").none() = nb::none(),
        nb::keep_alive<0, 8>());
  m.def("search", &search, nb::arg("prepared"), nb::arg("targets"), nb::arg("required"), nb::arg("forbidden"),
        nb::arg("scales"), nb::arg("unit"), nb::arg("forms").none(), nb::arg("level"), nb::arg("threshold"),
        nb::arg("nu"), nb::arg("intercept"), nb::arg("max_degree"), nb::arg("threads"), nb::arg("check"),
        nb::arg("progress").none());
  m.def("fit", &fit, nb::arg("codes"), nb::arg("states"), nb::arg("weights"), nb::arg("n"), nb::arg("begin"),
        nb::arg("neighbours"), nb::arg("forms").none(), nb::arg("small"), nb::arg("intercept"),
        nb::arg("threads"), nb::arg("progress").none(), nb::arg("elsewhere").none() = nb::none());
  m.def("deviances", &deviances, nb::arg("prepared"), nb::arg("targets"), nb::arg("begin"),
        nb::arg("neighbours"), nb::arg("leave_out"), nb::arg("forms").none(), nb::arg("small"),
        nb::arg("intercept"), nb::arg("threads"), nb::arg("progress").none());
  nb::class_<Elsewhere>(m, "Elsewhere");
  nb::exception<TooManyCells>(m, "TooManyCells");
  m.def("make_elsewhere", &make_elsewhere, nb::arg("rows"), nb::arg("marginals"), nb::arg("n_planes"),
        nb::arg("answer"), nb::arg("stop"), nb::arg("together"));
  define_packing(m);
  m.def("l1_paths", &l1_paths, nb::arg("codes"), nb::arg("states"), nb::arg("weights"), nb::arg("n"),
        nb::arg("targets"), nb::arg("penalties"), nb::arg("scales"), nb::arg("loss"), nb::arg("intercept"),
        nb::arg("tolerance"), nb::arg("threads"), nb::arg("progress").none());
  m.def("factorise", &factorise<std::int8_t>, nb::arg("data").noconvert(), nb::arg("threads"));
  m.def("factorise", &factorise<std::uint8_t>, nb::arg("data").noconvert(), nb::arg("threads"));
  m.def("factorise", &factorise<std::int16_t>, nb::arg("data").noconvert(), nb::arg("threads"));
  m.def("factorise", &factorise<std::int32_t>, nb::arg("data").noconvert(), nb::arg("threads"));
  m.def("factorise", &factorise<std::int64_t>, nb::arg("data").noconvert(), nb::arg("threads"));
  m.def("pair_counts", &pair_counts, nb::arg("codes"), nb::arg("states"), nb::arg("weights"), nb::arg("a"),
        nb::arg("b"));
  m.def("all_pair_counts", &all_pair_counts, nb::arg("codes"), nb::arg("states"), nb::arg("weights"),
        nb::arg("threads"));
  m.def("one_parameter_gain", &one_parameter_gain<int>, nb::arg("gain"), nb::arg("df"), nb::arg("n"),
        nb::arg("looks") = 1);
  m.def("pair_null", &pair_null, nb::arg("rows"), nb::arg("other"));
  define_regression(m);
  define_models(m);
  m.def("both_ends", &both_ends, nb::arg("codes"), nb::arg("states"), nb::arg("weights"), nb::arg("n"),
        nb::arg("pairs"), nb::arg("held"), nb::arg("scales"), nb::arg("unit"), nb::arg("top"), nb::arg("all"),
        nb::arg("firm"), nb::arg("alone"), nb::arg("gain"), nb::arg("forbidden"), nb::arg("max_degree"),
        nb::arg("adjusted"), nb::arg("forms").none(), nb::arg("small"), nb::arg("start_numbers"),
        nb::arg("start_fields"), nb::arg("start_tables"), nb::arg("start_turned"), nb::arg("intercept"),
        nb::arg("threads"), nb::arg("progress").none());
  m.def("instructions", &instructions);
  m.def("use_instructions", &use_instructions, nb::arg("name"));
  m.def("use_counting", &use_counting, nb::arg("way"));
}

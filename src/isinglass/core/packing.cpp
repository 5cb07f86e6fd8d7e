// Packed rows: made from codes, asked for counts; and texts and frames that become codes.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "bits/table.hpp"
#include "counting/answers.hpp"
#include "counting/questions.hpp"
#include "text/arrow.hpp"
#include "text/coder.hpp"
#include "text/frame_coder.hpp"

using namespace isinglass;

using Bits = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Bits of each state but the first of each column, one after the other.
Array<std::uint64_t> pack(Codes codes, Vector<std::int32_t> states) {
  const std::size_t words = words_for(codes.shape(0));
  std::vector<std::uint64_t> bits;
  {
    const nb::gil_scoped_release release;
    check_codes(codes, states);
    const Table table(codes.data(), codes.shape(0), {states.data(), states.shape(0)}, {}, 0, 1);
    bits.assign(table.row(0), table.row(0) + table.first(table.columns()) * words);
  }
  return owned(std::move(bits));
}

// Adds the answers of a block of packed rows to `counts`.
template <class Count>
void answer(Bits bits, Bits planes, std::size_t rows, Vector<std::int32_t> states,
            nb::ndarray<Count, nb::ndim<1>, nb::c_contig, nb::device::cpu> counts,
            Vector<std::int64_t> support_begin, Vector<std::int64_t> support, Vector<std::int64_t> cells,
            Vector<std::uint8_t> codes, Vector<std::int64_t> grouping, Vector<std::int64_t> range,
            Vector<std::int64_t> chosen_begin, Vector<std::int64_t> states_begin,
            Vector<std::int64_t> by_begin, Vector<std::uint8_t> chosen, Vector<std::int64_t> listed,
            Vector<std::int64_t> by) {
  std::size_t every = 0;
  for (std::size_t j = 0; j < states.shape(0); ++j) every += static_cast<std::size_t>(states.data()[j]) - 1;
  const std::size_t words = words_for(rows);
  if (bits.shape(0) != every || bits.shape(1) != words || (planes.shape(0) && planes.shape(1) != words))
    throw std::invalid_argument("bits that do not fit the table");
  const auto span = [](const auto& array) { return std::span(array.data(), array.shape(0)); };
  const QuestionArrays questions{span(support_begin), span(support), span(cells),        span(codes),
                                 span(grouping),      span(range),   span(chosen_begin), span(states_begin),
                                 span(by_begin),      span(chosen),  span(listed),       span(by)};
  const nb::gil_scoped_release release;
  const std::span<const int> of_states{states.data(), states.shape(0)};
  const Table table(PackedRows{rows, bits.data(), planes.data(), planes.shape(0)}, of_states);
  Answers<Count>(table, of_states, questions, {counts.data(), counts.shape(0)});
}

// How many numbers the answers to questions are.
std::size_t answer_size(Vector<std::int32_t> states, Vector<std::int64_t> support_begin,
                        Vector<std::int64_t> support, Vector<std::int64_t> cells, Vector<std::uint8_t> codes,
                        Vector<std::int64_t> grouping, Vector<std::int64_t> range,
                        Vector<std::int64_t> chosen_begin, Vector<std::int64_t> states_begin,
                        Vector<std::int64_t> by_begin, Vector<std::uint8_t> chosen,
                        Vector<std::int64_t> listed, Vector<std::int64_t> by) {
  const auto span = [](const auto& array) { return std::span(array.data(), array.shape(0)); };
  return size_of_answers(
      {span(support_begin), span(support), span(cells), span(codes), span(grouping), span(range),
       span(chosen_begin), span(states_begin), span(by_begin), span(chosen), span(listed), span(by)},
      span(states));
}

// Numbers of columns that are written, each without gaps.
template <class Code>
using Room = nb::ndarray<Code, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

// Rows coded, bytes consumed, and whether the next row is broken.
std::tuple<std::size_t, std::size_t, bool> code_text(TextCoder& coder, const nb::bytes& text,
                                                     std::size_t from, Room<std::uint8_t> few,
                                                     Room<std::uint32_t> many, std::size_t first) {
  const std::size_t room = few.shape(1) ? few.shape(0) : many.shape(0);
  if (from > text.size() || first > room || few.shape(1) != coder.columns(Kept::few) ||
      many.shape(1) != coder.columns(Kept::many) ||
      (few.shape(1) && many.shape(1) && few.shape(0) != many.shape(0)))
    throw std::invalid_argument("room for every column");
  const std::string_view left(text.c_str() + from, text.size() - from);
  const nb::gil_scoped_release release;
  const Coded done = coder.code(left, {few.data(), many.data(), room}, first);
  return {done.rows, done.consumed, done.broken};
}

// How many texts each column has.
Array<std::int64_t> text_counts(const TextCoder& coder) {
  std::vector<std::int64_t> sizes;
  for (const Dictionary& column : coder.columns()) sizes.push_back(static_cast<std::int64_t>(column.size()));
  return owned(std::move(sizes));
}

// The texts of a column from one on, as bytes.
nb::typed<nb::list, nb::bytes> texts_of(const TextCoder& coder, std::size_t column, std::size_t from) {
  if (column >= coder.columns().size()) throw std::out_of_range("no such column");
  nb::list texts;
  const auto& known = coder.columns()[column].texts();
  for (std::size_t at = from; at < known.size(); ++at)
    texts.append(nb::bytes(known[at].data(), known[at].size()));
  return texts;
}

// For each column 0 if it has few texts, 1 if it may have many, 2 if nobody wants it.
std::unique_ptr<TextCoder> make_coder(const Vector<std::uint8_t>& kept, const nb::bytes& delimiter) {
  if (delimiter.size() != 1) throw std::invalid_argument("a delimiter of one byte");
  std::vector<Kept> kinds;
  for (std::size_t j = 0; j < kept.shape(0); ++j) {
    if (kept.data()[j] > 2) throw std::invalid_argument("no such kind of column");
    kinds.push_back(static_cast<Kept>(kept.data()[j]));
  }
  return std::make_unique<TextCoder>(std::move(kinds), delimiter.c_str()[0]);
}

// Codes all cells of a column, which comes as a stream of Arrow's; whether that could be done.
bool code_column(FrameCoder& coder, std::size_t column, const nb::capsule& lent,
                 nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> out) {
  if (!lent.name() || std::string_view(lent.name()) != "arrow_array_stream")
    throw std::invalid_argument("a stream of Arrow's");
  if (column >= coder.columns().size()) throw std::out_of_range("no such column");
  auto* stream = static_cast<ArrowArrayStream*>(lent.data());
  const auto check = [&](int error) {
    const char* said = error ? stream->get_last_error(stream) : nullptr;
    if (error) throw std::runtime_error(said ? said : "a column that cannot be read");
  };
  const nb::gil_scoped_release release;
  Borrowed<ArrowSchema> type;
  check(stream->get_schema(stream, &type));
  for (std::size_t done = 0;;) {
    Borrowed<ArrowArray> cells;
    check(stream->get_next(stream, &cells));
    if (!cells.release) return true;
    const auto length = static_cast<std::size_t>(cells.length);
    if (done + length > out.shape(0)) throw std::invalid_argument("room for every row");
    if (!coder.code(column, type, cells, out.data() + done)) return false;
    done += length;
  }
}

// How many labels each column has.
Array<std::int64_t> label_counts(const FrameCoder& coder) {
  std::vector<std::int64_t> sizes;
  for (const FrameColumn& column : coder.columns())
    sizes.push_back(static_cast<std::int64_t>(column.labels().size()));
  return owned(std::move(sizes));
}

// The labels of a column from one on: bytes of texts or of whole numbers, or none for a null.
nb::typed<nb::list, nb::any> labels_of(const FrameCoder& coder, std::size_t column, std::size_t from) {
  if (column >= coder.columns().size()) throw std::out_of_range("no such column");
  nb::list labels;
  const Dictionary& known = coder.columns()[column].labels();
  for (std::size_t at = from; at < known.size(); ++at)
    known.is_null(at) ? labels.append(nb::none())
                      : labels.append(nb::bytes(known.texts()[at].data(), known.texts()[at].size()));
  return labels;
}

void define_packing(nb::module_& m) {
  m.def("pack", &pack, nb::arg("codes"), nb::arg("n_states"));
  const auto answering = [&](const char* name, auto function, const auto&... first) {
    m.def(name, function, first..., nb::arg("support_begin"), nb::arg("support"), nb::arg("cells"),
          nb::arg("codes"), nb::arg("grouping"), nb::arg("range"), nb::arg("chosen_begin"),
          nb::arg("states_begin"), nb::arg("by_begin"), nb::arg("chosen"), nb::arg("states"), nb::arg("by"));
  };
  answering("answer", &answer<std::uint32_t>, nb::arg("bits"), nb::arg("planes"), nb::arg("rows"),
            nb::arg("n_states"), nb::arg("counts").noconvert());
  answering("answer", &answer<std::uint64_t>, nb::arg("bits"), nb::arg("planes"), nb::arg("rows"),
            nb::arg("n_states"), nb::arg("counts").noconvert());
  answering("answer_size", &answer_size, nb::arg("n_states"));
  nb::class_<TextCoder>(m, "TextCoder")
      .def("code", &code_text, nb::arg("text"), nb::arg("start"), nb::arg("few").noconvert(),
           nb::arg("many").noconvert(), nb::arg("first"))
      .def("sizes", &text_counts)
      .def("texts", &texts_of, nb::arg("column"), nb::arg("start"));
  m.def("make_coder", &make_coder, nb::arg("kept"), nb::arg("delimiter"));
  nb::class_<FrameCoder>(m, "FrameCoder")
      .def("code", &code_column, nb::arg("column"), nb::arg("stream"), nb::arg("out").noconvert())
      .def("sizes", &label_counts)
      .def("labels", &labels_of, nb::arg("column"), nb::arg("start"));
  m.def(
      "make_frame_coder", [](std::size_t columns) { return std::make_unique<FrameCoder>(columns); },
      nb::arg("columns"));
}

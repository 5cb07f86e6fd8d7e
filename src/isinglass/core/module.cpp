// The border between Python and the core: arrays in, arrays out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <stdexcept>

#include "bits.hpp"

namespace nb = nanobind;
using namespace isinglass;

using Codes = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::device::cpu>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Words = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<2>> owned(std::unique_ptr<T[]> data, std::size_t rows,
                                             std::size_t columns) {
  nb::capsule owner(data.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<2>>(data.release(), {rows, columns}, owner);
}

// offsets[j] is the first state of column j, offsets[p] the number of all states.
auto pack(Codes codes, Offsets offsets) {
  const std::size_t rows = codes.shape(0), columns = codes.shape(1);
  if (offsets.shape(0) != columns + 1) throw std::invalid_argument("one offset a column, and an end");
  for (std::size_t j = 0; j < columns; ++j) {
    const std::int64_t states = offsets(j + 1) - offsets(j);
    for (std::size_t i = 0; i < rows; ++i)
      if (codes(i, j) < 0 || codes(i, j) >= states) throw std::invalid_argument("a code without a state");
  }
  const std::size_t words = words_for(rows);
  const auto states = static_cast<std::size_t>(offsets(columns));
  auto bits = std::make_unique<std::uint64_t[]>(states * words);
  for (std::size_t j = 0; j < columns; ++j) {
    const auto first = static_cast<std::size_t>(offsets(j));
    const auto count = static_cast<std::size_t>(offsets(j + 1)) - first;
    pack_column(codes.data() + j * codes.stride(1), static_cast<std::size_t>(codes.stride(0)), rows,
                std::span(bits.get() + first * words, count * words));
  }
  return owned(std::move(bits), states, words);
}

auto pairs(Words bits, Offsets offsets, std::size_t a, std::size_t b) {
  if (a + 1 >= offsets.shape(0) || b + 1 >= offsets.shape(0)) throw std::out_of_range("no such column");
  const std::size_t words = bits.shape(1);
  const auto row = [&](std::int64_t state) {
    return std::span(bits.data() + static_cast<std::size_t>(state) * words, words);
  };
  const auto height = static_cast<std::size_t>(offsets(a + 1) - offsets(a));
  const auto width = static_cast<std::size_t>(offsets(b + 1) - offsets(b));
  auto counts = std::make_unique<std::int64_t[]>(height * width);
  for (std::size_t i = 0; i < height; ++i)
    for (std::size_t j = 0; j < width; ++j)
      counts[i * width + j] = common(row(offsets(a) + static_cast<std::int64_t>(i)),
                                     row(offsets(b) + static_cast<std::int64_t>(j)));
  return owned(std::move(counts), height, width);
}

NB_MODULE(_core, m) {
  m.doc() = "Bits and counts.";
  m.def("pack", &pack, nb::arg("codes"), nb::arg("offsets"));
  m.def("pairs", &pairs, nb::arg("bits"), nb::arg("offsets"), nb::arg("a"), nb::arg("b"));
}

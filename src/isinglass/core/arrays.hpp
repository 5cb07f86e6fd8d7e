// Arrays of numpy, in and out of the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using Matrix2D = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

using Arrays = nb::typed<nb::dict, nb::str, nb::any>;  // by name

// Objects of Python are made by the thread that has its lock, and by no other: two at once damage its memory,
// and the crash comes much later. The stable ABI cannot ask; builds for one version can, and the tests use
// them.
inline void check_lock() {
#ifndef Py_LIMITED_API
  if (!PyGILState_Check()) throw std::logic_error("an array is made without the lock of Python");
#endif
}

template <class T, class Allocator>
Array<T> owned(std::vector<T, Allocator>&& data) {
  using Data = std::vector<T, Allocator>;
  check_lock();
  auto* kept = new Data(std::move(data));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Data*>(p); });
  return Array<T>(kept->data(), {kept->size()}, owner);
}

inline void check_codes(const Codes& codes, const Vector<std::int32_t>& states) {
  const std::size_t rows = codes.shape(0), columns = codes.shape(1);
  if (states.shape(0) != columns) throw std::invalid_argument("one number of states per column");
  for (std::size_t j = 0; j < columns; ++j) {
    std::uint8_t most = 0;
    for (std::size_t i = 0; i < rows; ++i) most = std::max(most, codes.data()[j * rows + i]);
    if (most >= states.data()[j]) throw std::invalid_argument("a code without a state");
  }
}

// Edges as pairs of columns, the lower one first.
inline std::vector<std::pair<std::size_t, std::size_t>> edges_of(const Vector<std::int64_t>& pairs,
                                                                 std::size_t columns) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (std::size_t i = 0; i + 1 < pairs.shape(0); i += 2) {
    edges.emplace_back(static_cast<std::size_t>(pairs.data()[i]),
                       static_cast<std::size_t>(pairs.data()[i + 1]));
    if (edges.back().first >= edges.back().second || edges.back().second >= columns)
      throw std::invalid_argument("an edge joins two columns, the lower one first");
  }
  return edges;
}

// The functions of packing.cpp.
void define_packing(nb::module_& m);
// The functions of regression.cpp.
void define_regression(nb::module_& m);
// The functions of models.cpp.
void define_models(nb::module_& m);

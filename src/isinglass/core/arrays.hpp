// Arrays of numpy, in and out of the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix2D = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T, class Allocator>
Array<T> owned(std::vector<T, Allocator>&& data) {
  using Data = std::vector<T, Allocator>;
  auto* kept = new Data(std::move(data));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Data*>(p); });
  return Array<T>(kept->data(), {kept->size()}, owner);
}

// The functions of regression.cpp.
void define_regression(nb::module_& m);

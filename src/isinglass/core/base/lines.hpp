// Arrays that begin at cache lines: rows of bits, and numbers that are read and written in any order.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace isinglass {

template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <class Other>
  LineAllocator(const LineAllocator<Other>&) {}

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* numbers, std::size_t) { ::operator delete(numbers, kLine); }
  bool operator==(const LineAllocator&) const = default;
};

template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

}  // namespace isinglass

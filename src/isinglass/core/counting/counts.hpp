// Rows of counts, one for each state but the first of each column, in as few bytes as they need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/dispatch.hpp"
#include "bits/table.hpp"

namespace isinglass {

// Counts are whole numbers of a table's unit of weight. Two bytes do while all rows together are fewer than
// 2^16 of them, four while they are fewer than 2^32; beyond that they are doubles.
enum class CountSize : std::uint8_t { two = 2, four = 4, eight = 8 };

inline CountSize size_of_counts(const Table& table) {
  return table.units() < 0x1p16   ? CountSize::two
         : table.units() < 0x1p32 ? CountSize::four
                                  : CountSize::eight;
}

// Calls work(pointer) with the pointer's type.
template <class Work>
ISINGLASS_INLINE inline decltype(auto) with_counts(CountSize size, const void* counts, const Work& work) {
  switch (size) {
    case CountSize::two:
      return work(static_cast<const std::uint16_t*>(counts));
    case CountSize::four:
      return work(static_cast<const std::uint32_t*>(counts));
    default:
      return work(static_cast<const double*>(counts));
  }
}

// Counts to be read; they belong to others.
struct CountRow {
  const void* counts = nullptr;
  CountSize size = CountSize::two;

  double operator[](std::size_t u) const {
    return with_counts(size, counts, [=](const auto* row) { return static_cast<double>(row[u]); });
  }
};

namespace detail {

template <class Count>
ISINGLASS_INLINE inline void store_loop(const std::uint32_t* counts, std::size_t n, int power,
                                        Count* __restrict out) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = static_cast<Count>(out[i] + static_cast<Count>(static_cast<std::uint64_t>(counts[i]) << power));
}

}  // namespace detail

// Adds counts, times a power of two, to those from the first on: exact, as the sum over all rows is.
ISINGLASS_INLINE inline void store_counts_loop(const std::uint32_t* counts, std::size_t n, int power,
                                               CountSize size, void* out, std::size_t first) {
  if (size == CountSize::two)
    detail::store_loop(counts, n, power, static_cast<std::uint16_t*>(out) + first);
  else if (size == CountSize::four)
    detail::store_loop(counts, n, power, static_cast<std::uint32_t*>(out) + first);
  else
    detail::store_loop(counts, n, power, static_cast<double*>(out) + first);
}
inline constexpr Vectorised<store_counts_loop> store_counts;

// Puts counts of listed states in their places.
inline void scatter_counts(const double* counts, std::span<const std::size_t> states, CountSize size,
                           void* out) {
  with_counts(size, out, [&]<class Count>(const Count*) {
    for (std::size_t i = 0; i < states.size(); ++i)
      static_cast<Count*>(out)[states[i]] = static_cast<Count>(counts[i]);
  });
}

// Counts that somebody else found, as they are kept here.
inline void copy_counts(const std::uint64_t* counts, std::size_t n, CountSize size, void* out) {
  with_counts(size, out, [&]<class Count>(const Count*) {
    for (std::size_t i = 0; i < n; ++i) static_cast<Count*>(out)[i] = static_cast<Count>(counts[i]);
  });
}

// Rows that are lent and given back, so that searches one after another use the same memory.
class CountPool {
 public:
  using Row = std::unique_ptr<std::byte[]>;

  CountPool(std::size_t length, CountSize size) : length_(length), size_(size) {}

  CountSize size() const { return size_; }
  // Nothing is promised of what is in it, but that it was written once.
  Row take() {
    if (free_.empty()) return std::make_unique<std::byte[]>(length_ * static_cast<std::size_t>(size_));
    Row row = std::move(free_.back());
    free_.pop_back();
    return row;
  }
  void give_back(Row row) { free_.push_back(std::move(row)); }
  CountRow view(const Row& row) const { return {row.get(), size_}; }

 private:
  std::size_t length_;
  CountSize size_;
  std::vector<Row> free_;
};

namespace detail {

// See add_counts; four rows at a time, so that what is summed up is fetched less often.
template <class Count, class Real>
ISINGLASS_INLINE inline void combine_counts(const void* const* rows, std::size_t count, std::size_t first,
                                            std::size_t n, const Real* weights, Real* __restrict out,
                                            const Real* other_weights, Real* __restrict other_out) {
  const auto from = [=](std::size_t k)
                        ISINGLASS_INLINE { return static_cast<const Count*>(rows[k]) + first; };
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const Count *a = from(k), *b = from(k + 1), *c = from(k + 2), *d = from(k + 3);
    const Real wa = weights[k], wb = weights[k + 1], wc = weights[k + 2], wd = weights[k + 3];
    const Real va = other_weights[k], vb = other_weights[k + 1], vc = other_weights[k + 2],
               vd = other_weights[k + 3];
    for (std::size_t i = 0; i < n; ++i) {
      const auto x = static_cast<Real>(a[i]), y = static_cast<Real>(b[i]), z = static_cast<Real>(c[i]),
                 t = static_cast<Real>(d[i]);
      out[i] += (wa * x + wb * y) + (wc * z + wd * t);
      other_out[i] += (va * x + vb * y) + (vc * z + vd * t);
    }
  }
  for (; k < count; ++k) {
    const Count* a = from(k);
    const Real wa = weights[k], va = other_weights[k];
    for (std::size_t i = 0; i < n; ++i) {
      const auto x = static_cast<Real>(a[i]);
      out[i] += wa * x;
      other_out[i] += va * x;
    }
  }
}

}  // namespace detail

template <class Real>
ISINGLASS_INLINE inline void add_counts_loop(CountSize size, const void* const* rows, std::size_t count,
                                             std::size_t first, std::size_t n, const Real* weights, Real* out,
                                             const Real* other_weights, Real* other_out) {
  if (size == CountSize::two)
    detail::combine_counts<std::uint16_t>(rows, count, first, n, weights, out, other_weights, other_out);
  else if (size == CountSize::four)
    detail::combine_counts<std::uint32_t>(rows, count, first, n, weights, out, other_weights, other_out);
  else
    detail::combine_counts<double>(rows, count, first, n, weights, out, other_weights, other_out);
}
// Two combinations of the same rows of counts, for n states from the first on:
// out[i] += sum over k of weights[k] * rows[k][first + i].
template <class Real>
inline constexpr Vectorised<add_counts_loop<Real>> add_counts;

template <class Real>
ISINGLASS_INLINE inline void read_counts_loop(CountRow row, std::size_t first, std::size_t n, Real unit,
                                              Real* __restrict out) {
  with_counts(row.size, row.counts, [=](const auto* counts) ISINGLASS_INLINE {
    for (std::size_t i = 0; i < n; ++i) out[i] = unit * static_cast<Real>(counts[first + i]);
  });
}
template <class Real>
inline constexpr Vectorised<read_counts_loop<Real>> read_counts;

}  // namespace isinglass

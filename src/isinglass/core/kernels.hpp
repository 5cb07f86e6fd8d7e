// Counting bits, with the instruction set picked when the program runs.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define ISINGLASS_X86 1
#include <immintrin.h>
#else
#define ISINGLASS_X86 0
#endif

namespace isinglass {

using Word = std::uint64_t;

// Rows of bits are padded to whole cache lines, so that no kernel needs a tail.
constexpr std::size_t kWordGroup = 8;

inline std::size_t words_for(std::size_t rows) {
  const std::size_t words = (rows + 63) / 64;
  return (words + kWordGroup - 1) / kWordGroup * kWordGroup;
}

// Rows of bits begin at cache lines.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* pointer, std::size_t) { ::operator delete(pointer, kLine); }
  bool operator==(const LineAllocator&) const { return true; }
};

using Words = std::vector<Word, LineAllocator<Word>>;

// One way of counting the bits that two rows have in common.
using CountCommon = std::int64_t (*)(const Word*, const Word*, std::size_t);

namespace detail {

inline std::int64_t count_common_portable(const Word* a, const Word* b, std::size_t words) {
  std::int64_t count = 0;
  for (std::size_t w = 0; w < words; ++w) count += std::popcount(a[w] & b[w]);
  return count;
}

#if ISINGLASS_X86
__attribute__((target("popcnt"))) inline std::int64_t count_common_popcnt(const Word* a, const Word* b,
                                                                          std::size_t words) {
  std::int64_t even = 0, odd = 0;
  for (std::size_t w = 0; w < words; w += 2) {
    even += __builtin_popcountll(a[w] & b[w]);
    odd += __builtin_popcountll(a[w + 1] & b[w + 1]);
  }
  return even + odd;
}

// Bits of each byte by two look-ups of four bits; bytes are summed before they can overflow.
__attribute__((target("avx2"))) inline std::int64_t count_common_avx2(const Word* a, const Word* b,
                                                                      std::size_t words) {
  const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2,
                                         3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i low = _mm256_set1_epi8(0x0f);
  const __m256i zero = _mm256_setzero_si256();
  constexpr std::size_t kRun = 31 * 4;  // a byte counts at most 8 a step
  __m256i total = zero;
  std::size_t w = 0;
  while (w < words) {
    const std::size_t stop = words - w > kRun ? w + kRun : words;
    __m256i bytes = zero;
    for (; w < stop; w += 4) {
      const __m256i both = _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + w)),
                                            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + w)));
      const __m256i lower = _mm256_shuffle_epi8(table, _mm256_and_si256(both, low));
      const __m256i upper = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(both, 4), low));
      bytes = _mm256_add_epi8(bytes, _mm256_add_epi8(lower, upper));
    }
    total = _mm256_add_epi64(total, _mm256_sad_epu8(bytes, zero));
  }
  alignas(32) std::int64_t parts[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(parts), total);
  return parts[0] + parts[1] + parts[2] + parts[3];
}
#endif

struct Choice {
  CountCommon count;
  const char* name;
};

inline bool supported(const std::string& name) {
  if (name == "portable") return true;
#if ISINGLASS_X86
  if (name == "popcnt") return __builtin_cpu_supports("popcnt");
  if (name == "avx2") return __builtin_cpu_supports("avx2");
#endif
  return false;
}

inline Choice named(const std::string& name) {
  if (!supported(name)) throw std::invalid_argument("this machine has no instruction set '" + name + "'");
#if ISINGLASS_X86
  if (name == "avx2") return {count_common_avx2, "avx2"};
  if (name == "popcnt") return {count_common_popcnt, "popcnt"};
#endif
  return {count_common_portable, "portable"};
}

inline Choice best() {
  return named(supported("avx2") ? "avx2" : supported("popcnt") ? "popcnt" : "portable");
}

inline Choice& chosen() {
  static Choice choice = best();
  return choice;
}

}  // namespace detail

inline std::int64_t count_common(const Word* a, const Word* b, std::size_t words) {
  return detail::chosen().count(a, b, words);
}

// The switch that forces one instruction set, for tests and measurements; "best" undoes it.
inline void use_instructions(const std::string& name) {
  detail::chosen() = name == "best" ? detail::best() : detail::named(name);
}

inline const char* instructions() { return detail::chosen().name; }

}  // namespace isinglass

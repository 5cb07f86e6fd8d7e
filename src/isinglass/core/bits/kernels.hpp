// Counting bits, with the instruction set picked when the program runs.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/dispatch.hpp"
#include "base/lines.hpp"

#if ISINGLASS_X86
#include <immintrin.h>
#endif

namespace isinglass {

using Word = std::uint64_t;

// Which of 64 bytes equal a code, as bits.
#if ISINGLASS_X86
inline Word equal_bits(const std::uint8_t* bytes, std::uint8_t code) {
  const __m128i codes = _mm_set1_epi8(static_cast<char>(code));
  Word found = 0;
  for (int k = 0; k < 4; ++k) {
    const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * k));
    found |= Word{static_cast<std::uint16_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(some, codes)))} << (16 * k);
  }
  return found;
}
#else
inline Word equal_bits(const std::uint8_t* bytes, std::uint8_t code) {
  Word found = 0;
  if constexpr (std::endian::native == std::endian::little) {
    constexpr Word kLow = 0x7f7f7f7f7f7f7f7f;
    for (int k = 0; k < 8; ++k) {
      Word eight;
      std::memcpy(&eight, bytes + 8 * k, 8);
      eight ^= 0x0101010101010101 * Word{code};
      const Word equal = (~(((eight & kLow) + kLow) | eight | kLow)) >> 7;  // 1 in each byte that is zero
      found |= ((equal * 0x0102040810204080) >> 56) << (8 * k);
    }
  } else {
    for (int k = 0; k < 64; ++k) found |= Word{bytes[k] == code} << k;
  }
  return found;
}
#endif

// Rows of bits are padded to whole cache lines, so that no kernel needs a tail.
constexpr std::size_t kWordGroup = 8;

inline std::size_t words_for(std::size_t rows) {
  const std::size_t words = (rows + 63) / 64;
  return (words + kWordGroup - 1) / kWordGroup * kWordGroup;
}

using Words = LineVector<Word>;

// One way of counting the bits that two rows have in common.
using CountCommon = std::int64_t (*)(const Word*, const Word*, std::size_t);

// Of counting the bits that a row has in common with each of several, which begin `stride` words after each
// other; the counts are added to what is there.
using CountSeveral = void (*)(const Word* row, const Word* others, std::size_t stride, std::size_t several,
                              std::size_t words, std::uint32_t* counts);

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

// Bits of each byte, by two look-ups of four bits.
__attribute__((target("avx2"))) inline __m256i bits_of_bytes(__m256i word) {
  const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2,
                                         3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i low = _mm256_set1_epi8(0x0f);
  return _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(word, low)),
                         _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(word, 4), low)));
}

// Three bits of equal weight, bit by bit: their sum's low bit stays, the high one is returned.
__attribute__((target("avx2"))) inline __m256i carry(__m256i& low, __m256i a, __m256i b) {
  const __m256i odd = _mm256_xor_si256(a, b);
  const __m256i high = _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(odd, low));
  low = _mm256_xor_si256(odd, low);
  return high;
}

// Eight vectors are first added up bit by bit, with carries (after Harley and Seal), so that only
// the eights have to be looked up; bytes are summed before they can overflow.
__attribute__((target("avx2"))) inline std::int64_t count_common_avx2(const Word* a, const Word* b,
                                                                      std::size_t words) {
  const auto both = [a, b](std::size_t w) __attribute__((target("avx2"), always_inline)) {
    return _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + w)),
                            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + w)));
  };
  const __m256i zero = _mm256_setzero_si256();
  constexpr std::size_t kStep = 8 * 4, kRun = 31 * kStep;  // a byte counts at most 8 a step
  __m256i ones = zero, twos = zero, fours = zero, eights = zero;
  std::size_t w = 0;
  while (w + kStep <= words) {
    const std::size_t stop = words - w > kRun ? w + kRun : words;
    __m256i bytes = zero;
    for (; w + kStep <= stop; w += kStep) {
      const __m256i first = carry(ones, both(w), both(w + 4)),
                    second = carry(ones, both(w + 8), both(w + 12));
      const __m256i third = carry(ones, both(w + 16), both(w + 20)),
                    fourth = carry(ones, both(w + 24), both(w + 28));
      const __m256i left = carry(twos, first, second), right = carry(twos, third, fourth);
      bytes = _mm256_add_epi8(bytes, bits_of_bytes(carry(fours, left, right)));
    }
    eights = _mm256_add_epi64(eights, _mm256_sad_epu8(bytes, zero));
  }
  // What is left of ones, twos and fours, byte by byte: at most 8 (1 + 2 + 4), and 8 for each of the last.
  __m256i rest = bits_of_bytes(fours);
  rest = _mm256_add_epi8(_mm256_add_epi8(rest, rest), bits_of_bytes(twos));
  rest = _mm256_add_epi8(_mm256_add_epi8(rest, rest), bits_of_bytes(ones));
  for (; w < words; w += 4) rest = _mm256_add_epi8(rest, bits_of_bytes(both(w)));
  const __m256i total = _mm256_add_epi64(_mm256_slli_epi64(eights, 3), _mm256_sad_epu8(rest, zero));
  alignas(32) std::int64_t parts[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(parts), total);
  return parts[0] + parts[1] + parts[2] + parts[3];
}
#endif

// The rows one by one.
template <CountCommon kCount>
inline void count_each(const Word* row, const Word* others, std::size_t stride, std::size_t several,
                       std::size_t words, std::uint32_t* counts) {
  for (std::size_t k = 0; k < several; ++k)
    counts[k] += static_cast<std::uint32_t>(kCount(row, others + k * stride, words));
}

#if ISINGLASS_X86
// Four rows at a time: nothing is carried from vector to vector, so that all of them are worked on side by
// side while the row itself is fetched once.
__attribute__((target("avx2"))) inline void count_four_avx2(const Word* row, const Word* others,
                                                            std::size_t stride, std::size_t words,
                                                            std::uint32_t* counts) {
  const __m256i zero = _mm256_setzero_si256();
  constexpr std::size_t kRun = 31 * 4;  // a byte counts at most 8 a step
  __m256i sums[4] = {zero, zero, zero, zero};
  for (std::size_t w = 0; w < words;) {
    const std::size_t stop = words - w > kRun ? w + kRun : words;
    __m256i bytes[4] = {zero, zero, zero, zero};
    for (; w < stop; w += 4) {
      const __m256i own = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + w));
      for (std::size_t k = 0; k < 4; ++k) {
        const __m256i other = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(others + k * stride + w));
        bytes[k] = _mm256_add_epi8(bytes[k], bits_of_bytes(_mm256_and_si256(own, other)));
      }
    }
    for (std::size_t k = 0; k < 4; ++k) sums[k] = _mm256_add_epi64(sums[k], _mm256_sad_epu8(bytes[k], zero));
  }
  for (std::size_t k = 0; k < 4; ++k) {
    alignas(32) std::uint64_t parts[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(parts), sums[k]);
    counts[k] += static_cast<std::uint32_t>(parts[0] + parts[1] + parts[2] + parts[3]);
  }
}

__attribute__((target("avx2"))) inline void count_several_avx2(const Word* row, const Word* others,
                                                               std::size_t stride, std::size_t several,
                                                               std::size_t words, std::uint32_t* counts) {
  std::size_t k = 0;
  for (; k + 4 <= several; k += 4) count_four_avx2(row, others + k * stride, stride, words, counts + k);
  count_each<count_common_avx2>(row, others + k * stride, stride, several - k, words, counts + k);
}

// Processors that count the bits of eight words by one instruction.
#define ISINGLASS_AVX512 "avx512f,avx512vpopcntdq"

__attribute__((target(ISINGLASS_AVX512))) inline __m512i bits_in_common(const Word* a, const Word* b) {
  return _mm512_popcnt_epi64(_mm512_and_si512(_mm512_loadu_si512(a), _mm512_loadu_si512(b)));
}

__attribute__((target(ISINGLASS_AVX512))) inline std::int64_t total_of(__m512i sums) {
  alignas(64) std::int64_t parts[8];
  _mm512_store_si512(parts, sums);
  return ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
}

__attribute__((target(ISINGLASS_AVX512))) inline std::int64_t count_common_avx512(const Word* a,
                                                                                  const Word* b,
                                                                                  std::size_t words) {
  __m512i even = _mm512_setzero_si512(), odd = even;
  std::size_t w = 0;
  for (; w + 16 <= words; w += 16) {
    even = _mm512_add_epi64(even, bits_in_common(a + w, b + w));
    odd = _mm512_add_epi64(odd, bits_in_common(a + w + 8, b + w + 8));
  }
  if (w < words) even = _mm512_add_epi64(even, bits_in_common(a + w, b + w));
  return total_of(_mm512_add_epi64(even, odd));
}

// The sums of eight vectors, each in a place of its own: neighbours are added, then pairs of them, then
// fours.
__attribute__((target(ISINGLASS_AVX512))) inline __m512i totals_of(const __m512i (&sums)[8]) {
  __m512i pairs[4], fours[2];
  for (int k = 0; k < 4; ++k)
    pairs[k] = _mm512_add_epi64(_mm512_unpacklo_epi64(sums[2 * k], sums[2 * k + 1]),
                                _mm512_unpackhi_epi64(sums[2 * k], sums[2 * k + 1]));
  for (int k = 0; k < 2; ++k)
    fours[k] = _mm512_add_epi64(_mm512_shuffle_i64x2(pairs[2 * k], pairs[2 * k + 1], 0x88),
                                _mm512_shuffle_i64x2(pairs[2 * k], pairs[2 * k + 1], 0xdd));
  return _mm512_add_epi64(_mm512_shuffle_i64x2(fours[0], fours[1], 0x88),
                          _mm512_shuffle_i64x2(fours[0], fours[1], 0xdd));
}

// Eight rows at a time.
__attribute__((target(ISINGLASS_AVX512))) inline void count_several_avx512(
    const Word* row, const Word* others, std::size_t stride, std::size_t several, std::size_t words,
    std::uint32_t* counts) {
  std::size_t k = 0;
  for (; k + 8 <= several; k += 8) {
    __m512i sums[8] = {};
    for (std::size_t w = 0; w < words; w += 8) {
      const Word* other = others + k * stride + w;
      for (std::size_t i = 0; i < 8; ++i, other += stride)
        sums[i] = _mm512_add_epi64(sums[i], bits_in_common(row + w, other));
    }
    auto* const out = reinterpret_cast<__m256i*>(counts + k);
    _mm256_storeu_si256(out,
                        _mm256_add_epi32(_mm256_loadu_si256(out), _mm512_cvtepi64_epi32(totals_of(sums))));
  }
  count_each<count_common_avx512>(row, others + k * stride, stride, several - k, words, counts + k);
}
#endif

struct Choice {
  CountCommon count;
  CountSeveral count_several;
  const char* name;
};

inline bool supported(const std::string& name) {
  if (name == "portable") return true;
#if ISINGLASS_X86
  if (name == "popcnt") return __builtin_cpu_supports("popcnt");
  if (name == "avx2") return has_avx2();
  if (name == "avx512") return has_avx2() && has_avx512();
#endif
  return false;
}

inline Choice named(const std::string& name) {
  if (!supported(name)) throw std::invalid_argument("this machine has no instruction set '" + name + "'");
#if ISINGLASS_X86
  if (name == "avx512") return {count_common_avx512, count_several_avx512, "avx512"};
  if (name == "avx2") return {count_common_avx2, count_several_avx2, "avx2"};
  if (name == "popcnt") return {count_common_popcnt, count_each<count_common_popcnt>, "popcnt"};
#endif
  return {count_common_portable, count_each<count_common_portable>, "portable"};
}

inline Choice best() {
  for (const char* name : {"avx512", "avx2", "popcnt"})
    if (supported(name)) return named(name);
  return named("portable");
}

inline Choice& chosen() {
  static Choice choice = best();
  return choice;
}

}  // namespace detail

inline std::int64_t count_common(const Word* a, const Word* b, std::size_t words) {
  return detail::chosen().count(a, b, words);
}

inline void count_several(const Word* row, const Word* others, std::size_t stride, std::size_t several,
                          std::size_t words, std::uint32_t* counts) {
  detail::chosen().count_several(row, others, stride, several, words, counts);
}

inline const char* instructions() { return detail::chosen().name; }

// The switch that forces one instruction set, for tests and measurements; "best" undoes it.
inline void use_instructions(const std::string& name) {
  detail::chosen() = name == "best" ? detail::best() : detail::named(name);
  const std::string chosen = instructions();
  vectors = chosen == "avx512" ? Vectors::widest : chosen == "avx2" ? Vectors::wide : Vectors::own;
}

}  // namespace isinglass

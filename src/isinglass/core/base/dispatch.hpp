// Instruction sets picked while the program runs, with any compiler.
//
// A loop is written once, as a function that is always inlined. `Vectorised` compiles it three times where
// that helps, on x86-64 with GCC or Clang: as the compiler would, for AVX2 and for AVX-512 (without fused
// operations, so that results are equal to the last digit). Elsewhere the compiler's own choice is used: on
// arm64 that has vectors of two numbers, as it has for MSVC on x86-64.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)  // Clang says that it is GCC, too
#define ISINGLASS_X86 1
#else
#define ISINGLASS_X86 0
#endif

#if defined(__GNUC__)
#define ISINGLASS_INLINE __attribute__((always_inline))
#else
#define ISINGLASS_INLINE
#endif

namespace isinglass {

// The vectors that loops use: the compiler's own, those of AVX2, or those of AVX-512.
enum class Vectors { own, wide, widest };

#if ISINGLASS_X86
inline bool has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2");
}

// Of processors that also count bits in long registers: older ones slow down when they use these. The system
// must keep them, too, which the compiler's question covers.
inline bool has_avx512() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vpopcntdq");
}

// How loops run; `use_instructions` changes it, for tests.
inline Vectors vectors = !has_avx2() ? Vectors::own : has_avx512() ? Vectors::widest : Vectors::wide;
#else
inline Vectors vectors = Vectors::own;
#endif

template <auto kLoop>
struct Vectorised;

template <class Result, class... Arguments, Result (*kLoop)(Arguments...)>
struct Vectorised<kLoop> {
#if ISINGLASS_X86
  Result operator()(Arguments... arguments) const {
    if (vectors == Vectors::widest) return widest(arguments...);
    return vectors == Vectors::wide ? wide(arguments...) : own(arguments...);
  }

 private:
  __attribute__((noinline,
                 target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"))) static Result
  widest(Arguments... arguments) {
    return kLoop(arguments...);
  }
  __attribute__((noinline, target("avx2"))) static Result wide(Arguments... arguments) {
    return kLoop(arguments...);
  }
  __attribute__((noinline)) static Result own(Arguments... arguments) { return kLoop(arguments...); }
#else
  Result operator()(Arguments... arguments) const { return kLoop(arguments...); }
#endif
};

}  // namespace isinglass

// Instruction sets picked while the program runs, with any compiler.
//
// A loop is written once, as a function that is always inlined. `Vectorised` compiles it twice where that
// helps, on x86-64 with GCC or Clang: as the compiler would, and for AVX2 (without fused operations, so
// that results are equal to the last digit). Elsewhere the compiler's own choice is used: on arm64 that has
// vectors of two numbers, as it has for MSVC on x86-64.
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

#if ISINGLASS_X86
inline bool has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2");
}

// Whether loops run as they were compiled for AVX2; `use_instructions` changes it, for tests.
inline bool wide_vectors = has_avx2();
#else
inline bool wide_vectors = false;
#endif

template <auto kLoop>
struct Vectorised;

template <class Result, class... Arguments, Result (*kLoop)(Arguments...)>
struct Vectorised<kLoop> {
#if ISINGLASS_X86
  Result operator()(Arguments... arguments) const {
    return wide_vectors ? wide(arguments...) : narrow(arguments...);
  }

 private:
  __attribute__((noinline, target("avx2"))) static Result wide(Arguments... arguments) {
    return kLoop(arguments...);
  }
  __attribute__((noinline)) static Result narrow(Arguments... arguments) { return kLoop(arguments...); }
#else
  Result operator()(Arguments... arguments) const { return kLoop(arguments...); }
#endif
};

}  // namespace isinglass

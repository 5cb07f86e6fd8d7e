// Random numbers that are the same on every machine.
//
// xoshiro256++ and splitmix64 after their published definitions: D. Blackman and S. Vigna, "Scrambled
// linear pseudorandom number generators", ACM Transactions on Mathematical Software 47 (2021); G. L.
// Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace isinglass {

// Word number `index` of the splitmix64 sequence that starts from a seed.
inline std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// xoshiro256++. Streams of one seed start from different words of its splitmix64 sequence.
class Xoshiro {
 public:
  Xoshiro(std::uint64_t seed, std::uint64_t stream) {
    for (std::uint64_t k = 0; k < 4; ++k) state_[k] = splitmix64(seed, 4 * stream + k);
  }
  explicit Xoshiro(const std::array<std::uint64_t, 4>& state) : state_(state) {}

  std::uint64_t word() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(word() >> 11) * 0x1p-53; }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace isinglass

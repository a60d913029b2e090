#pragma once
// One seed, many named streams. Adding a consumer of random numbers must not shift the others, and
// the numbers must be the same with every compiler, so the generator (SplitMix64: Steele, Lea and
// Flood, OOPSLA 2014) and the distributions are ours: those of <random> differ between libraries.

#include <cstdint>
#include <string_view>

namespace railyard {

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

  /// An independent stream; the name is hashed with FNV-1a.
  constexpr Random stream(std::string_view name) const {
    std::uint64_t h = 0xcbf29ce484222325;
    for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return Random(state_ ^ h);
  }
  constexpr std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, 1).
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Uniform in [0, n), n > 0; the bias is below n / 2^64.
  constexpr std::uint64_t below(std::uint64_t n) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
  }

 private:
  std::uint64_t state_;
};

}  // namespace railyard

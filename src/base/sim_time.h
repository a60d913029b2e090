#pragma once
// Simulated time is an integer number of picoseconds: sums are exact and ties are real ties.
// int64 reaches 106 days; a 64-byte frame at 1.6 Tb/s takes 320 ps.

#include <cmath>
#include <compare>
#include <cstdint>

#include "base/quantity.h"

namespace railyard {

struct SimTime {
  std::int64_t ps = 0;

  static SimTime from(Seconds t) { return {std::llround(t.si() * 1e12)}; }
  constexpr Seconds seconds() const { return Seconds::si(static_cast<double>(ps) * 1e-12); }
  friend constexpr auto operator<=>(SimTime, SimTime) = default;
  friend constexpr SimTime operator+(SimTime a, SimTime b) { return {a.ps + b.ps}; }
  friend constexpr SimTime operator-(SimTime a, SimTime b) { return {a.ps - b.ps}; }
};

}  // namespace railyard

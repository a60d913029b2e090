#pragma once
// A number with a dimension. Bandwidth times time is bytes and does not compile as anything else.
//
// Most wrong answers in this trade are unit slips: Gb/s for GB/s, MiB/s for MB/s, one direction for
// two. So a bare double in this code base is a ratio or a count. A unit is spelled where a number
// enters (`400.0 * Gbps`) and where it leaves (`t.in(ms)`); bits and bytes differ only at these two
// doors. At -O2 the generated code is that of a plain double.

#include <compare>
#include <cstdint>

namespace railyard {

struct Dim {
  std::int8_t byte{}, second{}, flop{}, joule{}, dollar{};
  constexpr bool operator==(const Dim&) const = default;
  friend constexpr Dim operator+(Dim a, Dim b) {
    return {std::int8_t(a.byte + b.byte), std::int8_t(a.second + b.second),
            std::int8_t(a.flop + b.flop), std::int8_t(a.joule + b.joule),
            std::int8_t(a.dollar + b.dollar)};
  }
  friend constexpr Dim operator-(Dim a, Dim b) {
    return {std::int8_t(a.byte - b.byte), std::int8_t(a.second - b.second),
            std::int8_t(a.flop - b.flop), std::int8_t(a.joule - b.joule),
            std::int8_t(a.dollar - b.dollar)};
  }
};

template <Dim D>
class Quantity {
 public:
  constexpr Quantity() = default;
  static constexpr Quantity si(double v) {
    Quantity q;
    q.v_ = v;
    return q;
  }
  constexpr double si() const { return v_; }
  constexpr double in(Quantity unit) const { return v_ / unit.v_; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return si(a.v_ + b.v_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return si(a.v_ - b.v_); }
  friend constexpr Quantity operator-(Quantity a) { return si(-a.v_); }
  friend constexpr Quantity operator*(Quantity a, double k) { return si(a.v_ * k); }
  friend constexpr Quantity operator*(double k, Quantity a) { return si(a.v_ * k); }
  friend constexpr Quantity operator/(Quantity a, double k) { return si(a.v_ / k); }
  constexpr Quantity& operator+=(Quantity b) {
    v_ += b.v_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity b) {
    v_ -= b.v_;
    return *this;
  }
  constexpr Quantity& operator*=(double k) {
    v_ *= k;
    return *this;
  }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  double v_ = 0;
};

template <Dim A, Dim B>
constexpr auto operator*(Quantity<A> a, Quantity<B> b) {
  if constexpr (A + B == Dim{}) {
    return a.si() * b.si();
  } else {
    return Quantity<A + B>::si(a.si() * b.si());
  }
}
template <Dim A, Dim B>
constexpr auto operator/(Quantity<A> a, Quantity<B> b) {
  if constexpr (A == B) {
    return a.si() / b.si();  // same dimension: a plain ratio
  } else {
    return Quantity<A - B>::si(a.si() / b.si());
  }
}
template <Dim D>
constexpr auto operator/(double k, Quantity<D> q) {
  return Quantity<Dim{} - D>::si(k / q.si());
}

using Bytes = Quantity<Dim{.byte = 1}>;
using Seconds = Quantity<Dim{.second = 1}>;
using Bandwidth = Quantity<Dim{.byte = 1, .second = -1}>;
using Flops = Quantity<Dim{.flop = 1}>;
using FlopRate = Quantity<Dim{.second = -1, .flop = 1}>;
using Joules = Quantity<Dim{.joule = 1}>;
using Watts = Quantity<Dim{.second = -1, .joule = 1}>;
using Dollars = Quantity<Dim{.dollar = 1}>;

inline constexpr Bytes B = Bytes::si(1), KiB = Bytes::si(1024), MiB = Bytes::si(1 << 20),
                       GiB = Bytes::si(1 << 30), TiB = Bytes::si(1024.0 * (1 << 30)),
                       KB = Bytes::si(1e3), MB = Bytes::si(1e6), GB = Bytes::si(1e9),
                       TB = Bytes::si(1e12);
inline constexpr Seconds second = Seconds::si(1), ms = Seconds::si(1e-3), us = Seconds::si(1e-6),
                         ns = Seconds::si(1e-9), hour = Seconds::si(3600), day = Seconds::si(86400);
inline constexpr Bandwidth Gbps = Bandwidth::si(1e9 / 8), GBps = Bandwidth::si(1e9),
                           TBps = Bandwidth::si(1e12);
inline constexpr Flops flop = Flops::si(1), GFLOP = Flops::si(1e9), TFLOP = Flops::si(1e12);
inline constexpr FlopRate TFLOPS = FlopRate::si(1e12), PFLOPS = FlopRate::si(1e15);
inline constexpr Watts watt = Watts::si(1);
inline constexpr Dollars dollar = Dollars::si(1);

template <Dim D>
constexpr Quantity<D> max(Quantity<D> a, Quantity<D> b) {
  return a < b ? b : a;
}
template <Dim D>
constexpr Quantity<D> min(Quantity<D> a, Quantity<D> b) {
  return b < a ? b : a;
}

}  // namespace railyard

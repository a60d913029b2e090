#pragma once
// A number as a text printed it, and what follows from such numbers.
//
// "35 %" is anything from 34.5 to 35.5: half a unit of the last digit is what rounding may have
// taken. A sum over printed numbers is therefore a range, and two claims contradict each other only
// where their ranges do not meet.

#include <algorithm>
#include <string>
#include <string_view>

#include "base/measure.h"
#include "base/quantity.h"

namespace railyard::judge {

template <class Q>
struct Printed {
  Q value = {};
  Q half = {};            ///< half a unit of the last printed digit
  std::string text = {};  ///< as printed: "8.5 ms", "over 6 TB"

  Q least() const { return value - half; }
  Q most() const { return value + half; }
};

/// A quantity before and after.
template <class Q>
struct Change {
  Q before = {}, after = {};
};
template <class Q>
using PrintedChange = Change<Printed<Q>>;

/// What a sum gives at the printed values, and between which ends rounding leaves it.
struct Derived {
  double value = 0, low = 0, high = 0;

  bool meets(const Derived& other) const { return low <= other.high && other.low <= high; }
  bool contains(double x) const { return low <= x && x <= high; }
};

/// `law` of one and of two printed numbers. The law must rise or fall with each of them, so that
/// its ends lie at the ends of the inputs.
template <class F, class A>
Derived derive(F law, const Printed<A>& a) {
  const double x = law(a.least()), y = law(a.most());
  return {law(a.value), std::min(x, y), std::max(x, y)};
}
template <class F, class A, class B>
Derived derive(F law, const Printed<A>& a, const Printed<B>& b) {
  const Derived one = derive([&](A x) { return law(x, b.least()); }, a);
  const Derived two = derive([&](A x) { return law(x, b.most()); }, a);
  return {law(a.value, b.value), std::min(one.low, two.low), std::max(one.high, two.high)};
}

// Readers of one printed number. "over", "about" and a sign in front of it are kept as text only.
Measured<Printed<Seconds>> parse_printed_seconds(std::string_view text);  ///< also "3 months"
Measured<Printed<Bytes>> parse_printed_bytes(std::string_view text);
Measured<Printed<Bandwidth>> parse_printed_bandwidth(std::string_view text);
Measured<Printed<FlopRate>> parse_printed_flop_rate(std::string_view text);
Measured<Printed<double>> parse_printed_percent(std::string_view text);  ///< "35 %" is 0.35
Measured<Printed<double>> parse_printed_number(std::string_view text);   ///< "3400"

}  // namespace railyard::judge

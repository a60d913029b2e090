#pragma once
// Numbers in the words of the sums. Decimal sizes, because claims are printed so.

#include <string>

#include "base/quantity.h"
#include "judge/printed.h"

namespace railyard::judge {

std::string percent(double ratio);         ///< "35.4 %"
std::string signed_percent(double ratio);  ///< "+35.4 %"
std::string whole_percent(double ratio);   ///< "35 %"
std::string decimal(Bytes b);              ///< "110 MB", "0.563 TB"
std::string bits(Bandwidth b);             ///< "531 Gb/s"
std::string times(double factor);          ///< "2.66 times"
std::string count(double n);               ///< "1e12", "256"
/// "+35.4 % (+33.6 to +37.2 % by rounding)"
std::string with_rounding(const Derived& gain);
template <class Q>
std::string arrow(const PrintedChange<Q>& change) {
  return change.before.text + " to " + change.after.text;
}

}  // namespace railyard::judge

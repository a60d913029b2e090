#pragma once
// Numbers with units as people write them: `400 Gb/s`, `80 GiB`, `1.8 us`, `989.5 TFLOP/s`.
//
// A bare number where a unit is due is refused with a hint: that is the mistake this program exists
// to end. `GB/s` and `Gb/s` differ by a factor of eight and are both exact words. The way out shows
// three significant digits: SI for rates, binary for memory, as vendors' tools do.

#include <expected>
#include <string>
#include <string_view>

#include "base/quantity.h"

namespace railyard {

/// A mistake inside a value; the caller knows where the value stands in which file.
struct MeasureProblem {
  std::string expected = {}, hint = {};
};
template <class T>
using Measured = std::expected<T, MeasureProblem>;

Measured<Bytes> parse_bytes(std::string_view text);
Measured<Bandwidth> parse_bandwidth(std::string_view text);
Measured<Seconds> parse_seconds(std::string_view text);
Measured<FlopRate> parse_flop_rate(std::string_view text);
Measured<Watts> parse_watts(std::string_view text);
Measured<Dollars> parse_dollars(std::string_view text);

/// Three significant digits with the unit that keeps the number between 1 and 1000 where it can.
std::string show(Bytes b);           ///< binary: 79.6 GiB
std::string show(Bandwidth b);       ///< GB/s below the network, e.g. 48.2 GB/s
std::string show_bits(Bandwidth b);  ///< network form, e.g. 400 Gb/s
std::string show(Seconds t);
std::string show(FlopRate r);
std::string show(Watts w);
std::string show_percent(double ratio);  ///< 0.352 -> 35.2 %
/// `digits` significant digits, no exponent between 1e-4 and 1e9.
std::string show_number(double value, int digits = 3);

}  // namespace railyard

#include "judge/printed.h"

#include <charconv>
#include <cmath>
#include <utility>

namespace railyard::judge {

namespace {

/// A number with its unit behind, and the value of half a unit of its last digit.
struct Split {
  std::string_view measure = {}, unit = {};
  double number = 0, half = 0;
  bool valid = false;
};

Split split(std::string_view text) {
  Split out;
  out.measure = text;
  for (const std::string_view word : {"over ", "about ", "nearly ", "+", "-"})
    if (out.measure.starts_with(word)) out.measure.remove_prefix(word.size());
  const char* const begin = out.measure.data();
  const char* const end = begin + out.measure.size();
  const auto [rest, error] = std::from_chars(begin, end, out.number, std::chars_format::fixed);
  if (error != std::errc{}) return out;
  const std::string_view digits(begin, static_cast<std::size_t>(rest - begin));
  const std::size_t point = digits.find('.');
  const std::size_t decimals = point == std::string_view::npos ? 0 : digits.size() - point - 1;
  out.half = 0.5 * std::pow(10.0, -static_cast<double>(decimals));
  out.unit = std::string_view(rest, static_cast<std::size_t>(end - rest));
  while (out.unit.starts_with(' ')) out.unit.remove_prefix(1);
  out.valid = true;
  return out;
}

/// Rounding moves the value as it moves the number.
template <class Q>
Measured<Printed<Q>> printed(std::string_view text, Measured<Q> (*parse)(std::string_view)) {
  const Split s = split(text);
  auto value = parse(s.measure);
  if (!value) return std::unexpected(std::move(value).error());
  const Q half = s.number > 0 ? *value * (s.half / s.number) : Q{};
  return Printed<Q>{*value, half, std::string(text)};
}

// 365.25 days in twelve.
constexpr Seconds kMonth = 30.4375 * day;

}  // namespace

Measured<Printed<Seconds>> parse_printed_seconds(std::string_view text) {
  const Split s = split(text);
  if (s.valid && (s.unit == "months" || s.unit == "month"))
    return Printed<Seconds>{s.number * kMonth, s.half * kMonth, std::string(text)};
  return printed(text, parse_seconds);
}
Measured<Printed<Bytes>> parse_printed_bytes(std::string_view text) {
  return printed(text, parse_bytes);
}
Measured<Printed<Bandwidth>> parse_printed_bandwidth(std::string_view text) {
  return printed(text, parse_bandwidth);
}
Measured<Printed<FlopRate>> parse_printed_flop_rate(std::string_view text) {
  return printed(text, parse_flop_rate);
}

Measured<Printed<double>> parse_printed_percent(std::string_view text) {
  const Split s = split(text);
  if (!s.valid || s.unit != "%")
    return std::unexpected(MeasureProblem{"a share such as '35 %'", {}});
  return Printed<double>{s.number / 100, s.half / 100, std::string(text)};
}

Measured<Printed<double>> parse_printed_number(std::string_view text) {
  const Split s = split(text);
  if (!s.valid || !s.unit.empty())
    return std::unexpected(MeasureProblem{"a number such as '3400'", {}});
  return Printed<double>{s.number, s.half, std::string(text)};
}

}  // namespace railyard::judge

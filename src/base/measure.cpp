#include "base/measure.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <span>

namespace railyard {

namespace {

struct Unit {
  std::string_view name;
  double si;
};

constexpr Unit kBytes[] = {{"B", 1},
                           {"KB", 1e3},
                           {"kB", 1e3},
                           {"MB", 1e6},
                           {"GB", 1e9},
                           {"TB", 1e12},
                           {"PB", 1e15},
                           {"KiB", 1024.0},
                           {"MiB", 1 << 20},
                           {"GiB", 1 << 30},
                           {"TiB", 1099511627776.0}};
constexpr Unit kBandwidth[] = {{"b/s", 1.0 / 8},  {"Kb/s", 1e3 / 8},  {"Mb/s", 1e6 / 8},
                               {"Gb/s", 1e9 / 8}, {"Tb/s", 1e12 / 8}, {"Gbit/s", 1e9 / 8},
                               {"B/s", 1},        {"KB/s", 1e3},      {"MB/s", 1e6},
                               {"GB/s", 1e9},     {"TB/s", 1e12},     {"MiB/s", 1 << 20},
                               {"GiB/s", 1 << 30}};
constexpr Unit kSeconds[] = {{"ps", 1e-12},   {"ns", 1e-9}, {"µs", 1e-6},   {"us", 1e-6},
                             {"ms", 1e-3},    {"s", 1},     {"min", 60},    {"h", 3600},
                             {"hours", 3600}, {"d", 86400}, {"days", 86400}};
constexpr Unit kFlopRate[] = {{"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15},
                              {"GFLOPS", 1e9},  {"TFLOPS", 1e12},  {"PFLOPS", 1e15}};
constexpr Unit kWatts[] = {{"mW", 1e-3}, {"W", 1}, {"kW", 1e3}, {"MW", 1e6}};
constexpr Unit kDollars[] = {{"USD", 1}, {"$", 1}};

struct Wanted {
  std::string_view example;
  std::span<const Unit> units;
  std::string_view usual;  ///< the unit that a hint proposes
  std::string_view hint;
};

Measured<double> parse(std::string_view text, const Wanted& wanted) {
  const std::string example(wanted.example);
  double value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc{} || !std::isfinite(value))
    return std::unexpected(MeasureProblem{example, std::string(wanted.hint)});
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit.empty())
    return std::unexpected(MeasureProblem{example, "a unit is missing: write for example '" +
                                                       std::string(text) + ' ' +
                                                       std::string(wanted.usual) + "'"});
  if (value < 0) return std::unexpected(MeasureProblem{example + ", not negative", {}});
  for (const Unit& u : wanted.units)
    if (u.name == unit) return value * u.si;
  return std::unexpected(
      MeasureProblem{example, "'" + std::string(unit) + "' is no unit of this kind" +
                                  (wanted.hint.empty() ? "" : "; " + std::string(wanted.hint))});
}

constexpr Wanted kWantBytes{"a size such as '80 GiB' or '512 MB'", kBytes, "GiB",
                            "1 GiB is 1.074 GB; say which one is meant"};
constexpr Wanted kWantBandwidth{"a bandwidth such as '400 Gb/s' or '50 GB/s'", kBandwidth, "Gb/s",
                                "1 GB/s is 8 Gb/s; say which one is meant"};
constexpr Wanted kWantSeconds{"a time such as '1.8 us' or '30 days'", kSeconds, "us", ""};
constexpr Wanted kWantFlopRate{"a rate such as '989.5 TFLOP/s'", kFlopRate, "TFLOP/s",
                               "dense, not with sparsity"};
constexpr Wanted kWantWatts{"a power such as '700 W'", kWatts, "W", ""};
constexpr Wanted kWantDollars{"a price such as '30000 USD'", kDollars, "USD", ""};

template <class Q>
Measured<Q> as(Measured<double> v) {
  if (!v) return std::unexpected(std::move(v).error());
  return Q::si(*v);
}

std::string scaled(double value, std::span<const Unit> ladder) {
  for (const Unit& u : ladder)
    if (std::abs(value) >= u.si * 0.9995)
      return show_number(value / u.si) + ' ' + std::string(u.name);
  const Unit& last = ladder.back();
  return show_number(value / last.si) + ' ' + std::string(last.name);
}

}  // namespace

Measured<Bytes> parse_bytes(std::string_view t) { return as<Bytes>(parse(t, kWantBytes)); }
Measured<Bandwidth> parse_bandwidth(std::string_view t) {
  return as<Bandwidth>(parse(t, kWantBandwidth));
}
Measured<Seconds> parse_seconds(std::string_view t) { return as<Seconds>(parse(t, kWantSeconds)); }
Measured<FlopRate> parse_flop_rate(std::string_view t) {
  return as<FlopRate>(parse(t, kWantFlopRate));
}
Measured<Watts> parse_watts(std::string_view t) { return as<Watts>(parse(t, kWantWatts)); }
Measured<Dollars> parse_dollars(std::string_view t) { return as<Dollars>(parse(t, kWantDollars)); }

std::string show(Bytes b) {
  static constexpr Unit ladder[] = {
      {"TiB", 1099511627776.0}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1024.0}, {"B", 1}};
  return scaled(b.si(), ladder);
}
std::string show(Bandwidth b) {
  static constexpr Unit ladder[] = {{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"KB/s", 1e3}};
  return scaled(b.si(), ladder);
}
std::string show_bits(Bandwidth b) {
  static constexpr Unit ladder[] = {{"Tb/s", 1e12 / 8}, {"Gb/s", 1e9 / 8}, {"Mb/s", 1e6 / 8}};
  return scaled(b.si(), ladder);
}
std::string show(Seconds t) {
  static constexpr Unit ladder[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  if (t >= 2.0 * day) return show_number(t.in(day)) + " days";
  if (t >= 2.0 * hour) return show_number(t.in(hour)) + " h";
  return scaled(t.si(), ladder);
}
std::string show(FlopRate r) {
  static constexpr Unit ladder[] = {{"PFLOP/s", 1e15}, {"TFLOP/s", 1e12}, {"GFLOP/s", 1e9}};
  return scaled(r.si(), ladder);
}
std::string show(Watts w) {
  static constexpr Unit ladder[] = {{"MW", 1e6}, {"kW", 1e3}, {"W", 1}};
  return scaled(w.si(), ladder);
}
std::string show_percent(double ratio) { return show_number(ratio * 100) + " %"; }

std::string show_number(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value == 0 ? "0" : "-";
  // The leading digit's place after rounding: 0.9996 is shown as 1.00, not as 1.000.
  const double rounded_up = std::abs(value) * (1 + 0.5 * std::pow(10, -digits));
  const int lead = static_cast<int>(std::floor(std::log10(rounded_up)));
  const int after = digits - 1 - lead;
  if (after < 0) {  // 12345 with three digits is 12300, but people want to read 12345
    return fmt::format("{:.0f}", value);
  }
  return fmt::format("{:.{}f}", value, std::min(after, digits + 4));
}

}  // namespace railyard

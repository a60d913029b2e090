#include "judge/claims/wording.h"

#include <fmt/format.h>

#include "base/measure.h"

namespace railyard::judge {

std::string percent(double ratio) { return show_percent(ratio); }

std::string signed_percent(double ratio) { return (ratio < 0 ? "" : "+") + show_percent(ratio); }

std::string whole_percent(double ratio) { return fmt::format("{:.0f} %", 100 * ratio); }

std::string decimal(Bytes b) {
  if (b >= 0.5 * TB) return show_number(b.in(TB)) + " TB";
  if (b >= 1.0 * GB) return show_number(b.in(GB)) + " GB";
  return show_number(b.in(MB)) + " MB";
}

std::string bits(Bandwidth b) { return show_number(b.in(Gbps)) + " Gb/s"; }

std::string times(double factor) { return show_number(factor) + " times"; }

std::string count(double n) {
  std::string out = fmt::format("{:.4g}", n);
  std::erase(out, '+');  // 1e+12
  return out;
}

std::string with_rounding(const Derived& gain) {
  return fmt::format("{} ({:+.1f} to {:+.1f} % by rounding)", signed_percent(gain.value),
                     100 * gain.low, 100 * gain.high);
}

}  // namespace railyard::judge

#include "judge/estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "judge/claim_sums.h"
#include "judge/claims/wording.h"

namespace railyard::judge {

namespace {

Estimate exact(std::string what, double value, std::string unit, std::string text) {
  return {.what = std::move(what),
          .value = value,
          .low = value,
          .high = value,
          .unit = std::move(unit),
          .text = std::move(text)};
}

std::string share_text(const Estimate& e) {
  return fmt::format("{} ({:.0f}-{:.0f})", whole_percent(e.value), 100 * e.low, 100 * e.high);
}

std::string gain_text(const Estimate& e) {
  return fmt::format("{:+.0f} % ({:+.0f} to {:+.0f})", 100 * e.value, 100 * e.low, 100 * e.high);
}

}  // namespace

Estimate exact(std::string what, Bytes value) {
  return exact(std::move(what), value.si(), "B", decimal(value));
}
Estimate exact(std::string what, Bandwidth value) {
  return exact(std::move(what), value.si(), "B/s", bits(value));
}
Estimate exact_bytes(std::string what, Bandwidth value) {
  return exact(std::move(what), value.si(), "B/s", show(value));
}
Estimate exact(std::string what, FlopRate value) {
  return exact(std::move(what), value.si(), "FLOP/s", show(value));
}

Estimate estimate(std::string what, Seconds time, const predict::Prediction& band) {
  Estimate out = exact(std::move(what), time.si(), "s", {});
  out.low *= band.low;
  out.high *= band.high;
  out.text =
      show(time) + " (" + show(Seconds::si(out.low)) + " to " + show(Seconds::si(out.high)) + ')';
  return out;
}

Estimate share_of(std::string what, Seconds part, const predict::Prediction& of) {
  const Seconds total = of.time.total;
  Estimate out = exact(std::move(what), part / total, {}, {});
  for (const double factor : {of.low, of.high}) {
    const double in_part = 1 - (total - part) / (factor * total);
    const double in_rest = part / (factor * total);
    out.low = std::min({out.low, in_part, in_rest});
    out.high = std::max({out.high, in_part, in_rest});
  }
  out.low = std::max(out.low, 0.0);
  out.high = std::min(out.high, 1.0);
  out.text = share_text(out);
  return out;
}

Estimate rate_ratio(std::string what, double ratio, const predict::Prediction& of) {
  Estimate out = exact(std::move(what), ratio, {}, {});
  out.low = ratio / of.high;
  out.high = ratio / of.low;
  out.text = share_text(out);
  return out;
}

Estimate gain(std::string what, Pair p) {
  const double ratio = p.to.tokens_per_second / p.from.tokens_per_second;
  // The least gain comes of a step that was shorter before and is longer after.
  const double less = std::hypot(1 - p.from.low, p.to.high - 1);
  const double more = std::hypot(p.from.high - 1, 1 - p.to.low);
  Estimate out{.what = std::move(what),
               .value = ratio - 1,
               .low = ratio * (1 - less) - 1,
               .high = ratio * (1 + more) - 1};
  out.text = gain_text(out);
  return out;
}

Estimate per_accelerator(const Estimate& gain, double factor) {
  Estimate out = gain;
  for (double* end : {&out.value, &out.low, &out.high}) *end = gain_per_accelerator({*end, factor});
  out.text = gain_text(out);
  return out;
}

}  // namespace railyard::judge

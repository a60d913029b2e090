// Which claims cannot both be true. Nothing here looks at a prediction: printed figures and the
// laws of claim_sums.h are enough.

#include <fmt/format.h>

#include <algorithm>

#include "judge/claims/rules.h"
#include "judge/claims/wording.h"

namespace railyard::judge {

namespace {

double ratio(Seconds before, Seconds after) { return after / before; }

ImpliedGain of_shares(const PrintedChange<double>& share) {
  const Derived gain =
      derive([](double before, double after) { return gain_of_shares({before, after}); },
             share.before, share.after);
  return {"communication_share", "gain", gain,
          fmt::format("compute is {} and then {} of a step: {:.2f} / {:.2f} - 1 = {}",
                      percent(1 - share.before.value), percent(1 - share.after.value),
                      1 - share.after.value, 1 - share.before.value, with_rounding(gain))};
}

ImpliedGain of_latency(const PrintedChange<Seconds>& time, const Printed<double>& share) {
  // Three printed numbers: the ratio of times first, then the law of ratio and share.
  const Derived factor = derive(ratio, time.before, time.after);
  const auto law = [&](double f) {
    return derive([&](double s) { return gain_of_communication({s, f}); }, share);
  };
  const Derived middle = law(factor.value), fast = law(factor.low), slow = law(factor.high);
  const Derived gain{middle.value, std::min(fast.low, slow.low), std::max(fast.high, slow.high)};
  return {"all_reduce", "gain", gain,
          fmt::format("{} of a step at {} / {} of its time leaves a share of {}, which is {}",
                      percent(share.value), show(time.after.value), show(time.before.value),
                      percent(share_after({share.value, factor.value})), with_rounding(gain))};
}

ImpliedGain of_utilisation(const PrintedChange<double>& use) {
  const Derived gain =
      derive([](double before, double after) { return gain_of_utilisation({before, after}); },
             use.before, use.after);
  return {"utilisation", "gain", gain,
          fmt::format("{} / {} - 1 = {}", percent(use.after.value), percent(use.before.value),
                      with_rounding(gain))};
}

ImpliedGain of_duration(const PrintedChange<Seconds>& time) {
  const Derived gain =
      derive([](Seconds before, Seconds after) { return gain_of_duration({before, after}); },
             time.before, time.after);
  return {"training_time", "gain", gain,
          fmt::format("{} / {} - 1 = {}", time.before.text, time.after.text, with_rounding(gain))};
}

/// Useful time and waiting are parts of one whole.
void whole(const Claims& c, std::vector<Conflict>& out) {
  if (!c.utilisation || !c.communication_share) return;
  for (const auto& [use, share] :
       {std::pair{&c.utilisation->before, &c.communication_share->before},
        std::pair{&c.utilisation->after, &c.communication_share->after}})
    if (use->least() + share->least() > 1) {
      out.push_back({"utilisation", "communication_share", "whole"});
      return;
    }
}

/// Even at line rate, the smallest message that the words allow takes longer than claimed.
void size(const Claims& c, std::vector<Conflict>& out) {
  if (!c.gradients || !c.all_reduce || !c.network) return;
  const auto too_long = [&](const Printed<Bandwidth>& network, const Printed<Seconds>& time) {
    return ring_time(c.gradients->least, {c.servers, network.most()}) > time.most();
  };
  if (too_long(c.network->before, c.all_reduce->before) ||
      too_long(c.network->after, c.all_reduce->after))
    out.push_back({"gradients", "all_reduce", "size"});
}

}  // namespace

std::vector<ImpliedGain> implied_gains(const Claims& c) {
  std::vector<ImpliedGain> out;
  if (c.throughput) {
    const Printed<double>& t = *c.throughput;
    out.push_back({"throughput", "gain", {t.value, t.least(), t.most()}, t.text});
  }
  if (c.communication_share) out.push_back(of_shares(*c.communication_share));
  if (c.all_reduce && c.communication_share)
    out.push_back(of_latency(*c.all_reduce, c.communication_share->before));
  if (c.utilisation) out.push_back(of_utilisation(*c.utilisation));
  if (c.training_time) out.push_back(of_duration(*c.training_time));
  return out;
}

std::vector<Conflict> conflicts(const Claims& claims) {
  std::vector<Conflict> out;
  const std::vector<ImpliedGain> gains = implied_gains(claims);
  for (std::size_t i = 0; i < gains.size(); ++i)
    for (std::size_t k = i + 1; k < gains.size(); ++k)
      if (!gains[i].gain.meets(gains[k].gain))
        out.push_back({gains[i].id, gains[k].id, gains[k].sum});
  whole(claims, out);
  size(claims, out);
  return out;
}

void contradict(ClaimRow& row, const std::vector<Conflict>& all) {
  for (const Conflict& c : all) {
    if (c.one != row.id && c.other != row.id) continue;
    const std::string& other = c.one == row.id ? c.other : c.one;
    row.verdict = Verdict::contradicts;
    if (std::ranges::find(row.against, other) == row.against.end()) row.against.push_back(other);
  }
}

}  // namespace railyard::judge

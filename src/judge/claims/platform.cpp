// What the servers are, how many accelerators a server holds, and what the rent comes to.

#include <fmt/format.h>

#include "judge/claims/rules.h"
#include "judge/claims/wording.h"
#include "predict/words.h"

namespace railyard::judge {

Row judge_platform(const Bench& b) {
  if (!b.claims.platform) return {};
  const PlatformClaim& c = *b.claims.platform;
  ClaimRow row{.id = "platform", .claim = "servers", .claimed = c.text};
  const auto server = model::build_server(b.in.catalog, c.server);
  if (!server) {
    row.verdict = Verdict::cannot_judge;
    row.because = "the catalogue has no server '" + c.server + "'";
    return row;
  }
  Bandwidth adapters;
  for (const model::NicPlace& nic : server->nics) adapters += nic.part.ports_rate();
  row.predicted.push_back(exact(c.server, adapters));
  row.predicted_text = bits(adapters) + " a server";
  if (b.claims.network && !server->nics.empty()) {
    const Printed<Bandwidth>& claimed = b.claims.network->before;
    row.sums.push_back({"adapters",
                        fmt::format("{} ships with {} adapters, {} in all: {} the {} claimed",
                                    c.server, server->nics.size(), bits(adapters),
                                    times(adapters / claimed.value), claimed.text),
                        adapters / claimed.value,
                        {}});
    if (adapters > claimed.most()) {
      row.verdict = Verdict::contradicts;
      row.against.emplace_back("network");
      row.because = "the description fits another server";
    }
  }
  const model::ScaleUp& link = server->accelerator.scale_up;
  if (!server->islands.empty() &&
      server->islands.front().scale_up.kind == model::ScaleUpKind::fabric)
    row.sums.push_back(
        {"slots",
         fmt::format("its {} {} are modules on a baseboard, joined by {} {} links each; "
                     "none is a card in a PCIe slot",
                     server->accelerators, server->accelerator.id, link.links,
                     link.name.empty() ? "scale-up" : link.name),
         static_cast<double>(server->accelerators),
         {}});
  return row;
}

Row judge_accelerators(const Bench& b) {
  if (!b.claims.accelerators) return {};
  const Change<double>& n = *b.claims.accelerators;
  ClaimRow row{.id = "accelerators",
               .claim = "accelerators",
               .claimed = fmt::format("{:g} to {:g}", n.before, n.after)};
  if (b.claims.servers > 0)
    row.sums.push_back(
        {"per server",
         fmt::format("{:g} / {} servers = {:g} a server before, {:g} after", n.before,
                     b.claims.servers, n.before / b.claims.servers, n.after / b.claims.servers),
         n.after / b.claims.servers,
         {}});
  std::string names;
  for (const CaseRun* run : b.readings)
    names +=
        (names.empty() ? "" : ", or ") + fmt::format("{} servers of {} ({})", run->cluster.servers,
                                                     run->cluster.server.accelerators, run->title);
  if (b.readings.size() > 1) {
    row.verdict = Verdict::holds_as;
    row.because = names;
  }
  return row;
}

Row judge_slots(const Bench& b) {
  if (b.claims.slots_text.empty()) return {};
  return ClaimRow{.id = "slots_full",
                  .claim = "PCIe slots",
                  .claimed = b.claims.slots_text,
                  .verdict = Verdict::cannot_judge,
                  .because = "which server, how many slots, what is in them"};
}

Row judge_rent(const Bench& b) {
  if (!b.claims.rent) return {};
  const RentClaim& c = *b.claims.rent;
  ClaimRow row{.id = "rent",
               .claim = "rent saved a month",
               .claimed = c.text,
               .verdict = Verdict::cannot_judge,
               .because = "a price per accelerator-hour"};
  if (!b.claims.accelerators || !b.claims.training_time) {
    row.because += ", the number of accelerators and the time saved";
    return row;
  }
  const PrintedChange<Seconds>& time = *b.claims.training_time;
  const int before = static_cast<int>(b.claims.accelerators->before);
  const int after = static_cast<int>(b.claims.accelerators->after);
  const double saved = accelerator_hours(before, time.before.value - time.after.value);
  row.predicted_text =
      fmt::format("at {:.3g}-{:.3g} {} an hour", c.least / saved, c.most / saved, c.currency);
  row.sums.push_back(
      {"hours",
       fmt::format("{} accelerators x ({} - {}) = {:.0f} accelerator-hours, if the same "
                   "{} do the work",
                   before, time.before.text, time.after.text, saved, before),
       saved, "h"});
  for (const double price : c.prices)
    row.predicted.push_back({.what = fmt::format("at {:g} {} an hour", price, c.currency),
                             .value = saved * price,
                             .low = saved * price,
                             .high = saved * price,
                             .unit = c.currency,
                             .text = fmt::format("{:.0f} {}", saved * price, c.currency)});
  row.sums.push_back(
      {"price",
       fmt::format("{:.0f} to {:.0f} {} would be {:.3g} to {:.3g} {} an accelerator-hour", c.least,
                   c.most, c.currency, c.least / saved, c.most / saved, c.currency),
       c.least / saved, c.currency});
  const double old_hours = accelerator_hours(before, time.before.value);
  const double new_hours = accelerator_hours(after, time.after.value);
  if (after > before)
    row.sums.push_back(
        {"twice",
         fmt::format("but {} for {} are {:.0f} accelerator-hours against {:.0f}: {} rent", after,
                     time.after.text, new_hours, old_hours,
                     signed_percent(new_hours / old_hours - 1)),
         new_hours / old_hours - 1,
         {}});
  return row;
}

}  // namespace railyard::judge

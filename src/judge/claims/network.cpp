// What a server's network carries, and how long an all-reduce over the servers takes.
//
// The size of that all-reduce is not given, so it is solved for in two ways: at line rate by a ring
// (nothing can be faster), and with the model of collectives, which knows latencies and efficiency.

#include <fmt/format.h>

#include <algorithm>

#include "judge/claims/rules.h"
#include "judge/claims/wording.h"

namespace railyard::judge {

namespace {

const fabric::Limit* tightest(const fabric::Machine& m) {
  return m.network_limits.empty() ? nullptr : &m.network_limits[m.network_binding];
}

/// The slot of the first NIC, after its line code only.
Bandwidth slot_encoded(const CaseRun& run) {
  const model::Server& s = run.cluster.server;
  return s.nics.empty() ? Bandwidth{} : fabric::pcie_encoded(s.pcie[s.nics.front().at].link);
}

/// "2.66 times" of an all-reduce's two printed times.
double speed_up(const PrintedChange<Seconds>& time) { return time.before.value / time.after.value; }

/// A size from the model of collectives, and the sizes between which its band leaves it.
Estimate solved_size(const Printed<Seconds>& time, const ReduceModel& m, std::string what) {
  const Bytes size = all_reduce_size(time.value, m.model, m.group);
  const double band = m.model.time(predict::Collective::all_reduce, size, m.group).band;
  const Bytes low = all_reduce_size(time.least() / (1 + band), m.model, m.group);
  const Bytes high = all_reduce_size(time.most() / (1 - band), m.model, m.group);
  return {.what = std::move(what),
          .value = size.si(),
          .low = low.si(),
          .high = high.si(),
          .unit = "B",
          .text = fmt::format("{} ({:.0f}-{:.0f})", decimal(size), low.in(MB), high.in(MB))};
}

/// At line rate: the size that the time before allows, and the rate that it asks of the time after.
void add_line_rate_sums(const Bench& b, ClaimRow& row) {
  if (!b.claims.network) return;
  const PrintedChange<Seconds>& time = *b.claims.all_reduce;
  const Bandwidth line = b.claims.network->before.value;
  const int n = b.claims.servers;
  const Bytes size = ring_size(time.before.value, {n, line});
  row.sums.push_back(
      {"size",
       fmt::format("the most that {} at {} move in a ring, 2 x {}/{} passes: "
                   "{:.4g} ms x {:.4g} GB/s / {:.5g} = {}",
                   time.before.text, b.claims.network->before.text, n - 1, n,
                   time.before.value.in(ms), line.in(GBps), 2.0 * (n - 1) / n, decimal(size)),
       size.si(), "B"});
  const Bandwidth wanted = ring_rate(size, time.after.value, n);
  std::string slot;
  if (b.after && wanted > slot_encoded(*b.after))
    slot = fmt::format(", more than the {} that the adapter's slot carries before packet headers",
                       bits(slot_encoded(*b.after)));
  row.sums.push_back({"rate",
                      fmt::format("{} in {} asks for {} a server{}", decimal(size), time.after.text,
                                  bits(wanted), slot),
                      wanted.si(), "B/s"});
}

/// What the two adapters carry sets how much faster the same bytes can go.
void add_slot_sums(const Bench& b, ClaimRow& row) {
  if (!b.before || !b.after || !b.claims.network) return;
  const Bandwidth old_rate = b.before->outlook.machine.network_per_server;
  const Bandwidth new_rate = b.after->outlook.machine.network_per_server;
  const double claimed = speed_up(*b.claims.all_reduce);
  row.sums.push_back({"slot",
                      fmt::format("at equal efficiency {} / {} = {}, not {}", bits(new_rate),
                                  bits(old_rate), times(new_rate / old_rate), times(claimed)),
                      new_rate / old_rate,
                      {}});
  const double share = new_rate / claimed / b.claims.network->before.value;
  if (new_rate / old_rate < claimed) {
    row.sums.push_back(
        {"old network",
         fmt::format("{} needs an old network at no more than {} / {:.3g} = {}, {} of "
                     "its line rate",
                     times(claimed), bits(new_rate), claimed, bits(new_rate / claimed),
                     percent(share)),
         share,
         {}});
    row.because = "only where the old network ran at under " + percent(share) + " of line rate";
  }
}

/// With the model of collectives: one size for both times, or none.
void add_solved_sizes(const Bench& b, ClaimRow& row) {
  if (!b.before || !b.after) return;
  const PrintedChange<Seconds>& time = *b.claims.all_reduce;
  const ReduceModel old_model(*b.before, b.in.calibration), new_model(*b.after, b.in.calibration);
  const Estimate from = solved_size(time.before, old_model,
                                    "size whose all-reduce takes " + time.before.text + " before");
  const Estimate to = solved_size(time.after, new_model,
                                  "size whose all-reduce takes " + time.after.text + " after");
  const bool one_size = from.low <= to.high && to.low <= from.high;
  row.sums.push_back(
      {"solved",
       fmt::format("by the model of collectives {} take {} before and {} take {} after; {}",
                   from.text, time.before.text, to.text, time.after.text,
                   one_size ? "within the bands this is one size"
                            : "beyond the bands, so no size fits both"),
       to.value / from.value,
       {}});
  row.predicted.push_back(from);
  row.predicted.push_back(to);
  row.predicted_text = fmt::format("of {}, {}", from.text, to.text);
}

}  // namespace

ReduceModel::ReduceModel(const CaseRun& run, const predict::Calibration& calibration)
    : model(run.outlook.machine, calibration),
      group(predict::make_group(run.outlook.machine, run.cluster.accelerators(), 1)) {}

std::vector<SizePoint> size_curve(const ClaimInputs& in) {
  const Bench b = bench_of(in);
  if (!b.before || !b.after || !b.claims.all_reduce) return {};
  const ReduceModel before(*b.before, in.calibration), after(*b.after, in.calibration);
  return all_reduce_curve({&before.model, &after.model}, {before.group, after.group});
}

Row judge_network(const Bench& b) {
  if (!b.claims.network) return {};
  const PrintedChange<Bandwidth>& claimed = *b.claims.network;
  ClaimRow row{.id = "network", .claim = "network of a server", .claimed = arrow(claimed)};
  for (const CaseRun* run : {b.before, b.after}) {
    if (!run) continue;
    const Bandwidth rate = run->outlook.machine.network_per_server;
    row.predicted.push_back(exact(run->title, rate));
    row.predicted_text += (row.predicted_text.empty() ? "" : " to ") + bits(rate);
    if (const fabric::Limit* limit = tightest(run->outlook.machine))
      row.sums.push_back(
          {run->id, fmt::format("{}: {} leave {}", run->title, limit->name, bits(limit->rate)),
           limit->rate.si(), "B/s"});
  }
  if (!b.after || b.after->cluster.server.nics.empty()) return row;
  // The claim is of the ports' labels; what the card then carries may be much less.
  const fabric::Machine& m = b.after->outlook.machine;
  const model::Nic& card = b.after->cluster.server.nics.front().part;
  const Bandwidth labels = m.nics_per_server * card.ports_rate();
  const Bandwidth ports = m.network_limits.front().rate;
  const double left = m.network_per_server / ports;
  constexpr double kAll = 0.95;  // a port's own packet headers leave about 98 %
  if (left >= kAll) return row;
  if (labels < claimed.after.least()) {
    row.verdict = Verdict::contradicts;
    row.because = "the ports add up to " + bits(labels);
    return row;
  }
  row.verdict = Verdict::holds_as;
  row.because = fmt::format(
      "the sum of the port labels; of the {} of data that the ports could carry "
      "one way, {} pass ({})",
      bits(ports), bits(m.network_per_server), percent(left));
  return row;
}

Row judge_gradients(const Bench& b) {
  if (!b.claims.gradients) return {};
  const Vague<Bytes>& g = *b.claims.gradients;
  ClaimRow row{.id = "gradients", .claim = "gradients of a step", .claimed = g.text};
  for (const CaseSet& set : b.in.sets)
    if (const CaseRun* run = set.find(Role::before)) {
      const Bytes rank = run->outlook.pieces.gradient_bytes;
      row.predicted.push_back(exact(set.id + ", of a data-parallel rank", rank));
      row.predicted_text += (row.predicted_text.empty() ? "" : ", ") + decimal(rank);
    }
  if (b.claims.network && b.claims.all_reduce) {
    const Ring ring{b.claims.servers, b.claims.network->before.value};
    const Seconds t = ring_time(g.example, ring);
    row.sums.push_back(
        {"size",
         fmt::format("{} over {} servers at {}: 2 x {}/{} x {:.3g} GB / {:.3g} GB/s = {}, not {}",
                     decimal(g.example), ring.members, b.claims.network->before.text,
                     ring.members - 1, ring.members, g.example.in(GB), ring.link.in(GBps), show(t),
                     b.claims.all_reduce->before.text),
         t.si(), "s"});
  }
  return row;
}

Row judge_all_reduce(const Bench& b) {
  if (!b.claims.all_reduce) return {};
  ClaimRow row{.id = "all_reduce",
               .claim = fmt::format("AllReduce, {} servers", b.claims.servers),
               .claimed = arrow(*b.claims.all_reduce)};
  add_line_rate_sums(b, row);
  add_slot_sums(b, row);
  add_solved_sizes(b, row);
  for (const ImpliedGain& g : implied_gains(b.claims))
    if (g.id == row.id) row.sums.push_back({g.sum, g.line, g.gain.value, {}});
  return row;
}

}  // namespace railyard::judge

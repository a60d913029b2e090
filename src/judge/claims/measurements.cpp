// A table of measured set-ups: throughput, time of the gradients' all-reduce, rate on the network.
// The three of one line must fit each other, because the gradients' size is known from the model.

#include <fmt/format.h>

#include "judge/claims/rules.h"
#include "judge/claims/wording.h"

namespace railyard::judge {

namespace {

/// A line of the table with its run, and the first line to compare with.
struct Line {
  const MeasuredClaim& claim;
  const CaseRun& run;
  const MeasuredClaim& base;
  Bytes gradients = {};

  double batch() const { return run.outlook.job.global_batch; }
  int ranks() const { return run.outlook.accelerators; }
  bool is_base() const { return &claim == &base; }
};

const CaseRun* find_run(const Bench& b, const std::string& id) {
  for (const CaseSet& set : b.in.sets)
    if (const CaseRun* run = set.find(id)) return run;
  return nullptr;
}

/// What the line's step takes longer than that of the first line.
Derived longer(const Line& l) {
  return derive([&](double here, double base) { return l.batch() / here - l.batch() / base; },
                l.claim.throughput, l.base.throughput);
}

ClaimRow throughput_row(const Line& l) {
  ClaimRow row{.id = l.claim.run + ".throughput",
               .claim = l.run.title + ", throughput",
               .claimed = l.claim.throughput.text + " samples/s"};
  const auto& p = l.run.prediction();
  const double rate = p.tokens_per_second;
  row.predicted.push_back(
      {.what = "samples/s",
       .value = rate,
       .low = rate / p.high,
       .high = rate / p.low,
       .unit = "1/s",
       .text = fmt::format("{:.0f}/s ({:.0f} to {:.0f})", rate, rate / p.high, rate / p.low)});
  row.predicted_text = row.predicted.back().text;
  const double each = l.claim.throughput.value / l.ranks();
  const double computes = l.run.outlook.job.layout.micro_batch / p.time.compute().si();
  row.sums.push_back(
      {"one GPU",
       fmt::format("{:g} / {} = {:.4g} samples/s a GPU, which computes {:.4g} by our "
                   "prediction: {}",
                   l.claim.throughput.value, l.ranks(), each, computes, percent(each / computes)),
       each, "1/s"});
  if (l.is_base()) {
    constexpr double kFarBelow = 0.5;
    if (each < kFarBelow * computes) {
      row.verdict = Verdict::holds_as;
      row.because =
          "a run that the input pipeline or the CPU holds back: no network is in it, and the "
          "GPU could do more";
    }
    return row;
  }
  const Derived more = longer(l);
  row.sums.push_back({"step",
                      fmt::format("{:g}/{:g} - {:g}/{:g} = {:.3g} ms more a step than {}",
                                  l.batch(), l.claim.throughput.value, l.batch(),
                                  l.base.throughput.value, 1e3 * more.value, l.base.run),
                      more.value, "s"});
  if (l.claim.all_reduce && more.low > l.claim.all_reduce->most().si()) {
    row.verdict = Verdict::contradicts;
    row.against.push_back(l.claim.run + ".all_reduce");
    row.because = fmt::format("an all-reduce of {} cannot add {:.3g} ms", l.claim.all_reduce->text,
                              1e3 * more.value);
  }
  return row;
}

/// The gradients at the printed rate: once over the wire, and as a ring sends them.
void add_size_sums(const Line& l, ClaimRow& row) {
  if (!l.claim.network) return;
  const Bandwidth rate = l.claim.network->value;
  const Seconds once = l.gradients / rate;
  const Seconds ring = ring_time(l.gradients, {l.ranks(), rate});
  row.sums.push_back({"size",
                      fmt::format("{} of gradients at {} are {} if sent once", decimal(l.gradients),
                                  l.claim.network->text, show(once)),
                      once.si(), "s"});
  row.sums.push_back({"ring",
                      fmt::format("a ring of {} ranks sends 2 x {}/{} of them over that link: {}",
                                  l.ranks(), l.ranks() - 1, l.ranks(), show(ring)),
                      ring.si(), "s"});
}

std::optional<ClaimRow> all_reduce_row(const Line& l) {
  if (!l.claim.all_reduce && l.claim.unreadable_all_reduce.empty()) return {};
  ClaimRow row{.id = l.claim.run + ".all_reduce", .claim = l.run.title + ", AllReduce"};
  const auto& p = l.run.prediction();
  row.predicted.push_back(estimate("all of the gradients", p.data_communication, p));
  row.predicted_text = row.predicted.back().text;
  add_size_sums(l, row);
  if (!l.claim.all_reduce) {
    row.claimed = l.claim.unreadable_all_reduce;
    row.verdict = Verdict::cannot_judge;
    row.because = "a digit that the text has lost; the sums say what it could be";
    return row;
  }
  row.claimed = l.claim.all_reduce->text;
  const Seconds claimed = l.claim.all_reduce->most();
  if (l.claim.network && l.gradients / l.claim.network->most() > claimed) {
    row.verdict = Verdict::contradicts;
    row.against.push_back(l.claim.run + ".network");
    row.because = "the gradients, at the rate of the same line";
    const Bytes moved = l.claim.all_reduce->value * l.claim.network->value;
    row.sums.push_back(
        {"moved",
         fmt::format("{} at {} move {}, {} of the gradients", l.claim.all_reduce->text,
                     l.claim.network->text, decimal(moved), percent(moved / l.gradients)),
         moved.si(), "B"});
  }
  if (!l.is_base() && longer(l).low > claimed.si()) {
    row.verdict = Verdict::contradicts;
    row.against.push_back(l.claim.run + ".throughput");
  }
  return row;
}

/// All ports of the run's NICs, as labelled.
Bandwidth line_rate(const CaseRun& run) {
  Bandwidth out;
  for (const model::NicPlace& nic : run.cluster.server.nics) out += nic.part.ports_rate();
  return out;
}

std::optional<ClaimRow> network_row(const Line& l, std::vector<double>& shares) {
  if (!l.claim.network) return {};
  ClaimRow row{.id = l.claim.run + ".network",
               .claim = l.run.title + ", network use",
               .claimed = l.claim.network->text};
  const Bandwidth line = line_rate(l.run);
  const Bandwidth data = l.run.outlook.machine.network_per_server;
  row.predicted.push_back(exact_bytes("data at line rate", data));
  row.predicted_text = "at most " + show(data);
  const double share = l.claim.network->value / line;
  std::string same;
  constexpr double kAlike = 0.001;
  for (const double other : shares)
    if (std::abs(share - other) < kAlike)
      same = ", the same share as another line of the table: a factor rather than a measurement";
  shares.push_back(share);
  row.sums.push_back(
      {"line rate",
       fmt::format("{} of {} = {}{}", l.claim.network->text, show(line), percent(share), same),
       share,
       {}});
  if (l.claim.network->least() > data) {
    row.verdict = Verdict::contradicts;
    row.because = "the line rate";
  } else if (l.claim.all_reduce &&
             l.gradients / l.claim.network->most() > l.claim.all_reduce->most()) {
    row.verdict = Verdict::contradicts;
    row.against.push_back(l.claim.run + ".all_reduce");
  }
  return row;
}

}  // namespace

std::vector<ClaimRow> judge_measurements(const Bench& b) {
  std::vector<ClaimRow> out;
  std::vector<double> shares;
  for (const MeasuredClaim& claim : b.claims.measurements) {
    const CaseRun* run = find_run(b, claim.run);
    if (!run) continue;  // parse_case has refused such a name
    const Line l{claim, *run, b.claims.measurements.front(), run->outlook.pieces.gradient_bytes};
    out.push_back(throughput_row(l));
    if (auto row = all_reduce_row(l)) out.push_back(*std::move(row));
    if (auto row = network_row(l, shares)) out.push_back(*std::move(row));
  }
  return out;
}

}  // namespace railyard::judge

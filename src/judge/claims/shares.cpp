// Shares of a step, utilisation, throughput and training time: four ways to say one thing, so each
// of them gives a gain that the others must meet.

#include <fmt/format.h>

#include <algorithm>

#include "judge/claims/rules.h"
#include "judge/claims/wording.h"

namespace railyard::judge {

namespace {

std::string set_name(const Bench& b, const CaseSet& set) {
  return b.in.sets.size() > 1 ? ", " + set.id : std::string();
}

/// An id as words.
std::string title_of(std::string id) {
  std::ranges::replace(id, '_', ' ');
  return id;
}

/// "46 % (36-54) to 6 % (0-18)"
std::string first_two(const ClaimRow& row) {
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(row.predicted.size(), 2); ++i)
    out += (i == 0 ? "" : " to ") + row.predicted[i].text;
  return out;
}

void add_implied(const Bench& b, ClaimRow& row) {
  for (const ImpliedGain& g : implied_gains(b.claims))
    if (g.id == row.id && g.id != "throughput")
      row.sums.push_back({g.sum, g.line, g.gain.value, {}});
}

}  // namespace

Seconds network_wait(const CaseRun& run) {
  const predict::StepTime& t = run.prediction().time;
  const predict::StepModel::Pieces& p = run.outlook.pieces;
  const bool tensor_leaves = p.tensor.servers > 1 && p.tensor.domains > 1;
  const bool data_leaves = p.data.servers > 1 && p.data.domains > 1;
  const bool stages_leave = p.stages.servers > 1 && p.stages.domains > 1;
  Seconds out;
  if (tensor_leaves) out += t.tensor;
  if (data_leaves) out += t.data + t.context + t.expert;
  if (stages_leave) out += t.pipeline;
  return out;
}

Row judge_communication_share(const Bench& b) {
  if (!b.claims.communication_share) return {};
  const PrintedChange<double>& share = *b.claims.communication_share;
  ClaimRow row{.id = "communication_share", .claim = "waiting, of a step", .claimed = arrow(share)};
  for (const CaseSet& set : b.in.sets)
    for (const Role role : {Role::before, Role::after})
      if (const CaseRun* run = set.find(role))
        row.predicted.push_back(
            share_of(run->title + set_name(b, set), network_wait(*run), run->prediction()));
  row.predicted_text = first_two(row);
  add_implied(b, row);
  if (b.claims.all_reduce) {
    const double wanted = speedup_for_shares({share.before.value, share.after.value});
    const double claimed = b.claims.all_reduce->before.value / b.claims.all_reduce->after.value;
    row.sums.push_back(
        {"speed-up",
         fmt::format("{} to {} at fixed compute needs communication {} as fast; {} is {}",
                     percent(share.before.value), percent(share.after.value), times(wanted),
                     arrow(*b.claims.all_reduce), times(claimed)),
         wanted,
         {}});
  }
  return row;
}

Row judge_utilisation(const Bench& b) {
  if (!b.claims.utilisation) return {};
  const PrintedChange<double>& use = *b.claims.utilisation;
  ClaimRow row{.id = "utilisation", .claim = "GPU utilisation", .claimed = arrow(use)};
  for (const CaseRun* run : {b.before, b.after}) {
    if (!run) continue;
    const predict::Prediction& p = run->prediction();
    const predict::Utilisation& u = p.utilisation;
    row.predicted.push_back(share_of(run->title + ", computing", u.compute * run->step(), p));
    row.predicted.push_back(
        share_of(run->title + ", busy as nvidia-smi shows it", u.busy * run->step(), p));
    row.predicted.push_back(rate_ratio(run->title + ", MFU", u.mfu, p));
    row.predicted_text +=
        (row.predicted_text.empty() ? "computing " : " to ") + whole_percent(u.compute);
  }
  add_implied(b, row);
  if (b.claims.communication_share) {
    const PrintedChange<double>& share = *b.claims.communication_share;
    const auto sum = [](const Printed<double>& x, const Printed<double>& y) {
      return fmt::format("{} + {} = {:.4g} %", x.text, y.text, 100 * (x.value + y.value));
    };
    row.sums.push_back({"whole",
                        "useful and waiting time of one step: " + sum(use.before, share.before) +
                            " before, but " + sum(use.after, share.after) + " after",
                        use.after.value + share.after.value,
                        {}});
  }
  row.because =
      "'GPU utilisation' is three figures: busy (waiting inside NCCL counts), computing, MFU";
  return row;
}

Row judge_throughput(const Bench& b) {
  if (!b.claims.throughput) return {};
  const Printed<double>& gained = *b.claims.throughput;
  ClaimRow row{.id = "throughput", .claim = "throughput", .claimed = gained.text};
  const auto add = [&](const CaseRun& run) {
    row.predicted.push_back(gain(run.title, {b.before->prediction(), run.prediction()}));
    if (run.outlook.accelerators == b.before->outlook.accelerators) return;
    const double more =
        static_cast<double>(run.outlook.accelerators) / b.before->outlook.accelerators;
    const Estimate all = row.predicted.back();
    Estimate each = per_accelerator(all, more);
    each.what += ", per accelerator";
    row.sums.push_back({run.id,
                        fmt::format("predicted for {}: {} of the cluster, {} per accelerator",
                                    run.title, all.text, each.text),
                        all.value,
                        {}});
    row.predicted.push_back(std::move(each));
  };
  if (b.before && b.after) {
    add(*b.after);
    row.predicted_text = row.predicted.back().text;
  }
  if (b.before)
    for (const CaseRun* run : b.readings) add(*run);
  if (b.claims.accelerators) {
    const double more = b.claims.accelerators->after / b.claims.accelerators->before;
    const double each = gain_per_accelerator({gained.value, more});
    const double all = gain_of_cluster({gained.value, more});
    row.sums.push_back({"scale",
                        fmt::format("as the cluster's figure, with {:g} times the accelerators: "
                                    "{:.3g} / {:g} - 1 = {} per accelerator",
                                    more, 1 + gained.value, more, signed_percent(each)),
                        each,
                        {}});
    row.sums.push_back({"scale of one",
                        fmt::format("as each accelerator's figure: {:.3g} x {:g} - 1 = {} for the "
                                    "cluster, another claim",
                                    1 + gained.value, more, signed_percent(all)),
                        all,
                        {}});
    row.because = "of the cluster or of each accelerator: the text does not say";
  }
  for (const ImpliedGain& g : implied_gains(b.claims))
    if (g.id != row.id && g.gain.meets({gained.value, gained.least(), gained.most()}))
      row.because += (row.because.empty() ? "" : "; ") + ("agrees with " + title_of(g.id));
  return row;
}

Row judge_training_time(const Bench& b) {
  if (!b.claims.training_time) return {};
  const PrintedChange<Seconds>& time = *b.claims.training_time;
  ClaimRow row{.id = "training_time", .claim = "training time", .claimed = arrow(time)};
  if (b.before) {
    const auto add = [&](const CaseRun& run) {
      const Estimate g = gain({}, {b.before->prediction(), run.prediction()});
      const Seconds before = time.before.value;
      Estimate out{.what = run.title,
                   .value = before.si() / (1 + g.value),
                   .low = before.si() / (1 + g.high),
                   .high = before.si() / (1 + g.low),
                   .unit = "s"};
      out.text = fmt::format("{} ({:.3g}-{:.3g})", show(Seconds::si(out.value)),
                             Seconds::si(out.low).in(day), Seconds::si(out.high).in(day));
      row.predicted.push_back(std::move(out));
    };
    if (b.after) {
      add(*b.after);
      row.predicted_text = row.predicted.back().text;
    }
    for (const CaseRun* run : b.readings) add(*run);
    add_implied(b, row);
    return row;
  }
  // Nothing to compare with: whole runs, where the jobs say how many tokens they train on.
  for (const CaseSet& set : b.in.sets)
    for (const CaseRun& run : set.runs) {
      const Seconds whole = run.outlook.whole_run;
      if (whole <= Seconds{} || !run.outlook.fit.fits()) continue;
      row.predicted.push_back(estimate(run.title, whole, run.prediction()));
      row.predicted_text += (row.predicted_text.empty() ? "" : " or ") + show(whole);
    }
  row.verdict = Verdict::cannot_judge;
  row.because = b.claims.out_of_memory.empty()
                    ? "the run before"
                    : "the layout of the run before: '" + b.claims.out_of_memory +
                          "' did not fit, so it is no baseline";
  add_implied(b, row);
  return row;
}

}  // namespace railyard::judge

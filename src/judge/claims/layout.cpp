// Claims about layouts and parts: what did not fit, what a better layout gave, what links and peaks
// are said to be.

#include <fmt/format.h>

#include <array>

#include "judge/claims/rules.h"
#include "judge/claims/wording.h"

namespace railyard::judge {

namespace {

const CaseRun* find_run(const Bench& b, const std::string& id) {
  for (const CaseSet& set : b.in.sets)
    if (const CaseRun* run = set.find(id)) return run;
  return nullptr;
}

/// The gain that the whole text claims: from its training times.
std::optional<double> whole_gain(const Bench& b) {
  if (!b.claims.training_time) return {};
  const PrintedChange<Seconds>& t = *b.claims.training_time;
  return gain_of_duration({t.before.value, t.after.value});
}

}  // namespace

Row judge_out_of_memory(const Bench& b) {
  if (b.claims.out_of_memory.empty()) return {};
  const CaseRun* run = find_run(b, b.claims.out_of_memory);
  if (!run) return {};
  const predict::MemoryTerms& m = run->prediction().memory;
  ClaimRow row{.id = "out_of_memory",
               .claim = run->title,
               .claimed = "out of memory",
               .verdict = run->outlook.fit.fits() ? Verdict::contradicts : Verdict::holds};
  if (run->outlook.fit.fits()) row.because = "the prediction: it fits";
  row.predicted.push_back(exact("memory of an accelerator", m.total()));
  row.predicted_text = decimal(m.total()) + " of " + decimal(m.capacity);
  const double n = model::count_parameters(run->outlook.job.model).total;
  const Bytes state = m.weights + m.gradients + m.optimizer;
  row.sums.push_back(
      {"state",
       fmt::format("{} parameters x {:.3g} B = {} on an accelerator of {}: {}", count(n),
                   state.si() / n, decimal(state), decimal(m.capacity), times(state / m.capacity)),
       state.si(), "B"});
  return row;
}

Row judge_software(const Bench& b) {
  if (!b.claims.software) return {};
  const Printed<double>& s = *b.claims.software;
  ClaimRow row{.id = "software",
               .claim = "software alone",
               .claimed = s.text,
               .verdict = Verdict::cannot_judge,
               .because = "what was changed, and the run before it"};
  if (const auto whole = whole_gain(b)) {
    const double rest = (1 + *whole) / (1 + s.value) - 1;
    row.sums.push_back(
        {"rest",
         fmt::format("{} in all is {}: {:.3g} / {:.3g} - 1 = {} is left for the rest",
                     arrow(*b.claims.training_time), signed_percent(*whole), 1 + *whole,
                     1 + s.value, signed_percent(rest)),
         rest,
         {}});
  }
  return row;
}

Row judge_communication_gains(const Bench& b) {
  if (!b.claims.sync_time) return {};
  const Printed<double>& sync = *b.claims.sync_time;
  ClaimRow row{.id = "sync_time",
               .claim = "gradient sync time",
               .claimed = sync.text,
               .verdict = Verdict::cannot_judge,
               .because = "the share that communication had of a step"};
  double factor = 1 - sync.value;
  std::string how = fmt::format("1 - {}", percent(sync.value));
  if (b.claims.pcie_bandwidth) {
    const Printed<double>& pcie = *b.claims.pcie_bandwidth;
    row.claimed += ", PCIe " + pcie.text;
    factor /= 1 + pcie.value;
    how = fmt::format("({}) / (1 + {})", how, percent(pcie.value));
  }
  for (const CaseSet& set : b.in.sets)
    for (const CaseRun& run : set.runs) {
      if (!run.outlook.fit.fits()) continue;
      row.predicted.push_back(
          share_of(run.title + ", share of a step", network_wait(run), run.prediction()));
    }
  if (const auto whole = whole_gain(b)) {
    const double alone = share_for_gain({*whole, 1 - sync.value});
    row.sums.push_back(
        {"alone",
         fmt::format("to give {} alone, synchronisation must have had (1 - 1/{:.3g}) / "
                     "{} = {} of a step{}",
                     signed_percent(*whole), 1 + *whole, percent(sync.value), percent(alone),
                     alone > 1 ? ": impossible" : ""),
         alone,
         {}});
    const double both = share_for_gain({*whole, factor});
    if (b.claims.pcie_bandwidth)
      row.sums.push_back(
          {"together",
           fmt::format("with both, communication takes {} = {:.3g} of its time and must "
                       "have had {} of a step",
                       how, factor, percent(both)),
           both,
           {}});
  }
  return row;
}

Row judge_scale_up(const Bench& b) {
  if (!b.claims.scale_up) return {};
  const ScaleUpClaim& c = *b.claims.scale_up;
  ClaimRow row{.id = "scale_up", .claim = "links of " + c.accelerator, .claimed = c.rate.text};
  const model::Accelerator* part = b.in.catalog.accelerator(c.accelerator);
  if (!part || part->scale_up.total <= Bandwidth{}) {
    row.verdict = Verdict::cannot_judge;
    row.because = "the catalogue has no links of '" + c.accelerator + "'";
    return row;
  }
  const Bandwidth one_way = part->scale_up.total;
  row.predicted.push_back(exact_bytes("one direction", one_way));
  row.predicted_text = show(one_way) + " one way";
  row.sums.push_back(
      {"directions",
       fmt::format("{} links x {} = {} one way, {} both ways added", part->scale_up.links,
                   show(part->scale_up.per_link), show(one_way), show(2 * one_way)),
       one_way.si(), "B/s"});
  if (2 * one_way >= c.rate.least() && one_way < c.rate.least()) {
    row.verdict = Verdict::holds_as;
    row.because = "both directions added";
  } else if (one_way < c.rate.least()) {
    row.verdict = Verdict::contradicts;
    row.because = "the links";
  }
  if (c.over_pcie > 0) {
    const model::PcieLink slot{.generation = c.pcie_generation, .lanes = 16};
    const double ratio = one_way / fabric::pcie_encoded(slot);
    row.claimed += fmt::format(", {:g} x PCIe {}", c.over_pcie, c.pcie_generation);
    row.sums.push_back({"over PCIe",
                        fmt::format("{} / {} one way = {}, not {:g}: a second of synchronisation "
                                    "becomes {} by the links alone",
                                    show(one_way), show(fabric::pcie_encoded(slot)), times(ratio),
                                    c.over_pcie, show((1.0 / ratio) * second)),
                        ratio,
                        {}});
    constexpr double kNearly = 0.9;
    if (ratio < kNearly * c.over_pcie)
      row.because += fmt::format("; {:g} times is not true", c.over_pcie);
  }
  return row;
}

Row judge_peak(const Bench& b) {
  if (!b.claims.peak) return {};
  const PeakClaim& c = *b.claims.peak;
  ClaimRow row{.id = "peak", .claim = "peak of " + c.accelerator, .claimed = c.rate.text};
  const model::Accelerator* part = b.in.catalog.accelerator(c.accelerator);
  if (!part) {
    row.verdict = Verdict::cannot_judge;
    row.because = "the catalogue has no '" + c.accelerator + "'";
    return row;
  }
  constexpr std::array kTraining{model::Precision::bf16, model::Precision::fp8};
  constexpr double kNear = 0.05;
  std::string readings;
  for (const model::Precision p : kTraining) {
    const FlopRate dense = part->peak_of(p);
    if (dense <= FlopRate{}) continue;
    const std::string name(model::name(p));
    row.predicted.push_back(exact(name + " dense", dense));
    row.predicted_text += (row.predicted_text.empty() ? "" : ", ") + name + ' ' + show(dense);
    row.sums.push_back({name,
                        fmt::format("{}: {} dense, {} with two of four weights zero", name,
                                    show(dense), show(2 * dense)),
                        dense.si(), "FLOP/s"});
    const auto near = [&](FlopRate r) { return std::abs(r / c.rate.value - 1) < kNear; };
    if (near(dense)) readings += (readings.empty() ? "" : " or ") + name + " dense";
    if (near(2 * dense)) readings += (readings.empty() ? "" : " or ") + name + " with sparsity";
  }
  const bool plain = readings.starts_with("bf16 dense");
  row.verdict = plain              ? Verdict::holds
                : readings.empty() ? Verdict::contradicts
                                   : Verdict::holds_as;
  row.because = readings.empty() ? "the data sheet" : readings;
  return row;
}

}  // namespace railyard::judge

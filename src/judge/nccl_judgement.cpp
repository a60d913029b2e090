#include "judge/nccl_judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "judge/nccl/run_findings.h"
#include "judge/nccl/run_machine.h"
#include "judge/nccl/run_rows.h"
#include "judge/nccl_evidence.h"

namespace railyard::judge {

namespace {

using nccl::RunMachine;
using predict::nccl::Inside;
using predict::nccl::Priors;

/// What the runs tell a reader of logs.
NcclSite site_of(const std::vector<RunMachine>& machines, const NcclMaterial& material) {
  NcclSite out;
  for (const RunMachine& m : machines) {
    out.nodes = std::max(out.nodes, m.nodes);
    if (!m.platform) continue;
    const auto& p = *m.platform;
    out.gpus = std::max(out.gpus, p.gpus);
    out.sm = p.sm;
    out.nvlink = p.gpus > 1 && p.inside != Inside::pcie;
    out.nvswitch = p.inside == Inside::nvswitch || p.inside == Inside::rack;
    if (m.comm) out.channels = m.comm->channels;
  }
  if (const auto* system = material.machine.system; system && out.sm == 0) {
    out.gpus = static_cast<int>(system->gpus().size());
    out.sm = system->lowest_sm();
    out.nvswitch = !system->nvswitches().empty();
    out.nvlink = out.nvswitch;
  }
  return out;
}

/// The largest of the other usual sets of NICs with which the run would be healthy.
void try_other_nics(const facts::CollectiveRun& run, RunMachine& machine, NcclJudgedRun& judged,
                    const Priors& priors, std::vector<NcclFinding>& findings) {
  for (const RunMachine::Other& other : machine.other_nics) {
    RunMachine changed = machine;
    changed.platform->ports = other.ports;
    NcclJudgedRun again = nccl::judged_run(run, changed, priors);
    int fast = 0, of_long = 0;
    for (const NcclJudgedSize& s : again.sizes)
      if (s.bytes >= nccl::kLong) {
        ++of_long;
        fast += s.verdict == NcclVerdict::fast;
      }
    if (again.slow || fast * 2 > of_long) continue;
    NcclFinding f = nccl_finding(
        "nccl-fits-other-nics",
        fmt::format("slow for {}, healthy for {}", machine.assumed.front(), other.what),
        "name the machine with --system; with the larger NICs half of them, or half their rate, "
        "is missing");
    f.confidence = 0.5;
    f.settle = "a topology file (NCCL_TOPO_DUMP_FILE) or a log with NCCL_DEBUG=INFO";
    if (!again.sizes.empty()) f.evidence.push_back({.at = again.sizes.back().at});
    findings.push_back(std::move(f));
    again.assumed.front() = other.what + ": what the numbers fit (say --system)";
    judged = std::move(again);
    machine = std::move(changed);
    return;
  }
}

std::string_view hypothesis_of(std::string_view rule) {
  constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
      {"nccl-sockets", "sockets"},           {"nccl-gpudirect-off", "gpudirect-off"},
      {"nccl-p2p-off", "p2p-off"},           {"nccl-nvls-off", "nvls-off"},
      {"nccl-few-channels", "few-channels"}, {"nccl-relaxed-ordering-off", "relaxed-ordering-off"}};
  for (const auto& [from, to] : kPairs)
    if (from == rule) return to;
  return {};
}

/// A loss of speed that was not measured is a note; one that was gets its size.
void settle(std::vector<NcclFinding>& from_logs, const std::vector<NcclJudgedRun>& runs) {
  bool judged = false, slow = false;
  double ratio = 1;
  for (const NcclJudgedRun& r : runs) {
    judged |= r.plateau && r.plateau->expected > 0;
    slow |= r.slow;
    if (r.slow && r.plateau && r.plateau->busbw > 0)
      ratio = std::max(ratio, r.plateau->expected / r.plateau->busbw);
  }
  for (NcclFinding& f : from_logs) {
    if (f.kind != NcclKind::speed) continue;
    if (judged && !slow) {
      f.severity = NcclSeverity::note;
      f.cause += " (no loss in the measured times)";
      continue;
    }
    const auto id = hypothesis_of(f.rule);
    if (!slow || id.empty()) continue;
    for (const NcclJudgedRun& r : runs)
      for (const NcclHypothesis& h : r.hypotheses)
        if (h.id == id && h.misfit < r.healthy_misfit) f.loss = std::max(f.loss, ratio);
  }
}

void rank(std::vector<NcclFinding>& findings) {
  const auto key = [](const NcclFinding& f) {
    return std::tuple(f.rule == "nccl-wrong-results", f.severity, f.kind != NcclKind::word,
                      std::lround(f.loss * 10), f.confidence);
  };
  std::ranges::stable_sort(
      findings, [&](const NcclFinding& a, const NcclFinding& b) { return key(a) > key(b); });
}

void merge(NcclWitness& all, NcclWitness one) {
  all.shown.merge(one.shown);
  all.ruled_out.merge(one.ruled_out);
}

}  // namespace

std::string_view name(NcclVerdict verdict) {
  switch (verdict) {
    case NcclVerdict::unknown: return "";
    case NcclVerdict::ok: return "ok";
    case NcclVerdict::fast: return "faster than expected";
    case NcclVerdict::suspect: return "suspect";
    case NcclVerdict::slow: break;
  }
  return "slow";
}

NcclJudgement judge_nccl(const NcclMaterial& material, const Priors& priors) {
  NcclJudgement out{.logs = static_cast<int>(material.logs.size())};
  std::vector<RunMachine> machines;
  for (const auto& run : material.runs) machines.push_back(nccl::machine_of(run, material));

  const NcclSite site = site_of(machines, material);
  NcclWitness witness;
  std::vector<NcclFinding> from_logs;
  for (const facts::NcclRun& log : material.logs) {
    NcclEvidence evidence = evidence_of(log, site);
    merge(witness, std::move(evidence.witness));
    std::ranges::move(evidence.findings, std::back_inserter(from_logs));
  }
  for (const auto& id : witness.shown) witness.ruled_out.erase(std::string(id));

  bool rccl = false;
  for (std::size_t i = 0; i < material.runs.size(); ++i) {
    const auto& run = material.runs[i];
    NcclJudgedRun judged = nccl::judged_run(run, machines[i], priors);
    if (judged.slow && witness.shown.empty())
      try_other_nics(run, machines[i], judged, priors, out.findings);
    if (judged.slow && judged.platform) {
      const MeasuredCurve curve = nccl::curve_of(judged, machines[i]);
      judged.healthy_misfit = misfit(curve, *judged.platform, 0, priors);
      judged.hypotheses = hypotheses_of(curve, *judged.platform, machines[i].nics, witness, priors);
    }
    for (NcclFinding& f : nccl::findings_of(run, judged, priors)) {
      // What the log of the very run says about the protocol belongs to wrong results.
      if (f.rule == "nccl-wrong-results")
        for (const facts::NcclRun& log : material.logs)
          if (const auto* v = variable(log, "NCCL_PROTO")) {
            f.cause += fmt::format(", with NCCL_PROTO={} forced", v->value);
            f.fix = "unset NCCL_PROTO";
          }
      out.findings.push_back(std::move(f));
    }
    if (machines[i].rccl && !rccl) {
      rccl = true;
      out.findings.push_back(
          nccl_finding("nccl-rccl", "AMD's RCCL: its times are not modelled", ""));
      out.findings.back().evidence.push_back({.at = run.at});
      out.findings.back().confidence = 1;
    }
    out.runs.push_back(std::move(judged));
  }
  std::ranges::move(nccl::compare_runs(out.runs), std::back_inserter(out.findings));
  settle(from_logs, out.runs);
  for (NcclFinding& f : from_logs)
    if (f.rule != "nccl-rccl" || !rccl) out.findings.push_back(std::move(f));
  rank(out.findings);
  return out;
}

}  // namespace railyard::judge

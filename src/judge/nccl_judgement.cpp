#include "judge/nccl_judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
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

/// Runs on other usual NICs than were assumed: the largest set with which all runs of the kind of
/// machine would be healthy. One run alone could hide another's fault.
void try_other_nics(const NcclMaterial& material, const Priors& priors,
                    std::vector<RunMachine>& machines, std::vector<NcclJudgedRun>& runs,
                    std::vector<NcclFinding>& findings) {
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (!machines[i].other_nics.empty()) asked.push_back(i);
  if (std::ranges::none_of(asked, [&](std::size_t i) { return runs[i].slow; })) return;
  const std::size_t sets = machines[asked.front()].other_nics.size();
  for (std::size_t set = 0; set < sets; ++set) {
    constexpr double kTooFast = 0.9;  // these ports could not have given it
    std::vector<RunMachine> changed;
    std::vector<NcclJudgedRun> again;
    bool fits = true;
    for (const std::size_t i : asked) {
      if (machines[i].other_nics.size() != sets) return;
      changed.push_back(machines[i]);
      changed.back().platform->ports = machines[i].other_nics[set].ports;
      again.push_back(nccl::judged_run(material.runs[i], changed.back(), priors));
      int fast = 0, of_long = 0;
      for (const NcclJudgedSize& s : again.back().sizes)
        if (s.bytes >= nccl::kLong) {
          ++of_long;
          fast += s.ratio() < kTooFast;
        }
      fits &= !again.back().slow && fast * 2 <= of_long;
    }
    if (!fits) continue;
    const auto& other = changed.front().other_nics[set];
    NcclFinding f = nccl_finding(
        "nccl-fits-other-nics",
        fmt::format("slow for {}, healthy for {}", changed.front().assumed.front(), other.what),
        "name the machine with --system; with the larger NICs half of them, or half their rate, "
        "is missing");
    f.confidence = 0.5;
    f.settle = "a topology file (NCCL_TOPO_DUMP_FILE) or a log with NCCL_DEBUG=INFO";
    if (!again.front().sizes.empty()) add_evidence(f, {.at = again.front().sizes.back().at});
    findings.push_back(std::move(f));
    for (std::size_t k = 0; k < asked.size(); ++k) {
      again[k].assumed.front() = other.what + ": what the numbers fit (say --system)";
      runs[asked[k]] = std::move(again[k]);
      machines[asked[k]] = std::move(changed[k]);
    }
    return;
  }
}

/// CPUs of a mask "ff,ffffffff" or of a list "0-7,16-23".
int cpus_of(const std::string& affinity) {
  int out = 0;
  const bool list = affinity.contains('-');
  for (std::size_t i = 0; i < affinity.size();) {
    if (!list) {
      const auto digit = std::string_view("0123456789abcdef").find(affinity[i++]);
      if (digit != std::string_view::npos) out += std::popcount(digit);
      continue;
    }
    int first = 0, last = 0;
    const char* const end = affinity.data() + affinity.size();
    auto [at, bad] = std::from_chars(affinity.data() + i, end, first);
    if (bad != std::errc()) return 0;
    last = first;
    if (at != end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
    out += last - first + 1;
    i = static_cast<std::size_t>(at - affinity.data()) + 1;
  }
  return out;
}

/// The same GPU of the same host with half of the CPUs, or fewer, in another log.
void compare_affinity(const std::vector<facts::NcclRun>& logs, std::vector<NcclFinding>& out) {
  struct Bound {
    int cpus = 0;
    std::string mask = {};
    Place at = {};
  };
  std::map<std::pair<std::string, int>, std::pair<Bound, Bound>> least_most;
  for (const facts::NcclRun& log : logs)
    for (const auto& c : log.communicators) {
      const int cpus = cpus_of(c.affinity);
      if (cpus == 0 || c.process < 0) continue;
      const Bound bound{.cpus = cpus, .mask = c.affinity, .at = c.at};
      auto& [least, most] = least_most[{log.processes[static_cast<std::size_t>(c.process)].host,
                                        c.cuda_device.value_or(0)}];
      if (least.cpus == 0 || cpus < least.cpus) least = bound;
      if (cpus > most.cpus) most = bound;
    }
  for (const auto& [gpu, bounds] : least_most) {
    const auto& [least, most] = bounds;
    if (least.cpus * 2 > most.cpus) continue;
    NcclFinding f = nccl_finding(
        "nccl-affinity",
        fmt::format("GPU {} of {} has {} CPUs ({}) in one log and {} ({}) in another", gpu.second,
                    gpu.first, least.cpus, least.mask, most.cpus, most.mask),
        "all cores beside the GPU for its rank (srun --cpus-per-task, --cpu-bind=none; the "
        "container's cpuset)");
    f.confidence = 0.7;
    add_evidence(f, {.at = least.at});
    add_evidence(f, {.at = most.at});
    out.push_back(std::move(f));
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
    const double weight = f.loss > 1 ? std::log(f.loss) * f.confidence : 0;
    return std::tuple(f.rule == "nccl-wrong-results", f.severity, f.kind != NcclKind::word, weight,
                      f.confidence);
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
    case NcclVerdict::fast: return "faster";
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
  compare_affinity(material.logs, from_logs);
  for (const auto& id : witness.shown) witness.ruled_out.erase(std::string(id));

  for (std::size_t i = 0; i < material.runs.size(); ++i)
    out.runs.push_back(nccl::judged_run(material.runs[i], machines[i], priors));
  if (witness.shown.empty()) try_other_nics(material, priors, machines, out.runs, out.findings);

  bool rccl = false;
  for (std::size_t i = 0; i < material.runs.size(); ++i) {
    const auto& run = material.runs[i];
    NcclJudgedRun& judged = out.runs[i];
    if (judged.slow && judged.platform) {
      const MeasuredCurve curve = nccl::curve_of(judged, machines[i]);
      judged.healthy_misfit = misfit(curve, *judged.platform, 0, priors);
      judged.hypotheses = hypotheses_of(curve, *judged.platform, machines[i].nics, witness, priors);
    }
    for (NcclFinding& f : nccl::findings_of(run, judged)) {
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
  }
  std::vector<NcclFinding> compared = nccl::compare_runs(out.runs);
  // What equal runs show needs no assumption on the machine; what rests on one comes behind.
  constexpr double kAssumed = 0.15;
  for (std::size_t i = 0; i < out.runs.size() && !compared.empty(); ++i)
    for (NcclFinding& f : out.findings)
      if (f.rule == "nccl-slow" && !out.runs[i].assumed.empty() && !f.evidence.empty() &&
          f.evidence.front().at.file == out.runs[i].at.file)
        f.confidence = kAssumed;
  std::ranges::move(compared, std::back_inserter(out.findings));
  settle(from_logs, out.runs);
  for (NcclFinding& f : from_logs)
    if (f.rule != "nccl-rccl" || !rccl) out.findings.push_back(std::move(f));
  rank(out.findings);
  return out;
}

}  // namespace railyard::judge

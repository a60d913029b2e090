#include "judge/nccl/run_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "judge/nccl/run_rows.h"

namespace railyard::judge::nccl {

namespace {

using facts::Buffers;

std::string size_text(std::int64_t bytes) {
  constexpr std::int64_t kStep = 1024;
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= kStep && bytes % kStep == 0 && unit < 4) {
    bytes /= kStep;
    ++unit;
  }
  return fmt::format("{} {}", bytes, units[unit]);
}

void show(NcclFinding& f, const Place& at) { add_evidence(f, {.at = at}); }

void wrong_results(const facts::CollectiveRun& run, std::vector<NcclFinding>& out) {
  const bool counted = run.out_of_bounds.value_or(0) > 0;
  bool wrong = counted;
  for (const auto& p : run.points) wrong |= !run.out_of_bounds && p.wrong.value_or(0) >= 1;
  if (wrong) {
    NcclFinding f = nccl_finding("nccl-wrong-results", "the collective gave wrong results",
                                 "NCCL_PROTO=Simple for a test: LL and LL128 need links that keep "
                                 "the order of a line; then memory and links of each GPU");
    f.confidence = 0.95;
    f.expected = "no wrong element (nccl-tests -c 1)";
    f.settle = "the same test with NCCL_PROTO=Simple, and with NCCL_ALGO=Ring; NCCL_DEBUG=INFO";
    for (const auto& p : run.points)
      if (p.wrong.value_or(0) > 0.5) show(f, {.file = run.at.file, .line = p.line, .column = 1});
    if (f.evidence.empty()) show(f, run.at);
    out.push_back(std::move(f));
  } else if (run.failed) {
    NcclFinding f = nccl_finding("nccl-test-failed", "the program says that it failed",
                                 "the lines behind the table; NCCL_DEBUG=INFO");
    show(f, run.at);
    f.confidence = 0.8;
    out.push_back(std::move(f));
  }
}

/// Very different times for the same bytes: inside a size, between the two ways, or a long message
/// that takes longer than a longer one.
void unstable(const NcclJudgedRun& run, std::vector<NcclFinding>& out) {
  constexpr double kSpread = 1.3, kCollapse = 1.3, kLarge = 1.5;
  constexpr std::int64_t kMiddle = 1 << 20;
  std::vector<std::pair<double, Place>> seen;
  double worst = 1;
  const auto see = [&](double factor, const Place& at) {
    seen.emplace_back(factor, at);
    worst = std::max(worst, factor);
  };
  for (const NcclJudgedSize& a : run.sizes) {
    if (a.bytes < kMiddle) continue;
    if (a.spread > kLarge) see(a.spread, a.at);
    for (const NcclJudgedSize& b : run.sizes)
      if (a.bytes == b.bytes && a.buffers == Buffers::out_of_place &&
          b.buffers == Buffers::in_place) {
        const double factor = std::max(a.us, b.us) / std::min(a.us, b.us);
        // An out-of-place all-gather copies besides.
        if (factor > kSpread && !(run.collective == "all_gather" && a.us > b.us)) see(factor, a.at);
      }
  }
  bool collapse = false;
  for (const NcclDip& dip : run.dips)
    if (dip.bytes >= kLong && dip.gain() > kCollapse) {
      see(dip.gain(), dip.at);
      collapse = true;
    }
  if (run.ranks == 1 || seen.empty() || (seen.size() < 2 && worst < kLarge)) return;
  std::ranges::stable_sort(seen, [](const auto& x, const auto& y) { return x.first > y.first; });
  NcclFinding f = nccl_finding(
      "nccl-unstable",
      collapse ? fmt::format("times of long messages do not rise with their size: up to {:.1f} "
                             "times too long",
                             worst)
               : fmt::format("the same size takes up to {:.1f} times as long", worst),
      "run it again with more iterations; loss, pause frames and congestion on the network "
      "(NCCL_IB_ECE_ENABLE=0 for a test on RoCE); clocks and other jobs");
  f.settle = "two samples of ethtool -S or the port counters during the test";
  f.expected = "equal sizes within 30 %";
  f.confidence = 0.5;
  if (run.nodes == 1) f.topic = "throttling";
  if (run.in_job) {
    f.severity = NcclSeverity::note;
    f.topic = "";
    f.fix = "ranks that come late: the time in the kernel holds the wait for them; compare ranks";
    f.settle = "the records of all ranks, and nccl-tests on the same nodes";
  }
  // An erratic curve has no plateau that a steady fault would explain.
  if (collapse && run.slow && run.plateau)
    for (const NcclJudgedSize& s : run.sizes)
      if (s.bytes >= kLong) f.loss = std::max(f.loss, s.ratio());
  for (const auto& [factor, at] : seen) show(f, at);
  out.push_back(std::move(f));
}

/// A healthy bus bandwidth rises with the size. Where all larger sizes get less than half of what a
/// smaller one got, something fills up.
bool collapse(const NcclJudgedRun& run, std::vector<NcclFinding>& out) {
  constexpr std::int64_t kMiddle = 1 << 20;
  constexpr double kHalf = 0.5;
  const NcclJudgedSize *peak = nullptr, *first = nullptr, *last = nullptr;
  for (const NcclJudgedSize& s : run.sizes)
    if (s.bytes >= kMiddle && (!peak || s.busbw > peak->busbw)) peak = &s;
  if (!peak || run.nodes == 1 || run.ranks == 1) return false;
  int below = 0;
  for (const NcclJudgedSize& s : run.sizes) {
    if (s.bytes <= peak->bytes) continue;
    if (s.busbw > kHalf * peak->busbw) {
      if (first) return false;
      continue;
    }
    if (s.buffers != peak->buffers) continue;
    if (!first) first = &s;
    last = &s;
    ++below;
  }
  if (below < 2) return false;
  NcclFinding f = nccl_finding(
      "nccl-collapse",
      fmt::format("bus bandwidth falls from {:.1f} GB/s at {} to {:.1f} at {}: the network does "
                  "not bear long bursts",
                  peak->busbw, size_text(peak->bytes), last->busbw, size_text(last->bytes)),
      "the test inside one leaf and across; pause, ECN marks and drops of the switches on the way; "
      "adaptive routing");
  f.loss = std::max(last->ratio(), peak->busbw / last->busbw);
  f.expected = "a bus bandwidth that rises with the size, to its plateau";
  f.confidence = 0.6;
  f.settle = "two samples of the port counters during the test; pairs of nodes";
  show(f, first->at);
  show(f, peak->at);
  out.push_back(std::move(f));
  return true;
}

void dips(const NcclJudgedRun& run, std::vector<NcclFinding>& out) {
  const NcclDip* worst = nullptr;
  for (const NcclDip& dip : run.dips)
    if (dip.bytes >= kShort && (!worst || dip.gain() > worst->gain())) worst = &dip;
  if (!worst) return;
  NcclFinding f = nccl_finding(
      "nccl-dip",
      fmt::format("{} takes {:.0f} % longer than {}", size_text(worst->bytes),
                  100 * (worst->gain() - 1), size_text(worst->faster_bytes)),
      worst->better.empty()
          ? "NCCL_ALGO and NCCL_PROTO by turns at that size; a tuner plugin for what wins"
          : fmt::format("{} at that size: a tuner plugin, or NCCL_ALGO and NCCL_PROTO for a test",
                        worst->better));
  if (!worst->change.empty()) f.cause += "; " + worst->change;
  f.expected = fmt::format("{:.1f} us or less, the time of {}", worst->faster_us,
                           size_text(worst->faster_bytes));
  f.confidence = worst->change.empty() ? 0.4 : 0.7;
  f.settle = "NCCL_DEBUG_SUBSYS=TUNING: the algorithm and protocol of each call";
  show(f, worst->at);
  out.push_back(std::move(f));
}

void slow(const NcclJudgedRun& run, std::vector<NcclFinding>& out) {
  if (!run.slow) return;
  double ratio = 0;
  std::int64_t from = 0;
  const NcclJudgedSize* worst = nullptr;
  for (const NcclJudgedSize& s : run.sizes)
    if (s.verdict == NcclVerdict::slow && s.bytes >= from && s.ratio() > 0) {
      from = s.bytes;
      if (!worst || s.bytes > worst->bytes || s.ratio() > worst->ratio()) worst = &s;
      ratio = worst->ratio();
    }
  if (!worst) return;
  std::string cause = fmt::format("{} takes {:.1f} times what a healthy system needs",
                                  size_text(worst->bytes), ratio);
  std::string fix = "the test on one node, then on pairs of nodes; NCCL_DEBUG=INFO";
  NcclFinding f = nccl_finding("nccl-slow", "", "");
  f.confidence = 0.4;
  // Where the NICs are assumed, so is the healthy time.
  if (!run.assumed.empty()) f.confidence = 0.25;
  const NcclHypothesis* best = nullptr;
  for (const NcclHypothesis& h : run.hypotheses)
    if (h.standing != Standing::ruled_out && !best) best = &h;
  constexpr double kExplains = 0.6;  // of the misfit of a healthy system that may be left
  constexpr double kClose = 0.3;     // a third off on average is no explanation
  const double enough = std::min(kClose, kExplains * run.healthy_misfit);
  if (best && (best->misfit < enough || best->standing == Standing::shown)) {
    cause += fmt::format("; the curve is that of: {}", best->what);
    const NcclHypothesis* second = nullptr;
    for (const NcclHypothesis& h : run.hypotheses)
      if (h.standing == Standing::open && &h != best && !second) second = &h;
    if (second && best->standing == Standing::open && second->misfit < enough)
      cause += fmt::format(", or of: {}", second->what);
    fix = best->fix;
    f.topic = best->topic;
    f.settle = best->settle;
  } else {
    cause += "; no known pathology has this curve";
    f.settle = "NCCL_DEBUG=INFO of the same run, and the test on fewer nodes";
  }
  f.cause = std::move(cause);
  f.fix = std::move(fix);
  f.loss = ratio;
  f.expected = fmt::format(
      "{:.1f} us ({:.1f} to {:.1f}), {:.1f} GB/s: the time law on a machine known from {}",
      worst->expected_us, worst->low_us, worst->high_us, worst->expected_busbw, run.known_from);
  show(f, worst->at);
  for (const NcclJudgedSize& s : run.sizes)
    if (run.first_slow && s.bytes == *run.first_slow && s.at.line != worst->at.line) {
      show(f, s.at);
      break;
    }
  out.push_back(std::move(f));
}

void host_slow(const NcclJudgedRun& run, std::vector<NcclFinding>& out) {
  if (run.slow) return;
  std::vector<double> ratios;
  const NcclJudgedSize* worst = nullptr;
  int of_long = 0;
  for (const NcclJudgedSize& s : run.sizes) {
    of_long += s.bytes >= kLong;
    if (s.bytes >= kShort || s.expected_us <= 0) continue;
    ratios.push_back(s.ratio());
    if (s.verdict == NcclVerdict::slow && (!worst || s.ratio() > worst->ratio())) worst = &s;
  }
  constexpr std::size_t kFew = 4;
  if (ratios.size() < kFew || !worst) return;
  std::ranges::sort(ratios);
  const double middle = ratios[ratios.size() / 2];
  constexpr double kSlow = 2.12;  // exp(0.75): beyond the scatter of healthy hosts
  if (middle < kSlow) return;
  NcclFinding f = nccl_finding(
      "nccl-host-slow",
      fmt::format("small messages take {:.1f} times what is usual{}", middle,
                  of_long > 0 ? ", large ones are fine" : ""),
      "one process per GPU with its own cores (numactl, --cpu-bind), performance governor, no "
      "NCCL_DEBUG=TRACE; a warm-up of a second");
  f.expected = fmt::format("{:.0f} us: host time of such GPUs", worst->expected_us);
  f.confidence = 0.5;
  f.settle = "the test in CUDA graphs (-G 20): what then remains is not the host";
  show(f, worst->at);
  out.push_back(std::move(f));
}

std::string joined(const std::vector<std::string>& hosts) {
  std::string out;
  for (const std::string& h : hosts) out += (out.empty() ? "" : ", ") + h;
  return out;
}

const NcclJudgedSize* largest(const NcclJudgedRun& run) {
  const NcclJudgedSize* out = nullptr;
  for (const NcclJudgedSize& s : run.sizes)
    if (s.bytes >= kLong && (!out || s.bytes > out->bytes)) out = &s;
  return out;
}

const NcclJudgedSize* same_size(const NcclJudgedRun& run, const NcclJudgedSize& like) {
  for (const NcclJudgedSize& s : run.sizes)
    if (s.bytes == like.bytes && s.buffers == like.buffers) return &s;
  return nullptr;
}

/// Of slow and fast pairs: the host that all slow ones have and no fast one.
std::string culprit(const std::vector<const NcclJudgedRun*>& slow,
                    const std::vector<const NcclJudgedRun*>& fast) {
  for (const std::string& host : slow.front()->hosts) {
    const auto in = [&](const NcclJudgedRun* r) {
      return std::ranges::find(r->hosts, host) != r->hosts.end();
    };
    if (std::ranges::all_of(slow, in) && std::ranges::none_of(fast, in)) return host;
  }
  return {};
}

struct Compared {
  const NcclJudgedRun* run = nullptr;
  const NcclJudgedSize* size = nullptr;
};

NcclFinding tell_apart(const std::vector<Compared>& slow, const std::vector<Compared>& fast) {
  std::vector<const NcclJudgedRun*> s, f;
  for (const Compared& c : slow) s.push_back(c.run);
  for (const Compared& c : fast) f.push_back(c.run);
  const double factor = slow.front().size->us / fast.back().size->us;
  const std::string by =
      fmt::format("{:.1f} times slower at {}", factor, size_text(slow.front().size->bytes));
  const bool versions = s.front()->version != f.front()->version && !s.front()->version.empty() &&
                        !f.front()->version.empty();
  NcclFinding out;
  if (versions) {
    out = nccl_finding(
        "nccl-version-slower",
        fmt::format("{} with NCCL {} than with {}", by, s.front()->version, f.front()->version),
        fmt::format("NCCL {} until the cause is known; compare the algorithm and "
                    "channels of both (NCCL_DEBUG_SUBSYS=TUNING,GRAPH)",
                    f.front()->version));
    out.confidence = 0.7;
  } else if (s.front()->hosts != f.front()->hosts) {
    const std::string host = culprit(s, f);
    if (!host.empty() && slow.size() > 1) {
      out = nccl_finding(
          "nccl-slow-host",
          fmt::format("{} is in all {} slow runs and in no fast one: {}", host, slow.size(), by),
          "take that host out; its NICs, slots and GPUs against a good one");
      out.confidence = 0.8;
    } else {
      out =
          nccl_finding("nccl-slow-pair",
                       fmt::format("{} on {} than on {}", by, joined(s.front()->hosts),
                                   joined(f.front()->hosts)),
                       "each host with a third one: the host that stays slow, or the path between "
                       "two (routing, a shared uplink, adaptive routing)");
      out.confidence = 0.6;
      out.settle = "the same test over more pairs of hosts";
    }
  } else {
    out =
        nccl_finding("nccl-two-levels", fmt::format("equal runs fall into two levels: {}", by),
                     "placement and routing of each run; other jobs; clocks and temperature; what "
                     "else differs between the runs");
    out.confidence = 0.5;
    out.settle = "ten runs with the hosts and switches of each";
  }
  out.loss = factor;
  show(out, slow.front().size->at);
  show(out, fast.back().size->at);
  return out;
}

}  // namespace

std::vector<NcclFinding> findings_of(const facts::CollectiveRun& run, const NcclJudgedRun& judged) {
  std::vector<NcclFinding> out;
  wrong_results(run, out);
  if (!collapse(judged, out)) {
    slow(judged, out);
    unstable(judged, out);
  }
  dips(judged, out);
  host_slow(judged, out);
  return out;
}

std::vector<NcclFinding> compare_runs(const std::vector<NcclJudgedRun>& runs) {
  constexpr double kGap = 1.2;  // healthy repetitions agree within a few percent [h200_nccl_sweep]
  std::vector<NcclFinding> out;
  std::vector<bool> done(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const NcclJudgedSize* like = largest(runs[i]);
    if (done[i] || !like) continue;
    std::vector<Compared> group;
    for (std::size_t j = i; j < runs.size(); ++j) {
      const NcclJudgedRun& r = runs[j];
      if (done[j] || r.collective != runs[i].collective || r.ranks != runs[i].ranks ||
          r.nodes != runs[i].nodes)
        continue;
      if (const NcclJudgedSize* s = same_size(r, *like)) {
        group.push_back({&r, s});
        done[j] = true;
      }
    }
    std::ranges::stable_sort(group, {}, [](const Compared& c) { return -c.size->us; });
    // The widest gap between neighbours parts slow from fast.
    std::size_t cut = 0;
    double widest = kGap;
    for (std::size_t k = 1; k < group.size(); ++k)
      if (const double gap = group[k - 1].size->us / group[k].size->us; gap > widest) {
        widest = gap;
        cut = k;
      }
    if (cut == 0) continue;
    const auto at = group.begin() + static_cast<std::ptrdiff_t>(cut);
    out.push_back(tell_apart({group.begin(), at}, {at, group.end()}));
  }
  return out;
}

}  // namespace railyard::judge::nccl

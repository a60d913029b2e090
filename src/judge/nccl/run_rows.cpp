#include "judge/nccl/run_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "predict/nccl/expect.h"

namespace railyard::judge::nccl {

namespace {

using facts::Buffers;
using predict::Collective;
using predict::nccl::Platform;
using predict::nccl::Priors;

/// Equal sizes of a run (repeated cycles, a job's own calls) become one.
std::vector<NcclJudgedSize> sizes_of(const facts::CollectiveRun& run) {
  std::map<std::pair<int, std::int64_t>, std::vector<const facts::CollectiveTiming*>> by_size;
  for (const auto& p : run.points)
    if (p.bytes > 0 && p.time_us > 0)
      by_size[{static_cast<int>(p.buffers), static_cast<std::int64_t>(p.bytes)}].push_back(&p);
  std::vector<NcclJudgedSize> out;
  for (const auto& [key, points] : by_size) {
    NcclJudgedSize size{.at = {.file = run.at.file, .line = points.front()->line, .column = 1},
                        .bytes = key.second,
                        .buffers = points.front()->buffers};
    std::vector<std::pair<double, double>> times;  // with the bus bandwidth
    for (const auto* p : points) {
      times.emplace_back(p->time_us, p->busbw_gbs);
      if (p->time_us_min && p->time_us_max && *p->time_us_min > 0)
        size.spread = std::max(size.spread, *p->time_us_max / *p->time_us_min);
    }
    std::ranges::sort(times);
    std::tie(size.us, size.busbw) = times[(times.size() - 1) / 2];
    // Of many, one in ten at either end may be an accident.
    const std::size_t tail = times.size() / 10;
    size.spread = std::max(size.spread, times[times.size() - 1 - tail].first / times[tail].first);
    out.push_back(size);
  }
  return out;
}

/// The law, or where NCCL's own decision is known, the best of the ways that it may take.
void expect(const RunMachine& m, const Priors& priors, std::vector<NcclJudgedSize>& sizes) {
  const Platform& p = *m.platform;
  const double factor = predict::nccl::bus_factor(*m.what, p.ranks());
  constexpr double kNetworkUnsure = 0.15;  // InfiniBand 0.98 of the ports, RoCE 0.85
  constexpr double kClassUnsure = 0.15;    // no row of this class was fitted
  const bool fitted = p.sm == 80 || p.sm == 90 || (p.sm >= 100 && p.sm < 120) ||
                      p.inside == predict::nccl::Inside::pcie;
  for (NcclJudgedSize& size : sizes) {
    const auto& band = priors.band(size.bytes);
    double wider = p.inside == predict::nccl::Inside::rack ? priors.rack_widening : 0;
    if (!fitted) wider += kClassUnsure;
    if (m.network_unsure && p.domains > 1) wider += kNetworkUnsure;
    double us = 0;
    if (m.comm) {
      const auto e = predict::nccl::expect(
          p, *m.comm,
          {.what = *m.what, .mode = m.mode, .in_place = size.buffers == Buffers::in_place},
          {size.bytes}, priors);
      us = e.sizes.front().parts.total;
    } else {
      us = predict::nccl::time_of(p,
                                  {.what = *m.what,
                                   .bytes = static_cast<double>(size.bytes),
                                   .in_place = size.buffers == Buffers::in_place,
                                   .mode = m.mode},
                                  priors)
               .total;
    }
    if (!std::isfinite(us) || us <= 0) continue;
    size.expected_us = us;
    size.low_us = us * std::exp(band.low - wider);
    size.high_us = us * std::exp(band.high + wider);
    size.expected_busbw = static_cast<double>(size.bytes) * factor / us / 1e3;
    const double flag = us * std::exp(band.suspect + wider);
    size.verdict = size.us < size.low_us     ? NcclVerdict::fast
                   : size.us <= size.high_us ? NcclVerdict::ok
                   : size.us <= flag         ? NcclVerdict::suspect
                                             : NcclVerdict::slow;
  }
}

std::string show(const predict::nccl::Candidate& c) {
  return fmt::format("{} {}", predict::nccl::name(c.algorithm), predict::nccl::name(c.protocol));
}

/// Where the engine takes another way between two sizes.
void explain(const RunMachine& m, const Priors& priors, NcclDip& dip) {
  if (!m.what) return;
  const auto function = predict::nccl::function_of(*m.what);
  if (!m.comm || !function) return;
  const auto here = predict::nccl::choose(*m.comm, *function, dip.bytes);
  const auto before = predict::nccl::choose(*m.comm, *function, dip.bytes / 2);
  const auto after = predict::nccl::choose(*m.comm, *function, dip.faster_bytes);
  if (!here) return;
  const auto differs = [&](const auto& other) {
    return other && (other->pick.algorithm != here->pick.algorithm ||
                     other->pick.protocol != here->pick.protocol);
  };
  if (differs(before))
    dip.change = fmt::format("NCCL goes from {} to {} here", show(before->pick), show(here->pick));
  else if (differs(after))
    dip.change = fmt::format("NCCL goes from {} to {} above", show(here->pick), show(after->pick));
  else
    return;
  const auto best = predict::nccl::expect_size(
      *m.platform, {.what = *m.what, .bytes = static_cast<double>(dip.bytes), .mode = m.mode},
      priors);
  if (best.parts.algorithm != here->pick.algorithm || best.parts.protocol != here->pick.protocol)
    dip.better = show({.algorithm = best.parts.algorithm, .protocol = best.parts.protocol});
  else if (differs(after))
    dip.better = show(after->pick);
}

void find_dips(const RunMachine& m, const Priors& priors, NcclJudgedRun& out) {
  constexpr double kWorth = 1.05;
  for (std::size_t i = 0; i < out.sizes.size(); ++i) {
    const NcclJudgedSize& small = out.sizes[i];
    const NcclJudgedSize* best = nullptr;
    for (std::size_t j = i + 1; j < out.sizes.size(); ++j)
      if (out.sizes[j].buffers == small.buffers && (!best || out.sizes[j].us < best->us))
        best = &out.sizes[j];
    if (!best || small.us <= best->us * kWorth) continue;
    NcclDip dip{.at = small.at,
                .buffers = small.buffers,
                .bytes = small.bytes,
                .faster_bytes = best->bytes,
                .us = small.us,
                .faster_us = best->us};
    explain(m, priors, dip);
    out.dips.push_back(std::move(dip));
  }
  std::ranges::stable_sort(out.dips,
                           [](const NcclDip& a, const NcclDip& b) { return a.gain() > b.gain(); });
}

/// Half of the long messages, or most of the middle ones where there are no long ones.
bool is_slow(const std::vector<NcclJudgedSize>& sizes) {
  int of_long = 0, slow_long = 0, of_middle = 0, slow_middle = 0;
  constexpr std::int64_t kMiddle = 1 << 20;
  for (const NcclJudgedSize& s : sizes) {
    if (s.verdict == NcclVerdict::unknown) continue;
    const bool slow = s.verdict == NcclVerdict::slow;
    if (s.bytes >= kLong) {
      ++of_long;
      slow_long += slow;
    } else if (s.bytes >= kMiddle) {
      ++of_middle;
      slow_middle += slow;
    }
  }
  if (of_long > 0) return slow_long * 2 >= of_long;
  return of_middle >= 2 && slow_middle * 3 >= of_middle * 2;
}

std::optional<std::int64_t> first_slow(const std::vector<NcclJudgedSize>& sizes) {
  std::vector<const NcclJudgedSize*> by_size;
  for (const NcclJudgedSize& s : sizes)
    if (s.bytes >= kShort && s.verdict != NcclVerdict::unknown) by_size.push_back(&s);
  std::ranges::stable_sort(by_size, {}, [](const NcclJudgedSize* s) { return s->bytes; });
  // From the first flagged size on, six of ten are.
  constexpr double kMost = 0.6;
  for (std::size_t i = 0; i < by_size.size(); ++i) {
    if (by_size[i]->verdict != NcclVerdict::slow) continue;
    const auto slow = std::ranges::count_if(
        by_size.begin() + static_cast<std::ptrdiff_t>(i), by_size.end(),
        [](const NcclJudgedSize* s) { return s->verdict == NcclVerdict::slow; });
    if (static_cast<double>(slow) >= kMost * static_cast<double>(by_size.size() - i))
      return by_size[i]->bytes;
  }
  return std::nullopt;
}

std::optional<NcclPlateau> plateau_of(const RunMachine& m,
                                      const std::vector<NcclJudgedSize>& sizes) {
  const NcclJudgedSize* best = nullptr;
  for (const NcclJudgedSize& s : sizes)
    if (s.bytes >= kLong && (!best || s.busbw > best->busbw)) best = &s;
  if (!best) return std::nullopt;
  NcclPlateau out{.bytes = best->bytes, .busbw = best->busbw, .expected = best->expected_busbw};
  if (m.platform && m.what) {
    auto light = predict::nccl::speed_of_light(*m.platform, *m.what);
    out.light = light.bus_gb_per_s;
    out.light_why = std::move(light.why);
  }
  return out;
}

void remark(const RunMachine& m, NcclJudgedRun& out) {
  if (!m.platform || !m.what || !out.plateau || out.slow) return;
  const Platform& p = *m.platform;
  const double bus = out.plateau->busbw, ports = p.ports / GBps, link = p.nvlink / GBps;
  if (*m.what == Collective::all_reduce && p.domains == 2 && bus > ports && ports > 0)
    out.remarks.push_back(
        fmt::format("{:.0f} GB/s is more than the {:.0f} GB/s of NICs and normal: between two "
                    "nodes each byte crosses once, and the bus factor counts it 2(n-1)/n times",
                    bus, ports));
  if (*m.what == Collective::all_reduce && p.domains == 1 && bus > link && link > 0)
    out.remarks.push_back(
        fmt::format("{:.0f} GB/s is more than the {:.0f} GB/s of NVLink and normal: the NVSwitch "
                    "reduces (NVLS), and the bus factor counts bytes that no longer move",
                    bus, link));
  if (*m.what == Collective::all_gather) {
    double most = 1;
    for (const NcclJudgedSize& a : out.sizes)
      for (const NcclJudgedSize& b : out.sizes)
        if (a.bytes >= kLong && a.bytes == b.bytes && a.buffers == Buffers::out_of_place &&
            b.buffers == Buffers::in_place)
          most = std::max(most, a.us / b.us);
    constexpr double kCopy = 1.05;
    if (most > kCopy)
      out.remarks.emplace_back(
          "out of place is slower than in place because each rank copies its own piece: normal");
  }
}

}  // namespace

MeasuredCurve curve_of(const NcclJudgedRun& run, const RunMachine& machine) {
  MeasuredCurve out{.what = machine.what.value_or(Collective::all_reduce), .mode = machine.mode};
  for (const NcclJudgedSize& s : run.sizes)
    out.points.push_back({.bytes = static_cast<double>(s.bytes),
                          .in_place = s.buffers == Buffers::in_place,
                          .us = s.us});
  return out;
}

NcclJudgedRun judged_run(const facts::CollectiveRun& run, const RunMachine& machine,
                         const Priors& priors) {
  NcclJudgedRun out{.at = run.at,
                    .collective = run.collective,
                    .ranks = machine.ranks,
                    .nodes = machine.nodes,
                    .hosts = machine.hosts,
                    .version = run.nccl_version,
                    .platform = machine.platform,
                    .known_from = machine.from,
                    .assumed = machine.assumed,
                    .sizes = sizes_of(run),
                    .in_job = run.program == "NCCL Inspector"};
  if (machine.platform && machine.what) expect(machine, priors, out.sizes);
  find_dips(machine, priors, out);
  out.slow = is_slow(out.sizes);
  out.first_slow = first_slow(out.sizes);
  out.plateau = plateau_of(machine, out.sizes);
  remark(machine, out);
  return out;
}

}  // namespace railyard::judge::nccl

#include "judge/nccl/run_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "judge/nccl_evidence.h"
#include "predict/words.h"

namespace railyard::judge::nccl {

namespace {

using predict::Collective;
using predict::nccl::Inside;
using predict::nccl::Network;
using predict::nccl::Platform;

/// A reduce moves what a broadcast does, the other way.
std::optional<Collective> collective_of(const std::string& name) {
  if (lower_case(name) == "reduce") return Collective::broadcast;
  return predict::collective_named(name);
}

/// Of bus over algorithm bandwidth, which is 2(n-1)/n or (n-1)/n; the largest size is exact enough.
int ranks_of_factor(const facts::CollectiveRun& run, Collective what) {
  const facts::CollectiveTiming* largest = nullptr;
  for (const auto& p : run.points)
    if (p.algbw_gbs > 10 && (!largest || p.bytes > largest->bytes)) largest = &p;
  if (!largest) return 0;
  const double f = largest->busbw_gbs / largest->algbw_gbs;
  const double rest = what == Collective::all_reduce ? 2 - f : 1 - f;
  const double top = what == Collective::all_reduce ? 2 : 1;
  constexpr double kTooMany = 0.01;  // rounding hides the number of ranks
  if (what == Collective::broadcast || what == Collective::send || rest < kTooMany) return 0;
  return static_cast<int>(std::lround(top / rest));
}

/// The part of a server that the job uses: `gpus` of its GPUs and their share of the NICs.
Platform part_of(Platform whole, int gpus) {
  if (gpus >= whole.gpus) return whole;
  whole.ports *= static_cast<double>(gpus) / whole.gpus;
  whole.gpus = gpus;
  if (gpus == 1) {
    whole.inside = Inside::none;
    whole.nvls = false;
  }
  return whole;
}

void from_system(const NcclMaterial& material, int nics_logged, std::optional<Network> network,
                 RunMachine& out) {
  const NcclMachine& machine = material.machine;
  const auto gpus = static_cast<int>(machine.system->gpus().size());
  if (out.ranks < 2 || gpus < 1) return;
  const int per_node = out.nodes > 0 ? out.ranks / out.nodes : std::min(out.ranks, gpus);
  if (machine.system->hosts == 1 && per_node > gpus) return;  // another machine
  const int per_domain = machine.system->hosts > 1 ? std::min(gpus, out.ranks) : per_node;
  if (per_domain < 1 || out.ranks % per_domain != 0) return;
  const int domains = out.ranks / per_domain;
  Platform whole =
      predict::nccl::platform_of(*machine.system, domains, network.value_or(Network::infiniband));
  if (domains > 1 && whole.ports <= Bandwidth{}) return;
  out.platform = part_of(whole, per_domain);
  out.from = machine.from;
  out.nics = std::max(nics_logged, static_cast<int>(machine.system->nets().size()));
  if (per_domain == gpus)
    out.comm =
        predict::nccl::set_up(*machine.system, {.nodes = domains, .version = machine.version});
  if (domains > 1 && !network) {
    out.network_unsure = true;
    out.assumed.emplace_back("InfiniBand between nodes (say --network)");
  }
}

/// The best bus bandwidth of long messages.
double best_busbw(const facts::CollectiveRun& run) {
  constexpr std::uint64_t kLong = 32 << 20;
  double out = 0;
  for (const auto& p : run.points)
    if (p.bytes >= kLong) out = std::max(out, p.busbw_gbs);
  return out;
}

std::string many(double count, double gb_per_s) {
  return fmt::format("{:.0f} x {:.0f} Gb/s", count, gb_per_s * 8);
}

void from_names(const facts::CollectiveRun& run, int nics_logged, std::optional<Network> network,
                RunMachine& out) {
  const std::string product = product_of(run.devices.front().name);
  const GpuClass* known = gpu_class(product);
  if (!known || out.nodes < 1 || out.ranks < 2 || out.ranks % out.nodes != 0) return;
  for (const auto& d : run.devices)
    if (product_of(d.name) != product) return;
  const int per_node = out.ranks / out.nodes;
  const double best = best_busbw(run);
  // Trays of a rack share NVLink unless they are run without it; a bus bandwidth that the trays'
  // NICs cannot give tells. A tray has a NIC for each of its four GPUs.
  const bool trays = product.starts_with("gb") && per_node <= 4 && out.nodes > 1;
  const auto usual = usual_nics(known->sm);
  Platform p = server_of(product, trays ? out.ranks : per_node);
  p.domains = std::max(1, out.ranks / p.gpus);
  bool rack = trays;
  if (trays) {
    Platform apart = server_of(product, per_node);
    apart.inside = per_node > 1 ? Inside::nvswitch : Inside::none;
    apart.domains = out.nodes;
    apart.network = network.value_or(Network::infiniband);
    apart.ports = per_node * usual.front().gb_per_s * GBps;
    if (best < predict::nccl::speed_of_light(apart, *out.what).bus_gb_per_s) {
      p = apart;
      rack = false;
    }
  }
  out.from = "the device names";
  if (p.inside == Inside::pcie)
    out.assumed.push_back(fmt::format("PCIe Gen{} x16 slots, no NVLink bridges", p.sm < 80   ? 3
                                                                                 : p.sm < 90 ? 4
                                                                                             : 5));
  if (p.domains > 1) {
    const bool server = known->nvlink > 0 && !product.contains("pcie");
    if (usual.empty() || (!server && nics_logged == 0)) return;  // cards: any NIC is possible
    constexpr int kServerGpus = 8;
    const double share = std::min(1.0, static_cast<double>(p.gpus) / kServerGpus);
    const double rate = usual.front().gb_per_s;
    const int used = std::min(nics_logged, per_node * 2);  // a GPU takes a few of many NICs
    p.ports = used * rate * GBps;
    // A cut-off log lists fewer NICs than the server has; no system is faster than its ports.
    if (nics_logged > 0 && best < predict::nccl::speed_of_light(p, *out.what).bus_gb_per_s) {
      out.nics = nics_logged;
      out.assumed.push_back(many(used, rate) +
                            " of NICs a node: as many as the log lists, rate of "
                            "such servers");
    } else {
      p.ports = usual.front().sum() * (rack ? p.gpus / 8.0 : share) * GBps;
      out.assumed.push_back(
          fmt::format("{} of NICs for {} GPUs, as in {} (say --system)",
                      many(usual.front().count * (rack ? p.gpus / 8.0 : share), rate), p.gpus,
                      usual.front().who));
      for (const NicSetup& other : usual.subspan(1))
        out.other_nics.push_back(
            {.ports = other.sum() * share * GBps,
             .what = fmt::format("{} for eight GPUs ({})", many(other.count, other.gb_per_s),
                                 other.who)});
    }
    p.network = network.value_or(Network::infiniband);
    out.network_unsure = !network;
    if (!network) out.assumed.emplace_back("InfiniBand between nodes (say --network)");
  }
  out.platform = p;
}

}  // namespace

RunMachine machine_of(const facts::CollectiveRun& run, const NcclMaterial& material) {
  RunMachine out{.what = collective_of(run.collective)};
  const bool inspector = run.program == "NCCL Inspector";
  if (run.graph.value_or(0) > 0) out.mode = predict::nccl::Mode::graph;
  if (inspector) out.mode = predict::nccl::Mode::kernel;
  for (const auto& d : run.devices) {
    if (std::ranges::find(out.hosts, d.host) == out.hosts.end()) out.hosts.push_back(d.host);
    out.rccl |= is_amd_gpu(product_of(d.name));
  }
  out.rccl |= run.rccl;
  out.ranks = run.ranks.value_or(static_cast<int>(run.devices.size()));
  out.nodes = run.nodes.value_or(static_cast<int>(out.hosts.size()));
  if (out.what && out.ranks == 0) out.ranks = ranks_of_factor(run, *out.what);
  bool split = false;
  for (const auto& d : run.devices) split |= d.group != 0;

  std::optional<Network> network = material.machine.network;
  int nics = 0;
  for (const facts::NcclRun& log : material.logs) {
    if (!network) network = judge::network_of(log);
    nics = std::max(nics, judge::nics_of(log));
    if (out.nodes == 0) out.nodes = judge::nodes_of(log);
  }
  if (out.rccl || split || !out.what) return out;
  if (material.machine.system) {
    from_system(material, nics, network, out);
    if (!out.platform)
      out.unused = fmt::format("{} does not fit {} ranks on {} nodes and was not used",
                               material.machine.from, out.ranks, out.nodes);
  }
  if (!out.platform && !run.devices.empty()) from_names(run, nics, network, out);
  return out;
}

}  // namespace railyard::judge::nccl

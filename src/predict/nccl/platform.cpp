#include "predict/nccl/platform.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "fabric/nics.h"
#include "predict/nccl/paths.h"

namespace railyard::predict::nccl {

namespace {

constexpr std::array<const char*, 7> kInsideNames{
    "none", "PCIe", "NVLink bridge", "NVLink cube", "NVLink mesh", "NVSwitch", "NVLink rack"};
constexpr std::array<const char*, 8> kNetworkNames{"none",      "infiniband", "roce",  "efa",
                                                   "slingshot", "tcpx",       "tcpxo", "sockets"};

/// Payload of one NVLink, one direction. [NVIDIA: 25 GB/s in generations 2 to 4, 50 in 5]
Bandwidth nvlink_payload(int sm) { return (sm >= 100 ? 50.0 : sm >= 70 ? 25.0 : 20.0) * GBps; }

// What a PCIe link carries after its line code, of NCCL's constant: 63.02 GB/s against 48 (Gen5
// x16), 31.5 against 24, 15.75 against 12.
constexpr double kPcieEncodedOverNccl = 63.02 / 48;
// Of that, data: packets of 256 B with headers of 28 B or so. [docs/case.md, item on the slot]
constexpr double kSlotData = 0.895;

Bandwidth nvlink_of(const model::nccl::System& system) {
  Bandwidth least = {};
  for (const NodeIndex g : system.gpus()) {
    const auto& gpu = system.nodes[g];
    double rate = 0;
    for (const LinkIndex l : gpu.links)
      if (system.links[l].kind == model::nccl::LinkKind::nvlink)
        rate += double{system.links[l].gb_per_s};
    const double links = std::round(rate / double{model::nccl::nvlink_gb_per_s(gpu.gpu.sm)});
    const Bandwidth of_gpu = links * nvlink_payload(gpu.gpu.sm);
    if (g == system.gpus().front() || of_gpu < least) least = of_gpu;
  }
  return least;
}

/// All ports together, those of one card no more than its slot carries as data.
Bandwidth ports_of(const model::nccl::System& system) {
  struct Slot {
    double ports = 0, pcie = 0;  // GB/s
  };
  std::map<std::int64_t, Slot> slots;
  std::set<std::pair<std::uint64_t, int>> ports;
  for (const NodeIndex n : system.nets()) {
    const auto& net = system.nodes[n];
    if (!ports.emplace(net.net.asic, net.net.port).second) continue;
    std::int64_t card = -1 - std::int64_t{n};
    double pcie = 0;
    for (const LinkIndex up : net.links) {
      const auto& nic = system.nodes[system.links[up].to];
      for (const LinkIndex l : nic.links)
        if (system.links[l].kind == model::nccl::LinkKind::pci) {
          card = nic.id >> 4;  // of a bus id in hexadecimal, less the function
          pcie = double{system.links[l].gb_per_s} * kPcieEncodedOverNccl * kSlotData;
        }
    }
    Slot& slot = slots[card];
    slot.ports += double{net.net.gb_per_s};
    slot.pcie = std::max(slot.pcie, pcie);
  }
  Bandwidth out = {};
  for (const auto& [card, slot] : slots)
    out += (slot.pcie > 0 ? std::min(slot.ports, slot.pcie) : slot.ports) * GBps;
  return out;
}

Bandwidth pcie_of(const model::nccl::System& system) {
  const auto& gpu = system.nodes[system.gpus().front()];
  for (const LinkIndex l : gpu.links)
    if (system.links[l].kind == model::nccl::LinkKind::pci)
      return double{system.links[l].gb_per_s} * kPcieEncodedOverNccl * GBps;
  return {};
}

Inside inside_of(const model::nccl::System& system, const Paths& paths) {
  const auto gpus = static_cast<int>(system.gpus().size());
  if (gpus == 1) return Inside::none;
  if (nvlink_of(system) <= Bandwidth{}) return Inside::pcie;  // one GPU without holds up the ring
  if (!system.nvswitches().empty()) return system.hosts > 1 ? Inside::rack : Inside::nvswitch;
  int direct = 0, through = 0;
  for (int a = 0; a < gpus; ++a)
    for (int b = 0; b < gpus; ++b) {
      if (a == b) continue;
      direct += paths.gpu_to_gpu(a, b).type == PathType::nvl;
      through += paths.gpu_to_gpu(a, b).type == PathType::nvb;
    }
  if (direct == 0) return Inside::pcie;
  if (direct == gpus * (gpus - 1)) return gpus == 2 ? Inside::bridge : Inside::mesh;
  return through > 0 ? Inside::cube : Inside::bridge;
}

int sockets_of(const model::nccl::System& system, const Paths& paths) {
  std::set<NodeIndex> used;
  for (const NodeIndex g : system.gpus()) {
    NodeIndex nearest = system.cpus().front();
    for (const NodeIndex c : system.cpus())
      if (paths.between(g, c).hops() < paths.between(g, nearest).hops()) nearest = c;
    used.insert(nearest);
  }
  return static_cast<int>(used.size());
}

/// Of the first GPU's slot, after the line code.
Bandwidth slot_of(const model::Server& server) {
  if (server.gpu_at.empty()) return {};
  const model::PcieLink link = server.pcie[server.gpu_at.front()].link;
  constexpr double kGen5 = 63.02;  // GB/s of 16 lanes
  return kGen5 * link.lanes / 16.0 * std::exp2(link.generation - 5) * GBps;
}

Network network_of(const model::Fabric& fabric) {
  switch (fabric.transport) {
    case model::Transport::infiniband: return Network::infiniband;
    case model::Transport::roce: return Network::roce;
    case model::Transport::efa: return Network::efa;
    case model::Transport::tcp: return Network::sockets;
  }
  return Network::infiniband;
}

}  // namespace

const char* name(Inside inside) { return kInsideNames[static_cast<std::size_t>(inside)]; }
const char* name(Network network) { return kNetworkNames[static_cast<std::size_t>(network)]; }

std::optional<Network> network_named(std::string_view text) {
  for (std::size_t i = 0; i < kNetworkNames.size(); ++i)
    if (text == kNetworkNames[i]) return static_cast<Network>(i);
  if (text == "ib") return Network::infiniband;
  if (text == "tcp") return Network::sockets;
  return std::nullopt;
}

Platform platform_of(const model::nccl::System& system, int nodes, Network network) {
  const Paths paths(system, {});
  Platform out{.sm = system.lowest_sm(),
               .inside = inside_of(system, paths),
               .gpus = static_cast<int>(system.gpus().size()),
               .domains = nodes,
               .nvlink = nvlink_of(system),
               .pcie = pcie_of(system),
               .sockets = sockets_of(system, paths)};
  if (out.inside == Inside::pcie) out.nvlink = {};
  if (nodes > 1) {
    out.network = network;
    out.ports = ports_of(system);
  }
  out.nvls = out.inside != Inside::pcie && !system.nvswitches().empty() && out.sm >= 90;
  return out;
}

Platform platform_of(const model::Cluster& cluster, int per_domain, int domains) {
  const model::Server& server = cluster.server;
  const model::ScaleUp scale_up =
      server.islands.empty() ? model::ScaleUp{} : server.islands.front().scale_up;
  const bool switched = scale_up.kind == model::ScaleUpKind::fabric;
  Platform out{.sm = server.accelerator.compute_capability,
               .gpus = per_domain,
               .domains = domains,
               .nvlink = scale_up.total,
               .pcie = slot_of(server),
               .sockets = server.sockets,
               .peer_to_peer = server.peer_to_peer};
  if (per_domain == 1)
    out.inside = Inside::none;
  else if (scale_up.total <= Bandwidth{})
    out.inside = Inside::pcie;
  else if (switched)
    out.inside = server.domain_servers > 1 ? Inside::rack : Inside::nvswitch;
  else
    out.inside = per_domain == 2 ? Inside::bridge : Inside::mesh;
  if (domains > 1) {
    out.network = network_of(cluster.fabric);
    Bandwidth ports = {};
    for (const model::NicPlace& nic : server.nics) {
      // Ports come first; a slot, a chip or a switch port may carry less of it.
      const std::vector<fabric::Limit> limits = fabric::nic_limits(cluster, nic);
      const double share = limits[fabric::smallest(limits)].rate / limits.front().rate;
      ports += nic.part.ports_rate() * share;
    }
    const int gpus = std::max(server.accelerators, 1);
    out.ports = ports * (static_cast<double>(per_domain) / gpus);
  }
  out.nvls = switched && out.sm >= 90;
  return out;
}

}  // namespace railyard::predict::nccl

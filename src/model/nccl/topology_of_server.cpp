#include "model/nccl/topology_of_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

namespace railyard::model::nccl {

namespace {

using facts::NcclCpu;
using facts::NcclGpu;
using facts::NcclNet;
using facts::NcclNic;
using facts::NcclPci;
using facts::NcclTopology;

constexpr const char* kSwitchClass = "0x060400";
constexpr const char* kGpuClass = "0x030200";
constexpr const char* kNvswitchClass = "0x068000";
constexpr const char* kNvswitch = "fffffff:ffff:ff";  // what GPUs report for a switch
constexpr const char* kInfiniband = "0x020700";
constexpr const char* kEthernet = "0x020000";
// What the InfiniBand plugin reports of a device. [NCCL 2.28: src/transport/net_ib.cc]
constexpr int kMostConnections = 131072;
constexpr std::int64_t kFirstGuid = 0xa0000;
// C2C of a Grace superchip is reported as ten links. [nvidia-smi c2c of a GH200; recalled]
constexpr int kC2cLinks = 10;
// Bus 0 to 15 belong to the chipset on most boards, and the first file should look like one.
constexpr int kFirstBus = 0x10, kBuses = 0x100 - kFirstBus;

/// The kernel's text of a speed. [Linux: drivers/pci/probe.c]
std::string speed_text(int generation) {
  constexpr std::array<const char*, 6> kTexts{"2.5 GT/s PCIe",  "5.0 GT/s PCIe",  "8.0 GT/s PCIe",
                                              "16.0 GT/s PCIe", "32.0 GT/s PCIe", "64.0 GT/s PCIe"};
  const int index = std::clamp(generation, 1, static_cast<int>(kTexts.size())) - 1;
  return kTexts[static_cast<std::size_t>(index)];
}

struct CpuKind {
  double peer_stream = 0;  // GB/s that NCCL counts between two of them
  const char *arch = "", *vendor = "";
  int family = 0, model = 0;
};

/// [NCCL 2.28: src/graph/topo.h, the rates; family and model as cpuid has them]
constexpr std::array<CpuKind, 7> kCpus{{{6, "x86_64", "GenuineIntel", 6, 0x4f},
                                        {10, "x86_64", "GenuineIntel", 6, 0x55},
                                        {16, "x86_64", "AuthenticAMD", 25, 0x11},
                                        {22, "x86_64", "GenuineIntel", 6, 0x8f},
                                        {40, "x86_64", "GenuineIntel", 6, 0xcf},
                                        {32, "ppc64", "", 0, 0},
                                        {0, "arm64", "", 0, 0}}};
constexpr const CpuKind& kSapphireRapids = kCpus[3];

const CpuKind& cpu_of(const Server& server) {
  if (server.accelerator.coherent_host_link > Bandwidth{}) return kCpus.back();  // Grace
  const double stream = server.socket_stream.in(GBps);
  for (const CpuKind& kind : kCpus)
    if (kind.peer_stream > 0 && std::abs(kind.peer_stream - stream) < 0.5) return kind;
  return kSapphireRapids;
}

/// Links between accelerators `a` and `b` of an island, and to the switch.
struct Links {
  int to_switch = 0;
  std::vector<std::pair<int, int>> peers = {};  ///< accelerator, count
};

/// The physical links that one accelerator uses: a template may count four of them as one.
int links_of(const ScaleUp& used, const ScaleUp& part) {
  if (part.per_link > Bandwidth{} && used.total > Bandwidth{})
    return std::max(1, static_cast<int>(std::lround(used.total / part.per_link)));
  return std::max(1, used.links);
}

/// The cube mesh of eight Volta GPUs with six links each. [nvidia-smi topo -m of a DGX-1; recalled]
constexpr std::array<std::array<int, 8>, 8> kCubeMesh{{{0, 1, 1, 2, 2, 0, 0, 0},
                                                       {1, 0, 2, 1, 0, 2, 0, 0},
                                                       {1, 2, 0, 2, 0, 0, 1, 0},
                                                       {2, 1, 2, 0, 0, 0, 0, 1},
                                                       {2, 0, 0, 0, 0, 1, 1, 2},
                                                       {0, 2, 0, 0, 1, 0, 2, 1},
                                                       {0, 0, 1, 0, 1, 2, 0, 2},
                                                       {0, 0, 0, 1, 2, 1, 2, 0}}};

Links links_of(const Island& island, int gpu, const ScaleUp& part) {
  Links out;
  const int own = gpu - island.first;
  const int links = island.scale_up.kind == ScaleUpKind::none ? 0 : links_of(island.scale_up, part);
  switch (island.scale_up.kind) {
    case ScaleUpKind::none: break;
    case ScaleUpKind::fabric: out.to_switch = links; break;
    case ScaleUpKind::bridge:  // pairs; an odd last one stays alone
      if ((own ^ 1) < island.count) out.peers.emplace_back(island.first + (own ^ 1), links);
      break;
    case ScaleUpKind::mesh: {
      const bool cube = island.count == 8 && links == 6;
      for (int peer = 0; peer < island.count; ++peer) {
        const int count =
            cube ? kCubeMesh[static_cast<std::size_t>(own)][static_cast<std::size_t>(peer)]
                 : std::max(1, links / std::max(1, island.count - 1));
        if (peer != own && count > 0) out.peers.emplace_back(island.first + peer, count);
      }
      break;
    }
  }
  return out;
}

class Builder {
 public:
  Builder(const Server& server, const Fabric& fabric) : server_(server), fabric_(fabric) {
    children_.resize(server.pcie.size());
    for (std::uint32_t i = 0; i < server.pcie.size(); ++i)
      if (const PcieNode& node = server.pcie[PcieId{i}]; node.kind != PcieKind::root)
        children_[node.parent.index].push_back(PcieId{i});
  }

  NcclTopology build() {
    NcclTopology out;
    // AMD's library has a version of its own.
    out.rccl = server_.accelerator.compute_capability == 0;
    out.version = out.rccl ? 2 : 1;
    std::map<int, NcclCpu> sockets;
    for (std::uint32_t i = 0; i < server_.pcie.size(); ++i) {
      const PcieNode& node = server_.pcie[PcieId{i}];
      if (node.kind != PcieKind::root) continue;
      std::vector<NcclPci> devices;
      for (const PcieId child : children_[i]) device(child, devices);
      if (devices.empty()) continue;
      NcclCpu& cpu = sockets[node.socket];
      for (NcclPci& d : devices) add(cpu.pci, std::move(d));
    }
    for (auto& [socket, cpu] : sockets) {
      describe(cpu, socket);
      out.cpus.push_back(std::move(cpu));
    }
    for (NcclCpu& cpu : out.cpus)
      for (NcclPci& pci : cpu.pci) scale_up(pci);
    return out;
  }

 private:
  static void add(std::vector<NcclPci>& to, NcclPci pci) {
    pci.position = static_cast<int>(to.size());
    to.push_back(std::move(pci));
  }

  std::string next_bus() {
    const int n = devices_++;
    return fmt::format("{:04x}:{:02x}:00.", n / kBuses, kFirstBus + n % kBuses);
  }

  NcclPci pci(const PcieNode& node, std::string busid, const char* device_class) const {
    NcclPci out;
    out.busid = std::move(busid);
    out.device_class = device_class;
    out.link_speed = speed_text(node.link.generation);
    out.link_width = node.link.lanes;
    return out;
  }

  void device(PcieId id, std::vector<NcclPci>& to) {
    const PcieNode& node = server_.pcie[id];
    switch (node.kind) {
      case PcieKind::bridge: bridge(id, node, to); break;
      case PcieKind::accelerator: gpu(node, to); break;
      case PcieKind::nic: nic(node, to); break;
      case PcieKind::root:
      case PcieKind::nvme:
      case PcieKind::cxl: break;
    }
  }

  /// NCCL cuts away switches with nothing for it below.
  void bridge(PcieId id, const PcieNode& node, std::vector<NcclPci>& to) {
    NcclPci out = pci(node, next_bus() + "0", kSwitchClass);
    for (const PcieId child : children_[id.index]) device(child, out.below);
    for (std::size_t i = 0; i < out.below.size(); ++i) out.below[i].position = static_cast<int>(i);
    if (!out.below.empty()) add(to, std::move(out));
  }

  void gpu(const PcieNode& node, std::vector<NcclPci>& to) {
    const Accelerator& part = server_.accelerator;
    NcclPci out = pci(node, next_bus() + "0", kGpuClass);
    if (const std::size_t colon = part.pci_id.find(':'); colon != std::string::npos) {
      out.vendor = "0x" + part.pci_id.substr(0, colon);
      out.device = "0x" + part.pci_id.substr(colon + 1);
    }
    NcclGpu gpu;
    gpu.dev = gpu.rank = static_cast<int>(node.index);
    if (part.compute_capability > 0) gpu.sm = part.compute_capability;
    gpu.gdr = server_.gpu_direct ? 1 : 0;
    if (part.coherent_host_link > Bandwidth{})
      gpu.c2c.push_back({.bandwidth_mbps = static_cast<int>(
                             std::lround(part.coherent_host_link.in(GBps) * 1000 / kC2cLinks)),
                         .count = kC2cLinks});
    out.gpu = std::move(gpu);
    busid_of_[static_cast<int>(node.index)] = out.busid;
    add(to, std::move(out));
  }

  /// A function of the card for each port; NCCL puts functions of one device together again.
  void nic(const PcieNode& node, std::vector<NcclPci>& to) {
    const Nic& part = server_.nics[node.index].part;
    const std::string bus = next_bus();
    const bool infiniband = fabric_.transport == Transport::infiniband;
    const bool direct = server_.gpu_direct && fabric_.transport != Transport::tcp;
    for (int port = 0; port < part.ports; ++port) {
      NcclPci out = pci(node, bus + std::to_string(port), infiniband ? kInfiniband : kEthernet);
      NcclNet net;
      net.dev = nets_++;
      net.name = "mlx5_" + std::to_string(*net.dev);
      net.latency = 0;
      net.speed_mbps = static_cast<int>(std::lround(part.port_rate.in(Gbps) * 1000));
      net.port = port + 1;
      net.guid = fmt::format("{:#x}", kFirstGuid + node.index);
      net.maxconn = kMostConnections;
      net.gdr = direct ? 1 : 0;
      NcclNic holder;
      holder.nets.push_back(std::move(net));
      out.nics.push_back(std::move(holder));
      add(to, std::move(out));
    }
  }

  void describe(NcclCpu& cpu, int socket) const {
    const CpuKind& kind = cpu_of(server_);
    cpu.numaid = socket;
    cpu.arch = kind.arch;
    if (kind.family == 0) return;
    cpu.vendor = kind.vendor;
    cpu.family = kind.family;
    cpu.model = kind.model;
  }

  /// Only now every GPU has its bus id.
  void scale_up(NcclPci& pci) {
    for (NcclPci& below : pci.below) scale_up(below);
    if (!pci.gpu) return;
    const int own = *pci.gpu->dev;
    for (const Island& island : server_.islands) {
      if (own < island.first || own >= island.first + island.count) continue;
      const Links links = links_of(island, own, server_.accelerator.scale_up);
      if (links.to_switch > 0)
        pci.gpu->nvlinks.push_back(
            {.target = kNvswitch, .count = links.to_switch, .target_class = kNvswitchClass});
      for (const auto& [peer, count] : links.peers)
        pci.gpu->nvlinks.push_back(
            {.target = busid_of_[peer], .count = count, .target_class = kGpuClass});
    }
  }

  const Server& server_;
  const Fabric& fabric_;
  std::vector<std::vector<PcieId>> children_ = {};
  std::map<int, std::string> busid_of_ = {};
  int devices_ = 0, nets_ = 0;
};

}  // namespace

NcclTopology topology_of(const Server& server, const Fabric& fabric) {
  return Builder(server, fabric).build();
}

NcclTopology topology_of(const Cluster& cluster) {
  return topology_of(cluster.server, cluster.fabric);
}

}  // namespace railyard::model::nccl

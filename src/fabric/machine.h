#pragma once
// The cluster as a collective sees it: per-accelerator and per-server rates, each with the name of
// the limit that set it.
//
// A rate is the minimum over the parts on the path: the port, the chip, the slot, the switch
// uplink, the fabric. Every candidate is kept, so that an explanation can show what would come
// next.

#include <memory>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "model/cluster.h"
#include "model/nccl/system.h"

namespace railyard::fabric {

/// One candidate for the bottleneck of a path. Rates are payload, one direction.
struct Limit {
  std::string name = {};  ///< "ports of cx7-400g", "PCIe 5.0 x16 slot", "leaf uplink", ...
  Bandwidth rate = {};
  std::string why = {};  ///< the sum that gives the rate, with numbers
};

enum class PathClass : std::uint8_t { same, scale_up, pcie_switch, host_bridge, socket, network };

struct GpuAddress {
  int server = 0, gpu = 0;
};

/// What one stream between two accelerators gets when nothing else runs.
struct Path {
  PathClass kind = PathClass::same;
  Seconds latency = {};
  std::vector<Limit> limits = {};  ///< in the order of the path
  std::size_t binding = 0;         ///< index of the smallest

  Bandwidth bandwidth() const { return limits.empty() ? Bandwidth{} : limits[binding].rate; }
};
Path path(const model::Cluster& cluster, GpuAddress from, GpuAddress to);

/// Payload that a PCIe link carries in one direction: line code, then TLP headers at max payload
/// `mps`, then acks and credits. Gen5 x16 at 256 B: 56.4 GB/s (451 Gb/s); 55.4 were measured.
/// [counting of UCX src/ucs/sys/topo/base/topo.c: 26 B per TLP, 16 B of ack and credit per four]
Bandwidth pcie_payload(model::PcieLink link, int mps = 256);
/// After line code only.
Bandwidth pcie_encoded(model::PcieLink link);
/// "PCIe 5.0 x16"
std::string name(model::PcieLink link);
/// Data that a network port carries in one direction when every packet is full.
Bandwidth network_payload(Bandwidth port, model::Transport transport, int mtu);
/// Switches between two servers; `same_rail`: both ends use the NIC of the same index.
int switch_hops(const model::Cluster& cluster, int from_server, int to_server,
                bool same_rail = true);

/// A run of accelerators of one server that reach each other in one way.
struct IslandView {
  int first = 0, count = 0;
  model::ScaleUpKind kind = model::ScaleUpKind::none;
  int reach = 1;  ///< accelerators in one scale-up domain; may span servers; 1: PCIe only
  /// Per accelerator in a ring over the island: scale-up, else what PCIe leaves each.
  Bandwidth bandwidth = {};

  bool operator==(const IslandView&) const = default;
};

/// The whole cluster, flattened for the predictor.
struct Machine {
  model::Accelerator gpu = {};
  int servers = 1, gpus_per_server = 8;
  int domain = 8;  ///< accelerators in one scale-up domain; may span servers (NVL72), or be less
                   ///< than a server's (islands), or 1. Of the best island where they differ
  std::vector<IslandView> islands = {};
  bool uniform = true;      ///< false: islands differ, `domain` does not hold for all accelerators
  int smallest_domain = 8;  ///< the reach that every accelerator has: what a job over all counts on

  model::ScaleUpKind scale_up_kind = model::ScaleUpKind::none;
  int scale_up_generation = 0;
  Bandwidth scale_up = {};  ///< per accelerator, one direction, inside a domain
  Seconds scale_up_latency = {};
  /// Slowest pair of neighbours (0-1, 1-2, ...) in a server that no scale-up joins, alone; where
  /// all are joined: what PCIe would give.
  Bandwidth peer = {};
  Bandwidth peer_shared = {};           ///< the same for each when all of a server do so at once
  std::vector<Limit> peer_limits = {};  ///< candidates for `peer`, then the one that sharing adds

  int nics_per_server = 1;
  Bandwidth nic = {};                 ///< one NIC's payload after port, chip and slot
  Bandwidth network_per_server = {};  ///< all NICs at once, after shared PCIe links
  double oversubscription = 1;        ///< of traffic that leaves the leaf
  /// A server's share of the leaf uplinks when all send upward: data rate of its ports divided by
  /// oversubscription. Not network_per_server divided by it: a NIC that its slot limits may not
  /// notice.
  Bandwidth uplink_per_server = {};
  int servers_per_leaf = 0;      ///< 0: all
  Seconds network_latency = {};  ///< one way between accelerators of two servers, small message
  model::Transport transport = model::Transport::infiniband;
  bool gpu_direct = true;
  /// Farthest accelerator from a NIC that it uses. NCCL's default has GPUDirect up to pcie_switch.
  PathClass nic_distance = PathClass::pcie_switch;

  Bandwidth host_link = {};         ///< accelerator to host memory, alone
  Bandwidth host_link_shared = {};  ///< per accelerator when all move at once
  Bandwidth host_memory = {};       ///< per server
  Bytes host_capacity = {}, cxl_capacity = {};
  Bandwidth cxl = {};  ///< per server
  int host_cores = 0;

  std::vector<Limit> network_limits = {};  ///< candidates for network_per_server
  std::size_t network_binding = 0;
  std::vector<Limit> scale_up_limits = {};
  double straggler = 0;
  double power_share = 1;  ///< power limit over the part's own, where one is set
  double fabric_efficiency = 0;
  /// A server as NCCL sees it; none where NCCL does not run.
  std::shared_ptr<const model::nccl::System> nccl = {};
};
Machine summarise(const model::Cluster& cluster);

}  // namespace railyard::fabric

#include "model/fabric_reader.h"

#include <algorithm>
#include <cmath>

#include "base/measure.h"
#include "model/server/part_reader.h"

namespace railyard::model {

namespace {

// One switch, where neither the file nor the catalogue says. InfiniBand: 0.13 us (Quantum) to 0.33
// us (claims for Quantum-2). Ethernet: 0.4 us (SN4700) to 0.8 us (51.2T chips), cut-through.
constexpr Seconds kInfinibandHop = 0.3 * us, kEthernetHop = 0.6 * us;

// RDMA packets carry up to 4 KiB; plain Ethernet frames 1500 B; EFA jumbo frames, of which 8 KiB
// are taken as data (AWS sets 9001 B on its networks).
int default_mtu(Transport t) {
  switch (t) {
    case Transport::tcp: return 1500;
    case Transport::efa: return 8192;
    case Transport::infiniband:
    case Transport::roce: break;
  }
  return 4096;
}

const std::vector<std::pair<std::string, FabricKind>> kKinds = {
    {"none", FabricKind::none},
    {"direct", FabricKind::direct},
    {"single-switch", FabricKind::single_switch},
    {"fat-tree", FabricKind::fat_tree},
    {"rail", FabricKind::rail},
    {"dragonfly", FabricKind::dragonfly}};
const std::vector<std::pair<std::string, Transport>> kTransports = {
    {"infiniband", Transport::infiniband},
    {"roce", Transport::roce},
    {"tcp", Transport::tcp},
    {"efa", Transport::efa}};

// Ports of all NICs of one server.
int ports(const Server& server) {
  int n = 0;
  for (const NicPlace& nic : server.nics) n += nic.part.ports;
  return n;
}

// A wide switch port splits into NIC ports of half or a quarter (800G: two of 400G, four of 200G).
int radix(const NetworkSwitch& s, Bandwidth port) {
  if (s.ports == 0 || s.port_rate <= Bandwidth{} || port <= Bandwidth{}) return 0;
  const double fits = std::floor(s.port_rate / port);
  return s.ports * static_cast<int>(std::clamp(fits, 1.0, 4.0));
}

// NVIDIA's InfiniBand switches are the Quantum family; all others of the catalogue are Ethernet.
bool is_infiniband(const NetworkSwitch& s) { return s.id.starts_with("quantum"); }

int down_ports(int radix, double oversubscription) {
  return static_cast<int>(radix * oversubscription / (1 + oversubscription) + 1e-9);
}

void settle_leaf(Cluster& c, std::vector<Misfit>& wrong) {
  Fabric& f = c.fabric;
  const int per_server = f.kind == FabricKind::rail ? 1 : std::max(ports(c.server), 1);
  const int k =
      c.server.nics.empty() ? 0 : radix(f.network_switch, c.server.nics.front().part.port_rate);
  if (f.kind == FabricKind::direct || f.kind == FabricKind::single_switch) {
    f.servers_per_leaf = c.servers;
    f.tiers = f.kind == FabricKind::direct ? 0 : 1;
    if (f.kind == FabricKind::single_switch && k > 0 && c.servers * per_server > k)
      wrong.push_back(
          {"kind",
           "a fabric with " + std::to_string(c.servers * per_server) + " ports for the servers",
           "one switch with " + std::to_string(k) + " such ports",
           "use kind: fat-tree, or another switch"});
    return;
  }
  if (f.servers_per_leaf == 0 && k > 0)
    f.servers_per_leaf = std::max(down_ports(k, f.oversubscription) / per_server, 1);
  if (f.servers_per_leaf == 0 || f.servers_per_leaf > c.servers) f.servers_per_leaf = c.servers;
  if (k > 0 && f.servers_per_leaf * per_server > k)
    wrong.push_back({"servers_per_leaf",
                     "at most " + std::to_string(k / per_server) + " servers on one leaf",
                     std::to_string(f.servers_per_leaf),
                     "a leaf " + f.network_switch.id + " has " + std::to_string(k) +
                         " ports at this rate, a server takes " + std::to_string(per_server)});
  if (f.tiers == 0) {
    const int leaves = (c.servers + f.servers_per_leaf - 1) / f.servers_per_leaf;
    f.tiers = leaves <= 1 ? 1 : (k > 0 && leaves > k ? 3 : 2);
  }
}

}  // namespace

Fabric read_fabric(const yaml::Document& document, const yaml::Node& node, const Catalog& catalog,
                   Problems& problems) {
  Fabric out{.tiers = 0, .mtu = 0};
  if (node.kind == yaml::Kind::scalar && node.scalar == "none") {
    out.kind = FabricKind::none;
    return out;
  }
  yaml::Fields f(document, node, problems, "the fabric (or the word none)");
  if (!f.is_map()) return out;
  f.need("kind");
  f.choice("kind", kKinds, out.kind);
  if (out.kind != FabricKind::none) f.need("transport");
  f.choice("transport", kTransports, out.transport);
  server::read_part(f, "switch", server::switch_kind(catalog), out.network_switch);
  f.number("oversubscription", out.oversubscription, 1, 64);
  f.integer("servers_per_leaf", out.servers_per_leaf, 1, 1 << 20);
  f.integer("tiers", out.tiers, 1, 3);
  f.integer("mtu", out.mtu, 256, 9216);
  f.seconds("hop", out.hop);
  f.fraction("efficiency", out.efficiency);
  f.done();
  return out;
}

std::vector<Misfit> settle_fabric(Cluster& c) {
  std::vector<Misfit> wrong;
  Fabric& f = c.fabric;
  if (c.servers > 1 && f.kind == FabricKind::none) {
    wrong.push_back({"kind", "a fabric, for there are " + std::to_string(c.servers) + " servers",
                     "none", "one of direct, single-switch, fat-tree, rail, dragonfly"});
    return wrong;
  }
  if (c.servers > 1 && c.server.nics.empty())
    wrong.push_back({"kind", "servers with at least one NIC", "none",
                     "add nics: {part: cx7-400g, count: 8} to the server"});
  if (f.kind == FabricKind::direct && c.servers != 2)
    wrong.push_back({"kind", "two servers on a direct cable", std::to_string(c.servers),
                     "use kind: single-switch"});
  const bool rdma = f.transport == Transport::infiniband || f.transport == Transport::roce;
  if (rdma && f.mtu > 4096)
    wrong.push_back({"mtu", "an RDMA MTU of at most 4096 bytes", std::to_string(f.mtu),
                     "9000 is an Ethernet frame; RDMA packets inside carry 4096"});
  const bool quantum = is_infiniband(f.network_switch);
  if (!f.network_switch.id.empty() && f.kind != FabricKind::none &&
      quantum != (f.transport == Transport::infiniband) &&
      (quantum || f.network_switch.vendor == "nvidia"))
    wrong.push_back(
        {"switch", quantum ? "an Ethernet switch" : "an InfiniBand switch",
         "'" + f.network_switch.id + "'",
         quantum ? "Quantum switches speak InfiniBand only" : "write transport: roce or tcp"});
  if (f.mtu == 0) f.mtu = default_mtu(f.transport);
  if (f.hop <= Seconds{}) f.hop = f.network_switch.latency;
  if (f.hop <= Seconds{})
    f.hop = f.transport == Transport::infiniband ? kInfinibandHop : kEthernetHop;
  settle_leaf(c, wrong);
  return wrong;
}

}  // namespace railyard::model

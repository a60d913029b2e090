// What a network port carries: the share of the line rate that is data when every packet is full.

#include "fabric/machine.h"

namespace railyard::fabric {

namespace {

// Bytes on the wire that are not data, per packet.
// Ethernet: preamble 8, header 14, checksum 4, gap 12. [IEEE 802.3]
constexpr double kEthernet = 38;
constexpr double kIpv4 = 20, kUdp = 8;
// TCP header 20 with the timestamp option 12, which Linux sends. [RFC 9293, RFC 7323]
constexpr double kTcp = 32;
// InfiniBand: local route header 8, base transport header 12, invariant and variant checksum 4 + 2.
// RoCEv2 keeps the transport header and the invariant checksum. [InfiniBand specification, annex
// A17]
constexpr double kInfiniBand = 26, kRoce = kEthernet + kIpv4 + kUdp + 12 + 4;

}  // namespace

Bandwidth network_payload(Bandwidth port, model::Transport transport, int mtu) {
  const double m = mtu;
  switch (transport) {
    case model::Transport::infiniband: return port * (m / (m + kInfiniBand));
    case model::Transport::tcp:  // the IP packet, headers included, is what the MTU limits
      return port * ((m - kIpv4 - kTcp) / (m + kEthernet));
    case model::Transport::roce:
    case model::Transport::efa:  // the headers of SRD are not published; taken as those of RoCE
      break;
  }
  return port * (m / (m + kRoce));
}

int switch_hops(const model::Cluster& c, int from_server, int to_server, bool same_rail) {
  const model::Fabric& f = c.fabric;
  if (from_server == to_server) return 0;
  const int per_leaf = f.servers_per_leaf > 0 ? f.servers_per_leaf : c.servers;
  const bool same_leaf = from_server / per_leaf == to_server / per_leaf;
  const int up_and_down = f.tiers >= 3 ? 5 : 3;
  switch (f.kind) {
    case model::FabricKind::none:
    case model::FabricKind::direct: return 0;
    case model::FabricKind::single_switch: return 1;
    case model::FabricKind::fat_tree: return same_leaf ? 1 : up_and_down;
    case model::FabricKind::rail:  // each rail has its leaf; between rails the way leads over a
                                   // spine
      return same_leaf && same_rail ? 1 : up_and_down;
    case model::FabricKind::dragonfly:  // own router, gateway, gateway of the other group, its
                                        // router
      return same_leaf ? 1 : 4;
  }
  return 0;
}

}  // namespace railyard::fabric

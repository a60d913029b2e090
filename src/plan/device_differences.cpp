// What can differ between two servers: cards, slots, memory on slots.

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/measure.h"
#include "plan/detail/respect.h"
#include "predict/words.h"

namespace railyard::plan::detail {

namespace {

using model::PcieId;
using model::Server;

std::string text(int n) { return std::to_string(n); }

auto values(const model::Nic& n) {
  return std::tuple(n.ports, n.port_rate, n.chip_limit, n.latency);
}
bool same_nics(const Server& a, const Server& b) {
  return std::ranges::equal(
      a.nics, b.nics, {}, [](const auto& n) { return values(n.part); },
      [](const auto& n) { return values(n.part); });
}

/// "8 x cx7-400g (400 Gb/s)", kinds in order of appearance.
std::string nics_in_words(const Server& s) {
  std::vector<std::pair<const model::Nic*, int>> kinds;
  for (const model::NicPlace& place : s.nics) {
    const auto known =
        std::ranges::find_if(kinds, [&](const auto& k) { return k.first->id == place.part.id; });
    if (known == kinds.end())
      kinds.emplace_back(&place.part, 1);
    else
      ++known->second;
  }
  std::string out;
  for (const auto& [part, n] : kinds)
    out += (out.empty() ? "" : ", ") + text(n) + " x " + part->id + " (" + text(part->ports) +
           " x " + show_bits(part->port_rate) + ")";
  return out.empty() ? "none" : out;
}

/// How a device hangs in the tree, from its own link up to the root.
std::string way_up(const Server& s, PcieId at) {
  std::string out;
  for (;;) {
    const model::PcieNode& node = s.pcie[at];
    out += text(static_cast<int>(node.kind)) + ':' + text(node.link.generation) + 'x' +
           text(node.link.lanes) + (node.behind_pch ? "p" : "") + '/';
    if (node.parent == at) return out + text(node.socket);
    at = node.parent;
  }
}

/// Everything about the tree that accelerators and NICs notice.
std::string tree_of(const Server& s) {
  std::string out;
  for (const PcieId gpu : s.gpu_at) out += way_up(s, gpu) + ' ';
  for (const model::NicPlace& nic : s.nics) out += way_up(s, nic.at) + ' ';
  return out;
}
auto bus_values(const Server& s) {
  return std::tuple(s.socket_stream, s.gpu_direct, s.peer_to_peer, s.root_complex_share,
                    s.max_payload, s.acs_redirect, s.pch_link.generation, s.pch_link.lanes);
}

bool same_shape(const Server& a, const Server& b) {
  return a.accelerators == b.accelerators && a.nics.size() == b.nics.size();
}

/// The tree with all that it refers to; CXL memory and drives keep their place and lose their
/// contents unless `to` had them: they are a change of their own.
void take_tree(Server& to, const Server& from) {
  const std::vector<model::CxlMemory> cxl = to.cxl;
  to.pcie = from.pcie;
  to.gpu_at = from.gpu_at;
  to.nics = from.nics;
  to.nvme = from.nvme;
  to.cxl = from.cxl;
  for (std::size_t i = 0; i < to.cxl.size(); ++i) {
    to.cxl[i].capacity = i < cxl.size() ? cxl[i].capacity : Bytes{};
    to.cxl[i].bandwidth = i < cxl.size() ? cxl[i].bandwidth : Bandwidth{};
  }
  to.socket_stream = from.socket_stream;
  to.gpu_direct = from.gpu_direct;
  to.peer_to_peer = from.peer_to_peer;
  to.root_complex_share = from.root_complex_share;
  to.max_payload = from.max_payload;
  to.acs_redirect = from.acs_redirect;
  to.pch_link = from.pch_link;
  to.sockets = from.sockets;
}

auto switch_values(const model::Fabric& f) {
  return std::tuple(f.network_switch.id, f.network_switch.ports, f.network_switch.port_rate);
}

/// Card and switch are one change: a port runs at the rate that both ends have.
std::string network_in_words(const model::Cluster& c) {
  std::string out = nics_in_words(c.server);
  if (!c.fabric.network_switch.id.empty()) out += " on " + c.fabric.network_switch.id;
  return out;
}

void take_network(Workload& to, const Workload& from) {
  model::Fabric& fabric = to.cluster.fabric;
  fabric.network_switch = from.cluster.fabric.network_switch;
  fabric.hop = from.cluster.fabric.hop;
  fabric.tiers = from.cluster.fabric.tiers;
  fabric.servers_per_leaf = std::min(from.cluster.fabric.servers_per_leaf, to.cluster.servers);
  Server& s = to.cluster.server;
  const Server& f = from.cluster.server;
  if (s.nics.size() == f.nics.size()) {
    for (std::size_t i = 0; i < s.nics.size(); ++i) s.nics[i].part = f.nics[i].part;
  } else if (s.accelerators == f.accelerators) {
    take_tree(s, f);  // another number of cards is another tree
  }
}

void take_slots(Workload& to, const Workload& from) {
  Server& s = to.cluster.server;
  const Server& f = from.cluster.server;
  if (same_shape(s, f)) {
    take_tree(s, f);
  } else if (s.nics.size() == f.nics.size()) {
    for (std::size_t i = 0; i < s.nics.size(); ++i)
      s.pcie[s.nics[i].at].link = f.pcie[f.nics[i].at].link;
  }
}

std::string slots_in_words(const Server& s) {
  const std::string way = s.gpu_direct ? "" : ", no GPUDirect";
  if (s.nics.empty()) return "no NIC" + way;
  return "PCIe " + text(s.pcie[s.nics.front().at].link.generation) + ".0 x" +
         text(s.pcie[s.nics.front().at].link.lanes) + way;
}

/// Slots are compared among servers of one shape; of others, the links of the NICs.
bool same_slots(const Server& a, const Server& b) {
  if (same_shape(a, b)) return tree_of(a) == tree_of(b) && bus_values(a) == bus_values(b);
  if (a.nics.size() != b.nics.size()) return true;  // goes with the accelerators
  for (std::size_t i = 0; i < a.nics.size(); ++i) {
    const model::PcieLink x = a.pcie[a.nics[i].at].link, y = b.pcie[b.nics[i].at].link;
    if (x.generation != y.generation || x.lanes != y.lanes) return false;
  }
  return true;
}

Bytes cxl_capacity(const Server& s) {
  Bytes sum{};
  for (const model::CxlMemory& c : s.cxl) sum += c.capacity;
  return sum;
}
bool same_cxl(const Server& a, const Server& b) {
  return std::ranges::equal(a.cxl, b.cxl, [](const auto& x, const auto& y) {
    return x.capacity == y.capacity && x.bandwidth == y.bandwidth;
  });
}
void take_cxl(Workload& to, const Workload& from) {
  Server& s = to.cluster.server;
  const Server& f = from.cluster.server;
  // The devices are leaves of the tree: where the servers are alike but for them, the tree comes
  // along.
  if (same_shape(s, f)) take_tree(s, f);
  if (s.cxl.size() == f.cxl.size()) s.cxl = f.cxl;
}

}  // namespace

const Respect kNic = {"NIC and its switch",
                      [](const Workload& a, const Workload& b) {
                        return same_nics(a.cluster.server, b.cluster.server) &&
                               switch_values(a.cluster.fabric) == switch_values(b.cluster.fabric);
                      },
                      [](const Workload& s) { return network_in_words(s.cluster); }, take_network};

const Respect kSlot = {"PCIe link of the NIC",
                       [](const Workload& a, const Workload& b) {
                         return same_slots(a.cluster.server, b.cluster.server);
                       },
                       [](const Workload& s) { return slots_in_words(s.cluster.server); },
                       take_slots};

const Respect kCxl = {"CXL memory",
                      [](const Workload& a, const Workload& b) {
                        return same_cxl(a.cluster.server, b.cluster.server);
                      },
                      [](const Workload& s) { return show(cxl_capacity(s.cluster.server)); },
                      take_cxl};

}  // namespace railyard::plan::detail

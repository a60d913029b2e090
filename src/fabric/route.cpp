#include "fabric/route.h"

#include <algorithm>

#include "base/measure.h"

namespace railyard::fabric {

namespace {

using model::PcieId;
using model::PcieKind;
using model::Server;

// The node and all above it, up to the root port.
std::vector<PcieId> ancestry(const Server& s, PcieId from) {
  std::vector<PcieId> out = {from};
  while (s.pcie[out.back()].parent != out.back()) out.push_back(s.pcie[out.back()].parent);
  return out;
}

// All root ports of a chipset share its one link to the socket; the first of them stands for it.
PcieId pch_of(const Server& s, int socket) {
  std::uint32_t i = 0;
  for (const model::PcieNode& node : s.pcie) {
    if (node.kind == PcieKind::root && node.behind_pch && node.socket == socket) return {i};
    ++i;
  }
  return {};
}

// Everything from a device up to, not including, the node where the way turns; a root port counts
// only behind a chipset.
struct Climb {
  PcieId device = {}, turn = {};
  bool up = false;
};
void climb(const Server& s, Climb leg, Route& way) {
  const bool up = leg.up;
  std::vector<Hop> hops;
  PcieId at = leg.device;
  for (; at != leg.turn && s.pcie[at].kind != PcieKind::root; at = s.pcie[at].parent) {
    hops.push_back({at, up});
    way.latency += s.pcie[at].latency;
  }
  if (s.pcie[at].kind == PcieKind::root && s.pcie[at].behind_pch)
    hops.push_back({pch_of(s, s.pcie[at].socket), up});
  if (!up) std::ranges::reverse(hops);
  way.links.insert(way.links.end(), hops.begin(), hops.end());
}

}  // namespace

Route route(const Server& s, Ends ends) {
  const auto [from, to] = ends;
  Route way{.from_socket = s.pcie[from].socket, .to_socket = s.pcie[to].socket};
  const std::vector<PcieId> a = ancestry(s, from), b = ancestry(s, to);
  const auto meet = std::ranges::find_first_of(a, b);
  const bool below_switch = meet != a.end() && s.pcie[*meet].kind != PcieKind::root;
  if (below_switch && !s.acs_redirect) {
    way.kind = PathClass::pcie_switch;
    climb(s, {from, *meet, true}, way);
    climb(s, {to, *meet, false}, way);
    way.latency += s.pcie[*meet].latency;
    return way;
  }
  way.kind = way.from_socket == way.to_socket ? PathClass::host_bridge : PathClass::socket;
  climb(s, {from, a.back(), true}, way);
  climb(s, {to, b.back(), false}, way);
  return way;
}

Route route_to_host(const Server& s, PcieId from) {
  Route way{.kind = PathClass::host_bridge,
            .from_socket = s.pcie[from].socket,
            .to_socket = s.pcie[from].socket,
            .memory_passes = 1};
  climb(s, {from, ancestry(s, from).back(), true}, way);
  return way;
}

Route route_from_host(const Server& s, PcieId to) {
  Route way{.kind = PathClass::host_bridge,
            .from_socket = s.pcie[to].socket,
            .to_socket = s.pcie[to].socket,
            .memory_passes = 1};
  climb(s, {to, ancestry(s, to).back(), false}, way);
  return way;
}

Route route_staged(const Server& s, Ends ends) {
  Route way = route_to_host(s, ends.from);
  const Route back = route_from_host(s, ends.to);
  way.links.insert(way.links.end(), back.links.begin(), back.links.end());
  way.latency += back.latency;
  way.memory_passes = 2;
  // Memory of the sender's socket; the receiver reads across, which is no peer traffic and so not
  // held to the peer rate of the socket link.
  way.kind = way.from_socket == back.to_socket ? PathClass::host_bridge : PathClass::socket;
  return way;
}

Route peer_route(const Server& s, int from_gpu, int to_gpu) {
  const Ends ends{.from = s.gpu_at[static_cast<std::size_t>(from_gpu)],
                  .to = s.gpu_at[static_cast<std::size_t>(to_gpu)]};
  if (!s.peer_to_peer) return route_staged(s, ends);
  Route way = route(s, ends);
  if (way.kind != PathClass::pcie_switch) way.share = s.root_complex_share;
  return way;
}

Bandwidth link_payload(const Server& s, PcieId below) {
  if (s.pcie[below].kind == PcieKind::root) return pcie_payload(s.pch_link, s.max_payload);
  const Bandwidth pcie = pcie_payload(s.pcie[below].link, s.max_payload);
  return s.pcie[below].kind == PcieKind::accelerator ? max(pcie, s.accelerator.coherent_host_link)
                                                     : pcie;
}

std::string link_name(const Server& s, PcieId below) {
  const model::PcieNode& node = s.pcie[below];
  if (node.kind == PcieKind::root) return "link of the chipset (PCH), " + name(s.pch_link);
  const std::string link = name(node.link);
  if (node.kind == PcieKind::bridge) return "uplink of " + node.label + ", " + link;
  if (node.kind == PcieKind::accelerator &&
      s.accelerator.coherent_host_link > pcie_payload(node.link, s.max_payload))
    return "coherent link of " + node.label;
  return "slot of " + node.label + ", " + link;
}

std::string slot_sum(const Server& s, model::PcieLink link) {
  return show_bits(pcie_encoded(link)) + " after line code; packet headers at MPS " +
         std::to_string(s.max_payload) + ", acks and credits leave " +
         show_bits(pcie_payload(link, s.max_payload));
}

std::vector<Limit> limits_alone(const Server& s, const Route& way) {
  std::vector<Limit> out;
  for (const Hop& hop : way.links) {
    const bool chipset = s.pcie[hop.below].kind == PcieKind::root;
    const model::PcieLink link = chipset ? s.pch_link : s.pcie[hop.below].link;
    Limit limit{.name = link_name(s, hop.below), .rate = link_payload(s, hop.below)};
    limit.why = limit.rate > pcie_payload(link, s.max_payload)
                    ? show(limit.rate) + " between processor and accelerator, one direction"
                    : slot_sum(s, link);
    if (way.share < 1) {
      limit.rate *= way.share;
      limit.why += "; the root complex cuts peer traffic into small packets, which keeps " +
                   show_percent(way.share);
    }
    out.push_back(std::move(limit));
  }
  if (way.kind == PathClass::socket && way.memory_passes == 0 && s.socket_stream > Bandwidth{})
    out.push_back({"link between sockets", s.socket_stream,
                   "what peer traffic gets across sockets, all flows together"});
  if (way.memory_passes > 0 && s.host_memory_per_socket > Bandwidth{})
    out.push_back({"host memory", s.host_memory_per_socket / way.memory_passes,
                   show(s.host_memory_per_socket) + " a socket, every byte passes " +
                       std::to_string(way.memory_passes) + " times"});
  return out;
}

Load::Load(const Server& server)
    : server_(server),
      up_(server.pcie.size()),
      down_(server.pcie.size()),
      crossing_(static_cast<std::size_t>(server.sockets * server.sockets)),
      memory_(static_cast<std::size_t>(server.sockets)) {}

void Load::add(const Route& way, Bandwidth amount) {
  // Small packets of a root complex take more of the wire for the same data.
  const Bandwidth on_wire = amount / way.share;
  for (const Hop& hop : way.links) (hop.up ? up_ : down_)[hop.below.index] += on_wire;
  if (way.kind == PathClass::socket && way.memory_passes == 0)
    crossing_[static_cast<std::size_t>(way.from_socket * server_.sockets + way.to_socket)] +=
        amount;
  memory_[static_cast<std::size_t>(way.from_socket)] += way.memory_passes * amount;
}

Load::Tightest Load::tightest() const {
  Tightest out;
  const auto offer = [&](Bandwidth capacity, Bandwidth used, const auto& say) {
    if (used <= Bandwidth{} || capacity <= Bandwidth{}) return;
    const double factor = capacity / used;
    if (factor < out.factor * (1 - 1e-9)) {
      out.factor = factor;
      say();
    }
  };
  for (std::uint32_t i = 0; i < up_.size(); ++i) {
    const PcieId node{i};
    const auto say = [&] {
      out.name = link_name(server_, node);
      out.why = show(link_payload(server_, node)) + " in one direction, shared by what crosses it";
    };
    offer(link_payload(server_, node), max(up_[i], down_[i]), say);
  }
  for (const Bandwidth& used : crossing_)
    offer(server_.socket_stream, used, [&] {
      out.name = "link between sockets";
      out.why =
          show(server_.socket_stream) + " of peer traffic in one direction, shared by all flows";
    });
  for (const Bandwidth& used : memory_)
    offer(server_.host_memory_per_socket, used, [&] {
      out.name = "host memory";
      out.why = show(server_.host_memory_per_socket) + " a socket, read and written by all flows";
    });
  return out;
}

}  // namespace railyard::fabric

// One stream between two accelerators, and everything that could limit it.

#include <algorithm>

#include "base/measure.h"
#include "fabric/latency.h"
#include "fabric/machine.h"
#include "fabric/nics.h"
#include "fabric/route.h"
#include "fabric/scale_up.h"

namespace railyard::fabric {

namespace {

using model::Cluster;
using model::Server;

// From an accelerator out to the wire, or from the wire in.
struct Exit {
  std::vector<Limit> limits = {};
  Seconds latency = {};
};

Exit way_out(const Cluster& c, int gpu) {
  const Server& s = c.server;
  Exit out;
  const model::PcieId at = s.gpu_at[static_cast<std::size_t>(gpu)];
  const std::vector<int> nics = nics_of(s, gpu);
  const model::NicPlace& nic = s.nics[static_cast<std::size_t>(nics.front())];
  const Route way = direct_to_nic(c) ? route(s, {at, nic.at}) : route_staged(s, {at, nic.at});
  out.latency = way.latency;
  for (Limit& l : limits_alone(s, way))
    if (l.name != link_name(s, nic.at)) out.limits.push_back(std::move(l));
  const int n = static_cast<int>(nics.size());
  std::vector<Limit> of_nic = nic_limits(c, nic);
  std::ranges::reverse(of_nic);  // slot, chip, port: the order of the way out
  for (Limit& l : of_nic) {
    if (n > 1) {
      l.name = std::to_string(n) + " x " + l.name;
      l.rate *= n;
      l.why = "each: " + l.why;
    }
    out.limits.push_back(std::move(l));
  }
  return out;
}

// Of equal limits the one nearest to the wire: more accelerators than this one meet it.
std::size_t tightest_outward(const std::vector<Limit>& limits) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < limits.size(); ++i)
    if (limits[i].rate <= limits[best].rate) best = i;
  return best;
}

Path network_path(const Cluster& c, GpuAddress from, GpuAddress to) {
  Path out{.kind = PathClass::network};
  if (c.server.nics.empty()) return out;
  const model::Nic& part = c.server.nics.front().part;
  Exit near = way_out(c, from.gpu), far = way_out(c, to.gpu);
  const bool same_rail = nics_of(c.server, from.gpu) == nics_of(c.server, to.gpu);
  const int hops = switch_hops(c, from.server, to.server, same_rail);
  out.latency = nic_latency(c, part) + hops * c.fabric.hop + near.latency + far.latency;
  out.limits = std::move(near.limits);
  if (hops > 1 && c.fabric.oversubscription > 1) {
    const Bandwidth down = network_payload(part.ports_rate(), c.fabric.transport, c.fabric.mtu) *
                           static_cast<double>(c.server.nics.size() *
                                               static_cast<std::size_t>(c.fabric.servers_per_leaf));
    out.limits.push_back({"leaf uplinks", down / c.fabric.oversubscription,
                          show_bits(down) + " of server ports / " +
                              show_number(c.fabric.oversubscription) + ", all to this stream"});
  }
  out.binding = tightest_outward(out.limits);
  // Servers are equal, so only the worse of two different accelerators adds anything.
  if (from.gpu != to.gpu)
    for (Limit& l : far.limits)
      if (std::ranges::find(out.limits, l.name, &Limit::name) == out.limits.end()) {
        l.name = "receiver: " + l.name;
        out.limits.push_back(std::move(l));
        if (out.limits.back().rate < out.bandwidth()) out.binding = out.limits.size() - 1;
      }
  return out;
}

}  // namespace

Path path(const Cluster& c, GpuAddress from, GpuAddress to) {
  Path out;
  if (from.server == to.server && from.gpu == to.gpu) {
    out.limits = {{"device memory", c.server.accelerator.memory / 2, "read and written"}};
  } else if (joined(c, from, to)) {
    out.kind = PathClass::scale_up;
    out.latency = kScaleUpHop;
    out.limits = {pair_limit(island_of(c.server, from.gpu).scale_up)};
  } else if (from.server == to.server) {
    const Route way = peer_route(c.server, from.gpu, to.gpu);
    out.kind = way.kind;
    out.latency = kPcieHop + way.latency;
    out.limits = limits_alone(c.server, way);
  } else {
    return network_path(c, from, to);
  }
  out.binding = smallest(out.limits);
  return out;
}

}  // namespace railyard::fabric

#include "fabric/nics.h"

#include <algorithm>
#include <tuple>

#include "base/measure.h"

namespace railyard::fabric {

namespace {

using model::Server;

// Nearer is smaller: kind of way first, then links on it.
using Distance = std::tuple<PathClass, std::size_t>;

Distance distance(const Server& s, int gpu, std::size_t nic) {
  const Route way = route(s, {s.gpu_at[static_cast<std::size_t>(gpu)], s.nics[nic].at});
  return {way.kind, way.links.size()};
}

struct Nearest {
  Distance distance = {};
  std::vector<int> nics = {};
};

Nearest nearest(const Server& s, int gpu) {
  Nearest out;
  for (std::size_t n = 0; n < s.nics.size(); ++n) {
    const Distance d = distance(s, gpu, n);
    if (out.nics.empty() || d < out.distance) out = {d, {}};
    if (d == out.distance) out.nics.push_back(static_cast<int>(n));
  }
  return out;
}

std::string_view name(model::Transport t) {
  switch (t) {
    case model::Transport::infiniband: return "InfiniBand";
    case model::Transport::roce: return "RoCEv2";
    case model::Transport::tcp: return "TCP";
    case model::Transport::efa: return "EFA";
  }
  return "";
}

}  // namespace

std::vector<std::vector<Feeder>> feeders(const Server& s) {
  std::vector<std::vector<Feeder>> out(s.nics.size());
  if (s.nics.empty()) return out;
  for (const model::Island& island : s.islands) {
    const bool joined = island.scale_up.kind == model::ScaleUpKind::fabric ||
                        island.scale_up.kind == model::ScaleUpKind::mesh;
    std::vector<std::pair<int, Nearest>> carriers;
    for (int g = island.first; g < island.first + island.count; ++g)
      carriers.emplace_back(g, nearest(s, g));
    if (joined) {
      const Distance best = std::ranges::min(carriers, {}, [](const auto& c) {
                              return c.second.distance;
                            }).second.distance;
      std::erase_if(carriers, [&](const auto& c) { return c.second.distance != best; });
    }
    const double each = static_cast<double>(island.count) / static_cast<double>(carriers.size());
    for (const auto& [gpu, near] : carriers)
      for (const int nic : near.nics)
        out[static_cast<std::size_t>(nic)].push_back(
            {gpu, each / static_cast<double>(near.nics.size())});
  }
  for (std::vector<Feeder>& list : out) {
    double sum = 0;
    for (const Feeder& f : list) sum += f.share;
    for (Feeder& f : list) f.share /= sum;
  }
  return out;
}

std::vector<int> nics_of(const Server& s, int gpu) {
  Nearest near = nearest(s, gpu);
  if (std::get<0>(near.distance) != PathClass::pcie_switch && near.nics.size() > 1) {
    // Several on the host: accelerators spread over them.
    near.nics = {near.nics[static_cast<std::size_t>(gpu) % near.nics.size()]};
  }
  return near.nics;
}

std::vector<Limit> nic_limits(const model::Cluster& c, const model::NicPlace& nic) {
  const model::Nic& part = nic.part;
  const model::Fabric& f = c.fabric;
  const auto payload = [&](Bandwidth line) { return network_payload(line, f.transport, f.mtu); };
  const std::string how = std::string(name(f.transport)) + " at MTU " + std::to_string(f.mtu);
  std::vector<Limit> out;
  const std::string ports = std::to_string(part.ports) + " x " + show_bits(part.port_rate);
  out.push_back(
      {"ports of " + part.id, payload(part.ports_rate()),
       ports + ", " + how + " leaves " + show_bits(payload(part.ports_rate())) + " of data"});
  const Bandwidth far = f.network_switch.port_rate;
  if (far > Bandwidth{} && far < part.port_rate)
    out.push_back(
        {"switch port of " + f.network_switch.id, payload(part.ports * far),
         std::to_string(part.ports) + " x " + show_bits(far) + " at the other end of the cable"});
  if (part.chip_limit > Bandwidth{})
    out.push_back(
        {"chip of " + part.id, payload(part.chip_limit),
         "the silicon moves " + show_bits(part.chip_limit) + " in all, whatever the ports"});
  const model::PcieLink link = c.server.pcie[nic.at].link;
  const Bandwidth slot = pcie_payload(link, c.server.max_payload);
  out.push_back({"slot of " + part.id + ", " + name(link), slot, slot_sum(c.server, link)});
  return out;
}

std::size_t smallest(const std::vector<Limit>& limits) {
  const auto it = std::ranges::min_element(limits, {}, &Limit::rate);
  return static_cast<std::size_t>(it - limits.begin());
}

bool direct_to_nic(const model::Cluster& c) {
  return c.server.gpu_direct && c.fabric.transport != model::Transport::tcp;
}

}  // namespace railyard::fabric

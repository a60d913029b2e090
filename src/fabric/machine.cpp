// The cluster in the numbers that a predictor needs.

#include "fabric/machine.h"

#include <algorithm>

#include "base/measure.h"
#include "fabric/latency.h"
#include "fabric/nics.h"
#include "fabric/route.h"
#include "fabric/scale_up.h"
#include "model/nccl/system_of_server.h"

namespace railyard::fabric {

namespace {

using model::Cluster;
using model::Server;

// One flow each way between neighbours of a ring over accelerators [first, first + count).
struct Neighbours {
  int from = 0, to = 0;
};
std::vector<Neighbours> ring(int first, int count) {
  std::vector<Neighbours> out;
  for (int i = 0; i < count && count > 1; ++i) out.push_back({first + i, first + (i + 1) % count});
  return out;
}

// What each flow gets when all run at once and none gets more than another.
struct Shared {
  Bandwidth rate = {};
  Load::Tightest by = {};
};
Shared shared(const Server& s, const std::vector<Neighbours>& flows) {
  if (flows.empty()) return {};
  const Bandwidth unit = 1.0 * GBps;
  Load load(s);
  for (const Neighbours& f : flows) load.add(peer_route(s, f.from, f.to), unit);
  Shared out{.by = load.tightest()};
  out.rate = unit * out.by.factor;
  return out;
}

void summarise_islands(const Cluster& c, Machine& m) {
  const Server& s = c.server;
  const model::Island* best = nullptr;
  for (const model::Island& island : s.islands) {
    IslandView view{.first = island.first,
                    .count = island.count,
                    .kind = island.scale_up.kind,
                    .reach = reach(c, island),
                    .bandwidth = island.scale_up.total};
    if (view.kind == model::ScaleUpKind::none || view.kind == model::ScaleUpKind::bridge) {
      // A ring over all of the island crosses PCIe even where pairs have bridges.
      std::vector<Neighbours> flows = ring(island.first, island.count);
      std::erase_if(flows, [&](Neighbours f) { return joined(c, {0, f.from}, {0, f.to}); });
      if (!flows.empty()) view.bandwidth = shared(s, flows).rate;
    }
    if (!best || island.scale_up.total > best->scale_up.total) best = &island;
    m.islands.push_back(view);
  }
  if (!best) return;
  m.domain = reach(c, *best);
  m.scale_up_kind = best->scale_up.kind;
  m.scale_up_generation = best->scale_up.generation;
  m.scale_up = m.domain > 1 ? best->scale_up.total : Bandwidth{};
  m.scale_up_latency = kScaleUpHop;
  if (m.domain > 1) m.scale_up_limits = {pair_limit(best->scale_up)};
  m.smallest_domain = m.domain;
  for (const IslandView& view : m.islands) {
    m.smallest_domain = std::min(m.smallest_domain, view.reach);
    if (view.count != m.islands.front().count || view.kind != m.islands.front().kind ||
        view.reach != m.islands.front().reach)
      m.uniform = false;
  }
}

void summarise_peers(const Cluster& c, Machine& m) {
  const Server& s = c.server;
  std::vector<Neighbours> flows = ring(0, s.accelerators);
  if (flows.empty()) return;
  std::vector<Neighbours> apart = flows;
  std::erase_if(apart, [&](Neighbours f) { return joined(c, {0, f.from}, {0, f.to}); });
  if (!apart.empty()) flows = std::move(apart);
  for (const Neighbours& f : flows) {
    std::vector<Limit> limits = limits_alone(s, peer_route(s, f.from, f.to));
    const Bandwidth rate = limits[smallest(limits)].rate;
    if (m.peer_limits.empty() || rate < m.peer) {
      m.peer = rate;
      m.peer_limits = std::move(limits);
    }
  }
  const Shared all = shared(s, flows);
  m.peer_shared = min(all.rate, m.peer);
  m.peer_limits.push_back({all.by.name + ", all at once", all.rate, all.by.why});
}

// A NIC's own slot is a limit of that NIC and shared with nobody.
void without_slot(Route& way, model::PcieId nic) {
  std::erase_if(way.links, [&](const Hop& hop) { return hop.below == nic; });
}

// Traffic of all NICs in both directions on the links that it shares.
Load network_load(const Cluster& c, const std::vector<std::vector<Feeder>>& from,
                  const std::vector<Bandwidth>& rate) {
  const Server& s = c.server;
  const bool direct = direct_to_nic(c);
  Load load(s);
  for (std::size_t n = 0; n < s.nics.size(); ++n) {
    const model::PcieId nic = s.nics[n].at;
    for (const Feeder& f : from[n]) {
      const model::PcieId gpu = s.gpu_at[static_cast<std::size_t>(f.gpu)];
      Route out = direct ? route(s, {gpu, nic}) : route_staged(s, {gpu, nic});
      Route in = direct ? route(s, {nic, gpu}) : route_staged(s, {nic, gpu});
      for (Route* way : {&out, &in}) {
        without_slot(*way, nic);
        // The kernel copies between its own buffers and the program's: one more read and write.
        if (c.fabric.transport == model::Transport::tcp) way->memory_passes += 2;
        load.add(*way, f.share * rate[n]);
      }
    }
  }
  return load;
}

// The farthest way from an accelerator to a NIC that it uses.
PathClass farthest(const Server& s, const std::vector<std::vector<Feeder>>& from) {
  PathClass out = PathClass::pcie_switch;
  for (std::size_t n = 0; n < from.size(); ++n)
    for (const Feeder& f : from[n])
      out = std::max(out, route(s, {s.gpu_at[static_cast<std::size_t>(f.gpu)], s.nics[n].at}).kind);
  return out;
}

// Adds what one NIC can do to the sums over all; candidates of the same name are added up.
void add_up(std::vector<Limit>& sums, std::vector<int>& numbers, std::vector<Limit> one) {
  for (Limit& l : one) {
    const auto it = std::ranges::find(sums, l.name, &Limit::name);
    if (it == sums.end()) {
      sums.push_back(std::move(l));
      numbers.push_back(1);
    } else {
      it->rate += l.rate;
      ++numbers[static_cast<std::size_t>(it - sums.begin())];
    }
  }
}

void summarise_network(const Cluster& c, Machine& m) {
  const Server& s = c.server;
  m.nics_per_server = static_cast<int>(s.nics.size());
  m.transport = c.fabric.transport;
  m.gpu_direct = direct_to_nic(c);
  m.oversubscription = c.fabric.oversubscription;
  m.servers_per_leaf = c.fabric.servers_per_leaf;
  m.fabric_efficiency = c.fabric.efficiency;
  if (s.nics.empty() || c.fabric.kind == model::FabricKind::none) return;

  std::vector<std::vector<Feeder>> from = feeders(s);
  std::vector<Bandwidth> rate(s.nics.size());
  std::vector<int> numbers;
  Bandwidth ports, own;
  int used = 0;
  for (std::size_t n = 0; n < s.nics.size(); ++n) {
    if (from[n].empty()) continue;
    ++used;
    std::vector<Limit> limits = nic_limits(c, s.nics[n]);
    rate[n] = limits[smallest(limits)].rate;
    m.nic = used == 1 ? rate[n] : min(m.nic, rate[n]);
    own += rate[n];
    ports += limits.front().rate;
    add_up(m.network_limits, numbers, std::move(limits));
  }
  const bool alike = std::ranges::all_of(numbers, [&](int k) { return k == used; });
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] > 1) {
      m.network_limits[i].name = std::to_string(numbers[i]) + " x " + m.network_limits[i].name;
      m.network_limits[i].why = "each: " + m.network_limits[i].why;
    }
  if (!alike)  // sums by part say nothing about the whole where NICs differ
    m.network_limits = {
        {"NICs of several kinds", own, "each NIC by its own port, chip and slot, added up"}};
  m.nic_distance = farthest(s, from);
  const Load::Tightest tight = network_load(c, from, rate).tightest();
  m.network_limits.push_back(
      {"shared in the server: " + tight.name, own * tight.factor,
       tight.why + "; data " +
           (m.gpu_direct ? "goes straight between accelerator and NIC" : "passes host memory")});
  m.network_binding = smallest(m.network_limits);
  m.network_per_server = m.network_limits[m.network_binding].rate;
  m.uplink_per_server = ports / c.fabric.oversubscription;
  if (c.servers > 1) m.network_latency = path(c, {0, 0}, {c.servers - 1, 0}).latency;
}

void summarise_host(const Cluster& c, Machine& m) {
  const Server& s = c.server;
  Load load(s);
  const Bandwidth unit = 1.0 * GBps;
  for (const model::PcieId gpu : s.gpu_at) {
    const Route way = route_from_host(s, gpu);
    const std::vector<Limit> limits = limits_alone(s, way);
    const Bandwidth alone = limits[smallest(limits)].rate;
    m.host_link = m.host_link > Bandwidth{} ? min(m.host_link, alone) : alone;
    load.add(way, unit);
  }
  m.host_link_shared = min(unit * load.tightest().factor, m.host_link);
  m.host_memory = s.sockets * s.host_memory_per_socket;
  m.host_capacity = s.host_memory;
  m.host_cores = s.host_cores;
  for (const model::PcieNode& node : s.pcie) {
    if (node.kind != model::PcieKind::cxl) continue;
    const model::CxlMemory& part = s.cxl[node.index];
    // A narrower slot than the part was measured in gives that much less.
    const double slot =
        pcie_payload(node.link) / pcie_payload({part.pcie_generation, part.pcie_lanes});
    m.cxl_capacity += part.capacity;
    m.cxl += std::min(slot, 1.0) * part.bandwidth;
  }
}

}  // namespace

Machine summarise(const Cluster& c) {
  Machine m{
      .gpu = c.server.accelerator, .servers = c.servers, .gpus_per_server = c.server.accelerators};
  if (c.power_limit > Watts{}) {
    if (m.gpu.power > c.power_limit) m.power_share = c.power_limit / m.gpu.power;
    m.gpu.power = c.power_limit;
  }
  m.straggler = c.straggler;
  summarise_islands(c, m);
  summarise_peers(c, m);
  summarise_network(c, m);
  summarise_host(c, m);
  if (auto system = model::nccl::system_of(c.server, c.fabric))
    m.nccl = std::make_shared<const model::nccl::System>(*std::move(system));
  return m;
}

}  // namespace railyard::fabric

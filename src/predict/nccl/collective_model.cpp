#include "predict/nccl/collective_model.h"

#include <algorithm>

namespace railyard::predict::nccl {

namespace {

Network network_of(model::Transport transport) {
  switch (transport) {
    case model::Transport::infiniband: return Network::infiniband;
    case model::Transport::roce: return Network::roce;
    case model::Transport::efa: return Network::efa;
    case model::Transport::tcp: return Network::sockets;
  }
  return Network::infiniband;
}

}  // namespace

StepCollectives::StepCollectives(const fabric::Machine& machine, const Calibration& calibration)
    : link_law_(machine, calibration),
      priors_(calibration.collectives),
      ports_per_server_(machine.network_per_server),
      uplinks_per_server_(machine.uplink_per_server),
      gpus_per_server_(std::max(machine.gpus_per_server, 1)),
      servers_per_leaf_(machine.servers_per_leaf),
      domain_(std::max(machine.uniform ? machine.domain : machine.smallest_domain, 1)),
      nvidia_(machine.gpu.compute_capability >= 70) {
  node_.sm = machine.gpu.compute_capability;
  node_.nvlink = machine.scale_up;
  node_.inside = domain_ > gpus_per_server_                            ? Inside::rack
                 : machine.scale_up_kind == model::ScaleUpKind::fabric ? Inside::nvswitch
                                                                       : Inside::bridge;
  node_.nvls = machine.scale_up_kind == model::ScaleUpKind::fabric && node_.sm >= 90;
  // With an efficiency of its own the fabric file knows better than the class.
  node_.network = network_of(machine.transport);
}

bool StepCollectives::law_knows(const Group& g) const {
  if (!nvidia_ || priors_.bands.empty()) return false;
  if (g.per_server > g.per_domain) return false;  // islands joined by PCIe
  return g.per_domain == 1 || node_.nvlink > Bandwidth{};
}

Platform StepCollectives::platform_of(Collective what, const Group& g) const {
  Platform out = node_;
  out.gpus = g.per_domain;
  out.domains = g.domains;
  if (out.gpus == 1) out.inside = Inside::none;
  if (out.domains < 2) return out;
  const double servers = std::max(1.0, static_cast<double>(domain_) / gpus_per_server_);
  // All groups of the kind run at once: each gets its ranks' share of the servers' ports.
  const double share = static_cast<double>(g.per_domain) / domain_;
  Bandwidth ports = ports_per_server_ * servers * share;
  const bool beyond_leaf = servers_per_leaf_ > 0 && g.servers > servers_per_leaf_;
  if (beyond_leaf && uplinks_per_server_ > Bandwidth{}) {
    const double crossing = what == Collective::all_to_all ? 1.0 : 1.0 / servers_per_leaf_;
    ports = min(ports, uplinks_per_server_ * (servers * share / crossing));
  }
  out.ports = ports;
  out.pcie = 2.0 * ports;  // the slot is already in the ports' rate
  return out;
}

CollectiveTime StepCollectives::time(Collective what, Bytes size, const Group& g) const {
  if (g.ranks <= 1 || size <= Bytes{}) return {};
  if (what == Collective::send || !law_knows(g)) return link_law_.time(what, size, g);
  const Platform platform = platform_of(what, g);
  const TimeParts parts = time_of(
      platform, {.what = what, .bytes = size.si(), .in_place = true, .mode = Mode::graph}, priors_);
  CollectiveTime out{.time = parts.total * us};
  const BandClass& band = priors_.band(static_cast<std::int64_t>(size.si()));
  out.band = std::max(-band.low, band.high);
  out.binding = parts.latency + parts.fill > parts.transfer ? Binding::latency
                : parts.network_binds                       ? Binding::network
                                                            : Binding::scale_up;
  return out;
}

}  // namespace railyard::predict::nccl

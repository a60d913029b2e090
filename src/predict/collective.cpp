#include "predict/collective.h"

#include <algorithm>
#include <cmath>

namespace railyard::predict {

const char* name(Binding b) {
  switch (b) {
    case Binding::none: return "nothing to send";
    case Binding::latency: return "latency";
    case Binding::scale_up: return "scale-up link";
    case Binding::pcie: return "PCIe between accelerators";
    case Binding::network: return "network";
  }
  return "";
}

Group make_group(const fabric::Machine& m, int ranks, int stride) {
  stride = std::max(stride, 1);
  Group g{.ranks = ranks, .stride = stride};
  // ranks 0, stride, 2 stride, ... that are below `size`
  const auto within = [&](int size) { return std::clamp((size + stride - 1) / stride, 1, ranks); };
  // Where islands differ, the group in the worst of them sets the pace of a job over all.
  g.per_domain = within(m.uniform ? m.domain : m.smallest_domain);
  g.per_server =
      std::max(within(m.gpus_per_server), std::min(g.per_domain, within(m.gpus_per_server)));
  g.domains = (ranks + g.per_domain - 1) / g.per_domain;
  g.servers = (ranks + g.per_server - 1) / g.per_server;
  return g;
}

namespace {

double transport_efficiency(const fabric::Machine& m, const Constants& c) {
  if (m.fabric_efficiency > 0) return m.fabric_efficiency;
  switch (m.transport) {
    case model::Transport::infiniband: return c.network_infiniband;
    case model::Transport::roce: return c.network_roce;
    case model::Transport::tcp: return c.network_tcp;
    case model::Transport::efa: return c.network_efa;
  }
  return c.network_roce;
}

/// Bytes through a rank's busiest link, over the size.
double traffic(Collective what, double n) {
  switch (what) {
    case Collective::all_reduce: return 2 * (n - 1) / n;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all: return (n - 1) / n;
    case Collective::broadcast:
    case Collective::send: return 1;
  }
  return 1;
}

}  // namespace

LinkLawModel::LinkLawModel(const fabric::Machine& m, const Calibration& calibration)
    : servers_per_leaf_(m.servers_per_leaf > 0 ? m.servers_per_leaf : 1e9),
      oversubscription_(std::max(m.oversubscription, 1.0)),
      c_(calibration.constants),
      wire_latency_(m.network_latency) {
  const GpuRates& rates = calibration.of(m.gpu);
  scale_up_ = rates.scale_up * m.scale_up;
  scale_up_reduce_ = rates.all_reduce * m.scale_up;
  peer_ = c_.pcie_ring * m.peer_shared;
  network_per_gpu_ =
      transport_efficiency(m, c_) * m.network_per_server / std::max(m.gpus_per_server, 1);
  if (m.scale_up_kind == model::ScaleUpKind::mesh) mesh_ = m.domain;
}

CollectiveTime LinkLawModel::time(Collective what, Bytes size, const Group& g) const {
  if (g.ranks <= 1 || size <= Bytes{}) return {};
  const double n = g.ranks;
  const Bytes moved = traffic(what, n) * size;

  // In a ring each member passes everything to the next, so the slowest link sets the pace. Inside
  // a domain that is the member's scale-up rate; a mesh of eight gives a group of two one link of
  // seven.
  Bandwidth inside = what == Collective::all_reduce ? scale_up_reduce_ : scale_up_;
  if (mesh_ > 0) inside = inside * std::min(1.0, (g.per_domain - 1) / (mesh_ - 1.0));
  CollectiveTime out;
  double slowest = 0;  // seconds
  if (g.per_domain > 1) {
    const double share = what == Collective::all_to_all ? (g.per_domain - 1) / (n - 1) : 1.0;
    slowest = share * moved.si() / inside.si();
    out.binding = Binding::scale_up;
  }
  if (g.per_server > g.per_domain) {
    const double t = moved.si() / peer_.si();
    if (t > slowest) {
      slowest = t;
      out.binding = Binding::pcie;
    }
  }
  if (g.servers > 1 && g.domains > 1) {
    // A ring leaves a server (or a domain of several) once, through all NICs that the group's
    // members there own; an all-to-all sends to every foreign rank, and up the leaf for those
    // beyond it.
    Bandwidth out_rate = network_per_gpu_ * std::max(g.per_domain, g.per_server);
    double share = 1;
    if (what == Collective::all_to_all) {
      const double in_leaf = std::min(n, servers_per_leaf_ * g.per_server);
      share = (n - g.per_domain) / (n - 1);
      const double beyond = (n - in_leaf) / (n - 1);
      share = std::max(share, beyond * oversubscription_);
      out_rate = network_per_gpu_;
    } else if (what == Collective::send) {
      out_rate = network_per_gpu_;
    } else if (g.servers > servers_per_leaf_) {
      // one server's worth of ring traffic crosses each leaf's uplinks
      out_rate = min(out_rate, out_rate * (servers_per_leaf_ / oversubscription_));
    }
    const double t = share * moved.si() / out_rate.si();
    if (t > slowest) {
      slowest = t;
      out.binding = Binding::network;
    }
  }

  const double mib = size.in(MiB);
  const double fill = std::sqrt(mib * c_.root_saturates / (mib + c_.root_saturates));
  const bool leaves = g.servers > 1 && g.domains > 1;
  const double doublings = leaves ? std::log2(static_cast<double>(g.domains)) : 0;
  double latency = c_.scale_up_base + c_.scale_up_root * fill;
  // The gather and the scatter fill one pipeline, the all-reduce two.
  if (what != Collective::all_reduce) latency = c_.scale_up_base + 0.5 * c_.scale_up_root * fill;
  latency += doublings * (c_.network_base + c_.network_root * fill);
  // A broadcast is passed on from rank to rank: every hop counts, and nothing else runs meanwhile.
  if (what == Collective::broadcast)
    latency += (g.ranks - g.domains) * c_.scale_up_hop + (g.domains - 1) * c_.network_hop;
  if (leaves) latency += 2 * wire_latency_.si();
  if (what == Collective::send) latency = c_.pipeline_send + (leaves ? wire_latency_.si() : 0);
  if (latency > slowest) out.binding = Binding::latency;
  out.time = Seconds::si(slowest + latency);
  return out;
}

}  // namespace railyard::predict

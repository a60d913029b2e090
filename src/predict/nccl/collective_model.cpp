#include "predict/nccl/collective_model.h"

#include <algorithm>
#include <cmath>

#include "predict/nccl/communicator.h"
#include "predict/nccl/expect.h"

namespace railyard::predict::nccl {

namespace {

constexpr double kSmallest = 256;  // B, of the table of choices
constexpr int kHalfOctaves = 60;   // up to 191 GiB

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
      nvidia_(machine.gpu.compute_capability >= 70),
      server_(machine.nccl),
      graphs_(calibration.graphs) {
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

const StepCollectives::Picks& StepCollectives::picks_of(const Group& g) const {
  const std::lock_guard lock(guard_);
  // Of the group's place only which GPUs of a server it has matters.
  const auto [at, fresh] =
      picks_.try_emplace({g.per_domain, g.domains, g.per_domain > 1 ? g.stride : 1});
  if (!fresh) return at->second;
  std::vector<int> gpus;
  const auto all = static_cast<int>(server_->gpus().size());
  for (int i = 0; i < g.per_domain && i * g.stride < all; ++i)
    gpus.push_back(g.per_domain > 1 ? i * g.stride : i);
  const Communicator comm =
      set_up_with(model::nccl::with_gpus(*server_, gpus), graphs_->between_nodes(*server_, gpus),
                  {.nodes = g.domains});
  for (const Function f : {Function::broadcast, Function::all_gather, Function::reduce_scatter,
                           Function::all_reduce}) {
    auto& list = at->second[static_cast<std::size_t>(f)];
    for (int i = 0; i < kHalfOctaves; ++i) {
      const auto choice =
          choose(comm, f, static_cast<std::int64_t>(kSmallest * std::exp2(i / 2.0)));
      list.push_back(choice ? Pick{choice->pick.algorithm} : Pick{});
    }
  }
  return at->second;
}

StepCollectives::Pick StepCollectives::pick_of(Collective what, Bytes size, const Group& g) const {
  const auto function = function_of(what);
  // A domain of several servers has no topology file of its own here.
  // Inside a domain the law's own minimum is what its measurements were fitted with.
  if (!function || !server_ || !graphs_ || g.domains < 2 || domain_ > gpus_per_server_ ||
      g.per_domain > static_cast<int>(server_->gpus().size()))
    return {};
  const double steps = std::round(2 * std::log2(std::max(size.si() / kSmallest, 1.0)));
  const auto index =
      static_cast<std::size_t>(std::min(steps, static_cast<double>(kHalfOctaves - 1)));
  return picks_of(g)[static_cast<std::size_t>(*function)][index];
}

CollectiveTime StepCollectives::time(Collective what, Bytes size, const Group& g) const {
  if (g.ranks <= 1 || size <= Bytes{}) return {};
  if (what == Collective::send || !law_knows(g)) return link_law_.time(what, size, g);
  const Platform platform = platform_of(what, g);
  TimeQuestion question{.what = what,
                        .bytes = size.si(),
                        .in_place = true,
                        .mode = Mode::graph,
                        .algorithm = pick_of(what, size, g)};
  TimeParts parts = time_of(platform, question, priors_);
  if (!std::isfinite(parts.total)) {  // a way that the law has no terms for, such as PAT
    question.algorithm = {};
    parts = time_of(platform, question, priors_);
  }
  CollectiveTime out{.time = parts.total * us};
  const BandClass& band = priors_.band(static_cast<std::int64_t>(size.si()));
  out.band = std::max(-band.low, band.high);
  out.binding = parts.latency + parts.fill > parts.transfer ? Binding::latency
                : parts.network_binds                       ? Binding::network
                                                            : Binding::scale_up;
  return out;
}

}  // namespace railyard::predict::nccl

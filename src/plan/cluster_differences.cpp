// What can differ between two clusters around their servers.

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/measure.h"
#include "plan/detail/respect.h"
#include "predict/words.h"

namespace railyard::plan::detail {

namespace {

using model::Cluster;
using model::Fabric;
using model::Server;

std::string text(int n) { return std::to_string(n); }

/// The size of a leaf follows from the switch; where the switches are the same it was given.
bool same_fabric(const Cluster& a, const Cluster& b) {
  const Fabric &x = a.fabric, &y = b.fabric;
  const bool leaf_is_given = a.servers == b.servers && x.network_switch.id == y.network_switch.id;
  return x.kind == y.kind && x.oversubscription == y.oversubscription &&
         (!leaf_is_given || x.servers_per_leaf == y.servers_per_leaf);
}
std::string fabric_in_words(const Fabric& f) {
  std::string out(predict::fabric_name(f.kind));
  if (f.oversubscription > 1) out += ", oversubscribed " + show_number(f.oversubscription) + ":1";
  return out;
}
std::string limits_in_words(const Cluster& c) {
  std::string out =
      c.power_limit > Watts{} ? show(c.power_limit) + " an accelerator" : "no power limit";
  if (c.straggler > 0) out += ", stragglers " + show_percent(c.straggler);
  return out;
}

void take_servers(Workload& to, const Workload& from) {
  to.cluster.servers = from.cluster.servers;
  to.cluster.fabric.servers_per_leaf = from.cluster.fabric.servers_per_leaf;
  to.cluster.fabric.tiers = from.cluster.fabric.tiers;
}

void take_fabric(Workload& to, const Workload& from) {
  Fabric& f = to.cluster.fabric;
  const Fabric& other = from.cluster.fabric;
  f.kind = other.kind;
  f.oversubscription = other.oversubscription;
  f.tiers = other.tiers;
  // A leaf of the other cluster may hold more servers than there are here.
  f.servers_per_leaf = std::min(other.servers_per_leaf, to.cluster.servers);
}

auto host_values(const Server& s) {
  return std::tuple(s.host_memory, s.host_memory_per_socket, s.host_cores);
}
std::string host_in_words(const Server& s) {
  return show(s.host_memory) + ", " + text(s.host_cores) + " cores";
}

}  // namespace

const Respect kTransport = {
    "transport",
    [](const Workload& a, const Workload& b) {
      const Fabric &x = a.cluster.fabric, &y = b.cluster.fabric;
      return std::tuple(x.transport, x.mtu, x.efficiency) ==
             std::tuple(y.transport, y.mtu, y.efficiency);
    },
    [](const Workload& s) {
      return std::string(predict::transport_name(s.cluster.fabric.transport)) + ", MTU " +
             text(s.cluster.fabric.mtu);
    },
    [](Workload& to, const Workload& from) {
      to.cluster.fabric.transport = from.cluster.fabric.transport;
      to.cluster.fabric.mtu = from.cluster.fabric.mtu;
      to.cluster.fabric.efficiency = from.cluster.fabric.efficiency;
    }};

const Respect kFabric = {
    "fabric",
    [](const Workload& a, const Workload& b) { return same_fabric(a.cluster, b.cluster); },
    [](const Workload& s) { return fabric_in_words(s.cluster.fabric); }, take_fabric};

const Respect kServers = {
    "servers",
    [](const Workload& a, const Workload& b) { return a.cluster.servers == b.cluster.servers; },
    [](const Workload& s) { return text(s.cluster.servers) + " servers"; }, take_servers};

const Respect kLimits = {"limits",
                         [](const Workload& a, const Workload& b) {
                           return std::tuple(a.cluster.power_limit, a.cluster.straggler) ==
                                  std::tuple(b.cluster.power_limit, b.cluster.straggler);
                         },
                         [](const Workload& s) { return limits_in_words(s.cluster); },
                         [](Workload& to, const Workload& from) {
                           to.cluster.power_limit = from.cluster.power_limit;
                           to.cluster.straggler = from.cluster.straggler;
                         }};

const Respect kHost = {"host",
                       [](const Workload& a, const Workload& b) {
                         return host_values(a.cluster.server) == host_values(b.cluster.server);
                       },
                       [](const Workload& s) { return host_in_words(s.cluster.server); },
                       [](Workload& to, const Workload& from) {
                         to.cluster.server.host_memory = from.cluster.server.host_memory;
                         to.cluster.server.host_memory_per_socket =
                             from.cluster.server.host_memory_per_socket;
                         to.cluster.server.host_cores = from.cluster.server.host_cores;
                       }};

}  // namespace railyard::plan::detail

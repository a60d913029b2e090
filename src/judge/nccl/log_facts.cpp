// What a log tells of the job as a whole: nodes, network, NICs, variables.

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "judge/nccl_evidence.h"

namespace railyard::judge {

namespace {

using facts::NcclRun;
using facts::NcclTransport;
using facts::NcclVariable;
using predict::nccl::Network;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

const NcclVariable* variable(const NcclRun& log, std::string_view name) {
  const auto at = std::ranges::find(log.environment, name, &NcclVariable::name);
  return at == log.environment.end() ? nullptr : &*at;
}

int nodes_of(const NcclRun& log) {
  int nodes = 0;
  for (const auto& c : log.communicators) {
    if (c.nodes) nodes = std::max(nodes, *c.nodes);
    if (c.ranks && c.local_ranks && *c.local_ranks > 0)
      nodes = std::max(nodes, *c.ranks / *c.local_ranks);
  }
  std::set<std::string> hosts;
  for (const auto& p : log.processes) hosts.insert(p.host);
  if (nodes == 0 && hosts.size() > 1) nodes = static_cast<int>(hosts.size());
  if (nodes > 0) return nodes;
  for (const auto& c : log.connections)
    if (c.transport == NcclTransport::net) return 0;  // several, but how many?
  // All ranks of a communicator are here, on one host.
  std::map<std::string, std::set<int>> ranks;
  for (const auto& c : log.communicators)
    if (c.rank && c.ranks) {
      auto& seen = ranks[c.id];
      seen.insert(*c.rank);
      if (static_cast<int>(seen.size()) == *c.ranks) return 1;
    }
  return 0;
}

std::optional<Network> network_of(const NcclRun& log) {
  for (const auto& p : log.plugins) {
    if (has(p.text, "FasTrak")) return Network::tcpxo;
    if (has(p.text, "GPUDirectTCPX")) return Network::tcpx;
    if (has(p.text, "cxi")) return Network::slingshot;
    if (has(p.text, "NET/OFI") && has(p.text, "efa")) return Network::efa;
  }
  int ib = 0, roce = 0;
  for (const auto& list : log.devices)
    for (const auto& d : list.devices) {
      ib += d.link == "IB";
      roce += d.link == "RoCE";
    }
  if (ib + roce == 0) return std::nullopt;
  return ib >= roce ? Network::infiniband : Network::roce;
}

int nics_of(const NcclRun& log) {
  if (variable(log, "NCCL_IB_HCA")) return 0;
  int most = 0;
  for (const auto& list : log.devices) {
    int ib = 0, roce = 0;
    for (const auto& d : list.devices) {
      ib += d.link == "IB";
      roce += d.link == "RoCE";
    }
    most = std::max({most, ib, roce});
  }
  return most;
}

}  // namespace railyard::judge

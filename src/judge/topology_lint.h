#pragma once
// What is wrong with a topology file, before NCCL is asked.
//
// Two kinds of findings. Invalid: NCCL refuses the file, or reads something else than it says (a
// GPU outside of a PCI device is passed over, an unknown link speed becomes Gen3), and tells nobody
// above the level INFO. Suspicious: NCCL reads it well, but it describes a server that is slower
// than its parts (a switch on a slow uplink, a link that trained down, a NIC faster than its slot),
// or hides what is near to what.
//
// What virtual machines do is not suspicious by itself: a link width of 0 and the NUMA node -1 mean
// "not known". A GPU's link shows its present state in new NCCL versions; that of a NIC or a switch
// is the smaller of what both ends can do, so a NIC that trained down does not show here.
// [NCCL 2.28: src/graph/xml.cc, topo.cc]

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "facts/nccl_topology.h"
#include "model/catalog.h"

namespace railyard::judge {

enum class TopologySeverity : std::uint8_t { note, warning, error };
std::string_view name(TopologySeverity severity);

struct TopologyFinding {
  std::string rule = {};  ///< stable: "slow-uplink"
  TopologySeverity severity = TopologySeverity::warning;
  Place at = {};
  std::string what = {}, hint = {};
};

/// A rule, for the documentation and for scripts that choose among them.
struct TopologyRule {
  std::string_view id = {};
  TopologySeverity severity = TopologySeverity::warning;
  std::string_view summary = {};
};
const std::vector<TopologyRule>& topology_rules();

/// All findings of a file, in the order of their places. The catalogue tells what the parts can do.
std::vector<TopologyFinding> lint_topology(const facts::NcclTopology& topology,
                                           const model::Catalog& catalog);

}  // namespace railyard::judge

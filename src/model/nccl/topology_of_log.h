#pragma once
// The topology file behind the `=== System` lines of a log (NCCL_DEBUG_SUBSYS=GRAPH): the same
// tree, so that what NCCL would do with other settings can be told from a log alone.
//
// The lines have rates instead of link speeds and no compute capability. Both are inferred: a rate
// from NCCL's own constants, the capability from the rate of the NVLinks; what was assumed is said.

#include <optional>
#include <string>
#include <vector>

#include "facts/nccl_run.h"
#include "facts/nccl_topology.h"

namespace railyard::model::nccl {

struct LoggedTopology {
  facts::NcclTopology topology = {};
  std::vector<std::string> assumed = {};
};

/// `gpu_direct`: whether the log says that NICs reach GPU memory. Nothing: the lines have no GPU.
std::optional<LoggedTopology> topology_of(const facts::NcclSystem& system, bool gpu_direct);

}  // namespace railyard::model::nccl

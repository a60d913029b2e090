#pragma once
// A topology on the screen and in scripts: CPUs, what hangs below them, and each link with its text
// in the file and the rate that NCCL counts for it. Those rates are NCCL's constants, not what a
// slot carries: Gen5 x16 is 48 GB/s. [NCCL 2.28: src/graph/topo.h]

#include <string>

#include "base/json.h"
#include "facts/nccl_topology.h"
#include "report/table.h"

namespace railyard::report {

/// The tree, one line a device.
std::string to_text(const facts::NcclTopology& topology, int width);
/// One row a CPU, device, network device or link; `parent` names the row that it hangs in.
Table table_of(const facts::NcclTopology& topology);
/// {"version", "rccl", "cpus", "gpus", "net_devices", "devices": the rows, "skipped": [...]}
void to_json(const facts::NcclTopology& topology, json::Writer& out);

}  // namespace railyard::report

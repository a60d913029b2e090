#pragma once
// NCCL's topology file: what NCCL_TOPO_FILE names and NCCL_TOPO_DUMP_FILE writes. Static files that
// clouds ship have few attributes, dumps have all; RCCL's dialect (version 2, <xgmi>) is read too.
//
// As tolerant as NCCL: a missing attribute is filled in from the machine, an unknown element is
// passed over, numbers are read as C reads them. What is doubtful about that is noted beside the
// facts. Only what NCCL refuses to parse at all is a problem: no <system>, text between elements.
// [NCCL 2.28: src/graph/xml.cc, topo.cc]

#include <string_view>

#include "base/problem.h"
#include "base/text.h"
#include "facts/nccl_topology.h"

namespace railyard::intake {

/// Whether the bytes are one, as far as their beginning tells.
bool looks_like_nccl_topology(std::string_view bytes);

Checked<facts::NcclTopology> read_nccl_topology(Text text);

}  // namespace railyard::intake

#pragma once
// A topology as the file that NCCL_TOPO_FILE takes: two blanks an indent, attributes in the order
// of NCCL's own dumps, so that a diff against a dump shows what differs and nothing else.
// [NCCL 2.28: src/graph/xml.cc]

#include <string>

#include "facts/nccl_topology.h"

namespace railyard::report {

std::string to_xml(const facts::NcclTopology& topology);

}  // namespace railyard::report

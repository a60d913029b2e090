#pragma once
// Channels as the file that NCCL_GRAPH_FILE takes. [NCCL 2.28: src/graph/search.cc]

#include <string>

#include "facts/nccl_graph.h"

namespace railyard::report {

std::string to_xml(const facts::NcclGraphs& graphs);

}  // namespace railyard::report

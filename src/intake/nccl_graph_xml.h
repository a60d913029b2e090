#pragma once
// NCCL's graph file: what NCCL_GRAPH_FILE names and NCCL_GRAPH_DUMP_FILE writes. It replaces NCCL's
// search by channels that somebody prescribes. Device numbers in it are hexadecimal, with or
// without 0x; for a network device of another node's rail they carry more than the number alone.
// [NCCL 2.28: src/graph/search.cc]

#include <string_view>

#include "base/problem.h"
#include "base/text.h"
#include "facts/nccl_graph.h"

namespace railyard::intake {

/// Whether the bytes are one, as far as their beginning tells.
bool looks_like_nccl_graph(std::string_view bytes);

Checked<facts::NcclGraphs> read_nccl_graph(Text text);

}  // namespace railyard::intake

#pragma once
// The channels that NCCL's search found, or that a graph file prescribes.
// [NCCL 2.28: src/graph/search.cc, NCCL_GRAPH_DUMP_FILE and NCCL_GRAPH_FILE]

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "facts/nccl_topology.h"
#include "facts/seen.h"

namespace railyard::facts {

struct NcclGraphChannel {
  Place at = {};
  std::vector<std::int64_t> nets =
      {};  ///< `net dev`, in the file's order: into the node, out of it
  std::vector<std::int64_t> gpus = {};  ///< `gpu dev`
};

struct NcclGraph {
  Place at = {};
  int id = 0;       ///< 0 ring, 1 tree, 2 CollNet chain, 3 NVLS, 4 CollNet direct
  int pattern = 0;  ///< 1 balanced tree, 2 split tree, 3 tree, 4 ring, 5 NVLS, 6 CollNet direct
  int cross_nic = 0;
  int channels = 0;  ///< `nchannels`; the list may be shorter where a log prints the head only
  double speed_intra = 0, speed_inter = 0;       ///< GB/s of a channel, as NCCL counts
  double latency_inter = 0;                      ///< us
  std::string type_intra = {}, type_inter = {};  ///< LOC NVL NVB C2C PIX PXB P2C PXN PHB SYS
  bool same_channels = false;
  std::vector<NcclGraphChannel> list = {};
};

struct NcclGraphs {
  int version = 1;
  std::vector<NcclGraph> graphs = {};
  std::vector<Skipped> skipped = {};
  std::vector<NcclMisread> misread = {};
};

}  // namespace railyard::facts

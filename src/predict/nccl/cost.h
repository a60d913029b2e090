#pragma once
// NCCL's table of costs: for each collective, algorithm and protocol a latency and an algorithm
// bandwidth, from which it takes the least time for a size. [NCCL 2.28: src/graph/tuning.cc]
//
//   time [us] = latency k + bytes / (1000 bandwidth [GB/s]),   k aggregated operations
//
// docs/nccl.md has the equations.

#include <array>
#include <cstdint>
#include <vector>

#include "model/nccl/system.h"
#include "predict/nccl/constants.h"
#include "predict/nccl/graph.h"

namespace railyard::predict::nccl {

struct Cell {
  double latency_us = 0;
  double gb_per_s = 0;  ///< algorithm bandwidth; 0: not used
};

using CostTable = std::array<std::array<std::array<Cell, kProtocols>, kAlgorithms>, kFunctions>;

/// What the table depends on, beside the graphs.
struct CostInputs {
  int ranks = 1, nodes = 1;
  int lowest_sm = 90, highest_sm = 90;
  model::nccl::CpuArch cpu_arch = model::nccl::CpuArch::x86;
  model::nccl::CpuVendor cpu_vendor = model::nccl::CpuVendor::intel;
  bool nvswitch = false, nvls = false, collnet = false;
};

CostTable cost_table(const CostInputs& in, const std::array<Graph, kGraphs>& graphs,
                     const Settings& settings, const Constants& constants);

/// The graph that an algorithm runs on. PAT runs on the tree's, NVLSTree on that of NVLS.
GraphId graph_of(Algorithm algorithm);

}  // namespace railyard::predict::nccl

#pragma once
// From the facts of a topology file to the graph that NCCL would build of it.

#include "base/problem.h"
#include "facts/nccl_topology.h"
#include "model/nccl/system.h"

namespace railyard::model::nccl {

/// What NCCL makes of the file. Refused: another version of the format, AMD's dialect, no CPU, no
/// GPU, more than 128 GPUs, more devices of another kind than NCCL takes (576). `hosts` copies of
/// the file joined by NVLink make the domain of a rack (NVL72: 18 trays).
Result<System> build_system(const facts::NcclTopology& topology, int hosts = 1);

}  // namespace railyard::model::nccl

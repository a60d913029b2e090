#pragma once
// Who reaches whom by scale-up links (NVLink, xGMI), and how fast.

#include "fabric/machine.h"

namespace railyard::fabric {

/// The island of an accelerator.
const model::Island& island_of(const model::Server& server, int gpu);
/// Whether scale-up joins the two.
bool joined(const model::Cluster& cluster, GpuAddress a, GpuAddress b);
/// What the pair gets: all links through a switch, one of a mesh, the bridge of a pair.
Limit pair_limit(const model::ScaleUp& scale_up);
/// Accelerators in one domain of this island, servers that share it included; 1 without scale-up.
int reach(const model::Cluster& cluster, const model::Island& island);

}  // namespace railyard::fabric

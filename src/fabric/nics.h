#pragma once
// The NICs of a server: which accelerator's data goes through which, and what each carries.

#include <vector>

#include "fabric/machine.h"
#include "fabric/route.h"

namespace railyard::fabric {

/// A share of what a NIC moves that comes from (and goes to) one accelerator.
struct Feeder {
  int gpu = 0;
  double share = 0;  ///< of the NIC's traffic; the shares of one NIC sum to one
};

/// By NIC. As NCCL chooses: every accelerator uses the NICs nearest to it, all of them if several
/// are equally near. Accelerators that scale-up joins hand their data to the neighbours that sit
/// nearer to a NIC (rings enter and leave there; PXN). A NIC nearest to nobody stays idle: an empty
/// list.
std::vector<std::vector<Feeder>> feeders(const model::Server& server);

/// Nearest NICs of one accelerator below its own switch, or its one nearest elsewhere.
std::vector<int> nics_of(const model::Server& server, int gpu);

/// What one NIC moves in one direction: ports (always first), the switch port at the other end,
/// chip, slot.
std::vector<Limit> nic_limits(const model::Cluster& cluster, const model::NicPlace& nic);

/// The smallest of a list that is not empty; the first of equals.
std::size_t smallest(const std::vector<Limit>& limits);

/// Whether NICs reach into accelerators; TCP never does.
bool direct_to_nic(const model::Cluster& cluster);

}  // namespace railyard::fabric

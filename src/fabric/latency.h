#pragma once
// How long the first byte takes. Classes only: what a collective pays per step on top of this is
// fitted where collectives are predicted.

#include "fabric/machine.h"

namespace railyard::fabric {

/// One step between neighbours inside a server: NCCL's hop latencies of the low-latency protocol.
/// [NCCL 2.28 src/graph/tuning.cc, ring LL: NVLink 0.6 us, PCI 1.0 us]
inline constexpr Seconds kScaleUpHop = 0.6 * us, kPcieHop = 1.0 * us;

/// Both NICs of a message and the software above them, no switch: the part's own figure where RDMA
/// is spoken and the catalogue has one, else the class of the transport.
Seconds nic_latency(const model::Cluster& cluster, const model::Nic& part);

}  // namespace railyard::fabric

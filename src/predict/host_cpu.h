#pragma once
// What the kernel's network stack costs the host: TCP copies every byte, RDMA none.

#include "base/quantity.h"
#include "fabric/machine.h"

namespace railyard::predict {

/// What one core receives with every offload of the NIC switched on; the copy into the program's
/// memory is what binds.  [Cai et al., Understanding Host Network Stack Overheads, SIGCOMM 2021;
/// recalled]
inline constexpr Bandwidth kTcpPerCore = 42.0 * Gbps;

/// Cores of a server that are busy receiving while its network runs at full rate; sending comes on
/// top, at less. Zero where the transport is not TCP.
inline double tcp_cores(const fabric::Machine& machine) {
  if (machine.transport != model::Transport::tcp) return 0;
  return machine.network_per_server / kTcpPerCore;
}

}  // namespace railyard::predict

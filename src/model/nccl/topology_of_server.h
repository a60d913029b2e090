#pragma once
// The topology file that NCCL would write on a server of a cluster file: the same tree of CPUs,
// PCIe switches, GPUs and NICs, with the scale-up links on top. With it the choices of NCCL can be
// told for servers that are not built yet.
//
// What a cluster file does not say is filled in. The CPU: what one stream gets between the sockets
// names its generation, for NCCL derives that rate from it; otherwise Intel's Sapphire Rapids, in
// most servers of the H100 and H200. Bus ids: counted, one bus a device. Network devices: mlx5_0
// on, one a port, where the ports of one card share its guid as ConnectX cards do.

#include "facts/nccl_topology.h"
#include "model/cluster.h"

namespace railyard::model::nccl {

/// Every device that NCCL looks at; drives and CXL memory are not among them. Equal servers give
/// equal files.
facts::NcclTopology topology_of(const Cluster& cluster);
facts::NcclTopology topology_of(const Server& server, const Fabric& fabric);

}  // namespace railyard::model::nccl

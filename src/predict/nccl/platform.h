#pragma once
// A system in the hardware terms that the time of a collective depends on. Unlike the graph of
// model/nccl, whose rates are NCCL's own constants, rates here are what the parts carry.

#include <cstdint>
#include <optional>
#include <string>

#include "base/quantity.h"
#include "model/cluster.h"
#include "model/nccl/system.h"

namespace railyard::predict::nccl {

/// What joins the GPUs of a node.
enum class Inside : std::uint8_t {
  none,      ///< one GPU a node
  pcie,      ///< PCIe only
  bridge,    ///< NVLink bridges between pairs
  cube,      ///< NVLink cube mesh (V100)
  mesh,      ///< NVLink from each to each
  nvswitch,  ///< NVSwitch in the server
  rack       ///< NVSwitch over many servers (NVL72)
};

/// What joins the nodes. [transports of NCCL's plugins]
enum class Network : std::uint8_t {
  none,
  infiniband,
  roce,
  efa,        ///< AWS libfabric
  slingshot,  ///< libfabric cxi
  tcpx,       ///< GPUDirect-TCPX, 200G
  tcpxo,      ///< GPUDirect-TCPXO (FasTrak)
  sockets     ///< TCP through the host
};

struct Platform {
  int sm = 90;  ///< compute capability x 10
  Inside inside = Inside::nvswitch;
  int gpus = 8;  ///< of one domain: a node, or a rack that NVLink joins
  int domains = 1;
  Bandwidth nvlink = {};  ///< of one GPU, one direction, payload; zero with PCIe only
  Bandwidth pcie = {};    ///< of one GPU's slot, one direction, after the line code
  int sockets = 2;        ///< that a domain's PCIe traffic crosses between
  bool peer_to_peer = true;
  Network network = Network::none;
  Bandwidth ports = {};  ///< line rate of all NICs of a domain, one direction
  bool nvls = true;      ///< NVLink SHARP can be used
  bool sharp = false;    ///< InfiniBand SHARP

  int ranks() const { return gpus * domains; }
};

const char* name(Inside inside);
const char* name(Network network);
std::optional<Network> network_named(std::string_view text);

/// From what NCCL sees. The network's kind is not in a topology file: InfiniBand unless told.
Platform platform_of(const model::nccl::System& system, int nodes,
                     Network network = Network::infiniband);
/// From a cluster: `per_domain` ranks in each of `domains` domains. All groups of the kind run at
/// once, so they get their share of the NICs.
Platform platform_of(const model::Cluster& cluster, int per_domain, int domains);

}  // namespace railyard::predict::nccl

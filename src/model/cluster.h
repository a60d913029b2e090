#pragma once
// The cluster: equal servers on a fabric. A server is a tree of PCIe links with accelerators, NICs,
// drives and CXL memory at its leaves, plus the scale-up links between accelerators. Built from
// cluster.yaml and the catalogue, checked once, then const.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/problem.h"
#include "base/quantity.h"
#include "model/catalog.h"
#include "model/parts.h"

namespace railyard::model {

using PcieId = Id<struct PcieTag>;
using GpuId = Id<struct GpuTag>;
using NicId = Id<struct NicTag>;

/// A PCIe link: generation and lanes as trained.
struct PcieLink {
  int generation = 5, lanes = 16;
};

enum class PcieKind : std::uint8_t { root, bridge, accelerator, nic, nvme, cxl };

/// A node of the PCIe forest with the link above it. Roots hang on a CPU socket (or its PCH).
struct PcieNode {
  PcieKind kind = PcieKind::root;
  std::string label = {};
  PcieId parent = {};  ///< of itself for roots
  PcieLink link = {};  ///< to the parent; of a root port: to what hangs below it
  int socket = 0;
  bool behind_pch = false;
  std::uint32_t index = 0;  ///< of the accelerator, NIC, drive or CXL device
  Seconds latency = {};     ///< added by a switch or retimer
};

/// Accelerators joined by one kind of scale-up link. The case's external chassis is an island of
/// eight without any.
struct Island {
  int first = 0, count = 0;
  ScaleUp scale_up = {};
};

struct NicPlace {
  Nic part = {};
  PcieId at = {};
};

struct Server {
  std::string id = {};
  Accelerator accelerator = {};
  int accelerators = 0;
  std::vector<Island> islands = {};
  int domain_servers = 1;  ///< servers that share one scale-up domain (NVL72: 18 trays of 4)
  int sockets = 2;
  Bandwidth socket_stream = {};  ///< one peer stream across sockets
  Table<PcieId, PcieNode> pcie = {};
  std::vector<PcieId> gpu_at = {};
  std::vector<NicPlace> nics = {};
  bool gpu_direct = true;         ///< NICs read and write accelerator memory
  bool peer_to_peer = true;       ///< accelerators do so with each other; not with GeForce drivers
  double root_complex_share = 1;  ///< of a slot's payload that peer traffic through the root keeps
  int max_payload = 256;          ///< PCIe MPS, bytes
  bool acs_redirect = false;      ///< switches send peer traffic up to the root and back
  PcieLink pch_link = {.generation = 3, .lanes = 4};  ///< of a chipset to its socket (DMI 3.0)
  Bytes host_memory = {};
  Bandwidth host_memory_per_socket = {};
  int host_cores = 0;  ///< for what TCP takes
  std::vector<CxlMemory> cxl = {};
  std::vector<Nvme> nvme = {};
  Dollars price = {};
  Watts power_besides = {};  ///< host, fans, switches: what is not accelerators
};

enum class FabricKind : std::uint8_t { none, direct, single_switch, fat_tree, rail, dragonfly };
enum class Transport : std::uint8_t { infiniband, roce, tcp, efa };

struct Fabric {
  FabricKind kind = FabricKind::single_switch;
  Transport transport = Transport::infiniband;
  double oversubscription = 1;  ///< of the leaf uplinks: 2 means half the bandwidth upward
  int servers_per_leaf = 0;     ///< 0: from the switch's ports, or all on one leaf
  int tiers = 2;
  int mtu = 4096;
  NetworkSwitch network_switch = {};
  Seconds hop = {};       ///< one switch
  double efficiency = 0;  ///< measured share of line rate; 0: the predictor's default
};

struct Cluster {
  std::string id = {};
  Server server = {};
  int servers = 1;
  Fabric fabric = {};
  Watts power_limit = {};  ///< per accelerator; zero: the part's
  double straggler = 0;    ///< relative spread (one sigma) of step time between accelerators
  Dollars price_per_gpu_hour = {};

  int accelerators() const { return servers * server.accelerators; }
};

/// Reads cluster.yaml. All problems of the file in one go.
Checked<Cluster> load_cluster(const std::string& path, const Catalog& catalog);
Checked<Cluster> parse_cluster(const yaml::Document& doc, const Catalog& catalog);

/// A cluster in the few words that a published measurement has for it: a server template, how many,
/// and what differs. Zero, negative or empty means "as the template".
struct ClusterSpec {
  std::string server = {};  ///< id of a server template
  int servers = 1;
  std::string accelerator = {};   ///< id of the catalogue
  int accelerators = 0;           ///< of one server; fewer than the template's: the first ones
  Bytes accelerator_memory = {};  ///< usable
  Bandwidth scale_up = {};        ///< total of one accelerator, one direction
  int domain_servers = 0;         ///< servers that share one scale-up domain
  std::string nic = {};           ///< id of the catalogue
  int nics = -1;                  ///< of one server
  Bandwidth port_rate = {};       ///< of every NIC port
  Bytes host_memory = {};
  FabricKind fabric = FabricKind::fat_tree;  ///< of more than one server
  Transport transport = Transport::infiniband;
  double oversubscription = 1;
  int servers_per_leaf = 0;
};
/// As parse_cluster, without a file: problems have no place.
Checked<Cluster> build_cluster(const Catalog& catalog, const ClusterSpec& spec);

/// One server template, as `catalog check` and `topo show` want it.
Checked<Server> build_server(const Catalog& catalog, const std::string& template_id);

}  // namespace railyard::model

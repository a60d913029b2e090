#pragma once
// The parts that clusters are made of, as the catalogue knows them.
//
// Conventions, the same everywhere: peaks are dense (no 2:4 sparsity); bandwidths are one
// direction; memory is kept twice, as the label says and as the driver reports it (an H200's "141
// GB" is 143,771 MiB). A peak of zero means that the part has no such unit.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "model/provenance.h"

namespace railyard::model {

/// Number formats of matrix multiplications.
enum class Precision : std::uint8_t { fp32, tf32, fp16, bf16, fp8, mxfp8, nvfp4 };
inline constexpr std::size_t kPrecisions = 7;
std::string_view name(Precision p);

/// How the accelerators of one server (or rack) reach each other without the network.
enum class ScaleUpKind : std::uint8_t {
  none,    ///< through PCIe only
  bridge,  ///< pairs joined by a bridge, PCIe beyond
  fabric,  ///< switched: any pair at the full rate (NVSwitch)
  mesh,    ///< full mesh: a pair gets one link of many (xGMI)
};
std::string_view name(ScaleUpKind kind);

struct ScaleUp {
  ScaleUpKind kind = ScaleUpKind::none;
  std::string name = {};    ///< "nvlink", "xgmi", ...
  int generation = 0;       ///< of NVLink
  int links = 0;            ///< per accelerator
  Bandwidth per_link = {};  ///< one direction
  Bandwidth total = {};     ///< one direction, per accelerator
  int domain = 0;           ///< accelerators in one domain where the part fixes it (GB200: 72)
};

/// What was measured on the part, where somebody published it. Zero: nothing known.
struct MeasuredRates {
  FlopRate bf16_gemm = {}, fp8_gemm = {};  ///< best shape
  Bandwidth copy = {};                     ///< device copy, read + write
  Bandwidth host_to_device = {}, device_to_host = {};
  Bandwidth all_reduce_bus = {};  ///< busbw, 8 ranks (4 for GB parts), 512 MiB
  Bandwidth all_gather_bus = {};
  Seconds all_reduce_small = {};  ///< 512 B, 8 ranks, launched by the host
};

struct Accelerator {
  std::string id = {}, vendor = {}, architecture = {};
  int compute_capability = 0;  ///< times ten: 90 is Hopper; 0 for other vendors
  int multiprocessors = 0;     ///< SMs or CUs that run at once
  std::array<FlopRate, kPrecisions> peak = {};
  Bytes memory_label = {}, memory_usable = {};
  Bandwidth memory = {};
  ScaleUp scale_up = {};
  Bandwidth coherent_host_link = {};  ///< NVLink-C2C, one direction
  int pcie_generation = 0, pcie_lanes = 0;
  Watts power = {};
  int dies = 1;  ///< ranks that the part shows (MI250X: 2)
  bool announced = false;
  MeasuredRates measured = {};
  std::vector<std::string> aliases = {};
  std::string pci_id = {};
  Provenance from = {};

  FlopRate peak_of(Precision p) const { return peak[static_cast<std::size_t>(p)]; }
};

struct Nic {
  std::string id = {}, vendor = {};
  int ports = 1;
  Bandwidth port_rate = {};   ///< of one port
  Bandwidth chip_limit = {};  ///< what the silicon moves in total, one direction; zero: not known
  int pcie_generation = 0, pcie_lanes = 0;
  Seconds latency = {};  ///< one way, both NICs, no switch
  Provenance from = {};

  Bandwidth ports_rate() const { return ports * port_rate; }
};

struct NetworkSwitch {
  std::string id = {}, vendor = {};
  int ports = 0;
  Bandwidth port_rate = {};
  Bandwidth total = {};  ///< one-way sum of the ports
  Bytes buffer = {};
  Seconds latency = {};
  Watts power = {};
  Provenance from = {};
};

struct PcieSwitch {
  std::string id = {};
  int generation = 0, lanes = 0;
  Seconds latency = {};
  Watts power = {};
  Provenance from = {};
};

struct Retimer {
  std::string id = {};
  int generation = 0;
  Seconds latency = {};
  Watts power = {};
  Provenance from = {};
};

struct CxlMemory {
  std::string id = {};
  Bytes capacity = {};
  Bandwidth bandwidth = {};
  Seconds latency = {};
  int pcie_generation = 5, pcie_lanes = 8;
  Provenance from = {};
};

struct HostMemory {
  std::string id = {};
  Bandwidth per_socket = {};  ///< theoretical
  Provenance from = {};
};

struct Nvme {
  std::string id = {};
  Bandwidth read = {}, write = {};
  Provenance from = {};
};

/// One generation of a scale-up link, per accelerator and direction.
struct ScaleUpGeneration {
  std::string id = {}, name = {};
  int generation = 0, links = 0;
  Bandwidth per_link = {}, raw_per_link = {}, total = {};
  Bandwidth nccl_per_link = {};  ///< what NCCL assumes of a link when it builds its graphs
  bool announced = false;
  Provenance from = {};
};

/// A PCIe generation at sixteen lanes, one direction; narrower links in proportion.
struct PcieGeneration {
  std::string id = {};
  int generation = 0;
  double gigatransfers = 0;                      ///< per second and lane
  Bandwidth encoded = {};                        ///< after the line code
  Bandwidth payload_256 = {}, payload_512 = {};  ///< of memory writes at these payload sizes
  Bandwidth nccl = {};                           ///< NCCL's constant
  Bandwidth measured_to_device = {}, measured_to_host = {};
  Provenance from = {};
};

/// What one peer stream gets between sockets.
struct SocketLink {
  std::string id = {};
  Bandwidth peer_stream = {};
  Provenance from = {};
};

}  // namespace railyard::model

#pragma once
// The environment variables that change what NCCL decides. What is unset is NCCL's own choice.
// [NCCL 2.28: NCCL_PARAM in src/; user guide, environment variables]

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.h"
#include "predict/nccl/terms.h"

namespace railyard::predict::nccl {

/// How near two devices are, best first. Names as in NCCL's logs.
/// [NCCL 2.28: PATH_* in src/graph/topo.h]
enum class PathType : std::uint8_t {
  loc,  ///< the device itself
  nvl,  ///< NVLink
  nvb,  ///< NVLink through another GPU
  c2c,  ///< chip to chip (Grace)
  pix,  ///< one PCIe switch
  pxb,  ///< several PCIe switches
  p2c,  ///< chip to chip, then the host bridge of the CPU
  pxn,  ///< over NVLink to the GPU beside the NIC
  phb,  ///< the CPU's host bridge
  sys,  ///< between sockets
  net,  ///< the network
  dis   ///< none
};
const char* name(PathType type);
/// As NCCL takes it: a name or the old numeric levels.
std::optional<PathType> path_type_named(std::string_view text);

/// Which of NCCL's NICs one GPU may use.
struct NetDevices {
  enum class Policy : std::uint8_t { automatic, all, most } policy = Policy::automatic;
  int most = 0;
};

struct Settings {
  /// NCCL_ALGO and NCCL_PROTO, by function: allowed or not. LL128 is "allowed where safe" (unset)
  /// until NCCL_PROTO names it.
  std::array<std::array<bool, kAlgorithms>, kFunctions> algorithms = {};
  std::array<std::array<std::optional<bool>, kProtocols>, kFunctions> protocols = {};
  int nvls_enable = 2;                    ///< NCCL_NVLS_ENABLE: 0, 1, 2 = where the hardware has it
  std::optional<int> nvls_channels = {};  ///< NCCL_NVLS_NCHANNELS
  bool collnet_enable = false;            ///< NCCL_COLLNET_ENABLE
  int cross_nic = 2;                      ///< NCCL_CROSS_NIC: 0, 1, 2 = where it helps
  std::optional<PathType> p2p_level = {};  ///< NCCL_P2P_LEVEL; loc: NCCL_P2P_DISABLE
  std::optional<PathType> gdr_level = {};  ///< NCCL_NET_GDR_LEVEL
  bool gdr_c2c = true;                     ///< NCCL_NET_GDR_C2C
  bool pxn = true;                         ///< not NCCL_PXN_DISABLE
  bool pxn_c2c = true;                     ///< NCCL_PXN_C2C
  bool nvb = true;                         ///< not NCCL_NVB_DISABLE
  bool ll128_c2c = true;                   ///< NCCL_LL128_C2C
  NetDevices net_devices = {};             ///< NCCL_NETDEVS_POLICY
  std::optional<int> min_channels = {}, max_channels = {};  ///< NCCL_MIN/MAX_NCHANNELS, _CTAS
  std::optional<double> net_overhead_us = {};               ///< NCCL_NET_OVERHEAD (ns there)
  std::optional<int> threads = {}, ll128_threads = {};      ///< NCCL_NTHREADS, LL128_NTHREADS
  std::optional<int> pat_enable = {};                       ///< NCCL_PAT_ENABLE
  /// NCCL_THREAD_THRESHOLDS: tree and ring by protocol, bytes of work per thread.
  std::array<std::array<std::optional<int>, kProtocols>, 2> thread_thresholds = {};
  bool sockets = false;            ///< NCCL_IB_DISABLE or NCCL_NET=Socket
  bool shared_memory = true;       ///< not NCCL_SHM_DISABLE
  std::string graph_file = {};     ///< NCCL_GRAPH_FILE
  std::string topology_file = {};  ///< NCCL_TOPO_FILE

  Settings();
};

/// One `NAME=value`.
struct Variable {
  std::string name = {}, value = {};
  Place at = {};
};

/// What the variables come to, and those that we know not to matter for a decision or do not know.
struct ReadSettings {
  Settings settings = {};
  std::vector<std::string> without_effect = {};
};
/// Refused: a value that NCCL would reject or silently misread.
Checked<ReadSettings> read_settings(const std::vector<Variable>& variables);

}  // namespace railyard::predict::nccl

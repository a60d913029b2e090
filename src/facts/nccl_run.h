#pragma once
// What a job says about its collectives when NCCL_DEBUG is set: which network it took, whether NICs
// read and write GPU memory themselves, what NCCL saw of the machine, which rings it built, what it
// expects of each algorithm, and what went wrong. [NCCL 2.4 to 2.31; RCCL prints the same forms]
//
// Every rank prints the same things, so facts that are equal for many ranks are kept once, with a
// count and the place of the first. References between records are indices; -1 is "not known".

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "facts/nccl_graph.h"
#include "facts/seen.h"

namespace railyard::facts {

/// `NCCL version 2.28.9+cuda13.0`.
struct NcclVersion {
  Place at = {};
  std::string text = {};                ///< as printed: `2.28.9+cuda13.0`
  int major = 0, minor = 0, patch = 0;  ///< 0 where the text does not say
  bool rccl = false;
  int count = 0;
};

/// A process that prints: one rank, or several where one process drives several GPUs.
struct NcclProcess {
  Place at = {};
  std::string host = {};
  int pid = 0;
};

/// `NCCL_IB_HCA set by environment to mlx5`.
struct NcclVariable {
  Place at = {};
  std::string name = {}, value = {};
  int count = 0;
};

/// A line on plugins and what they chose: net, tuner, profiler, env; shown, not taken apart.
struct NcclPluginLine {
  Place at = {};
  std::string text = {};
  int count = 0;
};

/// A port of `NET/IB : Using [0]mlx5_0:1/RoCE ...`.
struct NcclDevice {
  int index = -1;
  std::string name = {};
  int port = 0;
  std::string link = {};  ///< `IB`, `RoCE`; empty for sockets
  bool sharp = false;
  std::vector<std::string> parts = {};  ///< ports that are merged into this device
};

/// The network devices that a host offers; equal lists of one host are one record.
struct NcclDeviceList {
  Place at = {};
  std::string host = {};
  std::string network = {};  ///< `IB`, `Socket`
  std::vector<NcclDevice> devices = {};
  bool relaxed_ordering = false;  ///< `[RO]`
  std::string out_of_band = {};   ///< `eth0:10.0.0.1<0>`
  bool none_found = false;        ///< `No device found`
  int count = 0;
};

/// The speed of a device where NCCL prints it (virtual devices, 2.27 and later).
struct NcclDeviceSpeed {
  Place at = {};
  std::string host = {}, name = {};
  int index = -1;
  double mbps = 0;  ///< megabits per second, as printed
  int devices = 1;  ///< ports behind it
  int count = 0;
};

/// Whether a NIC may reach GPU memory: for the NIC as such, or for a GPU and a NIC.
struct NcclGpuDirect {
  Place at = {};
  std::string host = {};
  bool enabled = false;
  std::string network = {};  ///< `NET/IB`, `NET/IBext_v10`; empty in lines on a pair
  std::string gpu = {};  ///< as printed: bus id up to 2.23, rank from 2.24; empty: the NIC as such
  int nic = -1;          ///< number of the HCA; printed in hex from 2.21 on
  std::string nic_name = {};
  std::string reason = {};  ///< `no module`, `DMABUF`, `nvidia-peermem`
  std::optional<int> distance = {},
                     threshold = {};  ///< path classes: their numbers vary by version
  bool read = false;
  int count = 0;
};

/// A line `+ PCI[48.0] - GPU/0-60 (0)` of the system as NCCL sees it.
struct NcclSystemNode {
  int line = 0;
  int depth = 0;            ///< 0 for a CPU, 1 for what hangs on it
  std::string link = {};    ///< `PCI`, `NVL`, `NET`, `SYS`; empty for a CPU
  double bandwidth = 0;     ///< GB/s, as NCCL counts
  std::string node = {};    ///< `GPU/0-60`
  std::string detail = {};  ///< inside the brackets behind it
};

/// One entry of a line `GPU/0-60 :GPU/0-70 (2/370.8/NVL) ...`.
struct NcclPath {
  int line = 0;
  std::string from = {}, to = {};
  int hops = 0;
  double bandwidth = 0;   ///< GB/s of the narrowest link
  std::string type = {};  ///< LOC NVL NVB C2C PIX PXB P2C PXN PHB SYS NET DIS
};

/// `=== System : maxBw 370.8 totalBw 370.8 ===` and its lines; equal ones are one record.
struct NcclSystem {
  Place at = {};
  double max_bandwidth = 0, total_bandwidth = 0;  ///< GB/s
  std::vector<NcclSystemNode> nodes = {};
  std::vector<NcclPath> paths = {};
  bool complete = false;  ///< the closing line was there
  int count = 0;
};

/// `Channel 00/24 : 0 1 2 3`: the ring of a channel over all ranks.
struct NcclRing {
  int line = 0;
  int channel = 0, of = 0;
  std::vector<int> ranks = {};
};

/// One cell of the tuning table. NCCL expects latency + bytes / bandwidth.
struct NcclTuningCell {
  std::string collective = {}, algorithm = {}, protocol = {};  ///< `AllReduce`, `Ring`, `LL128`
  double latency_us = 0, bandwidth_gbs = 0;                    ///< bandwidth 0: not to be chosen
  int max_threads = 0;
};

/// How far the set-up of a communicator came.
enum class NcclCommState : std::uint8_t { seen, started, complete, aborted, destroyed };

/// One rank of one communicator.
struct NcclCommunicator {
  Place at = {};
  int process = -1;          ///< index into `processes`
  std::string pointer = {};  ///< `0x5576a5beb900`: tells communicators of one process apart
  std::string id = {};       ///< `commId`, equal on all ranks (2.18 and later)
  std::string parent = {};   ///< pointer of the communicator that it was split from
  std::string call = {};     ///< `ncclCommInitAll`, `ncclCommSplit`
  NcclCommState state = NcclCommState::seen;
  std::optional<int> rank = {}, ranks = {}, nodes = {}, local_ranks = {}, local_rank = {};
  std::optional<int> cuda_device = {}, nvml_device = {};
  std::string bus_id = {};
  std::optional<bool> mnnvl = {};  ///< one NVLink domain over several nodes
  std::string network = {};        ///< `IB`, `Socket`, `IBext_v10`, `AWS Libfabric`
  std::string affinity = {};       ///< CPUs of the GPU, as mask or list
  int system = -1;                 ///< index into `systems`
  /// As the log prints them: `gpus` and `nets` hold the part behind the dash of `GPU/0-60` as a
  /// number (a bus id read as hex; before 2.22 there is no dash).
  std::vector<NcclGraph> graphs = {};
  std::vector<NcclRing> rings = {};  ///< printed by rank 0 only
  std::vector<NcclTuningCell> tuning = {};
  std::vector<int> thread_thresholds = {};  ///< tree LL/LL128/Simple, ring the same, CollNet
  std::optional<int> coll_channels = {}, collnet_channels = {}, nvls_channels = {};
  std::optional<int> p2p_channels = {}, p2p_channels_per_peer = {}, p2p_chunk = {};
  std::optional<int> nvls_heads = {};
  std::optional<bool> nvls_support = {};  ///< `NVLS multicast support is available`
  bool rings_connected = false, trees_connected = false, nvls_connected = false;
  std::optional<bool> pxn = {}, gpu_direct = {};  ///< `use ring PXN 0 GDR 1`
  std::optional<double> init_seconds = {};
};

enum class NcclDirection : std::uint8_t { both, send, receive };
enum class NcclTransport : std::uint8_t { other, p2p, shm, net, nvls, collnet };

/// `Channel 00/0 : 15[7] -> 0[0] [send] via NET/IBext/0(8)/GDRDMA`.
struct NcclConnection {
  Place at = {};
  int communicator = -1;  ///< index into `communicators`
  int channel = 0, connection = 0;
  int from = -1, to = -1;                        ///< ranks
  std::string from_device = {}, to_device = {};  ///< in the brackets: bus id, from 2.18 CUDA device
  NcclDirection direction = NcclDirection::both;
  NcclTransport transport = NcclTransport::other;
  std::string via = {};      ///< as printed: `P2P/CUMEM`
  std::string network = {};  ///< `IBext`
  int device = -1;           ///< of the network
  int proxy_rank = -1;       ///< the rank whose NIC it is (PXN)
  bool gpu_direct = false, shared = false;
};

/// `AllReduce: 1048576 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}`; up to 2.23
/// `Algo 1 proto 2 time 123.4`. Equal ones of a communicator are one record.
struct NcclCall {
  Place at = {};
  int communicator = -1;
  std::string collective = {};
  std::uint64_t bytes = 0;
  std::string algorithm = {}, protocol = {};
  std::optional<int> first_channel = {}, last_channel = {};
  std::optional<double> estimate_us = {};
  int count = 0;
};

/// `AllReduce: opCount 0 sendbuff ... count 1024 datatype 7 op 0 root 0 comm 0x...`
/// (NCCL_DEBUG_SUBSYS COLL): what the job asked for, in order of first appearance.
struct NcclOperation {
  Place at = {};
  std::string collective = {};
  std::uint64_t elements = 0;
  int datatype = -1, op = -1;  ///< ncclDataType_t, ncclRedOp_t
  int ranks = 0;
  int count = 0;
};

/// A remark of the topology detection: something could not be read, a device hangs on no switch.
struct NcclTopologyRemark {
  Place at = {};
  std::string text = {};
  int count = 0;
};

/// Where an error passed through: `transport/net_ib.cc:783 -> 2`.
struct NcclTrail {
  std::string file = {};
  int line = 0, code = 0;
};

/// `NCCL WARN`, or the text of a framework's exception on NCCL. Equal ones of a host are one
/// record.
struct NcclWarning {
  Where where = {};
  std::string host = {};
  std::string source = {};     ///< `transport/net_ib.cc:1295`; empty in exceptions
  std::string timestamp = {};  ///< 2.26 and later
  std::string text = {};
  bool exception = false;
  std::vector<NcclTrail> trail = {};
  int count = 0;
};

/// A work request that the network adapter gave back with an error, one of half a dozen spellings.
struct NcclCompletionError {
  Place at = {};
  std::string host = {};
  std::string peer = {};  ///< `10.0.0.2<40123>`
  int status = 0;         ///< ibv_wc_status: 12 retries exceeded, 5 flushed, 4 protection
  int vendor_error = 0;   ///< 129: no answer from the peer
  int opcode = 0;
  std::string operation = {};  ///< `Send`, `Recv`
  std::string local_gid = {}, remote_gid = {}, nic = {};
  int count = 0;
};

struct NcclRun {
  std::vector<NcclVersion> versions = {};     ///< more than one: hosts that differ, or several jobs
  std::optional<Seen<int>> cuda_driver = {};  ///< `cudaDriverVersion 13000`
  std::vector<NcclProcess> processes = {};
  std::vector<NcclVariable> environment = {};
  std::vector<NcclPluginLine> plugins = {};
  std::vector<NcclDeviceList> devices = {};
  std::vector<NcclDeviceSpeed> speeds = {};
  std::vector<NcclGpuDirect> gpu_direct = {};
  std::vector<NcclCommunicator> communicators = {};
  std::vector<NcclSystem> systems = {};
  std::vector<NcclConnection> connections = {};
  std::vector<NcclCall> calls = {};
  std::vector<NcclOperation> operations = {};
  std::vector<NcclTopologyRemark> topology_remarks = {};
  std::vector<NcclWarning> warnings = {};
  std::vector<NcclCompletionError> completion_errors = {};
  std::vector<Skipped> skipped = {};
  int lines = 0, nccl_lines = 0;
};

}  // namespace railyard::facts

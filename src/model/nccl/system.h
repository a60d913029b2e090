#pragma once
// A server the way NCCL sees it: a graph of GPUs, PCI switches, NVSwitch, CPUs and network devices
// joined by directed links, each with the bandwidth that NCCL *assumes* for it.
//
// These rates are NCCL's own constants, not measurements: PCIe Gen5 x16 is 48 GB/s here whatever
// the slot does. They decide which channels NCCL builds, hence they are kept apart from the
// payload rates of fabric/.
//
// The order of nodes and of a node's links is part of the meaning, because NCCL takes the first of
// equals: links stand in descending bandwidth, and the link up the PCI tree last.
// [NCCL 2.28: src/graph/topo.cc]

#include <cstdint>
#include <string_view>
#include <vector>

namespace railyard::model::nccl {

enum class NodeKind : std::uint8_t { gpu, pci, nvswitch, cpu, nic, net };
inline constexpr int kNodeKinds = 6;

enum class LinkKind : std::uint8_t { local, nvlink, c2c, pci, sys, net };

enum class CpuArch : std::uint8_t { unknown, x86, arm, power };
enum class CpuVendor : std::uint8_t { unknown, intel, amd, zhaoxin };
/// Generations that differ in what crosses between two sockets.
enum class CpuModel : std::uint8_t {
  unknown,
  broadwell,
  skylake,
  sapphire_rapids,
  emerald_rapids,
  yongfeng
};

/// GPUs that one system may have here: the largest NVLink domain shipping has 72.
inline constexpr int kMostGpus = 128;

/// Index into System::nodes.
using NodeIndex = std::uint16_t;
/// Index into System::links.
using LinkIndex = std::uint16_t;

struct Link {
  LinkKind kind = LinkKind::local;
  NodeIndex from = 0, to = 0;
  LinkIndex reverse = 0;  ///< the same wire the other way
  float gb_per_s = 0;
};

struct GpuData {
  int dev = 0, rank = 0;
  int sm = 0;  ///< compute capability x 10
  bool gpu_direct = true;
};

struct NetData {
  int dev = 0;
  std::uint64_t asic = 0;  ///< guid; devices with equal asic and port share the port's bandwidth
  int port = 0;
  float gb_per_s = 0;
  float latency_us = 0;
  bool gpu_direct = false, collectives = false;
};

struct CpuData {
  CpuArch arch = CpuArch::unknown;
  CpuVendor vendor = CpuVendor::unknown;
  CpuModel model = CpuModel::unknown;
};

struct Node {
  NodeKind kind = NodeKind::gpu;
  std::uint16_t index = 0;  ///< among the nodes of its kind
  int host = 0;             ///< several where an NVLink domain spans hosts
  std::int64_t id = 0;      ///< bus id, NUMA id, device number
  std::vector<LinkIndex> links = {};
  GpuData gpu = {};
  NetData net = {};
  CpuData cpu = {};
};

struct System {
  std::vector<Node> nodes = {};
  std::vector<Link> links = {};
  std::vector<NodeIndex> of_kind[kNodeKinds] = {};
  int hosts = 1;

  const std::vector<NodeIndex>& gpus() const { return of_kind[0]; }
  const std::vector<NodeIndex>& nvswitches() const { return of_kind[2]; }
  const std::vector<NodeIndex>& cpus() const { return of_kind[3]; }
  const std::vector<NodeIndex>& nets() const { return of_kind[5]; }
  int lowest_sm() const;
  int highest_sm() const;
  const CpuData& cpu() const { return nodes[cpus().front()].cpu; }
};

/// The system without its network devices: what NCCL searches when all ranks are in it.
System without_network(const System& system);

/// The system of a communicator that has only some of the GPUs, by index.
System with_gpus(const System& system, const std::vector<int>& gpus);

/// NCCL's rate of one NVLink of a GPU, GB/s. [NCCL 2.28: src/graph/topo.h]
float nvlink_gb_per_s(int sm);
/// NCCL's rate of a PCIe link, GB/s: width x (generation's constant) / 80. Speed by its text, as
/// the kernel spells it; unknown text counts as Gen3, width 0 as 16.
float pcie_gb_per_s(std::string_view link_speed, int width);

}  // namespace railyard::model::nccl

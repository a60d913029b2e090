#pragma once
// The way between any two devices of a system, and how near they are.
//
// Paths are breadth-first with NCCL's rules: no more than one GPU in between and only over NVLink
// (NVB); traffic that peers must not exchange directly goes through the CPU; a NIC may be reached
// through the GPU beside it (PXN). The rate of a path is that of its slowest link.
// [NCCL 2.28: src/graph/paths.cc]

#include <span>
#include <vector>

#include "model/nccl/system.h"
#include "predict/nccl/settings.h"

namespace railyard::predict::nccl {

using model::nccl::LinkIndex;
using model::nccl::NodeIndex;
using model::nccl::NodeKind;
using model::nccl::System;

struct Path {
  PathType type = PathType::dis;
  float gb_per_s = 0;
  std::vector<LinkIndex> links = {};

  int hops() const { return static_cast<int>(links.size()); }
};

/// Devices that are all equally and most near to another one, by their index among their kind.
struct Nearest {
  std::vector<int> devices = {};
  PathType type = PathType::dis;
};

class Paths {
 public:
  Paths(const System& system, const Settings& settings);

  const System& system() const { return *system_; }
  /// From node `from` (a GPU, NVSwitch, CPU or network device) to node `to`.
  const Path& between(NodeIndex from, NodeIndex to) const {
    return table_[slot_[from] * ends_ + slot_[to]];
  }
  const Path& gpu_to_gpu(int from, int to) const { return between(gpu(from), gpu(to)); }
  const Path& gpu_to_net(int g, int n) const { return between(gpu(g), net(n)); }
  const Path& net_to_gpu(int n, int g) const { return between(net(n), gpu(g)); }

  Nearest nearest_nets(int gpu) const;
  Nearest nearest_gpus(int net) const;
  /// The network devices that a GPU uses, by channel and then from the start again. Neighbouring
  /// GPUs start at devices far apart (bit reversal), so that the channels of a node spread.
  /// [ncclTopoGetLocalNet]
  std::vector<int> nets_used(int gpu) const;
  /// The GPU that uses a network device on its first channels, or -1.
  int gpu_beside(int net) const { return beside_[static_cast<std::size_t>(net)]; }
  /// Whether the NIC reads and writes this GPU's memory.
  bool gpu_direct(int gpu, int net) const;

  /// The widest path of a channel, and the widest of one GPU over all its channels, GB/s.
  float widest_path() const { return widest_path_; }
  float widest_gpu() const { return widest_gpu_; }

 private:
  NodeIndex gpu(int g) const { return system_->gpus()[static_cast<std::size_t>(g)]; }
  NodeIndex net(int n) const { return system_->nets()[static_cast<std::size_t>(n)]; }
  Path& at(NodeIndex from, NodeIndex to) { return table_[slot_[from] * ends_ + slot_[to]]; }
  void spread_from(NodeIndex base);
  void route_through(NodeIndex middle, NodeIndex from, NodeIndex to);
  bool peers(NodeIndex from, NodeIndex to) const;
  NodeIndex cpu_of(NodeIndex gpu) const;
  void divert_peers();
  void mark_chip_to_chip();
  void reach_networks();
  void measure();
  int find_gpu_beside(int net) const;

  const System* system_;
  Settings settings_;
  std::vector<std::size_t> slot_;  ///< row of a node in the table; nodes without: ends_
  std::size_t ends_ = 0;
  std::vector<Path> table_;
  std::vector<int> beside_;
  float widest_path_ = 0, widest_gpu_ = 0;
};

}  // namespace railyard::predict::nccl

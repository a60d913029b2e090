#pragma once
// Channels through a server: in which order a channel visits the GPUs, and at which network
// devices it enters and leaves.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/nccl/system.h"
#include "predict/nccl/settings.h"

namespace railyard::predict::nccl {

/// How a channel runs. Values are NCCL's. [NCCL 2.28: NCCL_TOPO_PATTERN_*]
enum class Pattern : std::uint8_t {
  balanced_tree = 1,  ///< the NIC's traffic shared by the first two GPUs
  split_tree = 2,     ///< one GPU receives, the next sends
  tree = 3,           ///< all of it through the first GPU
  ring = 4,
  nvls = 5,  ///< a channel is a GPU that pulls from the NVSwitch
  collnet_direct = 6
};

/// Ids of graph files and of NCCL's log.
enum class GraphId : std::uint8_t { ring, tree, collnet_chain, nvls, collnet_direct };
inline constexpr int kGraphs = 5;
const char* name(GraphId id);

struct Graph {
  Pattern pattern = Pattern::ring;
  bool collnet = false;
  int channels = 0;
  float intra = 0, inter = 0;  ///< GB/s that each channel may count on, inside and between nodes
  float latency_inter = 0;     ///< us, of the network device
  PathType type_intra = PathType::loc, type_inter = PathType::pix;
  int cross_nic = 0;
  bool same_channels = true;
  int hops = 0;
  int gpus = 0;  ///< of the system, length of a row of `order`
  std::vector<std::int16_t> order =
      {};                               ///< [channel x gpu] index of the GPU; of NVLS only the head
  std::vector<std::int16_t> nets = {};  ///< [channel x 2] device into and out of the node, or -1

  int gpu(int channel, int step) const {
    return order[static_cast<std::size_t>(channel * gpus + step)];
  }
  int net(int channel, int end) const { return nets[static_cast<std::size_t>(channel * 2 + end)]; }
};

/// How a graph file numbers a graph. [NCCL 2.28: id and pattern of <graph>]
struct GraphKind {
  int id = 0, pattern = 0;
};
/// An empty graph of that kind.
Graph empty_graph(GraphKind kind, const model::nccl::System& system);

/// A channel by device numbers, as graph files have it.
struct ChannelDevices {
  const std::vector<std::int64_t>& gpus;
  const std::vector<std::int64_t>& nets;
};
/// Adds a channel. Returns what does not fit the system, and then adds nothing.
std::optional<std::string> add_channel(Graph& graph, ChannelDevices devices,
                                       const model::nccl::System& system);

}  // namespace railyard::predict::nccl

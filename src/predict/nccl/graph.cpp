#include "predict/nccl/graph.h"

#include <algorithm>
#include <array>

namespace railyard::predict::nccl {

namespace {

/// Device numbers carry the host above bit 56. [NCCL 2.28: NCCL_TOPO_ID]
constexpr std::int64_t kLocal = (std::int64_t{1} << 56) - 1;

std::optional<int> gpu_with(const model::nccl::System& system, std::int64_t dev) {
  for (std::size_t i = 0; i < system.gpus().size(); ++i)
    if (system.nodes[system.gpus()[i]].gpu.dev == (dev & kLocal)) return static_cast<int>(i);
  return std::nullopt;
}

std::optional<int> net_with(const model::nccl::System& system, std::int64_t dev) {
  for (std::size_t i = 0; i < system.nets().size(); ++i)
    if (system.nodes[system.nets()[i]].net.dev == (dev & kLocal)) return static_cast<int>(i);
  return std::nullopt;
}

}  // namespace

const char* name(GraphId id) {
  constexpr std::array<const char*, kGraphs> kNames{"ring", "tree", "CollNet chain", "NVLS",
                                                    "CollNet direct"};
  return kNames[static_cast<std::size_t>(id)];
}

Graph empty_graph(GraphKind kind, const model::nccl::System& system) {
  Graph out{.collnet = kind.id == 2 || kind.id == 4,
            .gpus = static_cast<int>(system.gpus().size())};
  if (kind.pattern >= 1 && kind.pattern <= 6) out.pattern = static_cast<Pattern>(kind.pattern);
  return out;
}

std::optional<std::string> add_channel(Graph& graph, ChannelDevices devices,
                                       const model::nccl::System& system) {
  std::vector<std::int16_t> order;
  for (const std::int64_t dev : devices.gpus) {
    const auto index = gpu_with(system, dev);
    if (!index) return "GPU " + std::to_string(dev & kLocal);
    if (std::find(order.begin(), order.end(), *index) != order.end())
      return "GPU " + std::to_string(dev & kLocal) + " twice";
    order.push_back(static_cast<std::int16_t>(*index));
  }
  // Of NVLS a file names the head only.
  if (order.empty() ||
      (order.size() != static_cast<std::size_t>(graph.gpus) && graph.pattern != Pattern::nvls))
    return std::to_string(order.size()) + " GPUs";
  order.resize(static_cast<std::size_t>(graph.gpus), order.front());
  std::array<std::int16_t, 2> ends{-1, -1};
  for (std::size_t i = 0; i < std::min<std::size_t>(devices.nets.size(), 2); ++i) {
    const auto index = net_with(system, devices.nets[i]);
    if (!index && !system.nets().empty())
      return "network device " + std::to_string(devices.nets[i] & kLocal);
    if (index) ends[i] = static_cast<std::int16_t>(*index);
  }
  graph.order.insert(graph.order.end(), order.begin(), order.end());
  graph.nets.insert(graph.nets.end(), ends.begin(), ends.end());
  return std::nullopt;
}

}  // namespace railyard::predict::nccl

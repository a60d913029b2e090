#include "model/nccl/system.h"

#include <algorithm>
#include <array>

namespace railyard::model::nccl {

int System::lowest_sm() const {
  int out = nodes[gpus().front()].gpu.sm;
  for (const NodeIndex g : gpus()) out = std::min(out, nodes[g].gpu.sm);
  return out;
}

int System::highest_sm() const {
  int out = nodes[gpus().front()].gpu.sm;
  for (const NodeIndex g : gpus()) out = std::max(out, nodes[g].gpu.sm);
  return out;
}

System without_network(const System& system) {
  System out = system;
  for (Node& node : out.nodes)
    std::erase_if(node.links, [&](LinkIndex l) {
      return system.nodes[system.links[l].to].kind == NodeKind::net;
    });
  out.of_kind[static_cast<int>(NodeKind::net)].clear();
  return out;
}

System with_gpus(const System& system, const std::vector<int>& gpus) {
  System out = system;
  std::vector<NodeIndex>& kept = out.of_kind[static_cast<int>(NodeKind::gpu)];
  kept.clear();
  std::vector<bool> keep(system.nodes.size(), false);
  for (const int g : gpus) {
    const NodeIndex node = system.gpus()[static_cast<std::size_t>(g)];
    out.nodes[node].index = static_cast<std::uint16_t>(kept.size());
    kept.push_back(node);
    keep[node] = true;
  }
  for (Node& node : out.nodes)
    std::erase_if(node.links, [&](LinkIndex l) {
      const NodeIndex to = system.links[l].to;
      return system.nodes[to].kind == NodeKind::gpu && !keep[to];
    });
  return out;
}

float nvlink_gb_per_s(int sm) {
  if (sm >= 100) return 40.1F;
  if (sm >= 90) return 20.6F;
  if (sm == 86) return 12.0F;
  if (sm >= 70) return 20.0F;
  return sm >= 60 ? 18.0F : 20.0F;
}

float pcie_gb_per_s(std::string_view link_speed, int width) {
  struct Generation {
    std::string_view text;
    int per_lane;  // 100 Mb/s
  };
  // Matched by prefix; the kernel's old spelling and its new one. A fraction counts only with
  // "PCIe" behind it: "16.0 GT/s" alone is unknown. [NCCL 2.28: src/graph/topo.cc]
  constexpr std::array<Generation, 10> kGenerations{{{"2.5 GT/s", 15},
                                                     {"5 GT/s", 30},
                                                     {"8 GT/s", 60},
                                                     {"16 GT/s", 120},
                                                     {"32 GT/s", 240},
                                                     {"5.0 GT/s PCIe", 30},
                                                     {"8.0 GT/s PCIe", 60},
                                                     {"16.0 GT/s PCIe", 120},
                                                     {"32.0 GT/s PCIe", 240},
                                                     {"64.0 GT/s PCIe", 480}}};
  int per_lane = 60;
  for (const Generation& generation : kGenerations)
    if (link_speed.starts_with(generation.text)) {
      per_lane = generation.per_lane;
      break;
    }
  return static_cast<float>((width == 0 ? 16 : width) * per_lane / 80.0);
}

}  // namespace railyard::model::nccl

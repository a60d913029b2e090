#include "predict/nccl/paths.h"

#include <algorithm>
#include <array>
#include <bit>

namespace railyard::predict::nccl {

namespace {

using model::nccl::CpuArch;
using model::nccl::CpuVendor;
using model::nccl::Link;
using model::nccl::LinkKind;
using model::nccl::Node;

constexpr float kLocal = 5000;  // GB/s of a device with itself [NCCL 2.28: LOC_BW]

PathType type_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::nvlink: return PathType::nvl;
    case LinkKind::c2c: return PathType::c2c;
    case LinkKind::pci: return PathType::pix;
    case LinkKind::sys: return PathType::sys;
    default: return PathType::loc;
  }
}

/// A host bridge that is reached over chip-to-chip links counts as near. [mergePathType]
PathType joined(PathType a, PathType b) {
  const PathType far = std::max(a, b), near = std::min(a, b);
  return far == PathType::phb && near == PathType::c2c ? PathType::p2c : far;
}

/// Devices that paths lead from and to.
constexpr std::array<NodeKind, 4> kEnds{NodeKind::cpu, NodeKind::gpu, NodeKind::net,
                                        NodeKind::nvswitch};

/// What a path becomes that goes on from `node` over `link` to `far`.
PathType extended(const Path& path, const Node& node, const Link& link, const Node& far) {
  PathType type = type_of(link.kind);
  if (node.kind == NodeKind::pci && far.kind == NodeKind::pci) type = PathType::pxb;
  if (link.kind == LinkKind::pci && (node.kind == NodeKind::cpu || far.kind == NodeKind::cpu))
    type = PathType::phb;
  if (node.kind == NodeKind::gpu && path.type == PathType::nvl && type == PathType::nvl &&
      path.hops() > 0)
    type = PathType::nvb;
  return std::max(path.type, type);
}

}  // namespace

Paths::Paths(const System& system, const Settings& settings)
    : system_(&system), settings_(settings), slot_(system.nodes.size()) {
  for (const NodeKind kind : kEnds)
    for (const NodeIndex n : system.of_kind[static_cast<int>(kind)]) slot_[n] = ends_++;
  table_.resize(ends_ * ends_);
  for (const NodeKind kind : kEnds)
    for (const NodeIndex n : system.of_kind[static_cast<int>(kind)]) spread_from(n);
  divert_peers();
  mark_chip_to_chip();
  reach_networks();
  for (std::size_t n = 0; n < system.nets().size(); ++n)
    beside_.push_back(find_gpu_beside(static_cast<int>(n)));
  measure();
}

/// Paths from everywhere to `base`, nearest first. A later, longer way replaces an earlier one only
/// in the same round or when it has fewer hops, and only when it is faster.
void Paths::spread_from(NodeIndex base) {
  const System& s = *system_;
  std::vector<Path> to_base(s.nodes.size());
  to_base[base] = {.type = PathType::loc, .gb_per_s = kLocal};
  std::vector<NodeIndex> round{base}, next;
  while (!round.empty()) {
    next.clear();
    for (const NodeIndex n : round) {
      const Node& node = s.nodes[n];
      for (const LinkIndex l : node.links) {
        const Link& link = s.links[l];
        const Node& far = s.nodes[link.to];
        const Path& path = to_base[n];
        const float rate = std::min(path.gb_per_s, link.gb_per_s);
        const bool through_gpu = n != base && node.kind == NodeKind::gpu;
        if (through_gpu && (!settings_.nvb || link.kind != LinkKind::nvlink ||
                            far.kind != NodeKind::gpu || path.hops() > 1))
          continue;
        Path& best = to_base[link.to];
        if ((best.gb_per_s != 0 && best.hops() <= path.hops()) || best.gb_per_s >= rate) continue;
        best.links.assign(1, link.reverse);
        best.links.insert(best.links.end(), path.links.begin(), path.links.end());
        best.gb_per_s = rate;
        best.type = extended(path, node, link, far);
        if (std::find(next.begin(), next.end(), link.to) == next.end()) next.push_back(link.to);
      }
    }
    std::swap(round, next);
  }
  for (const NodeKind kind : kEnds)
    for (const NodeIndex n : s.of_kind[static_cast<int>(kind)]) at(n, base) = std::move(to_base[n]);
}

void Paths::route_through(NodeIndex middle, NodeIndex from, NodeIndex to) {
  const Path first = between(from, middle), second = between(middle, to);
  Path& path = at(from, to);
  path.links = first.links;
  path.links.insert(path.links.end(), second.links.begin(), second.links.end());
  path.type = system_->nodes[middle].kind == NodeKind::gpu ? PathType::pxn
                                                           : joined(first.type, second.type);
  path.gb_per_s = std::min(first.gb_per_s, second.gb_per_s);
}

NodeIndex Paths::cpu_of(NodeIndex gpu) const {
  NodeIndex best = system_->cpus().front();
  int fewest = 0;
  for (const NodeIndex c : system_->cpus()) {
    const int hops = between(gpu, c).hops();
    if (hops > 0 && (fewest == 0 || hops < fewest)) {
      best = c;
      fewest = hops;
    }
  }
  return best;
}

/// Whether two GPUs write each other's memory. Not across a host bridge, except for two GPUs on an
/// AMD CPU. [ncclTopoCheckP2p]
bool Paths::peers(NodeIndex from, NodeIndex to) const {
  PathType limit = PathType::pxb;
  const auto& cpu = system_->cpu();
  if (cpu.arch == CpuArch::x86 && cpu.vendor == CpuVendor::amd && system_->gpus().size() <= 2)
    limit = PathType::sys;
  if (settings_.p2p_level) limit = *settings_.p2p_level;
  return between(from, to).type <= limit;
}

void Paths::divert_peers() {
  for (const NodeIndex to : system_->gpus())
    for (const NodeIndex from : system_->gpus())
      if (!peers(from, to)) route_through(cpu_of(to), from, to);
}

void Paths::mark_chip_to_chip() {
  for (const NodeIndex n : system_->nets())
    for (const NodeIndex g : system_->gpus()) {
      const NodeIndex cpu = cpu_of(g);
      if (joined(between(g, cpu).type, between(n, cpu).type) != PathType::p2c) continue;
      at(g, n).type = std::min(PathType::p2c, at(g, n).type);
      at(n, g).type = std::min(PathType::p2c, at(n, g).type);
    }
}

bool Paths::gpu_direct(int g, int n) const {
  if (!system_->nodes[net(n)].net.gpu_direct || !system_->nodes[gpu(g)].gpu.gpu_direct)
    return false;
  const PathType limit = settings_.gdr_level.value_or(PathType::pxb);
  PathType distance = gpu_to_net(g, n).type;
  if (distance == PathType::pxn)  // the GPU in the middle is the one beside the NIC
    for (const LinkIndex l : gpu_to_net(g, n).links) {
      const NodeIndex hop = system_->links[l].to;
      if (system_->nodes[hop].kind == NodeKind::nvswitch) continue;
      if (system_->nodes[hop].kind == NodeKind::gpu) distance = between(hop, net(n)).type;
      break;
    }
  if (settings_.gdr_c2c && distance == PathType::p2c) distance = PathType::c2c;
  return distance <= limit;
}

void Paths::reach_networks() {
  const PathType farthest_relay = settings_.pxn_c2c ? PathType::p2c : PathType::pxb;
  for (std::size_t n = 0; n < system_->nets().size(); ++n) {
    const NodeIndex device = system_->nets()[n];
    for (std::size_t g = 0; g < system_->gpus().size(); ++g) {
      const NodeIndex me = system_->gpus()[g];
      const int beside = settings_.pxn ? find_gpu_beside(static_cast<int>(n)) : -1;
      if (beside >= 0 && static_cast<std::size_t>(beside) != g) {
        const NodeIndex relay = gpu(beside);
        const Path &there = between(relay, device), &mine = between(me, device);
        if (there.type <= farthest_relay && between(relay, me).type <= PathType::nvl &&
            system_->nodes[relay].host == system_->nodes[me].host &&
            (there.gb_per_s > mine.gb_per_s || mine.type > PathType::pxn))
          route_through(relay, me, device);  // sending only: receivers stay local
      }
      if (between(me, device).type < PathType::phb &&
          !gpu_direct(static_cast<int>(g), static_cast<int>(n))) {
        const NodeIndex cpu = cpu_of(me);
        route_through(cpu, device, me);
        route_through(cpu, me, device);
      }
    }
  }
}

void Paths::measure() {
  const bool network = !system_->nets().empty();
  if (!network && system_->gpus().size() == 1) {
    widest_path_ = widest_gpu_ = kLocal;
    return;
  }
  for (const NodeIndex g : system_->gpus()) {
    for (const NodeIndex far : network ? system_->nets() : system_->gpus())
      if (between(g, far).hops() > 0)
        widest_path_ = std::max(widest_path_, between(g, far).gb_per_s);
    float nvlink = 0, pci = 0;
    for (const LinkIndex l : system_->nodes[g].links) {
      const Link& link = system_->links[l];
      if (link.kind == LinkKind::nvlink) nvlink += link.gb_per_s;
      if (link.kind == LinkKind::pci) pci = link.gb_per_s;
    }
    widest_gpu_ = std::max(widest_gpu_, std::max(nvlink, pci));
  }
}

namespace {

/// The fastest, and of those the nearest.
Nearest nearest_of(const std::vector<NodeIndex>& candidates, auto&& path_to) {
  Nearest out;
  float fastest = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Path& path = path_to(candidates[i]);
    if (path.gb_per_s > fastest || (path.gb_per_s == fastest && path.type < out.type)) {
      fastest = path.gb_per_s;
      out.type = path.type;
      out.devices.clear();
    }
    if (path.gb_per_s == fastest && path.type == out.type)
      out.devices.push_back(static_cast<int>(i));
  }
  return out;
}

}  // namespace

Nearest Paths::nearest_nets(int g) const {
  return nearest_of(system_->nets(),
                    [&](NodeIndex n) -> const Path& { return between(gpu(g), n); });
}

Nearest Paths::nearest_gpus(int n) const {
  return nearest_of(system_->gpus(),
                    [&](NodeIndex g) -> const Path& { return between(net(n), g); });
}

std::vector<int> Paths::nets_used(int g) const {
  const std::vector<int> nets = nearest_nets(g).devices;
  if (nets.empty()) return {};
  const int count = static_cast<int>(nets.size());
  int each = count;
  switch (settings_.net_devices.policy) {
    case NetDevices::Policy::automatic: {
      const int sharing = static_cast<int>(nearest_gpus(nets.front()).devices.size());
      each = (count + std::max(sharing, 1) - 1) / std::max(sharing, 1);
      break;
    }
    case NetDevices::Policy::all: break;
    case NetDevices::Policy::most: each = std::clamp(settings_.net_devices.most, 1, count); break;
  }
  int start = std::max(system_->nodes[gpu(g)].gpu.dev, 0);
  if (std::has_single_bit(static_cast<unsigned>(count))) {
    int mirrored = 0;  // the bits below `count` in reverse
    for (int mirror = count >> 1, bit = 1; bit < count; bit <<= 1, mirror >>= 1)
      if (start & bit) mirrored |= mirror;
    start = mirrored;
  }
  std::vector<int> out;
  for (int c = 0; c < each; ++c) out.push_back(nets[static_cast<std::size_t>((start + c) % count)]);
  return out;
}

int Paths::find_gpu_beside(int n) const {
  constexpr std::size_t kMostChannels = 64;
  const std::vector<int> gpus = nearest_gpus(n).devices;
  std::vector<std::vector<int>> used;
  for (const int g : gpus) used.push_back(nets_used(g));
  for (std::size_t c = 0; c < kMostChannels; ++c)
    for (std::size_t i = 0; i < gpus.size(); ++i)
      if (!used[i].empty() && used[i][c % used[i].size()] == n) return gpus[i];
  return -1;
}

}  // namespace railyard::predict::nccl

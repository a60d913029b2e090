#include "predict/nccl/graph_memory.h"

#include <bit>
#include <utility>

#include "predict/nccl/communicator.h"

namespace railyard::predict::nccl {

const GraphMemory::Graphs& GraphMemory::between_nodes(const model::nccl::System& server,
                                                      const std::vector<int>& gpus) {
  const std::lock_guard lock(guard_);
  const auto [at, fresh] = known_.try_emplace({fingerprint(server), gpus});
  if (fresh) at->second = set_up(model::nccl::with_gpus(server, gpus), {.nodes = 2}).graphs;
  return at->second;
}

std::uint64_t fingerprint(const model::nccl::System& system) {
  // FNV-1a over everything that the search reads. [Fowler, Noll, Vo]
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) {
      hash ^= (value >> (8 * byte)) & 0xff;
      hash *= 0x100000001b3;
    }
  };
  const auto real = [](float value) { return std::uint64_t{std::bit_cast<std::uint32_t>(value)}; };
  for (const model::nccl::Node& node : system.nodes) {
    add(static_cast<std::uint64_t>(node.kind));
    add(static_cast<std::uint64_t>(node.host));
    add(static_cast<std::uint64_t>(node.gpu.sm) << 32 | static_cast<std::uint64_t>(node.gpu.dev));
    add(node.net.asic);
    add(static_cast<std::uint64_t>(node.net.port) << 2 | (node.net.gpu_direct ? 2U : 0U) |
        (node.gpu.gpu_direct ? 1U : 0U));
    add(real(node.net.gb_per_s) << 32 | real(node.net.latency_us));
    add(static_cast<std::uint64_t>(node.cpu.arch) << 16 |
        static_cast<std::uint64_t>(node.cpu.vendor) << 8 |
        static_cast<std::uint64_t>(node.cpu.model));
    for (const model::nccl::LinkIndex l : node.links) {
      const model::nccl::Link& link = system.links[l];
      add(static_cast<std::uint64_t>(link.kind) << 48 | std::uint64_t{link.to} << 32 |
          real(link.gb_per_s));
    }
  }
  return hash;
}

}  // namespace railyard::predict::nccl

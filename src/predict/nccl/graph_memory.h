#pragma once
// Graphs that were searched for once. The search takes milliseconds and depends on the server and
// on which of its GPUs take part, not on how many such servers there are; a planner asks for the
// same few again and again.

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "model/nccl/system.h"
#include "predict/nccl/graph.h"

namespace railyard::predict::nccl {

class GraphMemory {
 public:
  using Graphs = std::array<Graph, kGraphs>;

  /// The graphs of a communicator on these GPUs (by index) of several such servers, with NCCL's
  /// default settings. Safe to call from many threads; the answer does not depend on the order.
  const Graphs& between_nodes(const model::nccl::System& server, const std::vector<int>& gpus);

 private:
  struct Key {
    std::uint64_t server = 0;
    std::vector<int> gpus = {};
    auto operator<=>(const Key&) const = default;
  };
  std::mutex guard_;
  std::map<Key, Graphs> known_;
};

/// Equal for systems that NCCL cannot tell apart.
std::uint64_t fingerprint(const model::nccl::System& system);

}  // namespace railyard::predict::nccl

#pragma once
// What NCCL decides on a system, told size by size, and what another version, variable, topology or
// graph would change.

#include <string>
#include <vector>

#include "predict/nccl/communicator.h"

namespace railyard::predict::nccl {

struct SizeChoice {
  std::int64_t bytes = 0;
  std::optional<Choice> choice = {};  ///< nothing: no cell is usable
};

/// From this size on NCCL takes another way.
struct Crossover {
  std::int64_t bytes = 0;
  Candidate before = {}, after = {};
};

struct FunctionStory {
  Function function = Function::all_reduce;
  std::vector<SizeChoice> sizes = {};
  std::vector<Crossover> crossovers =
      {};  ///< exact to the byte between the smallest and largest size
};

/// Choices at the given sizes, and where they change in between.
FunctionStory story(const Communicator& comm, Function function,
                    const std::vector<std::int64_t>& sizes);

/// Powers of `factor` from `first` to `last`, both included.
std::vector<std::int64_t> size_grid(std::int64_t first, std::int64_t last, std::int64_t factor);

/// How a GPU reaches the network.
struct NetUse {
  int gpu = 0, dev = 0;           ///< index and device number
  std::vector<int> nets = {};     ///< device numbers, by channel
  PathType type = PathType::dis;  ///< to the first of them
  bool gpu_direct = false;
  int sharing = 1;  ///< GPUs whose first device this is
};
std::vector<NetUse> network_use(const model::nccl::System& system, const Settings& settings);

/// What a user should know about the decision that the table does not show: LL128 off and why, NVLS
/// off and why, several GPUs on a NIC, channels lost, paths through the host; and what is not
/// modelled (symmetric windows, copy engines, plugins).
std::vector<std::string> remarks(const model::nccl::System& system, const Communicator& comm);

}  // namespace railyard::predict::nccl

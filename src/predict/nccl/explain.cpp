#include "predict/nccl/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "predict/nccl/paths.h"

namespace railyard::predict::nccl {

namespace {

const Graph& graph(const Communicator& comm, GraphId id) {
  return comm.graphs[static_cast<std::size_t>(id)];
}

bool same(const Candidate& a, const Candidate& b) {
  return a.algorithm == b.algorithm && a.protocol == b.protocol;
}

/// All changes between two sizes. Each is found by halving: the first size whose choice is no
/// longer that of `low`, then on from there.
void add_crossovers(const Communicator& comm, Function f, SizeChoice low, const SizeChoice& high,
                    std::vector<Crossover>& out) {
  constexpr int kMost = 8;  // of one step; more would be the corrections of the tree flickering
  for (int n = 0; n < kMost && !same(low.choice->pick, high.choice->pick); ++n) {
    std::int64_t below = low.bytes;
    SizeChoice above = high;
    while (above.bytes - below > 1) {
      const std::int64_t middle = below + (above.bytes - below) / 2;
      auto choice = choose(comm, f, middle);
      if (choice && same(choice->pick, low.choice->pick))
        below = middle;
      else if (choice)
        above = {.bytes = middle, .choice = std::move(choice)};
      else
        above = {.bytes = middle, .choice = high.choice};
    }
    out.push_back({.bytes = above.bytes, .before = low.choice->pick, .after = above.choice->pick});
    low = std::move(above);
  }
}

void remark_nvls(const model::nccl::System& system, const Communicator& comm,
                 std::vector<std::string>& out) {
  if (comm.inputs.nvls || system.gpus().size() < 2) return;
  if (comm.options.settings.nvls_enable == 0 && comm.inputs.nvswitch && comm.inputs.lowest_sm >= 90)
    out.push_back(
        "NVLS is switched off by NCCL_NVLS_ENABLE=0: all-reduce keeps to rings and trees");
  else if (comm.inputs.lowest_sm >= 90 && !comm.inputs.nvswitch)
    out.push_back("no NVSwitch in the topology, hence no NVLS");
}

void remark_ll128(const Communicator& comm, std::vector<std::string>& out) {
  const Cell& cell =
      comm.table[static_cast<std::size_t>(Function::all_reduce)][static_cast<std::size_t>(
          Algorithm::ring)][static_cast<std::size_t>(Protocol::ll128)];
  if (cell.gb_per_s > 0) return;
  const Graph& ring = graph(comm, GraphId::ring);
  if (ring.type_intra > PathType::nvb)
    out.push_back(fmt::format(
        "LL128 is off: it needs NVLink inside the node, and the ring goes over {} there",
        name(ring.type_intra)));
  else if (comm.inputs.lowest_sm != comm.inputs.highest_sm)
    out.push_back("LL128 is off: the GPUs have different compute capabilities");
  else if (comm.inputs.nodes > 1 && ring.type_inter > PathType::pxb)
    out.push_back(
        fmt::format("LL128 is off: the ring reaches its NIC over {}, it needs {} or nearer",
                    name(ring.type_inter), comm.inputs.lowest_sm >= 90 ? "PXN" : "PXB"));
  else
    out.push_back("LL128 is off by NCCL_PROTO or for this GPU");
}

void remark_graphs(const Communicator& comm, std::vector<std::string>& out) {
  const Graph& ring = graph(comm, GraphId::ring);
  if (ring.intra <= 0.11F)
    out.push_back(
        "no channel fits through the links of this topology: NCCL falls back to one of 0.1 GB/s. "
        "Look for a missing or wrong link in the file");
  if (ring.type_intra == PathType::sys)
    out.push_back("rings cross the sockets: all channels share the link between the CPUs");
  if (comm.inputs.nodes > 1 && ring.type_inter >= PathType::phb)
    out.push_back(fmt::format(
        "a ring reaches its NIC over {}: without GPUDirect RDMA every byte goes through the host",
        name(ring.type_inter)));
}

void remark_networks(const model::nccl::System& system, const Communicator& comm,
                     std::vector<std::string>& out) {
  if (comm.inputs.nodes < 2) return;
  if (system.nets().empty()) {
    out.push_back("several nodes and no network device: NCCL would not start");
    return;
  }
  const std::vector<NetUse> uses = network_use(system, comm.options.settings);
  const auto crowded =
      std::max_element(uses.begin(), uses.end(),
                       [](const NetUse& a, const NetUse& b) { return a.sharing < b.sharing; });
  if (crowded->sharing > 1)
    out.push_back(fmt::format("up to {} GPUs share a NIC", crowded->sharing));
  const auto without =
      std::count_if(uses.begin(), uses.end(), [](const NetUse& u) { return !u.gpu_direct; });
  if (without > 0)
    out.push_back(
        fmt::format("{} of {} GPUs are without GPUDirect RDMA to their NIC", without, uses.size()));
}

}  // namespace

std::vector<std::int64_t> size_grid(std::int64_t first, std::int64_t last, std::int64_t factor) {
  std::vector<std::int64_t> out;
  for (std::int64_t size = first; size <= last; size *= factor) {
    out.push_back(size);
    if (size > last / factor) break;
  }
  return out;
}

FunctionStory story(const Communicator& comm, Function function,
                    const std::vector<std::int64_t>& sizes) {
  FunctionStory out{.function = function};
  for (const std::int64_t bytes : sizes)
    out.sizes.push_back({.bytes = bytes, .choice = choose(comm, function, bytes)});
  for (std::size_t i = 1; i < out.sizes.size(); ++i) {
    const SizeChoice &low = out.sizes[i - 1], &high = out.sizes[i];
    if (low.choice && high.choice && !same(low.choice->pick, high.choice->pick))
      add_crossovers(comm, function, low, high, out.crossovers);
  }
  return out;
}

std::vector<NetUse> network_use(const model::nccl::System& system, const Settings& settings) {
  std::vector<NetUse> out;
  std::vector<int> head;  // the device of a GPU's first channel, -1: none
  if (system.nets().empty()) return out;
  const Paths paths(system, settings);
  const auto device = [&](int n) {
    return system.nodes[system.nets()[static_cast<std::size_t>(n)]].net.dev;
  };
  std::vector<int> first(system.nets().size(), 0);
  for (int g = 0; g < static_cast<int>(system.gpus().size()); ++g) {
    NetUse use{.gpu = g, .dev = system.nodes[system.gpus()[static_cast<std::size_t>(g)]].gpu.dev};
    const std::vector<int> used = paths.nets_used(g);
    for (const int n : used) use.nets.push_back(device(n));
    head.push_back(used.empty() ? -1 : used.front());
    if (!used.empty()) {
      ++first[static_cast<std::size_t>(used.front())];
      use.type = paths.gpu_to_net(g, used.front()).type;
      use.gpu_direct = paths.gpu_direct(g, used.front());
    }
    out.push_back(std::move(use));
  }
  for (std::size_t g = 0; g < out.size(); ++g)
    if (head[g] >= 0) out[g].sharing = first[static_cast<std::size_t>(head[g])];
  return out;
}

std::vector<std::string> remarks(const model::nccl::System& system, const Communicator& comm) {
  std::vector<std::string> out;
  remark_graphs(comm, out);
  remark_networks(system, comm, out);
  remark_nvls(system, comm, out);
  remark_ll128(comm, out);
  if (comm.options.settings.sockets && comm.inputs.nodes > 1)
    out.push_back("the socket transport is chosen: no GPUDirect RDMA whatever the topology says");
  if (!comm.options.settings.shared_memory)
    out.push_back(
        "NCCL_SHM_DISABLE: pairs without peer-to-peer go over the network even inside a node; that "
        "is not modelled");
  out.push_back(
      "not modelled: tuner plugins, symmetric windows and copy-engine collectives (2.27 and "
      "later), "
      "whose kernels do not go through the table");
  return out;
}

}  // namespace railyard::predict::nccl

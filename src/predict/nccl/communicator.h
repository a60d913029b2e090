#pragma once
// A communicator as NCCL sets it up: graphs, channels, cost table; and what it picks for a call.

#include <array>
#include <optional>
#include <vector>

#include "base/problem.h"
#include "base/quantity.h"
#include "predict/nccl/cost.h"
#include "predict/nccl/search.h"

namespace railyard::predict::nccl {

struct CommunicatorOptions {
  int nodes = 1;  ///< equal servers (or racks, where the system is one)
  Version version = {};
  Settings settings = {};
  /// Graphs that are given instead of searched for, by id (NCCL_GRAPH_FILE).
  std::array<std::optional<Graph>, kGraphs> given = {};
};

struct Communicator {
  CommunicatorOptions options = {};
  CostInputs inputs = {};
  Constants constants = {};
  std::array<Graph, kGraphs> graphs = {};
  int channels = 0;       ///< of rings and trees
  int nvls_channels = 0;  ///< 0: no NVLS
  CostTable table = {};
  std::array<std::array<int, kProtocols>, kAlgorithms> threads = {};  ///< most per channel
  std::array<std::array<int, kProtocols>, kAlgorithms> thread_thresholds = {};  ///< bytes a thread
  SearchReport search = {};

  int ranks() const { return inputs.ranks; }
  int nodes() const { return inputs.nodes; }
};

Communicator set_up(const model::nccl::System& node, const CommunicatorOptions& options);

/// The same with graphs that are known: no search.
Communicator set_up_with(const model::nccl::System& node, const std::array<Graph, kGraphs>& graphs,
                         const CommunicatorOptions& options);

/// One way to do a call.
struct Candidate {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  double time_us = 0;  ///< NCCL's own estimate
};

struct Choice {
  Candidate pick = {};
  int channels = 0;  ///< after shrinking by size
  int threads = 0;   ///< of a channel
  int used = 0;      ///< channels that get work: at least 16 KiB of link traffic each
  std::vector<Candidate> others = {};  ///< that lost, cheapest first
};

/// NCCL's estimate of one cell, or nothing where it cannot be used.
std::optional<double> estimate_us(const Communicator& comm, Function function, Algorithm algorithm,
                                  Protocol protocol, std::int64_t bytes, int operations = 1);
/// Nothing where no cell can be used (NCCL then reports an error).
std::optional<Choice> choose(const Communicator& comm, Function function, std::int64_t bytes);
/// As choose(), for a given algorithm and protocol: channels and threads.
Choice shape_of(const Communicator& comm, Function function, const Candidate& pick,
                std::int64_t bytes);

}  // namespace railyard::predict::nccl

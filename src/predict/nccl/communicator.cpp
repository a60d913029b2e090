#include "predict/nccl/communicator.h"

#include <algorithm>
#include <bit>

namespace railyard::predict::nccl {

namespace {

using model::nccl::CpuArch;
using model::nccl::CpuVendor;
using model::nccl::System;

constexpr std::size_t at(Algorithm a) { return static_cast<std::size_t>(a); }
constexpr std::size_t at(Protocol p) { return static_cast<std::size_t>(p); }
constexpr std::size_t at(Function f) { return static_cast<std::size_t>(f); }
constexpr std::size_t at(GraphId g) { return static_cast<std::size_t>(g); }

// Threads of a channel. [NCCL 2.28: src/include/device.h]
constexpr int kSimpleThreads = 512, kLlThreads = 512, kLl128Threads = 640, kOtherThreads = 640;
constexpr int kWarp = 32;
constexpr double kPciBandwidth = 12;  // GB/s; rings not faster than this get half the threads
// Bytes of work that a thread should have. [NCCL 2.28: NCCL_*_THREAD_THRESHOLD]
constexpr int kLlThreshold = 8, kLl128Threshold = 8, kSimpleThreshold = 64, kCollnetThreshold = 512;
// Link traffic that a channel should have. [NCCL 2.28: MinTrafficPerChannel in src/enqueue.cc]
constexpr std::int64_t kTrafficPerChannel = 16 << 10;

class SetUp {
 public:
  SetUp(const System& node, const CommunicatorOptions& options) {
    comm_.options = options;
    comm_.constants = constants_of(options.version);
    const bool one_node = options.nodes == 1;
    if (one_node) alone_ = model::nccl::without_network(node);
    const System& system = one_node ? alone_ : node;
    describe(system);
    const Paths paths(system, options.settings);
    search_all(paths, static_cast<int>(system.gpus().size()));
    finish();
  }

  SetUp(const System& node, const std::array<Graph, kGraphs>& graphs,
        const CommunicatorOptions& options) {
    comm_.options = options;
    comm_.constants = constants_of(options.version);
    describe(node);
    comm_.graphs = graphs;
    comm_.inputs.collnet =
        options.settings.collnet_enable && graph(GraphId::collnet_chain).channels > 0;
    comm_.inputs.nvls = options.settings.nvls_enable != 0 && graph(GraphId::nvls).channels > 0;
    finish();
  }

  Communicator take() { return std::move(comm_); }

 private:
  Graph& graph(GraphId id) { return comm_.graphs[at(id)]; }

  void describe(const System& system) {
    comm_.inputs = {.ranks = static_cast<int>(system.gpus().size()) * comm_.options.nodes,
                    .nodes = comm_.options.nodes,
                    .lowest_sm = system.lowest_sm(),
                    .highest_sm = system.highest_sm(),
                    .cpu_arch = system.cpu().arch,
                    .cpu_vendor = system.cpu().vendor,
                    .nvswitch = !system.nvswitches().empty()};
  }

  void finish() {
    duplicate_channels();
    comm_.table = cost_table(comm_.inputs, comm_.graphs, comm_.options.settings, comm_.constants);
    set_threads();
  }

  void find(const Paths& paths, const SearchOrder& order) {
    if (const auto& given = comm_.options.given[at(order.id)]; given && given->channels > 0) {
      graph(order.id) = *given;
      return;
    }
    graph(order.id) =
        search_channels(paths, order, comm_.options.settings, comm_.options.version, &comm_.search);
  }

  void search_all(const Paths& paths, int gpus) {
    const Settings& settings = comm_.options.settings;
    const int most = comm_.constants.most_channels;
    find(paths, {.id = GraphId::ring, .pattern = Pattern::ring, .max_channels = most / 2});
    const int rings = graph(GraphId::ring).channels;
    find(paths, {.id = GraphId::tree,
                 .pattern = Pattern::balanced_tree,
                 .min_channels = rings,
                 .max_channels = rings});
    for (const GraphId id : {GraphId::collnet_chain, GraphId::nvls, GraphId::collnet_direct})
      graph(id).gpus = gpus;

    if (settings.collnet_enable && comm_.options.nodes > 1) {
      find(paths, {.id = GraphId::collnet_chain,
                   .pattern = Pattern::tree,
                   .min_channels = rings,
                   .max_channels = rings,
                   .collnet = true});
      find(paths, {.id = GraphId::collnet_direct,
                   .pattern = Pattern::collnet_direct,
                   .max_channels = most,
                   .collnet = true});
      comm_.inputs.collnet = graph(GraphId::collnet_chain).channels > 0;
    }
    if (settings.nvls_enable != 0 && comm_.inputs.nvswitch && comm_.inputs.lowest_sm >= 90 &&
        gpus > 1) {
      find(paths, {.id = GraphId::nvls, .pattern = Pattern::nvls, .max_channels = most});
      comm_.inputs.nvls = graph(GraphId::nvls).channels > 0;
    }
    // Rings and trees run on the same channels.
    const int common = std::min(rings, graph(GraphId::tree).channels);
    graph(GraphId::ring).channels = graph(GraphId::tree).channels = common;
  }

  /// Every searched channel becomes two, or more where few fast ones cross the network.
  /// [ncclTopoPostset]
  void duplicate_channels() {
    const Settings& settings = comm_.options.settings;
    const int most = comm_.constants.most_channels;
    int channels = std::min(most, graph(GraphId::ring).channels * 2);
    if (comm_.inputs.collnet) channels = std::min(most, channels + channels / 2);
    if (comm_.inputs.lowest_sm >= 90 && comm_.inputs.nodes > 1 && graph(GraphId::ring).intra > 45 &&
        channels < 16)
      channels *= 2;
    channels = std::min(channels, std::min(settings.max_channels.value_or(most), most));
    channels = std::min(most, std::max(channels, settings.min_channels.value_or(0)));
    comm_.channels = channels;

    if (!comm_.inputs.nvls) return;
    int nvls = comm_.constants.nvls_channels;
    if (comm_.inputs.lowest_sm >= 100)
      nvls = comm_.inputs.nodes == 1 ? comm_.constants.blackwell_nvls_channels
                                     : comm_.constants.blackwell_nvls_channels_nodes;
    if (settings.nvls_channels) nvls = *settings.nvls_channels;
    comm_.nvls_channels = std::max(std::min(nvls, settings.max_channels.value_or(most)),
                                   std::min(settings.min_channels.value_or(0), most));
  }

  void set_threads() {
    const Settings& settings = comm_.options.settings;
    const auto rounded = [](std::optional<int> asked, int least, int most, int usual) {
      if (!asked) return usual;
      return *asked % kWarp != 0 ? most : std::clamp(*asked, least, most);
    };
    const Graph& ring = comm_.graphs[at(GraphId::ring)];
    const bool slow = double{ring.intra} * ring.channels <= kPciBandwidth;
    for (const Algorithm a : {Algorithm::tree, Algorithm::ring}) {
      auto& of = comm_.threads[at(a)];
      of[at(Protocol::ll)] = rounded(settings.threads, 2 * kWarp, kLlThreads, kLlThreads);
      of[at(Protocol::ll128)] =
          rounded(settings.ll128_threads, kLl128Threads / 4, kLl128Threads, kLl128Threads);
      of[at(Protocol::simple)] =
          rounded(settings.threads, 2 * kWarp, kSimpleThreads,
                  a == Algorithm::ring && slow ? kSimpleThreads / 2 : kSimpleThreads);
    }
    for (const Algorithm a : {Algorithm::collnet_direct, Algorithm::collnet_chain, Algorithm::nvls,
                              Algorithm::nvls_tree})
      comm_.threads[at(a)][at(Protocol::simple)] = kOtherThreads;

    // PAT keeps no thread count of its own, so its channels are never shrunk.

    for (auto& of : comm_.thread_thresholds) of = {kLlThreshold, kLl128Threshold, kSimpleThreshold};
    comm_.thread_thresholds[at(Algorithm::ring)][at(Protocol::ll)] *= comm_.inputs.ranks;
    for (const Algorithm a : {Algorithm::collnet_direct, Algorithm::collnet_chain})
      comm_.thread_thresholds[at(a)][at(Protocol::simple)] = kCollnetThreshold;
    for (std::size_t a = 0; a < 2; ++a)
      for (std::size_t p = 0; p < kProtocols; ++p)
        if (settings.thread_thresholds[a][p])
          comm_.thread_thresholds[a][p] = *settings.thread_thresholds[a][p];
  }

  System alone_;
  Communicator comm_;
};

/// Bytes on the link for a byte of the call, in the units of the 16 KiB rule.
std::int64_t traffic_per_byte(Function f, Protocol p, int ranks) {
  std::int64_t out = 1;
  if (f == Function::all_reduce) out = 2;
  if (f == Function::all_gather || f == Function::reduce_scatter) out = ranks;
  return p == Protocol::ll ? out * 4 : out;
}

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// How many of `channels` get work: whole cells of at least 16 KiB of traffic each. `bytes` counts
/// as NCCL's element count does: of all-gather and reduce-scatter a rank's share.
int spread(Function f, Protocol p, int ranks, std::int64_t bytes, int channels) {
  const bool by_rank = f == Function::all_gather || f == Function::reduce_scatter;
  const std::int64_t count = by_rank ? up(bytes, ranks) : bytes;
  if (count <= 0) return 1;
  const std::int64_t per_byte = traffic_per_byte(f, p, ranks);
  const std::int64_t cell = up(up(kTrafficPerChannel, per_byte), 16) * 16;
  const std::int64_t cells = up(count, cell);
  const std::int64_t traffic = std::max(kTrafficPerChannel, count * per_byte / channels);
  const std::int64_t each = std::min(cells, up(traffic, cell * per_byte));
  return static_cast<int>(std::min<std::int64_t>(channels, up(cells, each)));
}

}  // namespace

Communicator set_up(const System& node, const CommunicatorOptions& options) {
  return SetUp(node, options).take();
}

Communicator set_up_with(const System& node, const std::array<Graph, kGraphs>& graphs,
                         const CommunicatorOptions& options) {
  return SetUp(node, graphs, options).take();
}

std::optional<double> estimate_us(const Communicator& comm, Function f, Algorithm a, Protocol p,
                                  std::int64_t bytes, int operations) {
  const Cell& cell = comm.table[at(f)][at(a)][at(p)];
  if (cell.gb_per_s <= 0) return std::nullopt;
  double rate = cell.gb_per_s, latency = cell.latency_us;
  const bool nvls_tree_too = comm.constants.correct_nvls_tree && a == Algorithm::nvls_tree &&
                             comm.inputs.lowest_sm >= 100 && comm.inputs.cpu_arch == CpuArch::x86;
  if (f == Function::all_reduce && (a == Algorithm::tree || nvls_tree_too) && bytes >= 64) {
    const auto power =
        static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes >> 6)) - 1);
    const auto& factors = comm.constants.tree_correction[at(p)];
    if (power + 1 < factors.size()) rate *= factors[power];
  }
  if (a == Algorithm::ring && p == Protocol::simple && f == Function::all_reduce &&
      comm.inputs.nodes > 1 && bytes / (std::int64_t{comm.channels} * comm.inputs.ranks) >= 64)
    latency *=
        comm.inputs.lowest_sm < 80 ? comm.constants.ring_plateau_old : comm.constants.ring_plateau;
  constexpr int kBatch = 8;  // collectives of one launch [NCCL 2.28: NCCL_MAX_DEV_WORK_BATCH_COLLS]
  const int counted = a == Algorithm::ring ? operations : (operations + kBatch - 1) / kBatch;
  return latency * counted + static_cast<double>(bytes) / (1000 * rate);
}

std::optional<Choice> choose(const Communicator& comm, Function f, std::int64_t bytes) {
  std::vector<Candidate> all;
  for (int a = 0; a < kAlgorithms; ++a)
    for (int p = 0; p < kProtocols; ++p) {
      const auto algorithm = static_cast<Algorithm>(a);
      const auto protocol = static_cast<Protocol>(p);
      if (const auto time = estimate_us(comm, f, algorithm, protocol, bytes))
        all.push_back({.algorithm = algorithm, .protocol = protocol, .time_us = *time});
    }
  if (all.empty()) return std::nullopt;
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& x, const Candidate& y) { return x.time_us < y.time_us; });
  Choice out = shape_of(comm, f, all.front(), bytes);
  out.others.assign(all.begin() + 1, all.end());
  return out;
}

Choice shape_of(const Communicator& comm, Function f, const Candidate& pick, std::int64_t bytes) {
  const Algorithm a = pick.algorithm;
  const Protocol p = pick.protocol;
  Choice out{.pick = pick, .channels = comm.channels, .threads = comm.threads[at(a)][at(p)]};
  const std::int64_t threshold = comm.thread_thresholds[at(a)][at(p)];
  const auto starved = [&] { return bytes < std::int64_t{out.channels} * out.threads * threshold; };
  const bool nvls = a == Algorithm::nvls || a == Algorithm::nvls_tree;
  if (nvls) {
    out.channels = comm.nvls_channels;
  } else if (a == Algorithm::collnet_direct) {
    // Down to 16 channels, then with less and less work per thread. [getChannelThreadInfo]
    const std::int64_t heads = std::max(comm.graphs[at(GraphId::collnet_direct)].channels, 1);
    std::int64_t per_thread = threshold;
    for (int floor = 16; floor >= 1; floor /= 2)
      while (out.channels > floor &&
             bytes < std::int64_t{out.channels} * out.threads * heads * per_thread) {
        if (out.channels == floor + floor / 2) per_thread /= 2;
        --out.channels;
      }
  } else {
    while (out.channels >= 2 && starved()) --out.channels;
    while (starved() && out.threads > 0 && out.threads % 128 == 0) out.threads /= 2;
  }
  if (p == Protocol::simple && a == Algorithm::ring) out.threads += kWarp;  // one warp that syncs
  out.threads = std::max(out.threads, 3 * kWarp);
  if (a == Algorithm::tree || a == Algorithm::pat) out.threads = kOtherThreads;
  const bool whole = nvls || a == Algorithm::collnet_direct || a == Algorithm::collnet_chain;
  out.used = whole ? out.channels : spread(f, p, comm.inputs.ranks, bytes, out.channels);
  return out;
}

}  // namespace railyard::predict::nccl

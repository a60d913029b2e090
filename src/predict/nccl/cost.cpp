#include "predict/nccl/cost.h"

#include <algorithm>
#include <bit>

namespace railyard::predict::nccl {

namespace {

using model::nccl::CpuArch;
using model::nccl::CpuVendor;

constexpr std::size_t at(Algorithm a) { return static_cast<std::size_t>(a); }
constexpr std::size_t at(Protocol p) { return static_cast<std::size_t>(p); }
constexpr std::size_t at(Function f) { return static_cast<std::size_t>(f); }

std::size_t gpu_row(int sm) { return sm >= 100 ? 3 : sm >= 90 ? 2 : sm >= 80 ? 1 : 0; }

double floor_log2(int n) {
  return n <= 1 ? 0 : static_cast<double>(std::bit_width(static_cast<unsigned>(n)) - 1);
}

bool is_collnet(Algorithm a) {
  return a == Algorithm::collnet_direct || a == Algorithm::collnet_chain;
}
bool is_nvls(Algorithm a) { return a == Algorithm::nvls || a == Algorithm::nvls_tree; }
bool scatters(Function f) { return f == Function::all_gather || f == Function::reduce_scatter; }

/// Steps of a ring, in pieces of 1/n of the buffer.
int ring_steps(Function f, int ranks) {
  return f == Function::all_reduce ? 2 * (ranks - 1) : scatters(f) ? ranks - 1 : ranks;
}

/// Whether NCCL has a kernel for this at all.
bool exists(Function f, Algorithm a, Protocol p) {
  if (f == Function::broadcast || f == Function::reduce) return a == Algorithm::ring;
  if (a == Algorithm::pat) return scatters(f) && p == Protocol::simple;
  if (is_nvls(a) && p != Protocol::simple) return false;
  if (is_collnet(a) && p != Protocol::simple) return false;
  if (scatters(f))
    return a == Algorithm::ring || a == Algorithm::nvls || a == Algorithm::collnet_direct;
  return true;
}

class Model {
 public:
  Model(const CostInputs& in, const std::array<Graph, kGraphs>& graphs, const Settings& settings,
        const Constants& constants)
      : in_(in),
        graphs_(graphs),
        settings_(settings),
        c_(constants),
        row_(gpu_row(in.lowest_sm)),
        column_(static_cast<std::size_t>(std::min(in.nodes, 3) - 1)) {}

  Cell cell(Function f, Algorithm a, Protocol p) const {
    if (!exists(f, a, p)) return {};
    return {.latency_us = latency(f, a, p), .gb_per_s = usable(f, a, p) ? bandwidth(f, a, p) : 0};
  }

 private:
  const Graph& graph(Algorithm a) const { return graphs_[static_cast<std::size_t>(graph_of(a))]; }
  double gpus_per_node() const {
    return static_cast<double>(in_.ranks) / static_cast<double>(in_.nodes);
  }

  /// GB/s of all channels on the wire that binds: inside the node up to two nodes, for then each
  /// byte crosses the network once only where it would cross the node twice.
  double bus(Algorithm a) const {
    const Graph& g = graph(a);
    return g.channels * double{in_.nodes <= 2 || is_collnet(a) ? g.intra : g.inter};
  }

  double bandwidth(Function f, Algorithm a, Protocol p) const {
    double b = bus(a);
    const double channels = graph(a).channels;
    switch (a) {
      case Algorithm::ring:
        if (p == Protocol::ll) b = std::min(ll_cap(), b * ring_ll_share(f));
        if (p == Protocol::ll128)
          b = std::min(b * c_.ring_ll128_share, channels * c_.ring_ll128_channel[row_][column_]);
        break;
      case Algorithm::tree:
        b = std::min(b * c_.tree_share, channels * c_.tree_channel[row_][column_]);
        if (p == Protocol::ll) b = std::min(b / c_.tree_ll_divisor, ll_cap());
        if (p == Protocol::ll128)
          b = std::min(b * (in_.nodes == 1 ? 7.0 / 9.0 : 120.0 / 128.0),
                       channels * c_.tree_ll128_channel[row_][column_]);
        if (graph(a).pattern == Pattern::tree) b *= 0.85;
        break;
      case Algorithm::nvls:
      case Algorithm::nvls_tree: b = nvls(f, a); break;
      case Algorithm::pat: b *= c_.pat_share; break;
      case Algorithm::collnet_direct: b = collnet_direct(f, b); break;
      case Algorithm::collnet_chain: break;
    }
    return b * algorithm_share(f, a);
  }

  double ll_cap() const {
    if (in_.nodes == 1) return c_.ll_cap[row_][column_];
    return c_.ll_cap[in_.cpu_vendor == CpuVendor::amd ? 1 : 0][column_];
  }

  /// Before 2.21 a quarter, and a third for what only gathers or scatters inside a node.
  double ring_ll_share(Function f) const {
    if (c_.ring_ll_share >= 0.5) return c_.ring_ll_share;
    const bool reduces = f == Function::all_reduce || f == Function::reduce;
    return in_.nodes > 1 || reduces ? c_.ring_ll_share : 1.0 / 3.0;
  }

  double nvls(Function f, Algorithm a) const {
    const Graph& g = graph(a);
    const double heads = g.channels;
    if (!c_.nvls_by_heads) {
      double speed = std::min(g.intra, g.inter);
      if (a == Algorithm::nvls_tree)
        speed = std::min<double>(g.intra, in_.nodes <= 2 ? g.inter : g.inter / 2);
      return heads * speed;
    }
    if (heads < 2) return 0;
    // A head pulls from all others and pushes to all; an all-reduce does both at once.
    double inside = g.intra * c_.nvls_efficiency[row_] * (heads - 1) / heads;
    inside *= f == Function::all_reduce ? 2 : (gpus_per_node() - 1) / gpus_per_node();
    double speed = inside;
    speed = std::min(speed,
                     double{g.inter} * (a == Algorithm::nvls_tree && in_.nodes <= 2 ? 2.0 : 1.0));
    if (a == Algorithm::nvls_tree) speed = std::min(speed, c_.nvls_tree_channel[row_][column_]);
    return heads * speed;
  }

  double collnet_direct(Function f, double b) const {
    const Graph& g = graph(Algorithm::collnet_direct);
    const double n = gpus_per_node();
    if (scatters(f)) {
      // Needs a NIC per GPU. The share was measured with one and with eight GPUs a node.
      if (in_.nodes > 1 && n > g.channels) return 0;
      const double of_eight = (n - 1) / (8 - 1);
      return n * g.intra * (of_eight * 0.85 + (1 - of_eight) * 0.95);
    }
    double per_nic = n / std::max(g.channels, 1);
    per_nic -= (per_nic - 1) / 2;
    return b / per_nic * (in_.lowest_sm >= 90 ? 0.85 : 1.0);
  }

  /// From bus bandwidth to algorithm bandwidth.
  double algorithm_share(Function f, Algorithm a) const {
    if (a != Algorithm::ring && scatters(f)) return 1;
    const double ring = static_cast<double>(in_.ranks) / ring_steps(f, in_.ranks);
    if (a == Algorithm::ring) return ring;
    if (is_nvls(a)) return c_.nvls_by_heads ? ring : c_.nvls_fixed_share;
    return 0.5;
  }

  Wire wire_inside(Algorithm a) const {
    return graph(a).type_intra == PathType::nvl ? Wire::nvlink : Wire::pci;
  }
  double hop(Wire w, Algorithm a, Protocol p) const {
    return c_.hop_latency[static_cast<std::size_t>(w)][at(a)][at(p)];
  }

  double latency(Function f, Algorithm a, Protocol p) const {
    const Graph& g = graph(a);
    const double base = c_.base_latency[at(a)][at(p)];
    const double inside = hop(wire_inside(a), a, p);
    const bool exposed = c_.single_gpu_uses_tree_hop && in_.ranks == in_.nodes;
    // Simple ends with a flush, which crosses the network device once more.
    const double between = hop(Wire::network, exposed ? Algorithm::tree : a, p) +
                           double{g.latency_inter} * (p == Protocol::simple ? 2 : 1);
    const int others = in_.ranks / in_.nodes - 1;
    const double depth = floor_log2(in_.nodes);
    switch (a) {
      case Algorithm::ring: return base + ring_latency(f, p, inside, between);
      case Algorithm::tree: return base + 2 * (others * inside + depth * between);
      case Algorithm::collnet_direct:
        return base + 2 * (std::min(1, others) * inside + others * 0.4) + between;
      case Algorithm::collnet_chain: return base + 2 * others * inside + between;
      case Algorithm::nvls: return inside + (in_.nodes > 1 ? between : 0);
      case Algorithm::nvls_tree: return base + inside + 2 * depth * between;
      case Algorithm::pat: return base + depth * between / 3.5 + in_.ranks * 2.8;
    }
    return base;
  }

  double ring_latency(Function f, Protocol p, double inside, double between) const {
    const Algorithm a = Algorithm::ring;
    const int steps = ring_steps(f, in_.ranks);
    if (f == Function::broadcast || f == Function::reduce) {
      const Wire w = in_.nodes == 1 ? wire_inside(a) : Wire::network;
      if (graph(a).same_channels) return hop(w, a, p);
      return steps * hop(w, p == Protocol::simple ? Algorithm::tree : a, p);
    }
    // Even a step inside the node costs the proxy's post once there is a network.
    double post = 0;
    if (in_.nodes > 1) post = net_overhead() * (p == Protocol::simple ? 3 : 1);
    const int crossings = in_.nodes == 1 ? 0
                          : c_.network_steps_less_one
                              ? (f == Function::all_reduce ? 2 : 1) * (in_.nodes - 1)
                              : (f == Function::all_reduce ? 2 : 1) * in_.nodes;
    return (steps - crossings) * std::max(inside, post) + crossings * between;
  }

  double net_overhead() const {
    if (settings_.net_overhead_us) return *settings_.net_overhead_us;
    return in_.cpu_arch == CpuArch::x86 && in_.cpu_vendor == CpuVendor::amd ? 2.0 : 1.0;
  }

  bool usable(Function f, Algorithm a, Protocol p) const {
    if (!settings_.algorithms[at(f)][at(a)]) return false;
    const auto asked = settings_.protocols[at(f)][at(p)];
    if (p == Protocol::ll128 ? !asked.value_or(ll128_is_safe(a)) : !asked.value_or(true))
      return false;
    switch (a) {
      case Algorithm::nvls:  // between nodes only with SHARP
        return in_.nvls && (in_.nodes == 1 || in_.collnet);
      case Algorithm::nvls_tree: return in_.nvls && in_.nodes > 1;
      case Algorithm::collnet_direct: return in_.collnet && in_.nvswitch;
      case Algorithm::collnet_chain: return in_.collnet;
      case Algorithm::pat:
        return c_.pat && settings_.pat_enable.value_or(in_.ranks == in_.nodes ? 1 : 0) != 0;
      default: return true;
    }
  }

  /// LL128 needs stores that stay in order: NVLink inside, and a NIC that no host bridge separates.
  bool ll128_is_safe(Algorithm a) const {
    const Graph& g = graph(a);
    const int sm = in_.lowest_sm;
    PathType farthest = PathType::pxb;
    if (sm >= 90 && c_.ll128_on_pxn) farthest = settings_.ll128_c2c ? PathType::pxn : PathType::pxb;
    if (g.type_inter > farthest || g.type_intra > PathType::nvb) return false;
    const bool alike = in_.lowest_sm == in_.highest_sm || (c_.ll128_on_mixed_hopper && sm >= 90);
    return alike && (sm == 70 || sm == 80 || sm >= 90);
  }

  const CostInputs& in_;
  const std::array<Graph, kGraphs>& graphs_;
  const Settings& settings_;
  const Constants& c_;
  std::size_t row_, column_;
};

}  // namespace

GraphId graph_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::tree:
    case Algorithm::pat: return GraphId::tree;
    case Algorithm::collnet_direct: return GraphId::collnet_direct;
    case Algorithm::collnet_chain: return GraphId::collnet_chain;
    case Algorithm::nvls:
    case Algorithm::nvls_tree: return GraphId::nvls;
    default: return GraphId::ring;
  }
}

CostTable cost_table(const CostInputs& in, const std::array<Graph, kGraphs>& graphs,
                     const Settings& settings, const Constants& constants) {
  CostTable out = {};
  if (in.ranks <= 1) return out;
  const Model model(in, graphs, settings, constants);
  for (int f = 0; f < kFunctions; ++f)
    for (int a = 0; a < kAlgorithms; ++a)
      for (int p = 0; p < kProtocols; ++p)
        out[static_cast<std::size_t>(f)][static_cast<std::size_t>(a)][static_cast<std::size_t>(p)] =
            model.cell(static_cast<Function>(f), static_cast<Algorithm>(a),
                       static_cast<Protocol>(p));
  return out;
}

}  // namespace railyard::predict::nccl

#include "predict/nccl/time_law.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace railyard::predict::nccl {

namespace {

// NCCL's latencies by protocol, us: they order the protocols rightly, and one factor for inside and
// one for the network brings them to measured times. [NCCL 2.28: constants.cpp]
struct Latencies {
  std::array<double, kProtocols> tree, ring;
};
constexpr Latencies kBase{{6.8, 14, 8.4}, {6.6, 14, 8.4}};
constexpr Latencies kNvlink{{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}};
constexpr Latencies kPcie{{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}};
constexpr Latencies kNetwork{{5.0, 8.5, 14.0}, {2.7, 4.0, 14.0}};
constexpr double kNvlsInside = 25, kNvlsTreeHop = 20.9;
constexpr double kLl128Payload = 0.92;      // of a 128-byte line [NCCL: 120/128 and its own 0.92]
constexpr double kNvlinkOfReference = 450;  // GB/s: the fill's time is given for NVLink 4
constexpr double kSingleGpuSlot = 0.9;      // of a slot's encoded rate that one NIC's GPU takes
constexpr double kChannel = 21;             // GB/s of one channel, Simple, H200 [h200_nccl_sweep]
constexpr double kChannelSoftness = 2.6;    // q of ((c r)^-q + R^-q)^(-1/q) [h200_nccl_sweep]
constexpr double kKernelGap = 1.5;          // us between kernels of a graph, H200 [h200_kernels]
constexpr int kPairwiseSteps = 2;           // that do not overlap in an all-to-all

bool reduces_all(Collective what) { return what == Collective::all_reduce; }
bool pairwise(Collective what) {
  return what == Collective::all_to_all || what == Collective::send;
}

Parameter ring_share(int sm) {
  if (sm >= 100 && sm < 120) return Parameter::ring_sm100;
  if (sm >= 90) return Parameter::ring_sm90;
  if (sm >= 80 && sm < 89) return Parameter::ring_sm80;
  return sm >= 70 && sm < 80 ? Parameter::ring_sm70 : Parameter::ring_sm90;
}
Parameter nvls_share(int sm) { return sm >= 100 ? Parameter::nvls_sm100 : Parameter::nvls_sm90; }
Parameter host_of(int sm) {
  if (sm >= 120 || sm == 89 || sm == 86) return Parameter::host_pcie;
  if (sm >= 100) return Parameter::host_sm100;
  if (sm >= 90) return Parameter::host_sm90;
  return Parameter::host_sm80;
}
Parameter network_share(Network network) {
  switch (network) {
    case Network::roce: return Parameter::roce;
    case Network::efa: return Parameter::efa;
    case Network::slingshot: return Parameter::slingshot;
    case Network::tcpx: return Parameter::tcpx;
    case Network::tcpxo: return Parameter::tcpxo;
    case Network::sockets: return Parameter::sockets;
    default: return Parameter::infiniband;
  }
}

double gb(Bandwidth b) { return b / GBps; }

/// One question on one platform.
class Law {
 public:
  Law(const Platform& platform, const TimeQuestion& question, const Priors& priors)
      : s_(platform),
        q_(question),
        p_(priors),
        pcie_(platform.inside == Inside::pcie),
        ranks_(platform.ranks()),
        kb_(question.bytes * 1e-3),
        depth_(platform.domains > 1 ? std::log2(platform.domains) : 0) {
    bound_transfers();
    latency_network_ = 1;
    if (s_.domains > 1) {
      latency_network_ = p_[Parameter::hop_network];
      if (s_.network == Network::efa || s_.network == Network::slingshot)
        latency_network_ *= p_[Parameter::hop_libfabric];
      if (s_.network == Network::tcpx || s_.network == Network::tcpxo ||
          s_.network == Network::sockets)
        latency_network_ *= p_[Parameter::hop_tcp];
    }
  }

  TimeParts answer() {
    for (const Algorithm a : {Algorithm::ring, Algorithm::tree})
      for (const Protocol p : {Protocol::ll, Protocol::ll128, Protocol::simple}) try_way(a, p);
    try_nvls();
    if (!found_) {
      best_.total = std::numeric_limits<double>::infinity();
      return best_;
    }
    best_.copy = local_copy();
    best_.host = host();
    double gpu = best_.latency + best_.transfer + best_.fill + best_.copy;
    if (q_.mode == Mode::kernel) gpu = std::max(gpu - kKernelGap, gpu / 2);
    const double m = p_[Parameter::host_power];
    best_.total =
        best_.host > 0 ? std::pow(std::pow(best_.host, m) + std::pow(gpu, m), 1 / m) : gpu;
    return best_;
  }

 private:
  /// us that the bytes need inside a domain and between domains, at full rate.
  void bound_transfers() {
    const double factor = bus_factor(q_.what, ranks_);
    const bool pair = q_.what == Collective::all_to_all;
    if (s_.gpus > 1) {
      double rate = pcie_ ? gb(s_.pcie) * p_[Parameter::pcie] *
                                (s_.sockets > 1 ? p_[Parameter::pcie_sockets] : 1) *
                                (s_.peer_to_peer ? 1 : p_[Parameter::pcie_host])
                          : gb(s_.nvlink) * p_[ring_share(s_.sm)];
      if (pair) rate *= p_[Parameter::all_to_all];
      rate = capped(rate);
      inside_ = (pair ? (s_.gpus - 1.0) / ranks_ : factor) * kb_ / rate;
    }
    if (s_.domains < 2) return;
    double ports = gb(s_.ports);
    if (s_.gpus == 1) ports = std::min(ports, gb(s_.pcie) * kSingleGpuSlot);
    const double rate = ports * p_[network_share(s_.network)];
    ring_network_ = pair ? static_cast<double>(ranks_ - s_.gpus) / ranks_ * kb_ / (rate / s_.gpus)
                         : factor * kb_ / rate;
    if (reduces_all(q_.what))
      tree_network_ = (s_.domains == 2 ? 1.0 : 2.0 * (ranks_ - 1) / ranks_) * kb_ / rate;
  }

  /// Few channels are few SMs. The rate of one is Hopper's; other GPUs in proportion to their link.
  double capped(double rate) {
    if (q_.channels <= 0 || rate <= 0) return rate;
    const double scale = pcie_ ? 1.0 : gb(s_.nvlink) / kNvlinkOfReference;
    const double few = q_.channels * kChannel * scale;
    const double out =
        std::pow(std::pow(few, -kChannelSoftness) + std::pow(rate, -kChannelSoftness),
                 -1 / kChannelSoftness);
    few_channels_ = out < 0.8 * rate;
    return out;
  }

  bool allowed(Algorithm a, Protocol p) const {
    return (!q_.algorithm || *q_.algorithm == a) && (!q_.protocol || *q_.protocol == p);
  }

  void offer(TimeParts way) {
    const double gpu = way.latency + way.transfer + way.fill;
    if (found_ && gpu >= best_.latency + best_.transfer + best_.fill) return;
    best_ = way;
    found_ = true;
  }

  /// The pipeline of chunks fills over the first part of the transfer.
  void set_fill(TimeParts& way, double span) const {
    const bool all = reduces_all(q_.what);
    const double t = all ? way.transfer : 2 * way.transfer;
    const double grown = t * p_[Parameter::fill_span] / (t + p_[Parameter::fill_span]);
    const double power = p_[Parameter::fill_power];
    way.fill =
        (all ? 1 : p_[Parameter::fill_gather]) * std::pow(span, 1 - power) * std::pow(grown, power);
  }
  double span_inside() const {
    if (pcie_) return p_[Parameter::fill_pcie];
    return s_.gpus > 1 ? p_[Parameter::fill_nvlink] * kNvlinkOfReference / gb(s_.nvlink) : 0;
  }
  double span_network() const {
    return s_.domains > 1 ? p_[Parameter::fill_network] * depth_ * latency_network_ : 0;
  }

  void try_way(Algorithm a, Protocol p) {
    const bool tree = a == Algorithm::tree;
    if (tree && (!reduces_all(q_.what) || s_.domains < 2)) return;
    if (p == Protocol::ll128 && pcie_) return;
    if (!allowed(a, p)) return;
    const auto i = static_cast<std::size_t>(p);
    TimeParts way{.algorithm = a, .protocol = p};
    way.channels_bind = few_channels_;
    const double inside = tree && !pcie_ ? inside_ / p_[Parameter::tree_inside] : inside_;
    const double network = tree ? tree_network_ : ring_network_;
    way.transfer = std::max(inside, network);
    way.network_binds = network > inside;
    way.latency = tree ? tree_latency(i) : ring_latency(i);
    if (p == Protocol::ll) {
      way.transfer /= p_[s_.domains == 1 ? Parameter::ll_one : Parameter::ll_many];
    } else {
      if (p == Protocol::ll128) way.transfer /= kLl128Payload;
      set_fill(way, span_inside() + span_network());
    }
    offer(way);
  }

  double ring_latency(std::size_t p) const {
    int steps = reduces_all(q_.what) ? 2 * (ranks_ - 1) : ranks_ - 1;
    if (pairwise(q_.what)) steps = std::min(ranks_ - 1, kPairwiseSteps);
    const int crossings =
        s_.domains > 1 ? std::min(steps, (reduces_all(q_.what) ? 2 : 1) * (s_.domains - 1)) : 0;
    double inside = pcie_ ? kPcie.ring[p] : kNvlink.ring[p];
    if (s_.domains > 1 && s_.gpus > 1)
      inside = std::max(
          inside, p_[Parameter::post] * (p == static_cast<std::size_t>(Protocol::simple) ? 3 : 1));
    return p_[Parameter::hop] * (kBase.ring[p] + (steps - crossings) * inside) +
           latency_network_ * crossings * kNetwork.ring[p];
  }

  double tree_latency(std::size_t p) const {
    const double inside = pcie_ ? kPcie.tree[p] : kNvlink.tree[p];
    return p_[Parameter::hop] * (kBase.tree[p] + 2 * (s_.gpus - 1) * inside) +
           latency_network_ * 2 * depth_ * kNetwork.tree[p];
  }

  void try_nvls() {
    if (!reduces_all(q_.what) || !s_.nvls || s_.gpus < 3) return;
    const Algorithm a = s_.domains > 1 ? Algorithm::nvls_tree : Algorithm::nvls;
    const bool named =
        !q_.algorithm || *q_.algorithm == Algorithm::nvls || *q_.algorithm == Algorithm::nvls_tree;
    if (!named || (q_.protocol && *q_.protocol != Protocol::simple)) return;
    double rate = gb(s_.nvlink) * p_[nvls_share(s_.sm)];
    if (s_.inside == Inside::rack) rate *= p_[Parameter::nvls_rack];
    // A GPU receives its own contribution's share back: 1 + 1/n bytes a byte.
    const double inside = kb_ * (1 + 1.0 / s_.gpus) / rate;
    TimeParts way{.algorithm = a, .protocol = Protocol::simple};
    way.network_binds = tree_network_ > inside;
    way.transfer = std::max(inside, tree_network_);
    way.latency = p_[Parameter::hop] * kNvlsInside +
                  (s_.domains > 1 ? latency_network_ * 2 * depth_ * kNvlsTreeHop : 0);
    set_fill(way, span_inside() * p_[Parameter::fill_nvls] + span_network());
    offer(way);
  }

  /// Out of place, every rank copies its own piece.
  double local_copy() const {
    if (q_.in_place || q_.what != Collective::all_gather) return 0;
    const int channels = s_.domains == 1 ? 24 : s_.gpus > 1 ? 16 : 4;  // NCCL's usual numbers
    return kb_ / ranks_ / (channels * p_[Parameter::copy]);
  }

  double host() const {
    if (q_.mode != Mode::eager) return 0;
    return p_[host_of(s_.sm)] * (s_.domains > 1 ? p_[Parameter::host_many] : 1);
  }

  const Platform& s_;
  const TimeQuestion& q_;
  const Priors& p_;
  bool pcie_;
  int ranks_;
  double kb_;     // us at 1 GB/s
  double depth_;  // of a binary tree of domains
  double inside_ = 0, ring_network_ = 0, tree_network_ = 0;
  double latency_network_ = 1;
  TimeParts best_ = {};
  bool found_ = false, few_channels_ = false;
};

}  // namespace

TimeParts time_of(const Platform& platform, const TimeQuestion& question, const Priors& priors) {
  if (platform.ranks() < 2 || question.bytes <= 0) return {};
  return Law(platform, question, priors).answer();
}

double bus_factor(Collective what, int ranks) {
  const double n = ranks;
  switch (what) {
    case Collective::all_reduce: return 2 * (n - 1) / n;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all: return (n - 1) / n;
    default: return 1;
  }
}

SpeedOfLight speed_of_light(const Platform& platform, Collective what) {
  const Platform& s = platform;
  const int n = s.ranks();
  const bool pcie = s.inside == Inside::pcie;
  SpeedOfLight out{.bus_gb_per_s = std::numeric_limits<double>::infinity()};
  const auto limit = [&](double gb_per_s, std::string why) {
    if (gb_per_s < out.bus_gb_per_s) out = {gb_per_s, std::move(why)};
  };
  if (s.gpus > 1) {
    const double link = pcie ? gb(s.pcie) : gb(s.nvlink);
    const char* const what_link = pcie ? "the PCIe slot" : "NVLink";
    if (what == Collective::all_reduce && s.nvls && s.gpus > 2) {
      const double algorithm = link / (1 + 1.0 / s.gpus);
      limit(std::max(link, algorithm * bus_factor(what, n)),
            fmt::format("NVLS: {:.0f} GB/s of NVLink carry 1 + 1/{} bytes a byte", link, s.gpus));
    } else {
      limit(link, fmt::format("{} of one GPU, {:.1f} GB/s one way", what_link, link));
    }
  }
  if (s.domains > 1 && s.ports > Bandwidth{}) {
    const double ports = gb(s.ports);
    if (what == Collective::all_reduce && s.gpus > 1) {
      // Reduced inside first, a domain sends each byte N/(N-1) times less often.
      const double share = static_cast<double>(s.domains) / (s.domains - 1) * (n - 1) / n;
      limit(ports * share,
            fmt::format("{:.4g} GB/s of NIC ports, each byte reduced inside first", ports));
    } else if (what == Collective::all_to_all) {
      limit(ports / s.gpus * (n - 1) / (n - s.gpus),
            fmt::format("{:.4g} GB/s of NIC ports for {} GPUs", ports, s.gpus));
    } else {
      limit(ports, fmt::format("{:.4g} GB/s of NIC ports", ports));
    }
  }
  return out;
}

}  // namespace railyard::predict::nccl

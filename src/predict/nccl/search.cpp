#include "predict/nccl/search.h"

#include <algorithm>
#include <array>
#include <span>

#include "predict/nccl/detail/channel_walk.h"

namespace railyard::predict::nccl {

namespace {

// Speeds of one channel that are tried, GB/s. [NCCL 2.28, 2.30: src/graph/search.cc]
constexpr std::array<float, 13> kIntra{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr std::array<float, 19> kInter{48, 30, 28, 24, 20, 18,   15,   12,    10,   9,
                                       7,  6,  5,  4,  3,  2.4F, 1.2F, 0.24F, 0.12F};
constexpr std::array<float, 11> kHopperIntra{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
constexpr std::array<float, 17> kHopperInter{48, 45, 42, 40, 30,   24,   22,    20,   17.5F,
                                             15, 12, 6,  3,  2.4F, 1.2F, 0.24F, 0.12F};
constexpr std::array<float, 11> kBlackwellIntra{90, 80, 70, 60, 50, 40, 30, 24, 20, 19, 18};
constexpr std::array<float, 18> kBlackwellInter{96,    48, 45.1F, 42, 40, 30,   24,   22,    20,
                                                17.5F, 15, 12,    6,  3,  2.4F, 1.2F, 0.24F, 0.12F};
constexpr std::array<float, 12> kBlackwellIntra230{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
constexpr std::array<float, 19> kBlackwellInter230{
    96, 80, 48, 45.1F, 42, 40, 30, 24, 22, 20, 17.5F, 15, 12, 6, 3, 2.4F, 1.2F, 0.24F, 0.12F};

std::span<const float> speeds_of(int sm, bool network, const Version& version) {
  if (sm >= 100 && version >= Version{2, 29, 0})
    return network ? std::span<const float>(kBlackwellInter230) : kBlackwellIntra230;
  if (sm >= 100) return network ? std::span<const float>(kBlackwellInter) : kBlackwellIntra;
  if (sm >= 90) return network ? std::span<const float>(kHopperInter) : kHopperIntra;
  return network ? std::span<const float>(kInter) : kIntra;
}

// Steps that an attempt and a whole search may take. [NCCL 2.28: NCCL_SEARCH_*TIMEOUT]
constexpr long kWholeBudget = 1L << 19;
constexpr int kBudget = 1 << 14;
constexpr int kSameChannelsBudget = 1 << 8;
constexpr int kMostHeads = 32;  // of NVLS and of CollNet direct (arity)

PathType next(PathType type) { return static_cast<PathType>(static_cast<int>(type) + 1); }

struct Extremes {
  PathType nearest = PathType::sys, farthest = PathType::loc;
};

Extremes from_gpus(const Paths& paths, const std::vector<NodeIndex>& to) {
  Extremes out;
  for (const NodeIndex g : paths.system().gpus())
    for (const NodeIndex far : to) {
      if (far == g) continue;
      const PathType type = paths.between(g, far).type;
      out.nearest = std::min(out.nearest, type);
      out.farthest = std::max(out.farthest, type);
    }
  return out;
}

/// Two groups of GPUs, each joined by NVLink inside and by something slower between.
bool nvlink_in_two_halves(const Paths& paths) {
  const auto& gpus = paths.system().gpus();
  std::vector<std::size_t> domain(gpus.size());
  for (std::size_t g = 0; g < gpus.size(); ++g) domain[g] = g;
  for (std::size_t g = 0; g < gpus.size(); ++g)
    for (std::size_t p = g + 1; p < gpus.size(); ++p)
      if (paths.between(gpus[g], gpus[p]).type == PathType::nvl) domain[p] = domain[g];
  std::vector<int> size(gpus.size());
  for (const std::size_t d : domain) ++size[d];
  return std::count_if(size.begin(), size.end(), [](int n) { return n > 1; }) == 2;
}

/// One search: a ladder of attempts, each asking a little less than the one before.
class Search {
 public:
  Search(const Paths& paths, const SearchOrder& order, const Settings& settings,
         const Version& version, SearchReport* report)
      : paths_(paths),
        order_(order),
        network_(!paths.system().nets().empty()),
        gpus_(static_cast<int>(paths.system().gpus().size())),
        sm_(paths.system().lowest_sm()),
        speeds_(speeds_of(sm_, network_, version)),
        cross_nic_(may_cross_nics(settings) ? settings.cross_nic : 0),
        report_(report) {}

  Graph run() {
    prepare();
    if (order_.pattern == Pattern::nvls && (paths_.system().nvswitches().empty() || sm_ < 90))
      return best_;
    ChannelWalk walk(paths_, order_.collnet);
    const Graph start = best_;
    descend(walk);
    if (unsure_) {
      best_ = start;
      skips_ = false;
      descend(walk);
    }
    double_channels();
    raise(walk);
    if (best_.channels == 0 && !order_.collnet && order_.pattern != Pattern::nvls) fall_back();
    return best_;
  }

 private:
  /// Rings and two-GPU trees may leave through another NIC than they came in by.
  bool may_cross_nics(const Settings&) const {
    return paths_.system().nets().size() > 1 &&
           (order_.pattern == Pattern::ring || order_.pattern == Pattern::balanced_tree ||
            order_.pattern == Pattern::split_tree);
  }

  void prepare() {
    const System& s = paths_.system();
    if (gpus_ > 1) {
      const Extremes e = from_gpus(paths_, s.gpus());
      nearest_intra_ = e.nearest;
      farthest_intra_ = e.farthest;
    }
    if (network_) {
      const Extremes e = from_gpus(paths_, s.nets());
      nearest_inter_ = e.nearest;
      farthest_inter_ = farthest_intra_ = e.farthest;
    }
    best_.pattern = order_.pattern;
    best_.collnet = order_.collnet;
    best_.gpus = gpus_;
    best_.type_intra = nearest_intra_;
    best_.type_inter = nearest_inter_;
    best_.cross_nic = cross_nic_ == 1 ? 1 : 0;
    best_.same_channels = tries_same_ = order_.pattern != Pattern::nvls;

    if (order_.pattern == Pattern::nvls) order_.max_channels = std::min(kMostHeads, gpus_);
    if (order_.pattern == Pattern::collnet_direct)
      order_.max_channels = std::min(kMostHeads + 1, gpus_);
    if (gpus_ == 1 && order_.pattern != Pattern::ring) best_.pattern = Pattern::tree;
    // Inside one node NVLS pulls evenly from all GPUs or not at all.
    if (!network_ && order_.pattern == Pattern::nvls) order_.min_channels = order_.max_channels;
    // Trees pay off here, they want two channels, and rings must have as many as trees.
    if (order_.pattern == Pattern::ring && order_.min_channels == 1 && order_.max_channels >= 2 &&
        nvlink_in_two_halves(paths_))
      order_.min_channels = 2;
  }

  /// The fastest speed that a path and a GPU can carry at all.
  std::size_t first_speed() const {
    float of_gpu = paths_.widest_gpu();
    if (gpus_ > 1 && order_.pattern != Pattern::ring)
      of_gpu *= static_cast<float>(gpus_) / static_cast<float>(gpus_ - 1);
    std::size_t i = 0;
    while (i + 1 < speeds_.size() &&
           (speeds_[i] > paths_.widest_path() ||
            speeds_[i] * static_cast<float>(order_.min_channels) > of_gpu))
      ++i;
    return i;
  }

  void attempt(ChannelWalk& walk) {
    budget_ = attempt_.same_channels ? kSameChannelsBudget : kBudget;
    if (skips_ && hopeless()) {
      // NCCL would have spent something between nothing and all of the budget.
      least_left_ -= budget_;
      most_left_ -= budget_;
      spent_unknown_ = budget_;
      return;
    }
    spent_unknown_ = 0;
    if (least_left_ < 0 && most_left_ >= 0 && best_.channels > 0) unsure_ = true;
    least_left_ -= budget_;
    most_left_ -= budget_;
    const int before = budget_;
    walk.run(attempt_, limits_, best_, budget_);
    if (report_) {
      ++report_->attempts;
      report_->steps += before - std::max(budget_, 0);
    }
  }

  /// Whether the attempt cannot beat what we have, whatever it finds: too few channels fit through
  /// the ports and GPUs at its speed, or just as many over no fewer hops. Most of NCCL's steps go
  /// into such attempts; leaving them out changes nothing but the count of steps.
  bool hopeless() const {
    if (best_.channels == 0 || attempt_.pattern == Pattern::nvls ||
        attempt_.pattern == Pattern::collnet_direct)
      return false;
    const int most = std::min(limits_.most, channels_that_fit(attempt_));
    if (most < limits_.least) return true;
    const float reached = static_cast<float>(best_.channels) * best_.intra,
                possible = static_cast<float>(most) * attempt_.intra;
    if (possible != reached) return possible < reached;
    return attempt_.pattern != best_.pattern || attempt_.cross_nic != best_.cross_nic ||
           most * fewest_hops_ >= best_.hops;
  }

  int channels_that_fit(const Graph& attempt) const {
    const System& s = paths_.system();
    long long fit = 1 << 20;
    if (const int whole = static_cast<int>(attempt.inter); network_ && whole > 0) {
      long long ports = 0;
      for (std::size_t n = 0; n < s.nets().size(); ++n) {
        const auto& net = s.nodes[s.nets()[n]].net;
        bool first = true;  // devices of one port share it
        for (std::size_t m = 0; m < n && first; ++m) {
          const auto& other = s.nodes[s.nets()[m]].net;
          first = other.asic != net.asic || other.port != net.port;
        }
        if (first) ports += static_cast<long long>(net.gb_per_s) / whole;
      }
      fit = std::min(fit, ports);
    }
    if (gpus_ > 1) {
      // Into every GPU but the first of a tree goes one path of each channel.
      long long entries = 0;
      for (const auto& link : s.links)
        if (s.nodes[link.to].kind == NodeKind::gpu)
          entries += static_cast<long long>(link.gb_per_s / attempt.intra + 1e-3F);
      fit = std::min(fit, entries / (gpus_ - 1));
    }
    return static_cast<int>(fit);
  }

  bool satisfied() const {
    return budget_ == -1 || static_cast<float>(best_.channels) * best_.inter >= paths_.widest_gpu();
  }

  void descend(ChannelWalk& walk) {
    attempt_ = best_;
    most_left_ = least_left_ = kWholeBudget;
    unsure_ = false;
    fewest_hops_ = hops_of_a_channel();
    limits_ = {order_.min_channels, order_.max_channels};
    speed_ = first_speed();
    attempt_.intra = attempt_.inter = speeds_[speed_];
    do attempt(walk);
    while (!unsure_ && !satisfied() && ask_less());
    spent_unknown_ = 0;
    skips_ = false;
  }

  /// The fewest links that any channel crosses.
  int hops_of_a_channel() const {
    const System& s = paths_.system();
    int between = 1 << 10, out = 1 << 10;
    for (const NodeIndex g : s.gpus()) {
      for (const NodeIndex far : s.gpus())
        if (far != g) between = std::min(between, paths_.between(g, far).hops());
      for (const NodeIndex n : s.nets())
        out = std::min({out, paths_.between(g, n).hops(), paths_.between(n, g).hops()});
    }
    return (gpus_ - 1) * (gpus_ > 1 ? between : 0) + (network_ ? 2 * out : 0);
  }

  /// The next attempt asks less in one respect, and again the most in those tried before it.
  bool ask_less() {
    const auto& cpu = paths_.system().cpu();
    const bool through_amd = cpu.arch == model::nccl::CpuArch::x86 &&
                             cpu.vendor == model::nccl::CpuVendor::amd &&
                             attempt_.type_intra == PathType::sys;
    if (attempt_.same_channels && !through_amd) {
      attempt_.same_channels = false;
      return true;
    }
    attempt_.same_channels = tries_same_;

    if (budget_ != -1) {
      most_left_ += budget_;
      least_left_ += budget_ - spent_unknown_;
    } else {
      most_left_ = least_left_ = kWholeBudget;
    }
    if (most_left_ < 0 && best_.channels > 0) return false;

    if (sm_ >= 90 && attempt_.pattern == Pattern::balanced_tree) {
      attempt_.pattern = Pattern::tree;
      return true;
    }
    attempt_.pattern = best_.pattern;

    const PathType farthest = network_ ? attempt_.type_inter : farthest_intra_;
    if (attempt_.type_intra < farthest &&
        (best_.channels == 0 || attempt_.type_intra < best_.type_intra)) {
      attempt_.type_intra = next(attempt_.type_intra);
      if (attempt_.type_intra < PathType::dis) return true;
    }
    attempt_.type_intra = nearest_intra_;

    if (network_ && attempt_.type_inter < farthest_inter_ &&
        (best_.channels == 0 || attempt_.type_inter < best_.type_inter ||
         attempt_.type_inter < PathType::pxn)) {
      attempt_.type_inter = next(attempt_.type_inter);
      if (attempt_.type_inter < PathType::dis) return true;
    }
    attempt_.type_inter = nearest_inter_;

    if (cross_nic_ == 2 && attempt_.cross_nic == 0 &&
        (best_.pattern == Pattern::ring || best_.pattern == Pattern::balanced_tree)) {
      attempt_.cross_nic = 2;
      return true;
    }
    attempt_.cross_nic = cross_nic_ == 1 ? 1 : 0;

    // Half the speed with more channels is not worth the search.
    if (speed_ + 1 < speeds_.size() &&
        (best_.channels == 0 || speeds_[speed_ + 1] / best_.inter > 0.49F)) {
      attempt_.intra = attempt_.inter = speeds_[++speed_];
      return true;
    }
    return false;
  }

  /// Fast channels are split in two, so that more SMs share the work. [ncclTopoDupChannels]
  void double_channels() {
    if (best_.channels == 0 || best_.pattern == Pattern::nvls || best_.intra < 25) return;
    if (sm_ > 80 && best_.intra < 50 && best_.channels > 4) return;
    const int twice = std::min(best_.channels * 2, order_.max_channels);
    const int share = (twice + best_.channels - 1) / best_.channels;
    for (int c = best_.channels; c < twice; ++c) {
      const int from = c - best_.channels;
      for (int g = 0; g < gpus_; ++g)
        best_.order.push_back(best_.order[static_cast<std::size_t>(from * gpus_ + g)]);
      for (int end = 0; end < 2; ++end)
        best_.nets.push_back(best_.nets[static_cast<std::size_t>(from * 2 + end)]);
    }
    best_.intra /= static_cast<float>(share);
    best_.inter /= static_cast<float>(share);
    best_.channels = twice;
  }

  void raise(ChannelWalk& walk) {
    budget_ = -1;
    attempt_ = best_;
    speed_ = 0;
    while (speed_ + 1 < speeds_.size() && speeds_[speed_] > best_.inter) ++speed_;
    attempt_.intra = attempt_.inter = speeds_[speed_];
    limits_.least = best_.channels;
    while (budget_ != 0 && speed_ > 0 && ask_more()) attempt(walk);
  }

  bool ask_more() {
    if (best_.pattern == Pattern::ring) {
      attempt_.intra = attempt_.inter = speeds_[--speed_];
    } else if (best_.pattern == Pattern::nvls && attempt_.inter == best_.inter &&
               attempt_.inter < attempt_.intra * 2) {
      limits_ = {best_.channels, best_.channels};
      attempt_.inter = speeds_[--speed_];
    } else if (attempt_.intra == best_.intra && attempt_.intra < attempt_.inter * 2) {
      attempt_.intra = speeds_[--speed_];
    } else {
      return false;
    }
    return true;
  }

  void fall_back() {
    best_.order.clear();
    for (int g = 0; g < gpus_; ++g) best_.order.push_back(static_cast<std::int16_t>(g));
    best_.nets.assign(2, network_ ? std::int16_t{0} : std::int16_t{-1});
    best_.intra = best_.inter = 0.1F;
    best_.type_intra = best_.type_inter = PathType::sys;
    best_.channels = 1;
  }

  const Paths& paths_;
  SearchOrder order_;
  bool network_;
  int gpus_, sm_;
  std::span<const float> speeds_;
  int cross_nic_;
  SearchReport* report_;
  PathType nearest_intra_ = PathType::loc, farthest_intra_ = PathType::sys;
  PathType nearest_inter_ = PathType::pix, farthest_inter_ = PathType::sys;
  bool tries_same_ = true;
  Graph best_, attempt_;
  ChannelLimits limits_;
  std::size_t speed_ = 0;
  int budget_ = 0;
  // What is left of the whole search's steps: exactly known until an attempt is skipped. Where the
  // difference decides, the search starts again without skipping.
  long most_left_ = kWholeBudget, least_left_ = kWholeBudget;
  int spent_unknown_ = 0, fewest_hops_ = 0;
  bool skips_ = true, unsure_ = false;
};

}  // namespace

Graph search_channels(const Paths& paths, const SearchOrder& order, const Settings& settings,
                      const Version& version, SearchReport* report) {
  return Search(paths, order, settings, version, report).run();
}

}  // namespace railyard::predict::nccl

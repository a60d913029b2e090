#include "predict/nccl/detail/channel_walk.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace railyard::predict::nccl {

namespace {

using model::nccl::CpuArch;
using model::nccl::CpuVendor;
using model::nccl::Link;
using model::nccl::LinkKind;
using model::nccl::Node;

constexpr int kOrderOfDevicesBudget = 1 << 10;
constexpr std::size_t kMostChannels = 64;
constexpr std::size_t kPathTypes = 12;

int mb_per_s(float gb_per_s) { return static_cast<int>(std::lround(gb_per_s * 1000.0F)); }

}  // namespace

ChannelWalk::ChannelWalk(const Paths& paths, bool collnet)
    : paths_(paths),
      system_(paths.system()),
      gpus_(static_cast<int>(system_.gpus().size())),
      nets_(static_cast<int>(system_.nets().size())),
      collnet_(collnet),
      switched_(!system_.nvswitches().empty()),
      order_of_nets_(kPathTypes * (system_.gpus().size() + 1)),
      ranked_(system_.gpus().size() * (system_.nets().size() + 1)),
      used_(system_.gpus().size()) {
  for (const NodeIndex from : system_.gpus())
    for (const NodeIndex to : system_.gpus()) gpu_gpu_.push_back(make_walk(from, to));
  for (const NodeIndex from : system_.gpus())
    for (const NodeIndex to : system_.nets()) gpu_net_.push_back(make_walk(from, to));
  for (const NodeIndex from : system_.nets())
    for (const NodeIndex to : system_.gpus()) net_gpu_.push_back(make_walk(from, to));
  if (switched_)
    for (const NodeIndex g : system_.gpus()) {
      switch_gpu_.push_back(make_walk(system_.nvswitches().front(), g));
      gpu_switch_.push_back(make_walk(g, system_.nvswitches().front()));
    }
  for (const Link& link : system_.links) left_.push_back(mb_per_s(link.gb_per_s));
  for (const NodeIndex n : system_.nets())
    net_left_.push_back(mb_per_s(system_.nodes[n].net.gb_per_s));
  for (const NodeIndex g : system_.gpus()) {
    int rate = -1;
    for (const LinkIndex l : system_.nodes[g].links)
      if (rate < 0 && system_.links[l].kind == LinkKind::pci)
        rate = static_cast<int>(system_.links[l].gb_per_s);
    pci_rate_.push_back(rate);
  }
  now_.order.resize(kMostChannels * system_.gpus().size());
  now_.nets.resize(kMostChannels * 2, -1);
}

ChannelWalk::Walk ChannelWalk::make_walk(NodeIndex from, NodeIndex to) {
  const Path& path = paths_.between(from, to);
  Walk out{.first = static_cast<std::uint32_t>(hops_.size()),
           .hops = static_cast<std::uint16_t>(path.links.size()),
           .type = path.type,
           .back = paths_.between(to, from).type};
  const bool from_gpu = system_.nodes[from].kind == NodeKind::gpu;
  for (const LinkIndex l : path.links) {
    const Link& link = system_.links[l];
    const Node& far = system_.nodes[link.to];
    Hop hop{.link = l, .reverse = link.reverse, .pci = link.kind == LinkKind::pci};
    if (far.kind == NodeKind::cpu) {
      out.intel_bridge |= path.type == PathType::phb && from_gpu && far.cpu.arch == CpuArch::x86 &&
                          far.cpu.vendor == CpuVendor::intel;
      if (far.cpu.arch == CpuArch::power && link.kind == LinkKind::nvlink) hop.back_eighths = 8;
    }
    // Reads of older GPUs cost requests the other way.
    if (far.kind == NodeKind::gpu && far.gpu.sm < 80 && !from_gpu) hop.back_eighths = 1;
    hops_.push_back(hop);
  }
  return out;
}

bool ChannelWalk::take(const Walk& walk, int rate) {
  const int on_pci = walk.intel_bridge ? rate * 6 / 5 : rate;
  for (std::uint32_t i = walk.first; i < walk.first + walk.hops; ++i) {
    const Hop& hop = hops_[i];
    const int forward = hop.pci ? on_pci : rate, back = forward * hop.back_eighths / 8;
    if (left_[hop.link] < forward || (back != 0 && left_[hop.reverse] < back)) {
      while (i-- > walk.first) {
        const Hop& undo = hops_[i];
        const int taken = undo.pci ? on_pci : rate;
        left_[undo.link] += taken;
        left_[undo.reverse] += taken * undo.back_eighths / 8;
      }
      return false;
    }
    left_[hop.link] -= forward;
    left_[hop.reverse] -= back;
  }
  now_.hops += walk.hops;
  return true;
}

void ChannelWalk::give(const Walk& walk, int rate) {
  const int on_pci = walk.intel_bridge ? rate * 6 / 5 : rate;
  for (std::uint32_t i = walk.first; i < walk.first + walk.hops; ++i) {
    const Hop& hop = hops_[i];
    const int forward = hop.pci ? on_pci : rate;
    left_[hop.link] += forward;
    left_[hop.reverse] += forward * hop.back_eighths / 8;
  }
  now_.hops -= walk.hops;
}

/// Trees carry data both ways, so the way back must be as near.
bool ChannelWalk::allowed(const Walk& walk, PathType limit) const {
  const bool tree = now_.pattern == Pattern::balanced_tree || now_.pattern == Pattern::tree ||
                    now_.pattern == Pattern::split_tree;
  return walk.type <= limit && (!tree || walk.back <= limit);
}

void ChannelWalk::run(const Graph& attempt, ChannelLimits limits, Graph& best, int& budget) {
  now_.pattern = attempt.pattern;
  now_.collnet = attempt.collnet;
  now_.gpus = gpus_;
  now_.intra = attempt.intra;
  now_.inter = attempt.inter;
  now_.type_intra = attempt.type_intra;
  now_.type_inter = attempt.type_inter;
  now_.cross_nic = attempt.cross_nic;
  now_.same_channels = attempt.same_channels;
  now_.latency_inter = attempt.latency_inter;
  now_.hops = 0;
  now_.channels = 0;
  intra_ = mb_per_s(attempt.intra);
  inter_ = mb_per_s(attempt.inter);
  limits_ = limits;
  best_ = &best;
  budget_ = &budget;
  next_channel();
}

void ChannelWalk::next_channel() {
  if (nets_ > 0)
    start_at_network();
  else
    start_inside();
}

void ChannelWalk::start_inside() {
  const Plan plan{.first = now_.pattern == Pattern::ring ? gpus_ - 1 : -1};
  const auto with = [&](Order order) {
    Plan p = plan;
    p.order = order;
    return p;
  };
  if (now_.pattern == Pattern::nvls) {
    lay_from(nullptr, now_.channels, 0, plan);
    return;
  }
  if (now_.channels == 0)
    lay_from(nullptr, 0, 0, with(Order::of_devices));
  else
    lay_from(nullptr, before(0), 0, with(Order::as_before));
  if (now_.channels == 0 || !now_.same_channels)
    for (int g = 0; g < gpus_; ++g) lay_from(nullptr, g, 0, plan);
}

void ChannelWalk::start_at_network() {
  const Plan plan{.network = now_.pattern == Pattern::ring         ? gpus_ - 1
                             : now_.pattern == Pattern::split_tree ? 1
                                                                   : 0};
  const bool heads_only = now_.pattern == Pattern::nvls || now_.pattern == Pattern::collnet_direct;
  const int whole = inter_ / 1000 * 1000;  // NCCL counts whole GB/s at the port
  const int channel = now_.channels;
  const std::vector<int>& nets = nets_to_try(-1);
  const int count = static_cast<int>(nets.size());
  bool found = false;
  for (int i = 0; i < count && !(heads_only && found); ++i) {
    const int n = nets[static_cast<std::size_t>((channel + i) % count)];
    const auto& net = system_.nodes[system_.nets()[static_cast<std::size_t>(n)]].net;
    if (collnet_ && !net.collectives) continue;
    if (net_left_[static_cast<std::size_t>(n)] < whole) continue;
    if (now_.pattern == Pattern::ring && now_.cross_nic == 2 && channel % 2 == 1 &&
        n != now_.net(channel - 1, 1))
      continue;
    now_.nets[static_cast<std::size_t>(channel * 2)] = static_cast<std::int16_t>(n);
    now_.latency_inter = net.latency_us;
    for (int other = 0; other < nets_; ++other)
      if (same_port(n, other)) net_left_[static_cast<std::size_t>(other)] -= whole;

    if (heads_only)
      found = lay_head(n, plan);
    else
      lay_from_net(n, plan);

    for (int other = 0; other < nets_; ++other)
      if (same_port(n, other)) net_left_[static_cast<std::size_t>(other)] += whole;
  }
}

/// NVLS and CollNet: a channel for each device whose own GPU heads none yet.
bool ChannelWalk::lay_head(int n, Plan plan) {
  const int channel = now_.channels, beside = paths_.gpu_beside(n);
  if (beside < 0 || channel >= static_cast<int>(nets_to_try(-1).size())) return false;
  for (int c = 0; c < channel; ++c)
    if (now_.gpu(c, 0) == beside) return false;
  lay_from(&net_gpu(n, beside), beside, 0, plan);
  return true;
}

void ChannelWalk::lay_from_net(int n, Plan plan) {
  const int channel = now_.channels;
  if (channel > 0 && now_.same_channels) {
    plan.order = Order::as_before;
    const int g = before(0);
    lay_from(&net_gpu(n, g), g, 0, plan);
    return;
  }
  if (channel == 0 && !switched_) {
    // A first answer in the order of the devices, on a budget of its own.
    int own = kOrderOfDevicesBudget;
    int* const shared = budget_;
    budget_ = &own;
    Plan in_order = plan;
    in_order.order = Order::of_devices;
    lay_from(&net_gpu(n, 0), 0, 0, in_order);
    budget_ = shared;
    if (own == -1) *budget_ = -1;
  }
  const int beside = paths_.gpu_beside(n);
  if (beside >= 0) lay_from(&net_gpu(n, beside), beside, 0, plan);
  const Nearest near = paths_.nearest_gpus(n);
  if (near.type == PathType::dis) return;
  for (const int g : near.devices)
    if (g != beside) lay_from(&net_gpu(n, g), g, 0, plan);
}

/// Goes to GPU `g` over `way` (none: starts there) and on from it.
void ChannelWalk::lay_from(const Walk* way, int g, int step, Plan plan) {
  const bool inside = step > 0;
  const int rate = inside ? intra_ : inter_;
  if (way) {
    if (!allowed(*way, inside ? now_.type_intra : now_.type_inter) || way->type >= PathType::dis ||
        !take(*way, rate))
      return;
  }
  const std::uint64_t flag = std::uint64_t{1} << now_.channels;
  used_[static_cast<std::size_t>(g)] ^= flag;
  at_gpu(g, step, plan);
  used_[static_cast<std::size_t>(g)] ^= flag;
  if (way) give(*way, rate);
}

void ChannelWalk::at_gpu(int g, int step, Plan plan) {
  if (*budget_ <= 0) return;
  --*budget_;
  if (step == gpus_) {
    complete();
    return;
  }
  now_.order[static_cast<std::size_t>(now_.channels * gpus_ + step)] = static_cast<std::int16_t>(g);
  if (step == plan.network)
    to_network(g, step, plan);
  else if (now_.pattern == Pattern::nvls)
    try_nvls(g);
  else if (now_.pattern == Pattern::collnet_direct)
    try_collnet_direct(g);
  else if (step < gpus_ - 1)
    to_next_gpu(g, step, plan);
  else if (step == plan.first)
    to_first_gpu(g, plan);
  else
    at_gpu(g, gpus_, {.order = plan.order});
}

void ChannelWalk::to_network(int g, int step, Plan plan) {
  const int channel = now_.channels;
  const int start = now_.net(channel, 0);
  for (const int n : nets_to_try(g)) {
    if (now_.pattern == Pattern::tree && n != start) continue;
    if (now_.pattern == Pattern::ring && now_.cross_nic == 2) {
      if (channel % 2 == 1 && n != now_.net(channel - 1, 0)) continue;
    } else if (now_.cross_nic == 0 && !same_port(n, start)) {
      continue;
    }
    Plan then{.network = -1, .first = plan.first, .order = plan.order};
    int rate = inter_;
    if (now_.pattern == Pattern::balanced_tree) {
      if (step == 0)
        then.network = 1;
      else if (n != now_.net(channel, 1))
        continue;
      rate /= 2;
    }
    const Walk& way = gpu_net(g, n);
    if (way.type >= PathType::dis || !allowed(way, now_.type_inter) || !take(way, rate)) continue;
    now_.nets[static_cast<std::size_t>(channel * 2 + 1)] = static_cast<std::int16_t>(n);
    at_gpu(g, step, then);
    give(way, rate);
  }
}

void ChannelWalk::to_next_gpu(int g, int step, Plan plan) {
  std::int16_t next[model::nccl::kMostGpus];
  int count = 1;
  switch (plan.order) {
    case Order::of_devices: next[0] = static_cast<std::int16_t>(step + 1); break;
    case Order::as_before: next[0] = static_cast<std::int16_t>(before(step + 1)); break;
    case Order::searched: count = candidates(g, plan, step, next); break;
  }
  for (int i = 0; i < count; ++i) lay_from(&gpu_gpu(g, next[i]), next[i], step + 1, plan);
}

void ChannelWalk::to_first_gpu(int g, Plan plan) {
  const Walk& way = gpu_gpu(g, now_.gpu(now_.channels, 0));
  if (way.type >= PathType::dis || !allowed(way, now_.type_intra) || !take(way, intra_)) return;
  at_gpu(now_.gpu(now_.channels, 0), plan.first + 1,
         {.network = plan.network, .first = -1, .order = plan.order});
  give(way, intra_);
}

/// Every GPU sends its speed into the switch and gets it back, the head twice.
void ChannelWalk::try_nvls(int head) {
  const auto rate = [&](int g) { return g == head ? 2 * intra_ : intra_; };
  // NCCL checks how near the switch is only for those that count once.
  const auto fits = [&](const Walk& way, int g) {
    return way.type < PathType::dis && (g == head || way.type <= now_.type_intra) &&
           take(way, rate(g));
  };
  int down = 0, up = 0;
  while (down < gpus_ && fits(switch_gpu_[static_cast<std::size_t>(down)], down)) ++down;
  if (down == gpus_) {
    while (up < gpus_ && fits(gpu_switch_[static_cast<std::size_t>(up)], up)) ++up;
    if (up == gpus_) at_gpu(-1, gpus_, {});
    while (up-- > 0) give(gpu_switch_[static_cast<std::size_t>(up)], rate(up));
  }
  while (down-- > 0) give(switch_gpu_[static_cast<std::size_t>(down)], rate(down));
}

/// The head exchanges an equal share with every GPU.
void ChannelWalk::try_collnet_direct(int head) {
  const int rate =
      gpus_ > 1 ? static_cast<int>(std::lround(static_cast<double>(intra_) / (gpus_ - 1))) : intra_;
  const auto fits = [&](const Walk& way) { return way.type < PathType::dis && take(way, rate); };
  int out = 0, in = 0;
  while (out < gpus_ && fits(gpu_gpu(head, out))) ++out;
  if (out == gpus_) {
    while (in < gpus_ && fits(gpu_gpu(in, head))) ++in;
    if (in == gpus_) {
      int step = 1;
      for (int g = 0; g < gpus_; ++g)
        if (g != head)
          now_.order[static_cast<std::size_t>(now_.channels * gpus_ + step++)] =
              static_cast<std::int16_t>(g);
      at_gpu(-1, gpus_, {});
    }
    while (in-- > 0) give(gpu_gpu(in, head), rate);
  }
  while (out-- > 0) give(gpu_gpu(head, out), rate);
}

void ChannelWalk::complete() {
  ++now_.channels;
  if (better()) {
    keep();
    if (now_.channels == limits_.most) *budget_ = -1;
  }
  if (now_.channels < limits_.most) next_channel();
  --now_.channels;
}

bool ChannelWalk::better() const {
  if (now_.channels < limits_.least) return false;
  const auto channels = static_cast<float>(now_.channels),
             best = static_cast<float>(best_->channels);
  if (now_.pattern == Pattern::nvls)  // the more GPUs pull the better
    return (now_.channels > best_->channels && now_.channels <= gpus_) ||
           channels * now_.inter > best * best_->inter;
  if (channels * now_.intra > best * best_->intra) return true;
  if (channels * now_.intra < best * best_->intra) return false;
  return now_.pattern == best_->pattern && now_.cross_nic == best_->cross_nic &&
         now_.hops < best_->hops;
}

void ChannelWalk::keep() {
  best_->pattern = now_.pattern;
  best_->channels = now_.channels;
  best_->intra = now_.intra;
  best_->inter = now_.inter;
  best_->latency_inter = now_.latency_inter;
  best_->type_intra = now_.type_intra;
  best_->type_inter = now_.type_inter;
  best_->cross_nic = now_.cross_nic;
  best_->same_channels = now_.same_channels;
  best_->hops = now_.hops;
  best_->order.assign(now_.order.begin(), now_.order.begin() + now_.channels * gpus_);
  best_->nets.assign(now_.nets.begin(), now_.nets.begin() + now_.channels * 2);
}

int ChannelWalk::before(int step) const { return now_.gpu(now_.channels - 1, step); }

/// GPUs to go on to, the most promising first. From a GPU that comes before the one that leaves for
/// the network, equals are taken in reverse, so that channels spread.
int ChannelWalk::candidates(int g, const Plan& plan, int step, std::int16_t* out) {
  if (switched_) return neighbours(g, out);
  const bool near_network = plan.network != -1;
  const std::uint64_t flag = std::uint64_t{1} << now_.channels;
  const int start = near_network && nets_ > 0 ? now_.net(now_.channels, 0) : -1;
  const std::vector<Next>& ranked = ranked_from(g, start);
  int count = 0;
  bool all_alike = true;
  const Next* first = nullptr;
  for (const Next& next : ranked) {
    if (used_[static_cast<std::size_t>(next.gpu)] & flag) continue;
    if (!first) first = &next;
    all_alike &= next.rate == first->rate && next.hops == first->hops;
    out[count++] = next.gpu;
  }
  if (near_network && plan.network != step + 1 && all_alike) std::reverse(out, out + count);
  return count;
}

/// All other GPUs as seen from `g`: fast and near the network device `start` first (-1: none), then
/// fast and near `g`, then by number upward from `g`.
const std::vector<ChannelWalk::Next>& ChannelWalk::ranked_from(int g, int start) {
  std::vector<Next>& out = ranked_[static_cast<std::size_t>(g * (nets_ + 1) + start + 1)];
  if (!out.empty()) return out;
  for (int turn = 1; turn < gpus_; ++turn) {
    const int far = (g + turn) % gpus_;
    const Path& path = paths_.gpu_to_gpu(g, far);
    if (path.hops() == 0) continue;
    out.push_back({.gpu = static_cast<std::int16_t>(far),
                   .rate = static_cast<int>(path.gb_per_s),
                   .hops = path.hops()});
  }
  const auto rank = [&](const Next& next) {
    int net_rate = 0, slot_rate = 0, net_hops = 0;
    if (start >= 0) {
      const Path& net = paths_.net_to_gpu(start, next.gpu);
      net_rate = static_cast<int>(net.gb_per_s);
      net_hops = net.hops();
      slot_rate = pci_rate_[static_cast<std::size_t>(next.gpu)];
    }
    return std::tuple(-net_rate, -slot_rate, net_hops, -next.rate, next.hops);
  };
  std::stable_sort(out.begin(), out.end(),
                   [&](const Next& a, const Next& b) { return rank(a) < rank(b); });
  return out;
}

/// Behind an NVSwitch every GPU is as near; NCCL keeps to the neighbours by number.
int ChannelWalk::neighbours(int g, std::int16_t* out) const {
  const std::uint64_t flag = std::uint64_t{1} << now_.channels;
  const int above = (g + 1) % gpus_, below = (g + gpus_ - 1) % gpus_;
  int wanted[2] = {below, above}, most = 2;
  if (now_.pattern == Pattern::balanced_tree || now_.pattern == Pattern::split_tree) {
    wanted[0] = above;
    wanted[1] = below;
  } else if (now_.pattern != Pattern::ring) {
    wanted[0] = above;
    most = 1;
  }
  if (above == below) most = 1;
  int count = 0;
  for (int i = 0; i < most; ++i)
    if (wanted[i] != g && !(used_[static_cast<std::size_t>(wanted[i])] & flag) &&
        paths_.gpu_to_gpu(g, wanted[i]).hops() > 0)
      out[count++] = static_cast<std::int16_t>(wanted[i]);
  return count;
}

const std::vector<int>& ChannelWalk::nets_to_try(int g) {
  const auto type = static_cast<std::size_t>(now_.type_inter);
  std::vector<int>& list =
      order_of_nets_[type * (system_.gpus().size() + 1) + static_cast<std::size_t>(g + 1)];
  if (list.empty()) list = list_nets(g);
  return list;
}

/// Network devices for GPU `g` (-1: for all): those that it uses by channel, then the other ones
/// within reach, nearest first.
std::vector<int> ChannelWalk::list_nets(int g) const {
  std::vector<int> out;
  const auto add = [&](int n) {
    if (std::find(out.begin(), out.end(), n) == out.end()) out.push_back(n);
  };
  const int first = g < 0 ? 0 : g, last = g < 0 ? gpus_ : g + 1;
  std::vector<std::vector<int>> used;
  std::size_t most = 0;
  for (int gpu = first; gpu < last; ++gpu) {
    used.push_back(paths_.nets_used(gpu));
    most = std::max(most, used.back().size());
  }
  if (system_.hosts > 1) {  // a rack of hosts: one device of every GPU first
    for (std::size_t c = 0; c < most; ++c)
      for (const std::vector<int>& of : used)
        if (c < of.size()) add(of[c]);
  } else {
    for (const std::vector<int>& of : used)
      for (const int n : of) add(n);
  }
  for (int type = 0; type <= static_cast<int>(now_.type_inter); ++type)
    for (int gpu = first; gpu < last; ++gpu)
      for (int n = 0; n < nets_; ++n)
        if (paths_.gpu_to_net(gpu, n).type == static_cast<PathType>(type)) add(n);
  return out;
}

bool ChannelWalk::same_port(int a, int b) const {
  const auto& x = system_.nodes[system_.nets()[static_cast<std::size_t>(a)]].net;
  const auto& y = system_.nodes[system_.nets()[static_cast<std::size_t>(b)]].net;
  return x.asic == y.asic && x.port == y.port;
}

}  // namespace railyard::predict::nccl

#pragma once
// One attempt of the channel search: at given speeds and path types, lay channel after channel
// through the system by depth-first search, taking each channel's speed from every link it crosses.
//
// Rates are whole MB/s. NCCL rounds its GB/s floats to three digits after every step, which is the
// same thing.

#include <cstdint>
#include <vector>

#include "predict/nccl/graph.h"
#include "predict/nccl/paths.h"

namespace railyard::predict::nccl {

struct ChannelLimits {
  int least = 1, most = 32;
};

class ChannelWalk {
 public:
  ChannelWalk(const Paths& paths, bool collnet);

  /// Tries `attempt` (its speeds, types, pattern); what beats `best` is copied into it. `budget`
  /// counts steps down; on return 0: cut short, -1: as many channels as allowed.
  void run(const Graph& attempt, ChannelLimits limits, Graph& best, int& budget);

 private:
  /// A way from device to device, ready for counting.
  struct Hop {
    LinkIndex link = 0, reverse = 0;
    bool pci = false;
    std::uint8_t back_eighths = 0;  ///< of the rate, taken on the reverse link
  };
  struct Walk {
    std::uint32_t first = 0;
    std::uint16_t hops = 0;
    PathType type = PathType::dis, back = PathType::dis;
    bool intel_bridge = false;  ///< peer traffic through an Intel host bridge costs a fifth more
  };
  /// A GPU to go on to, with what NCCL compares of the way there: whole GB/s and links.
  struct Next {
    std::int16_t gpu = 0;
    int rate = 0, hops = 0;
  };
  enum class Order : std::uint8_t { searched, of_devices, as_before };
  /// What is left to do on a channel: at which step it returns to the network, at which to its
  /// first GPU. -1: done, or never.
  struct Plan {
    int network = -1, first = -1;
    Order order = Order::searched;
  };

  Walk make_walk(NodeIndex from, NodeIndex to);
  const Walk& gpu_gpu(int from, int to) const {
    return gpu_gpu_[static_cast<std::size_t>(from * gpus_ + to)];
  }
  const Walk& gpu_net(int g, int n) const {
    return gpu_net_[static_cast<std::size_t>(g * nets_ + n)];
  }
  const Walk& net_gpu(int n, int g) const {
    return net_gpu_[static_cast<std::size_t>(n * gpus_ + g)];
  }

  /// Takes `rate` from every hop, or nothing.
  bool take(const Walk& walk, int rate);
  void give(const Walk& walk, int rate);
  bool allowed(const Walk& walk, PathType limit) const;
  bool enter(const Walk& walk, bool inside, int& rate) const;

  void next_channel();
  void start_at_network();
  void start_inside();
  bool lay_head(int n, Plan plan);
  void lay_from_net(int n, Plan plan);
  void lay_from(const Walk* way, int g, int step, Plan plan);
  void at_gpu(int g, int step, Plan plan);
  void to_network(int g, int step, Plan plan);
  void to_next_gpu(int g, int step, Plan plan);
  void to_first_gpu(int g, Plan plan);
  void try_nvls(int head);
  void try_collnet_direct(int head);
  void complete();
  bool better() const;
  void keep();

  int before(int step) const;  ///< GPU of the last complete channel at `step`
  int candidates(int g, const Plan& plan, int step, std::int16_t* out);
  const std::vector<Next>& ranked_from(int g, int start);
  int neighbours(int g, std::int16_t* out) const;
  const std::vector<int>& nets_to_try(int g);
  std::vector<int> list_nets(int g) const;
  bool same_port(int a, int b) const;

  const Paths& paths_;
  const System& system_;
  int gpus_ = 0, nets_ = 0;
  bool collnet_ = false, switched_ = false;
  std::vector<Hop> hops_;
  std::vector<Walk> gpu_gpu_, gpu_net_, net_gpu_, switch_gpu_, gpu_switch_;
  std::vector<int> pci_rate_;                    ///< of each GPU's slot, whole GB/s; -1: none
  std::vector<std::vector<int>> order_of_nets_;  ///< by [type x (gpu + 1)], filled on demand

  std::vector<std::vector<Next>> ranked_;  ///< by [gpu x (device + 1)], filled on demand

  Graph now_;  ///< `channels` complete ones, and the one being laid
  Graph* best_ = nullptr;
  ChannelLimits limits_;
  int* budget_ = nullptr;
  int intra_ = 0, inter_ = 0;        ///< MB/s
  std::vector<int> left_;            ///< MB/s by link
  std::vector<int> net_left_;        ///< MB/s by network device
  std::vector<std::uint64_t> used_;  ///< by GPU, one bit per channel
};

}  // namespace railyard::predict::nccl

#include "model/nccl/topology_of_log.h"

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

namespace railyard::model::nccl {

namespace {

using facts::NcclCpu;
using facts::NcclPci;
using facts::NcclSystemNode;

/// "GPU/0-60" as kind and id; before 2.22 there is no host in front of the dash.
struct Name {
  std::string_view kind;
  std::uint64_t id = 0;
};

constexpr int kDeepest = 64;  // of nested switches; real servers have up to four

std::uint64_t hex(std::string_view text) {
  std::uint64_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out, 16);
  return out;
}

Name name_of(std::string_view text) {
  Name out;
  const std::size_t slash = text.find('/');
  out.kind = text.substr(0, slash);
  if (slash == std::string_view::npos) return out;
  std::string_view id = text.substr(slash + 1);
  if (const std::size_t dash = id.find('-'); dash != std::string_view::npos)
    id.remove_prefix(dash + 1);
  out.id = hex(id);
  return out;
}

/// 0x60 is 0000:00:06.0: the digits of a bus id in a row.
std::string bus_id(std::uint64_t id) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "0000:00:00.0";
  constexpr std::array<std::size_t, 9> kPlaces{11, 9, 8, 6, 5, 3, 2, 1, 0};
  for (const std::size_t place : kPlaces) {
    out[place] = kDigits[id & 0xf];
    id >>= 4;
  }
  return out;
}

/// The parts of "1/1/4".
std::vector<std::string_view> parts(std::string_view text) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t slash = text.find('/');
    out.push_back(text.substr(0, slash));
    if (slash == std::string_view::npos) return out;
    text.remove_prefix(slash + 1);
  }
}

int whole(std::string_view text) {
  int out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

double real(std::string_view text) {
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

/// A link speed and width that NCCL counts as this rate.
void set_link(NcclPci& pci, double rate) {
  struct Speed {
    const char* text;
    int per_lane;  // 100 Mb/s
  };
  constexpr std::array<Speed, 6> kSpeeds{{{"32.0 GT/s PCIe", 240},
                                          {"16.0 GT/s PCIe", 120},
                                          {"8.0 GT/s PCIe", 60},
                                          {"64.0 GT/s PCIe", 480},
                                          {"5.0 GT/s PCIe", 30},
                                          {"2.5 GT/s PCIe", 15}}};
  for (const int width : {16, 8, 4, 2, 1})
    for (const Speed& speed : kSpeeds)
      if (std::abs(width * speed.per_lane / 80.0 - rate) < 0.05) {
        pci.link_speed = speed.text;
        pci.link_width = width;
        return;
      }
  pci.link_speed = kSpeeds[2].text;
  pci.link_width = 16;
}

// Compute capabilities by NCCL's rate of an NVLink, newest first where rates share a divisor.
// [NCCL 2.28: ncclTopoNVLinkBw in src/graph/topo.h]
struct LinkRate {
  int sm;
  double gb_per_s;
};
constexpr std::array<LinkRate, 4> kLinkRates{{{100, 40.1}, {90, 20.6}, {80, 20.0}, {60, 18.0}}};

LinkRate rate_behind(double total) {
  for (const LinkRate& rate : kLinkRates) {
    const double links = total / rate.gb_per_s;
    if (links >= 0.99 && std::abs(links - std::round(links)) < 0.01) return rate;
  }
  return kLinkRates[1];
}

void set_cpu(NcclCpu& cpu, std::string_view detail) {
  const std::vector<std::string_view> numbers = parts(detail);
  const int arch = whole(numbers[0]);
  cpu.arch = arch == 2 ? "ppc64" : arch == 3 ? "arm64" : "x86_64";
  if (cpu.arch != "x86_64") return;
  const int vendor = numbers.size() > 1 ? whole(numbers[1]) : 1;
  const int model = numbers.size() > 2 ? whole(numbers[2]) : 0;
  cpu.vendor = vendor == 2 ? "AuthenticAMD" : vendor == 3 ? "CentaurHauls" : "GenuineIntel";
  // NCCL's numbers of Intel's generations: Broadwell, Skylake, Sapphire and Emerald Rapids.
  constexpr std::array<int, 5> kIntelModels{0x4f, 0x4f, 0x55, 0x8f, 0xcf};
  cpu.family = 6;
  cpu.model = kIntelModels[static_cast<std::size_t>(model < 0 || model > 4 ? 0 : model)];
}

class Reader {
 public:
  Reader(const facts::NcclSystem& system, bool gpu_direct)
      : system_(system), gpu_direct_(gpu_direct) {}

  std::optional<LoggedTopology> read() {
    out_.topology.at = system_.at;
    std::size_t at = 0;
    while (at < system_.nodes.size()) {
      const NcclSystemNode& node = system_.nodes[at];
      if (node.depth > 0 || name_of(node.node).kind != "CPU") {
        ++at;
        continue;
      }
      NcclCpu cpu{.at = {.file = system_.at.file, .line = node.line, .column = 1}};
      // Ids have 56 bits, so that -1 (one NUMA node) prints as fourteen f.
      const auto id = static_cast<std::int64_t>(name_of(node.node).id << 8) >> 8;
      cpu.numaid = static_cast<int>(id);
      set_cpu(cpu, node.detail);
      int position = 0;
      ++at;
      while (at < system_.nodes.size() && system_.nodes[at].depth > 0)
        add_to_cpu(cpu, at, position++);
      out_.topology.cpus.push_back(std::move(cpu));
    }
    if (gpus_ == 0) return std::nullopt;
    if (!nvlink_) {
      out_.assumed.push_back("compute capability 8.9: the log does not have it");
      set_capability(89);
    } else {
      set_capability(sm_);
    }
    return std::move(out_);
  }

 private:
  int depth(std::size_t at) const { return system_.nodes[at].depth; }

  void add_to_cpu(NcclCpu& cpu, std::size_t& at, int position) {
    const NcclSystemNode& node = system_.nodes[at];
    const Name name = name_of(node.node);
    if (node.link != "PCI") {
      ++at;  // SYS to another CPU, C2C to a GPU: told where they begin
      return;
    }
    if (name.kind == "NIC" && node.bandwidth > 1000) {
      facts::NcclNic nic{.position = position};
      read_nets(nic, at);
      cpu.nics.push_back(std::move(nic));
    } else {
      cpu.pci.push_back(read_pci(at, position));
    }
  }

  NcclPci read_pci(std::size_t& at, int position) {
    const NcclSystemNode& node = system_.nodes[at];
    const Name name = name_of(node.node);
    constexpr std::uint64_t kBusBits = (std::uint64_t{1} << 36) - 1;
    NcclPci out{.at = {.file = system_.at.file, .line = node.line, .column = 1},
                .position = position,
                .busid = bus_id(name.id & kBusBits)};
    set_link(out, node.bandwidth);
    if (name.kind == "NIC") {
      out.device_class = "0x020000";
      facts::NcclNic nic{};
      read_nets(nic, at);
      out.nics.push_back(std::move(nic));
      return out;
    }
    const int level = depth(at);
    if (name.kind == "GPU") {
      out.device_class = "0x030200";
      out.gpu = read_gpu(node, level, at);
      return out;
    }
    out.device_class = "0x060400";
    const std::uint64_t device = hex(node.detail);
    const auto part = [&](int shift) {
      std::string text = "0x0000";
      for (std::size_t i = 0; i < 4; ++i)
        text[5 - i] = "0123456789abcdef"[(device >> (shift + 4 * static_cast<int>(i))) & 0xf];
      return text;
    };
    out.vendor = part(48);
    out.device = part(32);
    out.subsystem_vendor = part(16);
    out.subsystem_device = part(0);
    ++at;
    int below = 0;
    while (at < system_.nodes.size() && depth(at) > level) {
      if (system_.nodes[at].link == "PCI" && depth(at) < kDeepest)
        out.below.push_back(read_pci(at, below++));
      else
        ++at;
    }
    return out;
  }

  facts::NcclGpu read_gpu(const NcclSystemNode& node, int level, std::size_t& at) {
    facts::NcclGpu out{.rank = whole(node.detail), .gdr = 1};
    out.dev = gpus_++;
    ++at;
    while (at < system_.nodes.size() && depth(at) > level) {
      const NcclSystemNode& link = system_.nodes[at++];
      const Name peer = name_of(link.node);
      if (link.link == "NVL") {
        const LinkRate rate = rate_behind(link.bandwidth);
        nvlink_ = true;
        sm_ = std::max(sm_, rate.sm);
        out.nvlinks.push_back(
            {.target = peer.kind == "GPU" ? bus_id(peer.id) : "fffffff:ffff:ff",
             .count = static_cast<int>(std::lround(link.bandwidth / rate.gb_per_s)),
             .target_class = peer.kind == "GPU"   ? "0x030200"
                             : peer.kind == "CPU" ? "0x068001"
                                                  : "0x068000"});
      } else if (link.link == "C2C") {
        out.c2c.push_back(
            {.bandwidth_mbps = static_cast<int>(std::lround(link.bandwidth * 1000)), .count = 1});
      }
    }
    return out;
  }

  void read_nets(facts::NcclNic& nic, std::size_t& at) {
    const int level = depth(at);
    ++at;
    while (at < system_.nodes.size() && depth(at) > level) {
      const NcclSystemNode& node = system_.nodes[at++];
      const Name name = name_of(node.node);
      if (name.kind != "NET") continue;
      // (collectives/asic/port/GB/s)
      const std::vector<std::string_view> detail = parts(node.detail);
      facts::NcclNet net{.name = "net" + std::to_string(name.id),
                         .dev = static_cast<int>(name.id & 0xffff),
                         .gdr = gpu_direct_ ? 1 : 0};
      double rate = node.bandwidth;
      if (detail.size() >= 4) {
        net.coll = whole(detail[0]);
        net.guid = "0x" + std::string(detail[1]);
        net.port = whole(detail[2]);
        rate = real(detail[3]);
      }
      net.speed_mbps = static_cast<int>(std::lround(rate * 8000));
      nic.nets.push_back(std::move(net));
    }
  }

  void set_capability(int sm) {
    for (NcclCpu& cpu : out_.topology.cpus)
      for (NcclPci& pci : cpu.pci) set_capability(pci, sm);
  }
  static void set_capability(NcclPci& pci, int sm) {
    if (pci.gpu) pci.gpu->sm = sm;
    for (NcclPci& below : pci.below) set_capability(below, sm);
  }

  const facts::NcclSystem& system_;
  bool gpu_direct_;
  LoggedTopology out_;
  int gpus_ = 0, sm_ = 0;
  bool nvlink_ = false;
};

}  // namespace

std::optional<LoggedTopology> topology_of(const facts::NcclSystem& system, bool gpu_direct) {
  return Reader(system, gpu_direct).read();
}

}  // namespace railyard::model::nccl

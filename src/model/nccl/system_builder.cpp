#include "model/nccl/system_builder.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace railyard::model::nccl {

namespace {

// NCCL's rates in GB/s. [NCCL 2.28: src/graph/topo.h]
constexpr float kLocal = 5000;
constexpr float kPower9 = 32, kArm = 6, kAmd = 16;
constexpr float kBroadwell = 6, kSkylake = 10, kSapphireRapids = 22, kEmeraldRapids = 40;
constexpr float kZhaoxin = 6, kYongfeng = 9;
constexpr int kUnknownNetMbps = 10000;
constexpr int kMostNodes = 576;            // per kind [NCCL 2.28: NCCL_TOPO_MAX_NODES]
constexpr std::size_t kMostLinks = 65000;  // what a LinkIndex holds
constexpr int kMostDepth = 64;             // of nested PCI switches; real servers have up to four

/// Bus ids such as 0000:0f:00.0 as a number: all hex digits in a row.
std::int64_t bus_number(std::string_view text) {
  std::int64_t out = 0;
  int digits = 0;
  for (const char c : text) {
    int digit = 0;
    if (c >= '0' && c <= '9')
      digit = c - '0';
    else if (c >= 'a' && c <= 'f')
      digit = c - 'a' + 10;
    else if (c >= 'A' && c <= 'F')
      digit = c - 'A' + 10;
    else if (c == ':' || c == '.')
      continue;
    else
      break;
    if (++digits > 15) break;
    out = out * 16 + digit;
  }
  return out;
}

std::uint64_t hex_number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  std::uint64_t out = 0;
  for (const char c : text) {
    const char lower = static_cast<char>(c | 0x20);
    if (c >= '0' && c <= '9')
      out = out * 16 + static_cast<std::uint64_t>(c - '0');
    else if (lower >= 'a' && lower <= 'f')
      out = out * 16 + static_cast<std::uint64_t>(lower - 'a' + 10);
    else
      break;
  }
  return out;
}

/// What a PCI class stands for. [NCCL 2.28: the table of classes in topo.cc, matched by prefix]
NodeKind kind_of_class(std::string_view text) {
  struct Entry {
    std::string_view prefix;
    NodeKind kind;
  };
  constexpr std::array<Entry, 6> kClasses{{{"0x060400", NodeKind::pci},
                                           {"0x080100", NodeKind::pci},
                                           {"0x068000", NodeKind::nvswitch},
                                           {"0x068001", NodeKind::cpu},
                                           {"0x03", NodeKind::gpu},
                                           {"0x02", NodeKind::nic}}};
  for (const Entry& entry : kClasses)
    if (text.starts_with(entry.prefix)) return entry.kind;
  return NodeKind::pci;
}

CpuData cpu_of(const facts::NcclCpu& cpu) {
  CpuData out;
  out.arch = cpu.arch == "x86_64"  ? CpuArch::x86
             : cpu.arch == "arm64" ? CpuArch::arm
             : cpu.arch == "ppc64" ? CpuArch::power
                                   : CpuArch::unknown;
  if (out.arch != CpuArch::x86) return out;
  const std::string vendor = cpu.vendor.value_or("");
  const int family = cpu.family.value_or(0), model = cpu.model.value_or(0);
  if (vendor == "GenuineIntel") {
    out.vendor = CpuVendor::intel;
    out.model = family == 6 && model >= 0xcf   ? CpuModel::emerald_rapids
                : family == 6 && model >= 0x8f ? CpuModel::sapphire_rapids
                : family == 6 && model >= 0x55 ? CpuModel::skylake
                                               : CpuModel::broadwell;
  } else if (vendor == "AuthenticAMD") {
    out.vendor = CpuVendor::amd;
  } else if (vendor == "CentaurHauls" || vendor == "  Shanghai  ") {
    out.vendor = CpuVendor::zhaoxin;
    if (family == 7 && model == 0x5b) out.model = CpuModel::yongfeng;
  }
  return out;
}

float between_sockets(const CpuData& cpu) {
  switch (cpu.arch) {
    case CpuArch::power: return kPower9;
    case CpuArch::arm: return kArm;
    case CpuArch::unknown: return kLocal;
    case CpuArch::x86: break;
  }
  switch (cpu.vendor) {
    case CpuVendor::amd: return kAmd;
    case CpuVendor::zhaoxin: return cpu.model == CpuModel::yongfeng ? kYongfeng : kZhaoxin;
    case CpuVendor::unknown: return kLocal;
    case CpuVendor::intel: break;
  }
  switch (cpu.model) {
    case CpuModel::emerald_rapids: return kEmeraldRapids;
    case CpuModel::sapphire_rapids: return kSapphireRapids;
    case CpuModel::skylake: return kSkylake;
    default: return kBroadwell;
  }
}

/// Two-level Broadcom switches carry full rate across all ports; NCCL folds them into one.
/// `level` 0 is the upper switch, 1 the ones below. [NCCL 2.28: getBcmGen in topo.cc]
int broadcom_generation(std::uint64_t device, std::uint64_t level) {
  const std::uint64_t family = device & 0xfffffffffffff000;
  if (family == 0x1000c0101000a000) return 4;
  if (family == (0x1000c03010000000 | level * 0x1000)) return 5;
  return 0;
}

class Builder {
 public:
  explicit Builder(const facts::NcclTopology& topology) : topology_(topology) {}

  Result<System> build(int hosts) {
    for (int host = 0; host < hosts; ++host) {
      host_ = host;
      for (const facts::NcclCpu& cpu : topology_.cpus) add_cpu(cpu);
    }
    out_.hosts = hosts;
    for (const Pending& p : nvlinks_) add_nvlink(p);
    for (const Pending& p : c2c_) add_c2c(p);
    for (const auto& [from, target] : pcilinks_)
      if (const auto to = find(NodeKind::pci, out_.nodes[from].host, bus_number(target)))
        connect(from, *to, LinkKind::local, kLocal);
    fold_broadcom_switches();
    connect_sockets();
    for (const NodeIndex cpu : out_.of_kind[static_cast<int>(NodeKind::cpu)]) sort_tree(cpu, cpu);
    number_reverses();
    return RY_TRY(checked());
  }

 private:
  struct Pending {
    NodeIndex gpu = 0;
    const facts::NcclNvlink* nvlink = nullptr;
    const facts::NcclC2c* c2c = nullptr;
  };

  Result<System> checked() {
    if (out_.gpus().empty())
      return std::unexpected(
          Problem{.at = topology_.at,
                  .expected = "at least one GPU with a rank",
                  .found = "none",
                  .hint = "NCCL takes a <gpu> only inside a <pci> and with a rank attribute"});
    if (out_.gpus().size() > kMostGpus)
      return std::unexpected(Problem{.at = topology_.at,
                                     .expected = "at most 128 GPUs",
                                     .found = std::to_string(out_.gpus().size()),
                                     .hint = "the largest NVLink domain that ships has 72"});
    if (too_many_)
      return std::unexpected(Problem{.at = topology_.at,
                                     .expected = "at most 576 devices of a kind",
                                     .found = "more",
                                     .hint = "NCCL refuses such a file"});
    return std::move(out_);
  }

  NodeIndex add(NodeKind kind, std::int64_t id) {
    auto& same = out_.of_kind[static_cast<int>(kind)];
    if (same.size() >= kMostNodes) {
      too_many_ = true;
      return same.back();
    }
    const auto index = static_cast<NodeIndex>(out_.nodes.size());
    out_.nodes.push_back(
        {.kind = kind, .index = static_cast<std::uint16_t>(same.size()), .host = host_, .id = id});
    devices_.push_back(0);
    same.push_back(index);
    return index;
  }

  std::optional<NodeIndex> find(NodeKind kind, int host, std::int64_t id) const {
    for (const NodeIndex n : out_.of_kind[static_cast<int>(kind)])
      if (out_.nodes[n].host == host && out_.nodes[n].id == id) return n;
    return std::nullopt;
  }

  /// Several wires between the same two nodes are one link of their summed rate. The link moves
  /// forward past slower ones, so that equal links keep the order of the file.
  void connect(NodeIndex from, NodeIndex to, LinkKind kind, float rate) {
    std::vector<LinkIndex>& links = out_.nodes[from].links;
    std::size_t at = 0;
    while (at < links.size() &&
           (out_.links[links[at]].to != to || out_.links[links[at]].kind != kind))
      ++at;
    if (at == links.size()) {
      if (out_.links.size() >= kMostLinks) {
        too_many_ = true;
        return;
      }
      links.push_back(static_cast<LinkIndex>(out_.links.size()));
      out_.links.push_back({.kind = kind, .from = from, .to = to});
    }
    Link& link = out_.links[links[at]];
    link.gb_per_s += rate;
    for (; at > 0 && out_.links[links[at - 1]].gb_per_s < link.gb_per_s; --at)
      std::swap(links[at - 1], links[at]);
  }
  void connect_both(NodeIndex a, NodeIndex b, LinkKind kind, float rate) {
    connect(a, b, kind, rate);
    connect(b, a, kind, rate);
  }

  void add_nets(const facts::NcclNic& nic, NodeIndex at) {
    for (const facts::NcclNet& net : nic.nets) {
      if (!net.dev) continue;
      const NodeIndex n = add(NodeKind::net, *net.dev);
      const int mbps = net.speed_mbps.value_or(0) > 0 ? *net.speed_mbps : kUnknownNetMbps;
      out_.nodes[n].net = {
          .dev = *net.dev,
          .asic = net.guid ? hex_number(*net.guid) : static_cast<std::uint64_t>(*net.dev),
          .port = net.port.value_or(0),
          .gb_per_s = static_cast<float>(mbps / 8000.0),
          .latency_us = static_cast<float>(net.latency.value_or(0)),
          .gpu_direct = net.gdr.value_or(0) != 0,
          .collectives = net.coll.value_or(0) != 0};
      connect_both(at, n, LinkKind::net, out_.nodes[n].net.gb_per_s);
    }
  }

  void add_cpu(const facts::NcclCpu& cpu) {
    const NodeIndex n = add(NodeKind::cpu, cpu.numaid.value_or(0));
    out_.nodes[n].cpu = cpu_of(cpu);
    std::size_t p = 0, q = 0;
    while (p < cpu.pci.size() || q < cpu.nics.size()) {
      if (q >= cpu.nics.size() ||
          (p < cpu.pci.size() && cpu.pci[p].position < cpu.nics[q].position))
        add_pci(cpu.pci[p++], n, 0);
      else
        add_cpu_nic(cpu.nics[q++], n);
    }
  }

  void add_cpu_nic(const facts::NcclNic& nic, NodeIndex cpu) {
    const std::int64_t id = nic_id(cpu, 0);
    auto at = find(NodeKind::nic, host_, id);
    if (!at) {
      at = add(NodeKind::nic, id);
      connect_both(cpu, *at, LinkKind::pci, kLocal);
    }
    add_nets(nic, *at);
  }

  /// Ports of one card are functions of one bus id: they share the card's slot.
  std::int64_t nic_id(NodeIndex cpu, std::int64_t bus) const {
    return (out_.nodes[cpu].id << 48) | (bus & ~std::int64_t{0xf});
  }

  NodeIndex cpu_above(NodeIndex node) const {
    return out_.nodes[node].kind == NodeKind::cpu ? node : cpu_of_[node];
  }

  void add_pci(const facts::NcclPci& pci, NodeIndex parent, int depth) {
    if (depth > kMostDepth) return;
    const std::int64_t bus = bus_number(pci.busid);
    std::optional<NodeIndex> node;
    if (pci.gpu) {
      if (!pci.gpu->rank) return;
      node = add(NodeKind::gpu, bus);
      out_.nodes[*node].gpu = {.dev = pci.gpu->dev.value_or(0),
                               .rank = *pci.gpu->rank,
                               .sm = pci.gpu->sm.value_or(0),
                               .gpu_direct = pci.gpu->gdr.value_or(0) != 0};
      for (const facts::NcclNvlink& link : pci.gpu->nvlinks)
        nvlinks_.push_back({.gpu = *node, .nvlink = &link});
      for (const facts::NcclC2c& link : pci.gpu->c2c) c2c_.push_back({.gpu = *node, .c2c = &link});
    } else if (!pci.nics.empty()) {
      const std::int64_t id = nic_id(cpu_above(parent), bus);
      auto at = find(NodeKind::nic, host_, id);
      if (!at) {
        at = add(NodeKind::nic, id);
        node = at;
      }
      for (const facts::NcclNic& nic : pci.nics) add_nets(nic, *at);
    } else if (kind_of_class(pci.device_class) == NodeKind::pci) {
      node = add(NodeKind::pci, bus);
      devices_[*node] = device_number(pci);
      remember_cpu(*node, parent);
      for (const auto& target : pci.pcilinks) pcilinks_.emplace_back(*node, target.second);
      for (const facts::NcclPci& below : pci.below) add_pci(below, *node, depth + 1);
    }
    if (!node) return;
    remember_cpu(*node, parent);
    connect_both(*node, parent, LinkKind::pci,
                 pcie_gb_per_s(pci.link_speed, pci.link_width.value_or(0)));
  }

  void remember_cpu(NodeIndex node, NodeIndex parent) {
    if (cpu_of_.size() <= node) cpu_of_.resize(std::size_t{node} + 1);
    cpu_of_[node] = cpu_above(parent);
  }

  static std::uint64_t device_number(const facts::NcclPci& pci) {
    const auto part = [](const std::optional<std::string>& text) {
      return text ? hex_number(*text) & 0xffff : 0;
    };
    return part(pci.vendor) << 48 | part(pci.device) << 32 | part(pci.subsystem_vendor) << 16 |
           part(pci.subsystem_device);
  }

  void add_nvlink(const Pending& p) {
    const int host = out_.nodes[p.gpu].host;
    const float rate =
        static_cast<float>(p.nvlink->count) * nvlink_gb_per_s(out_.nodes[p.gpu].gpu.sm);
    switch (kind_of_class(p.nvlink->target_class)) {
      case NodeKind::gpu:
        if (const auto peer = find(NodeKind::gpu, host, bus_number(p.nvlink->target)))
          connect(p.gpu, *peer, LinkKind::nvlink, rate);
        return;
      case NodeKind::cpu: connect_both(p.gpu, cpu_of_[p.gpu], LinkKind::nvlink, rate); return;
      default: {
        const auto& switches = out_.of_kind[static_cast<int>(NodeKind::nvswitch)];
        host_ = 0;
        const NodeIndex at = switches.empty() ? add(NodeKind::nvswitch, 0) : switches.front();
        connect_both(p.gpu, at, LinkKind::nvlink, rate);
      }
    }
  }

  void add_c2c(const Pending& p) {
    const float rate =
        static_cast<float>(p.c2c->bandwidth_mbps) * static_cast<float>(p.c2c->count) / 1000.0F;
    connect_both(p.gpu, cpu_of_[p.gpu], LinkKind::c2c, rate);
  }

  void fold_broadcom_switches() {
    for (bool again = true; again;) {
      again = false;
      for (const NodeIndex upper : out_.of_kind[static_cast<int>(NodeKind::pci)]) {
        const int generation = broadcom_generation(devices_[upper], 0);
        if (generation == 0) continue;
        for (const NodeIndex lower : take_switches_below(upper, generation))
          hand_over(lower, upper);
        devices_[upper] |= 0xffff;  // not twice
        again = true;
        break;
      }
    }
  }

  std::vector<NodeIndex> take_switches_below(NodeIndex upper, int generation) {
    std::vector<NodeIndex> taken;
    std::erase_if(out_.nodes[upper].links, [&](LinkIndex l) {
      const NodeIndex to = out_.links[l].to;
      if (out_.nodes[to].kind != NodeKind::pci ||
          broadcom_generation(devices_[to], 1) != generation)
        return false;
      taken.push_back(to);
      return true;
    });
    return taken;
  }

  /// What hung on `lower` hangs on `upper`; `lower` is left without a link and without a place.
  void hand_over(NodeIndex lower, NodeIndex upper) {
    for (const LinkIndex l : out_.nodes[lower].links) {
      const NodeIndex to = out_.links[l].to;
      if (to == upper) continue;
      out_.links[l].from = upper;
      out_.nodes[upper].links.push_back(l);
      for (const LinkIndex back : out_.nodes[to].links)
        if (out_.links[back].to == lower) out_.links[back].to = upper;
    }
    out_.nodes[lower].links.clear();
    auto& switches = out_.of_kind[static_cast<int>(NodeKind::pci)];
    std::erase(switches, lower);
    for (std::size_t i = 0; i < switches.size(); ++i)
      out_.nodes[switches[i]].index = static_cast<std::uint16_t>(i);
  }

  void connect_sockets() {
    const auto& cpus = out_.of_kind[static_cast<int>(NodeKind::cpu)];
    for (const NodeIndex a : cpus)
      for (const NodeIndex b : cpus)
        if (a != b && out_.nodes[a].host == out_.nodes[b].host)
          connect(a, b, LinkKind::sys, between_sockets(out_.nodes[a].cpu));
  }

  void sort_tree(NodeIndex node, NodeIndex above) {
    std::vector<LinkIndex>& links = out_.nodes[node].links;
    if (above != node) {
      const auto up = std::find_if(links.begin(), links.end(),
                                   [&](LinkIndex l) { return out_.links[l].to == above; });
      if (up != links.end()) std::rotate(up, up + 1, links.end());
    }
    const std::vector<LinkIndex> below = links;
    for (const LinkIndex l : below)
      if (out_.links[l].kind == LinkKind::pci && out_.links[l].to != above)
        sort_tree(out_.links[l].to, node);
  }

  void number_reverses() {
    for (Link& link : out_.links)
      for (const LinkIndex back : out_.nodes[link.to].links)
        if (out_.links[back].to == link.from && out_.links[back].kind == link.kind)
          link.reverse = back;
  }

  const facts::NcclTopology& topology_;
  System out_;
  int host_ = 0;
  bool too_many_ = false;
  std::vector<std::uint64_t> devices_;  // of PCI switches, by node
  std::vector<NodeIndex> cpu_of_;       // by node
  std::vector<Pending> nvlinks_, c2c_;
  std::vector<std::pair<NodeIndex, std::string>> pcilinks_;
};

}  // namespace

Result<System> build_system(const facts::NcclTopology& topology, int hosts) {
  const auto refuse = [&](std::string expected, std::string found, std::string hint) {
    return std::unexpected(Problem{.at = topology.at,
                                   .expected = std::move(expected),
                                   .found = std::move(found),
                                   .hint = std::move(hint)});
  };
  if (topology.rccl)
    return refuse("NVIDIA GPUs, on which NCCL runs", "AMD GPUs, on which RCCL runs",
                  "RCCL has search and cost rules of its own, which are not modelled here");
  if (topology.version != 1)
    return refuse("system version 1", std::to_string(topology.version), "NCCL rejects other ones");
  if (topology.cpus.empty())
    return refuse("at least one <cpu>", "none", "NCCL hangs everything below its <cpu>");
  return Builder(topology).build(hosts);
}

}  // namespace railyard::model::nccl

// What NCCL reads well, but should not have to.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/measure.h"
#include "judge/topology/rules.h"

namespace railyard::judge::topology {

namespace {

using facts::NcclPci;

struct PcieShape {
  int generation = 0, lanes = 0;
  bool operator==(const PcieShape&) const = default;
};

std::string link_name(PcieShape link) {
  return fmt::format("Gen{} x{}", link.generation, link.lanes);
}

PcieShape shape_of(const NcclPci& pci) {
  return {generation_of(pci.link_speed), pci.link_width.value_or(0)};
}

/// What the slot carries after the line code, one direction; nothing where the file does not say.
std::optional<Bandwidth> rate_of(const Desk& desk, const NcclPci& pci) {
  const auto [generation, lanes] = shape_of(pci);
  if (generation == 0 || lanes <= 0) return std::nullopt;
  for (const model::PcieGeneration& g : desk.parts.pcie_generations)
    if (g.generation == generation) return g.encoded * (lanes / 16.0);
  return std::nullopt;
}

/// "0x10de" and "0x2335" as the catalogue has them: 10de:2335.
std::string pci_id(const NcclPci& pci) {
  const auto digits = [](const std::optional<std::string>& text) {
    const std::string out = lower(text.value_or(""));
    return out.starts_with("0x") ? out.substr(2) : out;
  };
  return digits(pci.vendor) + ':' + digits(pci.device);
}

struct Capability {
  std::string name = {};
  PcieShape shape = {};
};

/// The part by its PCI id, where that agrees with the compute capability; else the least that all
/// parts of that capability can do.
std::optional<Capability> capability_of(const Desk& desk, const NcclPci& pci) {
  const int sm = pci.gpu ? pci.gpu->sm.value_or(0) : 0;
  for (const model::Accelerator& a : desk.parts.accelerators)
    if (a.pci_id == pci_id(pci) && (sm == 0 || sm == a.compute_capability))
      return Capability{a.id, {a.pcie_generation, a.pcie_lanes}};
  std::optional<Capability> least;
  if (desk.file.rccl) return least;  // AMD writes another kind of number there
  for (const model::Accelerator& a : desk.parts.accelerators) {
    if (sm == 0 || a.compute_capability != sm || a.pcie_generation == 0) continue;
    if (!least) least = Capability{fmt::format("sm {}", sm), {a.pcie_generation, a.pcie_lanes}};
    least->shape.generation = std::min(least->shape.generation, a.pcie_generation);
    least->shape.lanes = std::min(least->shape.lanes, a.pcie_lanes);
  }
  return least;
}

struct SlowLink {
  const NcclPci* pci = nullptr;
  PcieShape own = {}, can = {};
  std::string part = {};
};

std::vector<SlowLink> slow_links(const Desk& desk) {
  std::vector<SlowLink> out;
  for (const Device& d : desk.all.gpus) {
    const int generation = generation_of(d.pci->link_speed), lanes = d.pci->link_width.value_or(0);
    const auto can = capability_of(desk, *d.pci);
    if (!can || generation == 0) continue;
    // A width of 0 is not known.
    const PcieShape own{generation, lanes > 0 ? lanes : can->shape.lanes};
    if (own.generation < can->shape.generation || own.lanes < can->shape.lanes)
      out.push_back({d.pci, own, can->shape, can->name});
  }
  return out;
}

void links(Desk& desk) {
  const std::vector<SlowLink> slow = slow_links(desk);
  if (slow.empty()) return;
  // All of them at what a generation of hosts can do is how the server was built; Gen1 and Gen2 are
  // no host's choice for such a GPU, and neither is one link of many.
  const bool alike =
      slow.size() > 1 && slow.size() == desk.all.gpus.size() &&
      std::ranges::all_of(slow, [&](const SlowLink& s) { return s.own == slow.front().own; });
  if (alike && slow.front().own.generation >= 3) {
    const SlowLink& s = slow.front();
    desk.find_as(TopologySeverity::note, "slow-link", s.pci->at,
                 fmt::format("all {} GPUs ({}) on {}, they can do {}", slow.size(), s.part,
                             link_name(s.own), link_name(s.can)),
                 "an older host, or a file that was written by hand: NCCL plans with it");
    return;
  }
  for (const SlowLink& s : slow)
    desk.find("slow-link", s.pci->at,
              fmt::format("GPU {} ({}) on {}, it can do {}", s.pci->busid, s.part, link_name(s.own),
                          link_name(s.can)),
              "compare LnkSta with LnkCap in lspci -vv while the GPU is busy: idle GPUs slow their "
              "links down");
}

struct SlowUplink {
  const NcclPci *bridge = nullptr, *below = nullptr;
};

std::vector<SlowUplink> slow_uplinks(const Desk& desk) {
  std::vector<SlowUplink> out;
  for (const Device& d : desk.all.devices) {
    auto most = rate_of(desk, *d.pci);
    if (!most) continue;
    const NcclPci* fastest = nullptr;
    for (const NcclPci& child : d.pci->below) {
      const auto rate = rate_of(desk, child);
      if (!rate || *rate <= *most) continue;
      most = rate;
      fastest = &child;
    }
    if (fastest) out.push_back({d.pci, fastest});
  }
  return out;
}

void uplinks(Desk& desk) {
  const std::vector<SlowUplink> slow = slow_uplinks(desk);
  if (slow.empty()) return;
  const auto words = [&](const SlowUplink& s) {
    return fmt::format("an uplink of {} ({}), the device {} below {} ({})",
                       link_name(shape_of(*s.bridge)), show(*rate_of(desk, *s.bridge)),
                       s.below->busid, link_name(shape_of(*s.below)),
                       show(*rate_of(desk, *s.below)));
  };
  // All alike, as wide as below and one generation behind: hosts come later than devices (B300 on
  // hosts with Gen5). Whatever is slower than that is a fault of the server or of the file.
  const bool host = slow.size() > 1 && std::ranges::all_of(slow, [&](const SlowUplink& s) {
                      const PcieShape up = shape_of(*s.bridge), down = shape_of(*s.below);
                      return up == shape_of(*slow.front().bridge) && up.lanes == down.lanes &&
                             up.generation >= 3 && up.generation + 1 == down.generation;
                    });
  if (host) {
    desk.find_as(TopologySeverity::note, "slow-uplink", slow.front().bridge->at,
                 fmt::format("{} switches, each with ", slow.size()) + words(slow.front()),
                 "a host of the generation before its devices; NCCL plans with it");
    return;
  }
  for (const SlowUplink& s : slow)
    desk.find("slow-uplink", s.bridge->at, "switch " + s.bridge->busid + " has " + words(s),
              "where the uplink is well in lspci -vv, correct the number in the file: NCCL plans "
              "with it");
}

std::string guid_and_port(const facts::NcclNet& net) {
  return lower(net.guid.value_or("")) + ' ' + std::to_string(net.port.value_or(0));
}

Bandwidth rate_of(const facts::NcclNet& net) {
  return std::max(net.speed_mbps.value_or(0), 0) * 0.001 * Gbps;
}

void slots(Desk& desk) {
  for (const Device& d : desk.all.nics) {
    const auto slot = rate_of(desk, *d.pci);
    if (!slot) continue;
    const std::string link = link_name(shape_of(*d.pci));
    Bandwidth sum;
    bool reported = false;
    std::set<std::string> ports;
    const facts::NcclNet* last = nullptr;
    for (const facts::NcclNic& nic : d.pci->nics)
      for (const facts::NcclNet& net : nic.nets) {
        if (!ports.insert(net.guid ? guid_and_port(net) : net.name).second) continue;
        sum += rate_of(net);
        last = &net;
        if (rate_of(net) <= *slot) continue;
        reported = true;
        desk.find("nic-above-slot", net.at,
                  fmt::format("{} with {} Gb/s in a slot of {} ({})", net.name,
                              net.speed_mbps.value_or(0) / 1000, link, show(*slot)),
                  "the slot is the limit; lspci -vv tells whether it trained down");
      }
    if (!reported && last && sum > *slot)
      desk.find("ports-above-slot", d.pci->at,
                fmt::format("{} ports with {} together in a slot of {} ({})", ports.size(),
                            show(sum), link, show(*slot)),
                "one port at a time is not slowed down, all of them are");
  }
}

bool is_virtual(const Desk& desk) {
  const bool no_numa =
      !desk.file.cpus.empty() && std::ranges::all_of(desk.file.cpus, [](const facts::NcclCpu& c) {
        return c.numaid.value_or(0) < 0;
      });
  const bool no_widths =
      !desk.all.gpus.empty() && std::ranges::all_of(desk.all.gpus, [](const Device& d) {
        return d.pci->link_width && *d.pci->link_width == 0;
      });
  return no_numa || no_widths;
}

bool has_nvlink(const NcclPci& pci) {
  return pci.gpu && std::ranges::any_of(pci.gpu->nvlinks, [](const facts::NcclNvlink& link) {
           return link.count > 0;
         });
}

/// A NIC is close where the way to it stays below the CPU: PIX or PXB in NCCL's words.
void distances(Desk& desk) {
  if (desk.all.gpus.empty() || desk.all.nics.empty()) return;
  std::set<const NcclPci*> with_nic;
  for (const Device& d : desk.all.nics)
    if (d.top != d.pci) with_nic.insert(d.top);
  const auto is_close = [&](const Device& gpu) { return with_nic.contains(gpu.top); };
  const bool any = std::ranges::any_of(desk.all.gpus, is_close);
  if (!any) {
    const bool virt = is_virtual(desk);
    if (virt && desk.all.nics.size() > 1)
      desk.find("vm-look", desk.file.at,
                fmt::format("{} NICs and {} GPUs beside each other, as in a virtual machine: NCCL "
                            "cannot tell which are near",
                            desk.all.nics.size(), desk.all.gpus.size()),
                "use the topology file of the cloud or of the host for NCCL_TOPO_FILE");
    else
      desk.find_as(TopologySeverity::note, "no-close-nic", desk.file.at,
                   "no GPU shares a PCIe switch with a NIC",
                   "by default NCCL uses GPUDirect RDMA only below a common switch "
                   "(NCCL_NET_GDR_LEVEL)");
    return;
  }
  // With fewer NICs than GPUs some have to share; NVLink takes them there (PXN).
  const bool enough = desk.all.nics.size() >= desk.all.gpus.size();
  for (const Device& gpu : desk.all.gpus) {
    if (is_close(gpu) || (!enough && has_nvlink(*gpu.pci))) continue;
    desk.find("no-close-nic", gpu.pci->at,
              "GPU " + gpu.pci->busid + " shares no PCIe switch with a NIC, others do",
              "its traffic crosses the CPU, or NVLink to a GPU that has one");
  }
}

int nvlinks_of(const NcclPci& pci) {
  int out = 0;
  if (pci.gpu)
    for (const facts::NcclNvlink& link : pci.gpu->nvlinks) out += std::max(link.count, 0);
  return out;
}

void nvlinks(Desk& desk) {
  std::map<int, int> most;  // by compute capability
  for (const Device& d : desk.all.gpus) {
    int& so_far = most[d.pci->gpu ? d.pci->gpu->sm.value_or(0) : -1];
    so_far = std::max(so_far, nvlinks_of(*d.pci));
  }
  for (const Device& d : desk.all.gpus) {
    const int own = nvlinks_of(*d.pci);
    const int best = most[d.pci->gpu ? d.pci->gpu->sm.value_or(0) : -1];
    if (own == 0 && best > 0)
      desk.find("off-nvlink", d.pci->at,
                fmt::format("GPU {} has no NVLink, others have {}", d.pci->busid, best),
                "nvidia-smi nvlink -s; where the fabric manager does not run, NVLink is off");
    else if (own < best)
      desk.find("fewer-nvlinks", d.pci->at,
                fmt::format("GPU {} has {} NVLinks, others have {}", d.pci->busid, own, best),
                "nvidia-smi nvlink -s tells which are down");
  }
}

void networks(Desk& desk) {
  std::map<std::string, const facts::NcclNet*> ports;
  for (const Net& n : desk.all.nets) {
    const facts::NcclNet& net = *n.net;
    if (!net.dev) continue;
    if (net.speed_mbps.value_or(0) <= 0)
      desk.find("net-speed", net.at, net.name + " without a speed: NCCL counts with 10 Gb/s",
                "speed=\"400000\" is 400 Gb/s");
    if (!net.guid) continue;
    const auto [first, fresh] = ports.emplace(guid_and_port(net), &net);
    if (fresh || first->second->dev == net.dev) continue;
    const bool none = lower(*net.guid) == "0x0";  // sockets have no guid
    desk.find_as(none ? TopologySeverity::note : TopologySeverity::warning, "shared-port", net.at,
                 fmt::format("{} has guid {} and port {}, as {} in line {}", net.name, *net.guid,
                             net.port.value_or(0), first->second->name, first->second->at.line),
                 "NCCL lets devices with equal guid and port share the bandwidth of one port");
  }
}

void ranks(Desk& desk) {
  const auto has_rank = [](const Device& d) { return d.pci->gpu && d.pci->gpu->rank; };
  if (std::ranges::none_of(desk.all.gpus, has_rank)) return;
  for (const Device& d : desk.all.gpus)
    if (!has_rank(d))
      desk.find("no-rank", d.pci->at, "GPU " + d.pci->busid + " without rank, others have one",
                "NCCL leaves it out");
}

void host_hash(Desk& desk) {
  for (const facts::NcclCpu& cpu : desk.file.cpus) {
    const std::string hash = cpu.host_hash.value_or("0x0");
    if (hash == "0x0" || hash == "0" || hash.empty()) continue;
    desk.find("host-hash", cpu.at, "host_hash=\"" + hash + "\" binds the file to one host",
              "for another host, or to simulate, take host_hash out");
    return;
  }
}

}  // namespace

void suspicious(Desk& desk) {
  links(desk);
  uplinks(desk);
  slots(desk);
  distances(desk);
  nvlinks(desk);
  networks(desk);
  ranks(desk);
  host_hash(desk);
}

}  // namespace railyard::judge::topology

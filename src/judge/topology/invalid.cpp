// What NCCL refuses, or reads otherwise than it is meant.

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "judge/topology/rules.h"

namespace railyard::judge::topology {

namespace {

using facts::NcclPci;

void version(Desk& desk) {
  if (desk.file.rccl)
    desk.find("dialect", desk.file.at,
              "AMD's RCCL wrote this file (version " + std::to_string(desk.file.version) + ")",
              "RCCL reads it; NCCL does not");
  else if (desk.file.version != 1)
    desk.find("version", desk.file.at, "version " + std::to_string(desk.file.version),
              "NCCL refuses every version but 1");
}

void parser(Desk& desk) {
  for (const facts::NcclStumble& s : desk.file.stumbles)
    desk.find("xml", s.at, s.what + ": correct XML, but NCCL's parser stops here",
              "one blank between attributes, blanks and line ends between elements, nothing else");
}

void elements(Desk& desk) {
  for (const facts::Skipped& s : desk.file.skipped) {
    const bool gpu = s.what.starts_with("<gpu> in") && s.what != "<gpu> in <pci>";
    for (const Place& at : s.first)
      desk.find(
          gpu ? "gpu-outside-pci" : "unknown-element", at, s.what,
          gpu ? "a <gpu> stands in the <pci> with its bus id: NCCL passes over this one" : s.hint);
  }
}

void numbers(Desk& desk) {
  for (const facts::NcclMisread& m : desk.file.misread) {
    if (!m.text)
      desk.find("missing-attribute", m.at, "<" + m.element + "> without " + m.attribute,
                "NCCL cannot do without it and stops");
    else
      desk.find("not-a-number", m.at,
                m.attribute + "=\"" + *m.text + "\" is read as " + std::to_string(m.read_as),
                "a whole number without a leading zero and without a unit");
  }
}

void classes(Desk& desk) {
  // What NCCL knows, by its beginning. [NCCL 2.28: src/graph/topo.cc]
  constexpr std::array<std::string_view, 6> kKnown{"0x060400", "0x080100", "0x068000",
                                                   "0x068001", "0x03",     "0x02"};
  for (const Device& d : desk.all.devices) {
    const std::string& device_class = d.pci->device_class;
    if (device_class.empty() || d.pci->gpu || !d.pci->nics.empty()) continue;
    if (std::ranges::none_of(
            kKnown, [&](std::string_view known) { return device_class.starts_with(known); }))
      desk.find("unknown-class", d.pci->at, "class=\"" + device_class + "\"",
                "NCCL takes it for a PCI switch; it knows "
                "0x03.... (GPU), 0x02.... (NIC), "
                "0x060400 (switch), 0x068000 (NVSwitch)");
  }
}

/// Reports every second use of a key.
class Once {
 public:
  Once(Desk& desk, const char* rule) : desk_(desk), rule_(rule) {}

  void use(const std::string& key, const Place& at, const std::string& what, const char* hint) {
    const auto [first, fresh] = seen_.emplace(key, at.line);
    if (!fresh) desk_.find(rule_, at, what + ", as in line " + std::to_string(first->second), hint);
  }

 private:
  Desk& desk_;
  const char* rule_;
  std::map<std::string, int> seen_ = {};
};

/// The files of several hosts may be fused into one; numbers count within a host.
std::string host_of(const Device& d) { return d.cpu->host_hash.value_or("") + '/'; }

void duplicates(Desk& desk) {
  Once busids(desk, "duplicate-busid"), devs(desk, "duplicate-dev"), ranks(desk, "duplicate-rank");
  for (const Device& d : desk.all.devices) {
    if (!d.pci->busid.empty())
      busids.use(host_of(d) + lower(d.pci->busid), d.pci->at, "bus id " + d.pci->busid,
                 "NCCL knows devices by their bus ids");
    if (!d.pci->gpu) continue;
    const facts::NcclGpu& gpu = *d.pci->gpu;
    if (gpu.dev)
      devs.use(host_of(d) + "gpu " + std::to_string(*gpu.dev), gpu.at,
               "GPU dev " + std::to_string(*gpu.dev), "each GPU of a host has its own number");
    if (gpu.rank)
      ranks.use(std::to_string(*gpu.rank), gpu.at, "rank " + std::to_string(*gpu.rank),
                "each GPU has its own rank");
  }
  // A device that does collectives in the network may stand twice under one name.
  std::map<int, const facts::NcclNet*> nets;
  for (const Net& n : desk.all.nets) {
    if (!n.net->dev) continue;
    const auto [first, fresh] = nets.emplace(*n.net->dev, n.net);
    if (!fresh && first->second->name != n.net->name)
      desk.find("duplicate-dev", n.net->at,
                "network device " + std::to_string(*n.net->dev) + ", as " + first->second->name +
                    " in line " + std::to_string(first->second->at.line),
                "NCCL opens a network device by its number");
  }
}

void nvlinks(Desk& desk) {
  std::map<std::string, const NcclPci*> by_busid;
  for (const Device& d : desk.all.devices) by_busid.emplace(lower(d.pci->busid), d.pci);
  for (const Device& d : desk.all.gpus) {
    if (!d.pci->gpu) continue;
    for (const facts::NcclNvlink& link : d.pci->gpu->nvlinks) {
      const std::string target = lower(link.target);
      // An NVSwitch has no bus id that a GPU could see; 0x068001 is the CPU's own NVLink.
      if (target.empty() || target.starts_with("fffffff") || link.target_class == "0x068000" ||
          link.target_class == "0x068001")
        continue;
      const auto found = by_busid.find(target);
      if (found == by_busid.end())
        desk.find("nvlink-target", link.at, "NVLink to " + link.target + ", which is not here",
                  "NCCL leaves the link out");
      else if (found->second == d.pci)
        desk.find_as(TopologySeverity::warning, "nvlink-target", link.at,
                     "NVLink from " + link.target + " to itself",
                     "the target is the bus id of the other GPU");
    }
  }
}

void speeds(Desk& desk) {
  for (const Device& d : desk.all.devices) {
    const std::string& speed = d.pci->link_speed;
    if (!speed.empty() && generation_of(speed) == 0)
      desk.find("link-speed", d.pci->at, "link_speed=\"" + speed + "\" is read as Gen3",
                "NCCL knows \"16.0 GT/s PCIe\" and \"16 GT/s\", but not \"16.0 GT/s\" alone");
  }
}

}  // namespace

void invalid(Desk& desk) {
  version(desk);
  parser(desk);
  elements(desk);
  numbers(desk);
  classes(desk);
  duplicates(desk);
  nvlinks(desk);
  speeds(desk);
}

}  // namespace railyard::judge::topology

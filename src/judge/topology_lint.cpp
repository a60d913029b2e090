#include "judge/topology_lint.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "judge/topology/rules.h"

namespace railyard::judge {

std::string_view name(TopologySeverity severity) {
  switch (severity) {
    case TopologySeverity::note: return "note";
    case TopologySeverity::warning: return "warning";
    case TopologySeverity::error: break;
  }
  return "error";
}

const std::vector<TopologyRule>& topology_rules() {
  using enum TopologySeverity;
  static const std::vector<TopologyRule> rules = {
      // Invalid.
      {"version", error, "NCCL reads version 1 only"},
      {"xml", error, "XML that NCCL's own parser does not know"},
      {"gpu-outside-pci", error, "a GPU that stands in no PCI device is passed over"},
      {"unknown-element", warning, "an element that NCCL passes over"},
      {"missing-attribute", error, "NCCL stops without it"},
      {"not-a-number", error, "NCCL reads another number than the text says"},
      {"unknown-class", warning, "a PCI class that NCCL takes for a switch"},
      {"duplicate-busid", error, "two devices with one bus id"},
      {"duplicate-dev", error, "two GPUs or two network devices with one number"},
      {"duplicate-rank", error, "two GPUs with one rank"},
      {"nvlink-target", error, "an NVLink to a device that is not in the file"},
      {"link-speed", warning, "a link speed that NCCL does not know; it assumes Gen3"},
      {"dialect", note, "written by AMD's RCCL, whose version 2 NCCL refuses"},
      // Suspicious.
      {"slow-link", warning, "a GPU's link is slower or narrower than the GPU"},
      {"slow-uplink", warning, "a switch's uplink is slower than what hangs below"},
      {"nic-above-slot", warning, "a port that is faster than its card's slot"},
      {"ports-above-slot", note, "a card whose ports together are faster than its slot"},
      {"no-close-nic", warning, "a GPU without a NIC on its switch, though there are enough"},
      {"vm-look", warning, "nothing tells which NICs are near to which GPUs"},
      {"off-nvlink", warning, "a GPU without NVLink while others have it"},
      {"fewer-nvlinks", warning, "a GPU with fewer NVLinks than its peers"},
      {"net-speed", warning, "a network device without speed: NCCL assumes 10 Gb/s"},
      {"shared-port", warning, "network devices that NCCL takes for one port"},
      {"no-rank", warning, "a GPU without rank while others have one: NCCL leaves it out"},
      {"host-hash", note, "the file is bound to the host that wrote it"},
  };
  return rules;
}

namespace topology {

void Desk::find(std::string_view rule, const Place& at, std::string what, std::string hint) {
  const auto& rules = topology_rules();
  const auto known = std::ranges::find(rules, rule, &TopologyRule::id);
  find_as(known->severity, rule, at, std::move(what), std::move(hint));
}

void Desk::find_as(TopologySeverity severity, std::string_view rule, const Place& at,
                   std::string what, std::string hint) {
  findings.push_back({.rule = std::string(rule),
                      .severity = severity,
                      .at = at,
                      .what = std::move(what),
                      .hint = std::move(hint)});
}

}  // namespace topology

std::vector<TopologyFinding> lint_topology(const facts::NcclTopology& topology,
                                           const model::Catalog& catalog) {
  topology::Desk desk(topology, catalog);
  topology::invalid(desk);
  topology::suspicious(desk);
  std::ranges::stable_sort(desk.findings, [](const TopologyFinding& a, const TopologyFinding& b) {
    return std::tie(a.at.line, a.at.column) < std::tie(b.at.line, b.at.column);
  });
  return std::move(desk.findings);
}

}  // namespace railyard::judge

#pragma once
// A part in a cluster file: the id of the catalogue, or a map that describes one in place. With
// `like:` the map starts from a part of the catalogue and says only what differs:
//   nic: {like: cx7-400g, port_rate: 200 Gb/s}

#include <string>
#include <string_view>

#include "base/suggest.h"
#include "base/yaml.h"
#include "model/catalog.h"
#include "model/catalog/readers.h"

namespace railyard::model::server {

template <class Part>
const Part* find_part(const std::vector<Part>& parts, std::string_view id) {
  return find(parts, id);
}
/// Accelerators are also known by their aliases.
inline const Accelerator* find_part(const std::vector<Accelerator>& parts, std::string_view id) {
  if (const Accelerator* part = find(parts, id)) return part;
  for (const Accelerator& p : parts)
    for (const std::string& alias : p.aliases)
      if (same_name(alias, id)) return &p;
  return nullptr;
}

/// What a part is called in a message ("an accelerator"), and how one is described in place.
template <class Part>
struct PartKind {
  std::string_view noun;
  const std::vector<Part>& known;
  void (*in_place)(yaml::Fields&, Part&);
};

template <class Part>
bool read_part_node(yaml::Fields& around, const yaml::Node& node, const PartKind<Part>& kind,
                    Part& out) {
  const auto look_up = [&](const yaml::Node& name) {
    if (const Part* part = find_part(kind.known, name.scalar)) {
      out = *part;
      return true;
    }
    std::string hint = did_you_mean(name.scalar, ids(kind.known));
    if (hint.empty())
      hint = "'railyard catalog list' shows all; a part of your own is a map: {like: " +
             (kind.known.empty() ? std::string("ID") : kind.known.front().id) + ", ...}";
    around.report(name, "the id of " + std::string(kind.noun), std::move(hint));
    return false;
  };
  if (node.kind == yaml::Kind::scalar) return look_up(node);
  yaml::Fields fields(around.document(), node, around.problems(), std::string(kind.noun));
  if (!fields.is_map()) return false;
  const yaml::Node* like = fields.get("like");
  if (like && !look_up(*like)) return false;
  const std::size_t before = around.problems().size();
  kind.in_place(fields, out);
  if (!like && out.id.empty()) out.id = "unnamed";
  fields.done();
  return around.problems().size() == before;
}

/// Reads `key`; false when it is absent or wrong (which is then reported).
template <class Part>
bool read_part(yaml::Fields& fields, std::string_view key, const PartKind<Part>& kind, Part& out) {
  const yaml::Node* node = fields.get(key);
  return node && read_part_node(fields, *node, kind, out);
}

inline PartKind<Accelerator> accelerator_kind(const Catalog& c) {
  return {"an accelerator", c.accelerators, read_accelerator};
}
inline PartKind<Nic> nic_kind(const Catalog& c) { return {"a NIC", c.nics, read_nic}; }
inline PartKind<NetworkSwitch> switch_kind(const Catalog& c) {
  return {"a network switch", c.switches, catalog::read_switch};
}
inline PartKind<PcieSwitch> pcie_switch_kind(const Catalog& c) {
  return {"a PCIe switch", c.pcie_switches, catalog::read_pcie_switch};
}
inline PartKind<Retimer> retimer_kind(const Catalog& c) {
  return {"a retimer", c.retimers, catalog::read_retimer};
}
inline PartKind<CxlMemory> cxl_kind(const Catalog& c) {
  return {"a CXL memory", c.cxl, catalog::read_cxl};
}
inline PartKind<Nvme> nvme_kind(const Catalog& c) {
  return {"an NVMe drive", c.nvme, catalog::read_nvme};
}

}  // namespace railyard::model::server

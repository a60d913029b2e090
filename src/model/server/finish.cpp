// From draft to Server: links are trained, places become ids, and what does not fit together is
// said.

#include <algorithm>

#include "model/server/draft.h"
#include "model/server/slots.h"

namespace railyard::model::server {

namespace {

// Two ends train to what both can do. Zero is an end that has not said.
int trained(int a, int b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

PcieLink trained(PcieLink slot, PcieLink part) {
  // A link of which nobody says anything: what servers of the catalogue's years have.
  constexpr PcieLink usual{.generation = 5, .lanes = 16};
  PcieLink out{trained(slot.generation, part.generation), trained(slot.lanes, part.lanes)};
  if (out.generation == 0) out.generation = usual.generation;
  if (out.lanes == 0) out.lanes = usual.lanes;
  return out;
}

class TreeBuilder {
 public:
  TreeBuilder(Server& server, PcieLink slot) : server_(server), slot_(slot) {}

  void add_root(const PcieItem& item) {
    const PcieLink link = link_of(item);
    const PcieId root = server_.pcie.add({.kind = PcieKind::root,
                                          .label = "root port " + std::to_string(roots_++),
                                          .link = link,
                                          .socket = item.socket,
                                          .behind_pch = item.behind_pch});
    server_.pcie[root].parent = root;
    add(item, root);
  }

 private:
  PcieLink link_of(const PcieItem& item) const {
    PcieLink slot = item.link;
    if (slot.generation == 0) slot.generation = slot_.generation;
    if (slot.lanes == 0) slot.lanes = slot_.lanes;
    return trained(slot, part_of(item));
  }

  // What the part itself can do.
  PcieLink part_of(const PcieItem& item) const {
    switch (item.kind) {
      case PcieKind::accelerator:
        return {server_.accelerator.pcie_generation, server_.accelerator.pcie_lanes};
      case PcieKind::nic: return {item.nic.pcie_generation, item.nic.pcie_lanes};
      case PcieKind::bridge: return {item.bridge.generation, 0};
      case PcieKind::cxl: return {item.cxl.pcie_generation, item.cxl.pcie_lanes};
      case PcieKind::nvme: return {0, 4};  // drives are x4
      case PcieKind::root: break;
    }
    return kAsThePart;
  }

  void add(const PcieItem& item, PcieId parent) {
    PcieNode node{.kind = item.kind,
                  .parent = parent,
                  .link = link_of(item),
                  .socket = item.socket,
                  .behind_pch = item.behind_pch,
                  .latency = item.retimers};
    switch (item.kind) {
      case PcieKind::bridge:
        node.index = static_cast<std::uint32_t>(switches_++);
        node.label = item.bridge.id + " " + std::to_string(node.index);
        node.latency += item.bridge.latency;
        break;
      case PcieKind::accelerator:
        node.index = static_cast<std::uint32_t>(server_.gpu_at.size());
        node.label = "accelerator " + std::to_string(node.index);
        break;
      case PcieKind::nic:
        node.index = static_cast<std::uint32_t>(server_.nics.size());
        node.label = item.nic.id + " " + std::to_string(node.index);
        break;
      case PcieKind::nvme:
        node.index = static_cast<std::uint32_t>(server_.nvme.size());
        node.label = "drive " + std::to_string(node.index);
        server_.nvme.push_back(item.nvme);
        break;
      case PcieKind::cxl:
        node.index = static_cast<std::uint32_t>(server_.cxl.size());
        node.label = item.cxl.id + " " + std::to_string(node.index);
        server_.cxl.push_back(item.cxl);
        break;
      case PcieKind::root: return;  // items of a tree are never roots
    }
    const PcieId id = server_.pcie.add(std::move(node));
    if (item.kind == PcieKind::accelerator) server_.gpu_at.push_back(id);
    if (item.kind == PcieKind::nic) server_.nics.push_back({.part = item.nic, .at = id});
    for (const PcieItem& child : item.below) add(child, id);
  }

  Server& server_;
  PcieLink slot_;
  int roots_ = 0, switches_ = 0;
};

// Accelerators that no tree places: each in a slot of its own, evenly over the sockets.
std::vector<PcieItem> plain_tree(int accelerators, int sockets) {
  std::vector<PcieItem> out;
  for (int i = 0; i < accelerators; ++i)
    out.push_back({.kind = PcieKind::accelerator, .socket = i * sockets / accelerators});
  return out;
}

// The scale-up links that the accelerators of this server have among each other.
ScaleUp default_scale_up(const ServerDraft& d) {
  if (d.scale_up) return *d.scale_up;
  ScaleUp s = d.accelerator->scale_up;
  // A card's bridge is sold apart from the card.
  if (s.kind == ScaleUpKind::bridge && !d.bridges) return {};
  return s;
}

void check_sockets(const std::vector<PcieItem>& items, int sockets, Problems& problems) {
  for (const PcieItem& item : items)
    if (item.socket >= sockets)
      problems.push_back(item.at.problem(
          "a socket from 0 to " + std::to_string(sockets - 1), std::to_string(item.socket),
          "the server has 'sockets: " + std::to_string(sockets) + "'"));
}

// How many accelerators there are: of the tree, of `count`, or of both where they agree. A later
// layer may ask for fewer than its template has.
int settle_accelerators(const ServerDraft& d, std::vector<PcieItem>& tree, Problems& problems) {
  const int in_tree = count(tree, PcieKind::accelerator);
  const int wanted = d.accelerators;
  if (in_tree == 0 && wanted > 0) {
    std::vector<PcieItem> plain = plain_tree(wanted, d.plain.sockets);
    tree.insert(tree.begin(), plain.begin(), plain.end());
    return wanted;
  }
  if (wanted == 0 || wanted == in_tree || d.tree_layer > d.accelerators_layer) return in_tree;
  if (wanted < in_tree && d.accelerators_layer > d.tree_layer) {
    keep_accelerators(tree, wanted);
    return wanted;
  }
  problems.push_back(d.accelerators_at.problem(
      std::to_string(in_tree) + " accelerators, as in the PCIe tree", std::to_string(wanted),
      wanted > in_tree && d.accelerators_layer > d.tree_layer
          ? "a template can be asked for fewer; for more, describe the tree under 'pcie:'"
          : "'count' and the 'accelerators' items of 'pcie' must agree"));
  return in_tree;
}

void settle_islands(const ServerDraft& d, Server& out, Problems& problems) {
  const ScaleUp common = default_scale_up(d);
  const bool trimmed = std::max(d.accelerators_layer, d.tree_layer) > d.islands_layer;
  int placed = 0;
  for (const IslandDraft& island : d.islands) {
    int size = island.accelerators;
    if (trimmed) size = std::min(size, out.accelerators - placed);
    if (size <= 0) break;
    out.islands.push_back(
        {.first = placed, .count = size, .scale_up = island.scale_up.value_or(common)});
    placed += size;
  }
  if (d.islands.empty()) {
    out.islands = {{.first = 0, .count = out.accelerators, .scale_up = common}};
    placed = out.accelerators;
  }
  if (placed != out.accelerators)
    problems.push_back(d.islands_at.problem(
        "islands of " + std::to_string(out.accelerators) + " accelerators in all",
        std::to_string(placed),
        "every accelerator belongs to one island; 'scale_up: none' for those with PCIe only"));
}

void settle_domain(const ServerDraft& d, Server& out) {
  out.domain_servers = std::max(d.domain_servers, 1);
  if (out.islands.empty()) return;
  const int fixed = out.islands.front().scale_up.domain;  // GB200: 72, wherever it is built in
  if (d.domain_servers == 0 && fixed > out.accelerators && out.accelerators > 0)
    out.domain_servers = fixed / out.accelerators;
}

}  // namespace

Server finish(ServerDraft d, Problems& problems) {
  Server out = d.plain;
  out.id = d.id;
  if (!d.accelerator) {
    problems.push_back(d.accelerators_at.problem(
        "an accelerator part", "none", "write accelerators: {part: h100-sxm-80g, count: 8}"));
    return out;
  }
  out.accelerator = *d.accelerator;

  std::vector<PcieItem> tree = expand(d.tree);
  out.accelerators = settle_accelerators(d, tree, problems);
  if (out.accelerators == 0) {
    problems.push_back(d.accelerators_at.problem(
        "at least one accelerator", "none", "write accelerators: {count: 8}, or items of 'pcie'"));
    return out;
  }
  if (d.nics) place_nics(tree, *d.nics, out.sockets, problems);
  place_in_slots(tree, d.cxl, out.sockets);
  place_in_slots(tree, d.nvme, out.sockets);
  check_sockets(tree, out.sockets, problems);

  TreeBuilder builder(out, d.slot);
  for (const PcieItem& item : tree) builder.add_root(item);
  settle_islands(d, out, problems);
  settle_domain(d, out);
  return out;
}

}  // namespace railyard::model::server

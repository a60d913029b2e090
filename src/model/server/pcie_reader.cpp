// The `pcie:` list of a server: root ports, what hangs below them, and how wide each link is.
//
//   pcie:
//   - {socket: 0, count: 4, link: gen5 x16, switch: pex89144,
//      below: [{accelerators: 1, link: gen5 x16}, {nic: cx7-400g}]}
//   - {socket: 1, nvme: gen5x4, count: 2}
//
// An item of the top level is a root port with one thing in it. `count` repeats the item with all
// that is below it; `accelerators: 2` is short for two items of one accelerator each.

#include <charconv>

#include "model/server/draft.h"
#include "model/server/part_reader.h"

namespace railyard::model::server {

namespace {

// One number out of the text, at least one digit.
bool take_number(std::string_view& text, int& out) {
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (ec != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool parse_link(std::string_view text, PcieLink& out) {
  if (!text.starts_with("gen")) return false;
  text.remove_prefix(3);
  PcieLink link;
  if (!take_number(text, link.generation) || !text.starts_with(" x")) return false;
  text.remove_prefix(2);
  if (!take_number(text, link.lanes) || !text.empty()) return false;
  if (link.generation < 1 || link.generation > 6) return false;
  // The widths that the specification has.
  for (const int lanes : {1, 2, 4, 8, 12, 16})
    if (link.lanes == lanes) {
      out = link;
      return true;
    }
  return false;
}

class TreeReader {
 public:
  TreeReader(yaml::Fields& server, const Catalog& catalog) : server_(server), catalog_(catalog) {}

  std::vector<PcieItem> list(const yaml::Node& list, const PcieItem* parent) {
    std::vector<PcieItem> out;
    if (list.kind != yaml::Kind::list) {
      server_.report(list, "a list of PCIe items", "each starts with '- {...}'");
      return out;
    }
    for (const yaml::Node& node : list.items)
      if (auto read = item(node, parent)) out.push_back(std::move(*read));
    return out;
  }

 private:
  std::optional<PcieItem> item(const yaml::Node& node, const PcieItem* parent) {
    yaml::Fields f(server_.document(), node, server_.problems(), "a PCIe item");
    if (!f.is_map()) return std::nullopt;
    const std::size_t before = server_.problems().size();
    PcieItem out{.at = {&server_.document(), &node}};
    if (parent) {
      out.socket = parent->socket;
      out.behind_pch = parent->behind_pch;
      if (f.has("socket"))
        server_.report(*f.get("socket"), "no socket below a switch",
                       "an item hangs on the socket of its root port");
    } else {
      f.integer("socket", out.socket, 0, 7);
      f.flag("pch", out.behind_pch);
    }
    f.integer("count", out.count, 1, 64);
    read_link(f, "link", out.link);
    retimers(f, out);
    what(f, node, out);
    f.done();
    if (server_.problems().size() != before) return std::nullopt;
    return out;
  }

  void retimers(yaml::Fields& f, PcieItem& out) {
    if (!f.has("retimer")) return;
    Retimer part;
    if (!read_part(f, "retimer", retimer_kind(catalog_), part)) return;
    int number = 1;
    f.integer("retimers", number, 1, 2);  // the specification allows two in one link
    out.retimers = number * part.latency;
  }

  // Exactly one of these keys says what the item is.
  void what(yaml::Fields& f, const yaml::Node& node, PcieItem& out) {
    int kinds = 0;
    for (const char* key : {"switch", "accelerators", "nic", "nvme", "cxl"}) {
      kinds += f.has(key) ? 1 : 0;
      f.ignore(key);
    }
    for (const char* key : {"retimer", "retimers"}) f.ignore(key);
    if (kinds != 1) {
      f.ignore("below");
      server_.report(node, "exactly one of switch, accelerators, nic, nvme, cxl in a PCIe item",
                     kinds == 0 ? "" : "devices that share a port need a switch between");
      return;
    }
    if (f.has("switch")) {
      out.kind = PcieKind::bridge;
      read_part(f, "switch", pcie_switch_kind(catalog_), out.bridge);
      if (const yaml::Node* below = f.need("below")) out.below = list(*below, &out);
      return;
    }
    if (const yaml::Node* below = f.get("below"))
      server_.report(*below, "'below' only under a switch", "add 'switch: ...' to this item");
    if (f.has("accelerators")) {
      out.kind = PcieKind::accelerator;
      int number = 1;
      f.integer("accelerators", number, 1, 64);
      out.count *= number;
    } else if (f.has("nic")) {
      out.kind = PcieKind::nic;
      read_part(f, "nic", nic_kind(catalog_), out.nic);
    } else if (f.has("nvme")) {
      out.kind = PcieKind::nvme;
      read_part(f, "nvme", nvme_kind(catalog_), out.nvme);
    } else {
      out.kind = PcieKind::cxl;
      read_part(f, "cxl", cxl_kind(catalog_), out.cxl);
    }
  }

  yaml::Fields& server_;
  const Catalog& catalog_;
};

}  // namespace

void read_link(yaml::Fields& fields, std::string_view key, PcieLink& out) {
  const yaml::Node* node = fields.get(key);
  if (!node) return;
  if (node->kind != yaml::Kind::scalar || !parse_link(node->scalar, out))
    fields.report(*node, "a PCIe link such as 'gen5 x16'", "gen1 to gen6, x1 to x16");
}

std::vector<PcieItem> read_tree(yaml::Fields& server, const Catalog& catalog) {
  const yaml::Node* node = server.get("pcie");
  if (!node) return {};
  return TreeReader(server, catalog).list(*node, nullptr);
}

}  // namespace railyard::model::server

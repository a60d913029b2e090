// One layer of a server's description. Every key is optional: a key that is absent leaves what the
// layer below said.

#include "base/suggest.h"
#include "model/server/draft.h"
#include "model/server/part_reader.h"

namespace railyard::model::server {

namespace {

// A template that builds on itself would never end; no honest chain is this long.
constexpr int kDeepest = 8;

const std::vector<std::pair<std::string, ScaleUpKind>> kScaleUpWords = {
    {"none", ScaleUpKind::none},
    {"bridge", ScaleUpKind::bridge},
    {"fabric", ScaleUpKind::fabric},
    {"mesh", ScaleUpKind::mesh}};

class LayerReader {
 public:
  LayerReader(const yaml::Document& document, const Catalog& catalog, ServerDraft& draft,
              Problems& problems)
      : document_(document), catalog_(catalog), draft_(draft), problems_(problems) {}

  void read(const yaml::Node& node, int depth) {
    if (node.kind == yaml::Kind::scalar) return use_template(node, depth);
    yaml::Fields f(document_, node, problems_, "a server");
    if (!f.is_map()) return;
    if (const yaml::Node* base = f.get("template")) use_template(*base, depth);
    ++draft_.layer;
    f.text("id", draft_.id);
    for (const char* key : {"source", "confidence", "note", "aliases"}) f.ignore(key);
    accelerators(f);
    scale_up(f);
    tree(f);
    devices(f);
    host(f);
    f.done();
  }

 private:
  void use_template(const yaml::Node& name, int depth) {
    const Catalog::Template* found = catalog_.server(name.scalar);
    if (!found) {
      std::vector<std::string> known;
      for (const auto& t : catalog_.servers) known.push_back(t.id);
      std::string hint = did_you_mean(name.scalar, known);
      if (hint.empty())
        hint = "'railyard catalog list' shows all; or describe the server here as a map";
      problems_.push_back(document_.problem(name, "the id of a server template", std::move(hint)));
      return;
    }
    if (depth >= kDeepest) {
      problems_.push_back(document_.problem(name, "a template that does not build on itself"));
      return;
    }
    LayerReader(*found->document, catalog_, draft_, problems_).read(*found->node, depth + 1);
  }

  void accelerators(yaml::Fields& f) {
    const yaml::Node* node = f.get("accelerators");
    if (!node) return;
    yaml::Fields a(document_, *node, problems_, "accelerators");
    if (!a.is_map()) return;
    Accelerator part;
    if (read_part(a, "part", accelerator_kind(catalog_), part))
      draft_.accelerator = std::move(part);
    if (a.integer("count", draft_.accelerators, 1, 1024)) {
      draft_.accelerators_layer = draft_.layer;
      draft_.accelerators_at = {&document_, a.get("count")};
    }
    a.done();
  }

  std::optional<ScaleUp> scale_up_of(yaml::Fields& f, const yaml::Node& node) {
    if (node.kind == yaml::Kind::scalar && node.scalar == "none") return ScaleUp{};
    yaml::Fields s(document_, node, problems_, "scale_up (or the word none)");
    if (!s.is_map()) return std::nullopt;
    ScaleUp out = draft_.accelerator ? draft_.accelerator->scale_up : ScaleUp{};
    s.choice("kind", kScaleUpWords, out.kind);
    s.text("name", out.name);
    s.integer("generation", out.generation, 1, 9);
    s.integer("links", out.links, 1, 64);
    const bool per_link = s.bandwidth("per_link", out.per_link);
    if (s.bandwidth("total", out.total)) {
      const Bandwidth sum = out.links * out.per_link;
      if (!per_link && out.links > 0) {
        out.per_link = out.total / out.links;
      } else if (per_link && out.links > 0 && (sum > 1.01 * out.total || sum < 0.99 * out.total)) {
        f.report(*s.get("total"), "links x per_link = " + show(sum),
                 "one direction of one accelerator; data sheets often print both directions");
      }
    } else if (per_link || s.has("links")) {
      out.total = out.links * out.per_link;
    }
    s.done();
    return out;
  }

  void scale_up(yaml::Fields& f) {
    if (const yaml::Node* node = f.get("scale_up"))
      if (auto read = scale_up_of(f, *node)) draft_.scale_up = std::move(read);
    f.flag("bridges", draft_.bridges);
    f.integer("domain_servers", draft_.domain_servers, 1, 1024);
    const yaml::Node* islands = f.get("islands");
    if (!islands) return;
    draft_.islands.clear();
    draft_.islands_layer = draft_.layer;
    draft_.islands_at = {&document_, islands};
    f.list("islands", [&](const yaml::Node& node) {
      yaml::Fields i(document_, node, problems_, "an island of accelerators");
      if (!i.is_map()) return;
      IslandDraft island;
      i.need("accelerators");
      i.integer("accelerators", island.accelerators, 1, 1024);
      if (const yaml::Node* own = i.get("scale_up")) island.scale_up = scale_up_of(i, *own);
      i.done();
      draft_.islands.push_back(std::move(island));
    });
  }

  void tree(yaml::Fields& f) {
    Server& s = draft_.plain;
    f.integer("sockets", s.sockets, 1, 8);
    if (const yaml::Node* link = f.get("socket_link")) socket_link(f, *link);
    read_link(f, "slot", draft_.slot);
    read_link(f, "pch_link", s.pch_link);
    if (f.has("pcie")) {
      draft_.tree = read_tree(f, catalog_);
      draft_.tree_layer = draft_.layer;
    }
    f.ignore("pcie");
    f.flag("gpu_direct", s.gpu_direct);
    f.flag("peer_to_peer", s.peer_to_peer);
    f.fraction("root_complex_share", s.root_complex_share);
    f.flag("acs_redirect", s.acs_redirect);
    int payload = 0;  // the sizes that the specification has, 128 B to 4 KiB
    if (f.word("max_payload", {"128", "256", "512", "1024", "2048", "4096"}, payload))
      s.max_payload = 128 << payload;
  }

  // The id of the catalogue, or what one stream gets.
  void socket_link(yaml::Fields& f, const yaml::Node& node) {
    if (const SocketLink* part = find_part(catalog_.socket_links, node.scalar)) {
      draft_.plain.socket_stream = part->peer_stream;
      return;
    }
    const bool number = !node.scalar.empty() && node.scalar[0] >= '0' && node.scalar[0] <= '9';
    if (number) {
      f.bandwidth("socket_link", draft_.plain.socket_stream);
      return;
    }
    f.report(node, "the id of a socket link, or the rate of one peer stream such as '22 GB/s'",
             did_you_mean(node.scalar, ids(catalog_.socket_links)));
  }

  void devices(yaml::Fields& f) {
    if (const yaml::Node* node = f.get("nics")) nics(f, *node);
    if (const yaml::Node* node = f.get("cxl")) {
      PcieItem item{.kind = PcieKind::cxl, .at = {&document_, node}};
      order(f, *node, "CXL memory", item, [&](yaml::Fields& o) {
        o.need("part");
        read_part(o, "part", cxl_kind(catalog_), item.cxl);
      });
      draft_.cxl = {std::move(item)};
    }
    if (const yaml::Node* node = f.get("nvme")) {
      PcieItem item{.kind = PcieKind::nvme, .at = {&document_, node}};
      order(f, *node, "NVMe drives", item, [&](yaml::Fields& o) {
        o.need("part");
        read_part(o, "part", nvme_kind(catalog_), item.nvme);
      });
      draft_.nvme = {std::move(item)};
    }
  }

  template <class ReadPart>
  void order(yaml::Fields& f, const yaml::Node& node, std::string what, PcieItem& item,
             ReadPart read_its_part) {
    if (node.kind == yaml::Kind::scalar && node.scalar == "none") {
      item.count = 0;
      return;
    }
    yaml::Fields o(f.document(), node, problems_, std::move(what) + " (or the word none)");
    if (!o.is_map()) return;
    read_its_part(o);
    o.integer("count", item.count, 0, 256);
    read_link(o, "link", item.link);
    o.done();
  }

  void nics(yaml::Fields& f, const yaml::Node& node) {
    NicOrder wanted = draft_.nics.value_or(NicOrder{});
    wanted.at = {&document_, &node};
    if (node.kind == yaml::Kind::scalar && node.scalar == "none") {
      wanted.count = 0;
      draft_.nics = std::move(wanted);
      return;
    }
    yaml::Fields n(f.document(), node, problems_, "nics (or the word none)");
    if (!n.is_map()) return;
    Nic part;
    if (read_part(n, "part", nic_kind(catalog_), part)) wanted.part = std::move(part);
    n.integer("count", wanted.count, 0, 256);
    using Attach = NicOrder::Attach;
    n.choice<Attach>("attach", {{"switch", Attach::to_switches}, {"socket", Attach::to_sockets}},
                     wanted.attach);
    read_link(n, "link", wanted.link);
    n.done();
    draft_.nics = std::move(wanted);
  }

  void host(yaml::Fields& f) {
    Server& s = draft_.plain;
    f.bytes("host_memory", s.host_memory);
    if (const yaml::Node* part = f.get("host_memory_part")) {
      if (const HostMemory* memory = find_part(catalog_.host_memory, part->scalar))
        s.host_memory_per_socket = memory->per_socket;
      else
        f.report(*part, "the id of a host memory",
                 did_you_mean(part->scalar, ids(catalog_.host_memory)));
    }
    f.bandwidth("host_memory_per_socket", s.host_memory_per_socket);
    f.integer("host_cores", s.host_cores, 1, 4096);
    f.dollars("price", s.price);
    f.watts("power_besides", s.power_besides);
  }

  const yaml::Document& document_;
  const Catalog& catalog_;
  ServerDraft& draft_;
  Problems& problems_;
};

}  // namespace

Problem Where::problem(std::string expected, std::string found, std::string hint) const {
  if (!document || !node)
    return {.expected = std::move(expected), .found = std::move(found), .hint = std::move(hint)};
  return document->problem(std::max(node->line, 1), std::max(node->column, 1), std::move(expected),
                           std::move(found), std::move(hint));
}

void read_server(const yaml::Document& document, const yaml::Node& node, const Catalog& catalog,
                 ServerDraft& draft, Problems& problems) {
  LayerReader(document, catalog, draft, problems).read(node, 0);
}

}  // namespace railyard::model::server

// cluster.yaml: how many servers of which kind, on which fabric.
//
//   cluster: pod-7
//   servers: 32
//   server: {template: dgx-h100, nics: {part: cx7-400g, count: 4}}
//   fabric: {kind: fat-tree, transport: roce, switch: spectrum4-sn5600}

#include "model/cluster.h"

#include <algorithm>

#include "model/fabric_reader.h"
#include "model/server/draft.h"
#include "model/server/part_reader.h"

namespace railyard::model {

namespace {

class ClusterReader {
 public:
  ClusterReader(const yaml::Document& document, const Catalog& catalog)
      : document_(document), catalog_(catalog) {}

  Checked<Cluster> read() {
    yaml::Fields f(document_, document_.root(), problems_, "a cluster");
    if (!f.is_map()) return std::unexpected(std::move(problems_));
    Cluster out;
    f.need("cluster");
    f.text("cluster", out.id);
    servers(f, out);
    fabric(f, out);
    f.watts("power_limit", out.power_limit);
    f.number("straggler", out.straggler, 0, 1);
    f.dollars("price_per_gpu_hour", out.price_per_gpu_hour);
    f.done();
    if (!problems_.empty()) return std::unexpected(std::move(problems_));
    for (const Misfit& m : settle_fabric(out)) problems_.push_back(placed(m));
    if (!problems_.empty()) return std::unexpected(std::move(problems_));
    return out;
  }

 private:
  // `servers: 32` beside `server: ...`, or both in one: `servers: {count: 32, template: dgx-h100}`.
  void servers(yaml::Fields& f, Cluster& out) {
    const yaml::Node* servers = f.need("servers");
    if (servers && servers->kind == yaml::Kind::map && !f.has("server")) {
      yaml::Fields both(document_, *servers, problems_, "servers");
      both.need("count");
      both.integer("count", out.servers, 1, 1 << 20);
      one_of_them_ = without(*servers, "count");
      return server(one_of_them_, out);
    }
    if (servers) f.integer("servers", out.servers, 1, 1 << 20);
    if (const yaml::Node* node = f.need("server")) server(*node, out);
  }

  static yaml::Node without(yaml::Node map, std::string_view key) {
    const auto at = std::ranges::find(map.keys, key, &yaml::Node::Key::name) - map.keys.begin();
    if (at == std::ssize(map.keys)) return map;
    map.keys.erase(map.keys.begin() + at);
    map.items.erase(map.items.begin() + at);
    return map;
  }

  void server(const yaml::Node& node, Cluster& out) {
    server::ServerDraft draft;
    draft.accelerators_at = draft.islands_at = {&document_, &node};
    const std::size_t before = problems_.size();
    server::read_server(document_, node, catalog_, draft, problems_);
    // A draft with holes would only repeat the same complaint in other words.
    if (problems_.size() == before) out.server = server::finish(std::move(draft), problems_);
  }

  void fabric(yaml::Fields& f, Cluster& out) {
    fabric_ = f.get("fabric");
    out.fabric = fabric_ ? read_fabric(document_, *fabric_, catalog_, problems_)
                         : Fabric{.kind = FabricKind::none, .tiers = 0, .mtu = 0};
  }

  Problem placed(const Misfit& m) const {
    const yaml::Node* at = fabric_ ? fabric_->find(m.field) : nullptr;
    if (!at) at = fabric_ ? fabric_ : document_.root().find("servers");
    return document_.problem(std::max(at->line, 1), std::max(at->column, 1), m.expected, m.found,
                             m.hint);
  }

  const yaml::Document& document_;
  const Catalog& catalog_;
  Problems problems_ = {};
  const yaml::Node* fabric_ = nullptr;
  yaml::Node one_of_them_ = {};  ///< `servers` without its count
};

Problem without_place(const Misfit& m) {
  return {.expected = m.field + ": " + m.expected, .found = m.found, .hint = m.hint};
}

template <class Part>
bool choose(const std::vector<Part>& known, const std::string& id, std::string_view noun,
            std::optional<Part>& out, Problems& problems) {
  if (id.empty()) return true;
  if (const Part* part = server::find_part(known, id)) {
    out = *part;
    return true;
  }
  problems.push_back({.expected = "the id of " + std::string(noun),
                      .found = "'" + id + "'",
                      .hint = did_you_mean(id, ids(known))});
  return false;
}

// Reads the template into a draft; what spec says differently comes on top of it.
void read_template(const Catalog& catalog, const std::string& id, server::ServerDraft& draft,
                   Problems& problems) {
  if (const Catalog::Template* t = catalog.server(id)) {
    server::read_server(*t->document, *t->node, catalog, draft, problems);
    return;
  }
  std::vector<std::string> known;
  for (const auto& t : catalog.servers) known.push_back(t.id);
  problems.push_back({.expected = "the id of a server template",
                      .found = "'" + id + "'",
                      .hint = did_you_mean(id, known)});
}

void apply_nics(const ClusterSpec& spec, const Catalog& catalog, server::ServerDraft& draft,
                Problems& problems) {
  if (spec.nic.empty() && spec.nics < 0) return;
  server::NicOrder order = draft.nics.value_or(server::NicOrder{});
  choose(catalog.nics, spec.nic, "a NIC", order.part, problems);
  if (spec.nics >= 0) order.count = spec.nics;
  draft.nics = std::move(order);
}

// The rate of the ports changes, the slots stay: no data sheet of the chip applies any more.
void apply_port_rate(Bandwidth rate, Server& server) {
  if (rate <= Bandwidth{}) return;
  for (NicPlace& nic : server.nics) {
    if (nic.part.port_rate == rate) continue;
    nic.part.id += " at " + show_bits(rate);
    nic.part.port_rate = rate;
    nic.part.chip_limit = {};
  }
}

void apply_scale_up(const ClusterSpec& spec, Server& server) {
  if (spec.scale_up > Bandwidth{})
    for (Island& island : server.islands) {
      ScaleUp& s = island.scale_up;
      if (s.kind == ScaleUpKind::none) s.kind = ScaleUpKind::fabric;
      s.total = spec.scale_up;
      if (s.links > 0) s.per_link = s.total / s.links;
    }
  if (spec.domain_servers > 0) server.domain_servers = spec.domain_servers;
}

}  // namespace

Checked<Cluster> parse_cluster(const yaml::Document& doc, const Catalog& catalog) {
  return ClusterReader(doc, catalog).read();
}

Checked<Cluster> load_cluster(const std::string& path, const Catalog& catalog) {
  auto doc = yaml::Document::load(path);
  if (!doc) return std::unexpected(std::move(doc).error());
  return parse_cluster(*doc, catalog);
}

Checked<Cluster> build_cluster(const Catalog& catalog, const ClusterSpec& spec) {
  Problems problems;
  server::ServerDraft draft;
  read_template(catalog, spec.server, draft, problems);
  choose(catalog.accelerators, spec.accelerator, "an accelerator", draft.accelerator, problems);
  apply_nics(spec, catalog, draft, problems);
  if (spec.accelerators > 0) {
    draft.accelerators = spec.accelerators;
    draft.accelerators_layer = ++draft.layer;
    draft.accelerators_at = {};
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));

  Cluster out{.id = spec.server,
              .servers = spec.servers,
              .fabric = {.kind = spec.servers > 1 ? spec.fabric : FabricKind::none,
                         .transport = spec.transport,
                         .oversubscription = spec.oversubscription,
                         .servers_per_leaf = spec.servers_per_leaf,
                         .tiers = 0,
                         .mtu = 0}};
  out.server = server::finish(std::move(draft), problems);
  if (!problems.empty()) return std::unexpected(std::move(problems));
  apply_port_rate(spec.port_rate, out.server);
  apply_scale_up(spec, out.server);
  if (spec.accelerator_memory > Bytes{})
    out.server.accelerator.memory_usable = spec.accelerator_memory;
  if (spec.host_memory > Bytes{}) out.server.host_memory = spec.host_memory;
  if (spec.servers < 1)
    problems.push_back({.expected = "at least one server", .found = std::to_string(spec.servers)});
  for (const Misfit& m : settle_fabric(out)) problems.push_back(without_place(m));
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return out;
}

Checked<Server> build_server(const Catalog& catalog, const std::string& template_id) {
  Problems problems;
  server::ServerDraft draft;
  read_template(catalog, template_id, draft, problems);
  if (!problems.empty()) return std::unexpected(std::move(problems));
  Server out = server::finish(std::move(draft), problems);
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return out;
}

}  // namespace railyard::model

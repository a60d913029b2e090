#include "model/catalog_check.h"

#include <utility>

#include "model/catalog/findings.h"
#include "model/cluster.h"

namespace railyard::model {

namespace catalog {

void Findings::add(const Rule& rule, Disagreement d) {
  d.part = rule.part;
  d.what = rule.what;
  for (const Catalog::ValueSource& v : catalog_.values) {
    if (v.part != rule.part || v.field != rule.field || v.from.note.empty()) continue;
    d.severity = Severity::note;
    d.sum += " (" + v.from.note + ')';
    break;
  }
  out_.found.push_back(std::move(d));
}

namespace {

void check_servers(const Catalog& catalog, Findings& out) {
  for (const Catalog::Template& t : catalog.servers) {
    out.count();
    const auto server = build_server(catalog, t.id);
    if (server) continue;
    for (const Problem& p : server.error()) out.error(t.id, "the server cannot be built", p.text());
  }
}

}  // namespace
}  // namespace catalog

std::string_view name(Severity s) { return s == Severity::error ? "error" : "note"; }

CatalogCheck check_catalog(const Catalog& catalog) {
  catalog::Findings out(catalog);
  catalog::check_accelerators(catalog, out);
  catalog::check_network(catalog, out);
  catalog::check_interconnect(catalog, out);
  catalog::check_models(catalog, out);
  catalog::check_servers(catalog, out);
  catalog::check_names(catalog, out);
  return std::move(out).take();
}

}  // namespace railyard::model

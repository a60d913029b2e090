// Rules for all parts alike: names are unique, and every number says where it is from.

#include "model/catalog/findings.h"

namespace railyard::model::catalog {

namespace {

class Names {
 public:
  explicit Names(Findings& out) : out_(out) {}

  template <class Part>
  void of(const std::vector<Part>& parts) {
    taken_.clear();
    for (const Part& p : parts) {
      name(p.id, p.id);
      if constexpr (requires { p.aliases; })
        for (const std::string& alias : p.aliases) name(p.id, alias);
      source({p.id, {}, p.from});
    }
  }

  /// Of a value, or of a whole part where the field is empty.
  void source(const Catalog::ValueSource& value) {
    out_.count();
    const std::string place = value.field.empty() ? "" : value.field + ": ";
    if (value.from.source.empty()) out_.error(value.part, place + "no source", {});
    if (value.from.confidence == Confidence::conflict)
      out_.note(value.part, place + "sources disagree", value.from.note);
  }

 private:
  void name(const std::string& part, const std::string& spelling) {
    out_.count();
    for (const auto& [known, owner] : taken_)
      if (same_name(known, spelling)) {
        out_.error(part, "a name that stands twice",
                   '\'' + spelling + "' is '" + known + "' of " + owner);
        return;
      }
    taken_.emplace_back(spelling, part);
  }

  Findings& out_;
  std::vector<std::pair<std::string, std::string>> taken_;
};

}  // namespace

void check_names(const Catalog& catalog, Findings& out) {
  Names names(out);
  names.of(catalog.accelerators);
  names.of(catalog.nics);
  names.of(catalog.switches);
  names.of(catalog.pcie_switches);
  names.of(catalog.retimers);
  names.of(catalog.cxl);
  names.of(catalog.host_memory);
  names.of(catalog.nvme);
  names.of(catalog.socket_links);
  names.of(catalog.scale_up_generations);
  names.of(catalog.pcie_generations);
  names.of(catalog.architectures);
  names.of(catalog.servers);
  for (const Catalog::ValueSource& v : catalog.values) names.source(v);
}

}  // namespace railyard::model::catalog

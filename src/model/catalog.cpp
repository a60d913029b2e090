#include "model/catalog.h"

namespace railyard::model {

namespace {

/// One form for all spellings of a name.
char folded(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == ' ' || c == '_' ? '-' : c;
}

template <class Part>
const Part* find_alias(const std::vector<Part>& parts, std::string_view spelling) {
  if (const Part* p = find(parts, spelling)) return p;
  for (const Part& p : parts)
    for (const std::string& alias : p.aliases)
      if (same_name(alias, spelling)) return &p;
  return nullptr;
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (folded(a[i]) != folded(b[i])) return false;
  return true;
}

const Accelerator* Catalog::accelerator(std::string_view id_or_alias) const {
  return find_alias(accelerators, id_or_alias);
}

const Nic* Catalog::nic(std::string_view id) const { return find(nics, id); }

const Architecture* Catalog::architecture(std::string_view id_or_alias) const {
  return find_alias(architectures, id_or_alias);
}

const Catalog::Template* Catalog::server(std::string_view id) const { return find(servers, id); }

const Architecture* find_base(const Catalog& catalog, std::string_view spelling) {
  if (const Architecture* known = catalog.architecture(spelling)) return known;
  for (const std::string_view suffix : {" cut to ", " LoRA", " SFT"})
    if (const std::size_t at = spelling.find(suffix); at != std::string_view::npos)
      return catalog.architecture(spelling.substr(0, at));
  if (const std::size_t at = spelling.find("-like"); at != std::string_view::npos) {
    for (const Architecture& a : catalog.architectures)
      if (same_name(a.family, spelling.substr(0, at))) return &a;
  }
  return nullptr;
}

}  // namespace railyard::model

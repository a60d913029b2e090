#pragma once
// The parts of the catalogue as rows: one description per kind serves the list, the page of a part
// and the comparison of many.

#include <string>
#include <string_view>
#include <vector>

#include "model/catalog.h"
#include "report/table.h"

namespace railyard::report {

/// One value of a part. The key names the unit that the number is in: "memory_bytes".
struct Attribute {
  std::string key = {}, title = {};
  Cell value = {};
  Align align = Align::right;  ///< words stand left, numbers right
};

struct PartView {
  std::string id = {};
  std::string kind = {};  ///< as the catalogue's files call it: "accelerators", "pcie_switches"
  std::vector<Attribute> attributes = {};  ///< the same keys for all parts of a kind
  std::vector<std::string> aliases = {};
  model::Provenance from = {};
};

/// The kinds, in the order in which they are listed.
const std::vector<std::string>& part_kinds();
/// All parts, by kind, then in the order of the files.
std::vector<PartView> parts_of(const model::Catalog& catalog);

/// Many kinds in one table: id, kind, the values in words, confidence, source.
Table overview_table(const std::vector<PartView>& parts);
/// Parts of one kind: a column for each attribute.
Table kind_table(const std::vector<PartView>& parts);

}  // namespace railyard::report

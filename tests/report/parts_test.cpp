#include "report/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/support.h"

namespace railyard::report {
namespace {

const model::Catalog& shipped() {
  static const auto catalog = model::load_catalog(test::repository("catalog"));
  EXPECT_TRUE(catalog) << text(catalog.error());
  return *catalog;
}

TEST(Parts, EveryPartOfTheCatalogueIsListedUnderAKnownKind) {
  const model::Catalog& c = shipped();
  const std::vector<PartView> parts = parts_of(c);
  EXPECT_EQ(std::ranges::count(parts, "accelerators", &PartView::kind),
            static_cast<std::ptrdiff_t>(c.accelerators.size()));
  EXPECT_EQ(std::ranges::count(parts, "models", &PartView::kind),
            static_cast<std::ptrdiff_t>(c.architectures.size()));
  for (const PartView& part : parts) {
    EXPECT_NE(std::ranges::find(part_kinds(), part.kind), part_kinds().end()) << part.kind;
    EXPECT_FALSE(part.id.empty());
    EXPECT_FALSE(part.from.source.empty()) << part.id;
  }
}

TEST(Parts, OfOneKindHaveTheSameColumnsAndNoKeyTwice) {
  const std::vector<PartView> parts = parts_of(shipped());
  for (const std::string& kind : part_kinds()) {
    std::vector<PartView> of_kind;
    std::ranges::copy_if(parts, std::back_inserter(of_kind),
                         [&](const PartView& p) { return p.kind == kind; });
    const Table table = kind_table(of_kind);
    std::set<std::string> keys;
    for (const Column& c : table.columns) EXPECT_TRUE(keys.insert(c.key).second) << kind << c.key;
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << kind;
  }
}

TEST(Parts, NumbersAreInTheUnitThatTheKeyNames) {
  model::Catalog c;
  c.nics.push_back({.id = "card", .ports = 2, .port_rate = 400.0 * Gbps, .latency = 1.5 * us});
  const Table table = kind_table(parts_of(c));
  EXPECT_EQ(
      to_csv(table),
      "id,ports,port_bits_per_s,chip_limit_bits_per_s,pcie,latency_s,vendor,confidence,source\n"
      "card,2,4e+11,,,1.5e-06,,single,\n");
}

}  // namespace
}  // namespace railyard::report

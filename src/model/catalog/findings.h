#pragma once
// How the rules of the catalogue check report. Private to the model room.

#include <string>
#include <string_view>

#include "base/measure.h"
#include "model/catalog.h"
#include "model/catalog_check.h"

namespace railyard::model::catalog {

/// Sums of rounded numbers may differ in the last printed digit.
inline constexpr double kRounding = 0.01;

class Findings {
 public:
  explicit Findings(const Catalog& catalog) : catalog_(catalog) {}

  /// What two numbers are called and how far they may be apart.
  struct Rule {
    std::string_view part, field;  ///< field: the key chain whose note explains a deviation
    std::string_view what;
    double tolerance = kRounding;
  };

  /// `computed` by the sum in `how` against `stated`; nothing where one of them is not known.
  template <class Q>
  void equal(const Rule& rule, const std::string& how, Q computed, Q stated) {
    if (computed == Q{} || stated == Q{}) return;
    ++out_.rules;
    const double off = stated / computed - 1;
    if (off <= rule.tolerance && off >= -rule.tolerance) return;
    add(rule, {.sum = how + " = " + show(computed) + ", stated " + show(stated),
               .expected = show(computed),
               .found = show(stated)});
  }

  /// A rate that was measured, or used, cannot be above the one that limits it.
  template <class Q>
  void at_most(const Rule& rule, Q value, Q limit) {
    if (value == Q{} || limit == Q{}) return;
    ++out_.rules;
    if (value <= limit) return;
    add(rule, {.sum = show(value) + " against " + show(limit),
               .expected = "at most " + show(limit),
               .found = show(value)});
  }

  /// Counts a comparison that was made elsewhere.
  void count() { ++out_.rules; }
  void error(std::string_view part, std::string what, std::string sum) {
    out_.found.push_back({Severity::error, std::string(part), std::move(what), std::move(sum)});
  }
  void note(std::string_view part, std::string what, std::string sum) {
    out_.found.push_back({Severity::note, std::string(part), std::move(what), std::move(sum)});
  }
  /// Adds a finding of `rule`; it is only a note where the catalogue says why the value is as it
  /// is.
  void add(const Rule& rule, Disagreement d);

  CatalogCheck take() && { return std::move(out_); }

 private:
  const Catalog& catalog_;
  CatalogCheck out_;
};

void check_accelerators(const Catalog& catalog, Findings& out);
void check_network(const Catalog& catalog, Findings& out);
void check_interconnect(const Catalog& catalog, Findings& out);
void check_models(const Catalog& catalog, Findings& out);
/// Names that stand twice, parts and values without a source, conflicts between sources.
void check_names(const Catalog& catalog, Findings& out);

}  // namespace railyard::model::catalog

#pragma once
// Does the catalogue agree with itself? Totals are computed again from their factors, measured rates
// are held against peaks, parameter counts against what the models' authors print. A value can be
// well sourced and still contradict its neighbour; then one of the two sources counts otherwise (both
// directions, sparsity, decimal against binary), and a prediction would inherit the slip.

#include <cstdint>
#include <string>
#include <vector>

#include "model/catalog.h"

namespace railyard::model {

enum class Severity : std::uint8_t {
  error,  ///< two values that cannot both be right
  note,   ///< sources disagree, or one value limits another
};
std::string_view name(Severity s);

struct Disagreement {
  Severity severity = Severity::error;
  std::string part = {};
  std::string what = {};  ///< "ports x port rate is not the total"
  std::string sum = {};   ///< "32 x 400 Gb/s = 12.8 Tb/s, stated 25.6 Tb/s"
};

/// In the order of the catalogue. `rules` counts the comparisons that were made.
struct CatalogCheck {
  std::vector<Disagreement> found = {};
  int rules = 0;
};
CatalogCheck check_catalog(const Catalog& catalog);

}  // namespace railyard::model

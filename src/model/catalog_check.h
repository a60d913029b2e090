#pragma once
// Does the catalogue agree with itself? Totals are computed again from their factors, peaks of one
// precision are held against those of another, measured rates against peaks, parameter counts
// against what the models' authors print. A value can be well sourced and still contradict its
// neighbour; then one of the two sources counts otherwise (both directions, sparsity, decimal
// against binary), and a prediction would inherit the slip.

#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.h"
#include "base/yaml.h"
#include "model/catalog.h"

namespace railyard::model {

enum class Severity : std::uint8_t {
  error,  ///< two values that cannot both be right
  note,   ///< sources disagree, one value limits another, or a note of the catalogue explains it
};
std::string_view name(Severity s);

struct Disagreement {
  Severity severity = Severity::error;
  std::string part = {};
  std::string what = {};                  ///< "ports x port rate is not the total"
  std::string sum = {};                   ///< "32 x 400 Gb/s = 12.8 Tb/s, stated 25.6 Tb/s"
  std::string expected = {}, found = {};  ///< the two sides of the sum: "12.8 Tb/s", "25.6 Tb/s"
};

/// In the order of the catalogue. `rules` counts the comparisons that were made.
struct CatalogCheck {
  std::vector<Disagreement> found = {};
  int rules = 0;
};
CatalogCheck check_catalog(const Catalog& catalog);

/// A hardware file of another tool, held against our part of that name: where the two differ.
struct PeerCheck {
  std::string format = {};  ///< "calculon" or "llm-analysis"
  std::string name = {};    ///< as the peer calls it
  std::string part = {};    ///< ours that it was compared with
  std::vector<Disagreement> found = {};
  int rules = 0;
};
/// Reads Calculon's systems/*.json and llm-analysis' gpu_configs/*.json. Keys that we do not
/// compare are left alone; another format, or a part that we do not have, is a problem.
Checked<PeerCheck> check_peer(const Catalog& catalog, const yaml::Document& file);

}  // namespace railyard::model

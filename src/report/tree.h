#pragma once
// The explanation tree of a prediction, for people and for scripts.

#include <string>

#include "base/json.h"
#include "predict/explain.h"

namespace railyard::report {

struct TreeOptions {
  int width = 100;
  int deepest = 0;  ///< levels below the root that are shown; 0: all
};

/// One line a term: branch lines, name, value, formula and `[source]`; what does not fit into
/// `width` continues below, in the same column. Values are aligned and never cut.
std::string to_text(const predict::Term& root, TreeOptions options = {});

/// {"name", "value", "unit", "text", "formula", "source", "terms": [...]}; empty texts are left
/// out.
void to_json(const predict::Term& root, json::Writer& out);

}  // namespace railyard::report

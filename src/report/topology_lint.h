#pragma once
// Findings of topology files: on the screen as compilers print theirs, so that editors find the
// place; in JSON and CSV one row each.

#include <string>
#include <vector>

#include "base/json.h"
#include "judge/topology_lint.h"
#include "report/table.h"

namespace railyard::report {

struct TopologyFindings {
  int files = 0;
  std::vector<judge::TopologyFinding> found = {};

  int count(judge::TopologySeverity severity) const;
};

std::string to_text(const TopologyFindings& findings, int width);
Table table_of(const TopologyFindings& findings);
/// {"files", "errors", "warnings", "notes", "findings": the rows}
void to_json(const TopologyFindings& findings, json::Writer& out);

}  // namespace railyard::report

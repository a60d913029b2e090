#pragma once
// The rules of the linter, in two files: what is invalid, what is suspicious.

#include <string>
#include <string_view>
#include <vector>

#include "judge/topology/survey.h"
#include "judge/topology_lint.h"

namespace railyard::judge::topology {

/// What a rule is given, and where it puts its findings.
class Desk {
 public:
  Desk(const facts::NcclTopology& topology, const model::Catalog& catalog)
      : file(topology), parts(catalog), all(survey(topology)) {}

  /// With the severity that topology_rules() has for the rule.
  void find(std::string_view rule, const Place& at, std::string what, std::string hint);
  void find_as(TopologySeverity severity, std::string_view rule, const Place& at, std::string what,
               std::string hint);

  const facts::NcclTopology& file;
  const model::Catalog& parts;
  Survey all;
  std::vector<TopologyFinding> findings = {};
};

void invalid(Desk& desk);
void suspicious(Desk& desk);

}  // namespace railyard::judge::topology

#pragma once
// A case on the screen, as JSON and as CSV: the runs side by side, what limits the network, and
// every claim with its verdict and the sums that show it.

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "judge/claims.h"
#include "judge/uplinks.h"
#include "plan/compare.h"
#include "report/table.h"

namespace railyard::report {

/// Everything that was worked out for one case.
struct CaseView {
  const judge::CaseFile& file;
  const std::vector<judge::CaseSet>& sets;
  std::vector<judge::ClaimRow> claims = {};
  std::vector<judge::SizePoint> curve = {};  ///< empty: the case has no all-reduce
  // Of the first set, where it has runs before and after:
  std::vector<judge::UplinkPoint> uplinks = {};
  std::optional<plan::Comparison> changes = {};  ///< from the run before to the last reading
  std::optional<predict::Prediction> all_ports = {};
};

/// One column a run: step time with band, where it goes, what waits, memory.
Table steps_table(const judge::CaseSet& set);
/// Below it, one sentence a run: what limits the step.
std::string limits_text(const judge::CaseSet& set, int width);
/// What each change takes from the step time, in the order in which they are applied.
Table changes_table(const plan::Comparison& changes);
/// Ports, chip, slot, what is shared in the server, and the smallest of them.
Table network_table(const judge::CaseRun& run);
std::string network_text(const judge::CaseRun& run, int width);
/// One row a claim, numbered from 1; a contradiction names the numbers of the others.
Table claims_table(const std::vector<judge::ClaimRow>& rows);
/// The sums below their claims' numbers.
std::string sums_text(const std::vector<judge::ClaimRow>& rows, int width);
Table curve_table(const std::vector<judge::SizePoint>& curve);
/// Against the run before the change.
Table uplinks_table(const std::vector<judge::UplinkPoint>& points, const judge::CaseRun& before);

/// How much of a case goes to the screen.
enum class Detail : bool { main, all };
std::string to_text(const CaseView& view, Detail detail, int width);
/// One object: the runs (each as `predict` gives it), claims, curve, uplinks.
void to_json(const CaseView& view, json::Writer& out);
/// One row a sum of a claim: what a spreadsheet can check.
Table csv_table(const std::vector<CaseView>& views);

}  // namespace railyard::report

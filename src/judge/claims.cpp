#include "judge/claims.h"

#include <algorithm>
#include <utility>

#include "judge/claims/rules.h"

namespace railyard::judge {

std::string_view name(Verdict v) {
  switch (v) {
    case Verdict::holds: return "holds";
    case Verdict::holds_as: return "holds only as";
    case Verdict::contradicts: return "contradicts";
    case Verdict::cannot_judge: return "cannot be judged";
  }
  return "";
}

const CaseRun* CaseSet::find(Role role) const {
  const auto at = std::ranges::find(runs, role, &CaseRun::role);
  return at == runs.end() ? nullptr : &*at;
}

const CaseRun* CaseSet::find(const std::string& run) const {
  const auto at = std::ranges::find(runs, run, &CaseRun::id);
  return at == runs.end() ? nullptr : &*at;
}

Bench bench_of(const ClaimInputs& in) {
  const CaseSet& first = in.sets.front();
  Bench b{.in = in,
          .claims = in.file.claims,
          .first = first,
          .before = first.find(Role::before),
          .after = first.find(Role::after)};
  for (const CaseRun& run : first.runs)
    if (run.role == Role::reading) b.readings.push_back(&run);
  return b;
}

std::vector<ClaimRow> judge_claims(const ClaimInputs& in) {
  const Bench b = bench_of(in);
  std::vector<ClaimRow> rows;
  // In the order of a reader's questions: what is it, how fast is its network, what does a step
  // gain, what about memory, what does it cost; then tables of measurements, layouts and parts.
  for (auto* const rule :
       {judge_platform, judge_accelerators, judge_slots, judge_network, judge_gradients,
        judge_all_reduce, judge_communication_share, judge_utilisation, judge_throughput,
        judge_training_time, judge_host_memory, judge_overflow, judge_offload, judge_rent,
        judge_out_of_memory, judge_software, judge_communication_gains, judge_scale_up, judge_peak})
    if (Row row = rule(b)) rows.push_back(*std::move(row));
  for (ClaimRow& row : judge_measurements(b)) rows.push_back(std::move(row));
  const std::vector<Conflict> all = conflicts(b.claims);
  for (ClaimRow& row : rows) contradict(row, all);
  return rows;
}

}  // namespace railyard::judge

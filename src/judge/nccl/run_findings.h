#pragma once
// What a run's own numbers say, and what several runs say together.

#include <vector>

#include "judge/nccl/run_machine.h"
#include "judge/nccl_judgement.h"

namespace railyard::judge::nccl {

/// Wrong results, failures, instability, dips, slowness at large or only at small sizes.
std::vector<NcclFinding> findings_of(const facts::CollectiveRun& run, const NcclJudgedRun& judged);

/// Runs of the same test: a version, a host, or nothing at all makes them differ.
std::vector<NcclFinding> compare_runs(const std::vector<NcclJudgedRun>& runs);

}  // namespace railyard::judge::nccl

#pragma once
// One run, size by size: against the band, against itself.

#include "judge/nccl/run_machine.h"
#include "judge/nccl_judgement.h"

namespace railyard::judge::nccl {

/// Messages from here on are limited by bandwidth, and their band is narrow.
inline constexpr std::int64_t kLong = 32 << 20;
/// Below, the host's launch weighs most.
inline constexpr std::int64_t kShort = 64 << 10;

NcclJudgedRun judged_run(const facts::CollectiveRun& run, const RunMachine& machine,
                         const predict::nccl::Priors& priors);

/// The points of a run that the law can be compared with.
MeasuredCurve curve_of(const NcclJudgedRun& run, const RunMachine& machine);

}  // namespace railyard::judge::nccl

#pragma once
// What differs between the hosts of a log, or does not fit their number.

#include <vector>

#include "facts/nccl_run.h"
#include "judge/nccl_finding.h"

namespace railyard::judge::nccl {

std::vector<NcclFinding> compare_hosts(const facts::NcclRun& log);

}  // namespace railyard::judge::nccl

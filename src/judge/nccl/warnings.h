#pragma once
// NCCL's warnings and the errors that network adapters give back: which is a cause, which follows
// from another, which is noise.

#include <vector>

#include "facts/nccl_run.h"
#include "judge/nccl_finding.h"

namespace railyard::judge::nccl {

/// In order: causes first, then consequences and noise as notes.
std::vector<NcclFinding> read_warnings(const facts::NcclRun& log);

}  // namespace railyard::judge::nccl

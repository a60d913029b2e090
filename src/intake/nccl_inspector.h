#pragma once
// The records of NCCL's Inspector: how long each collective of a real job took, measured in the
// kernels, one JSON object a line. [NCCL 2.28: plugins/profiler/inspector/README.md]

#include <string_view>

#include "base/text.h"
#include "facts/collective_timing.h"

namespace railyard::intake {

bool looks_like_nccl_inspector(std::string_view bytes);
/// Never fails: lines that are no JSON (the last one of a job that was ended) are counted in
/// `skipped`. One run for each communicator and collective.
facts::CollectiveRuns read_nccl_inspector(Text text);

}  // namespace railyard::intake

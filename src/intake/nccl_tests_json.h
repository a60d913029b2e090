#pragma once
// JSON on measured collectives: the report that nccl-tests writes with -J, and the records of
// NCCL's Inspector, one object a line, which tell how long the collectives of a real job took.
// [nccl-tests 2.17.3 and later: src/util.cu; NCCL 2.28: plugins/profiler/inspector/README.md]

#include <string>
#include <string_view>

#include "base/problem.h"
#include "facts/collective_timing.h"

namespace railyard::intake {

bool looks_like_nccl_tests_json(std::string_view bytes);
Checked<facts::CollectiveRuns> read_nccl_tests_json(std::string file, std::string bytes);

bool looks_like_nccl_inspector(std::string_view bytes);
/// Lines that are no JSON (the last one of a job that was ended) are counted in `skipped`. One run
/// for each communicator and collective.
facts::CollectiveRuns read_nccl_inspector(std::string file, std::string bytes);

}  // namespace railyard::intake

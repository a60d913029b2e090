#pragma once
// The table that nccl-tests and rccl-tests print, of all versions, as people post it: a launcher's
// prefix, NCCL's own lines in between, the leading # lost, several runs one after the other.
// [nccl-tests: src/common.cu and src/util.cu, writeBenchmarkLineBody]

#include <string_view>

#include "base/text.h"
#include "facts/collective_timing.h"

namespace railyard::intake {

bool looks_like_nccl_tests_text(std::string_view bytes);
/// Never fails: rows that cannot be read are counted in `skipped`.
facts::CollectiveRuns read_nccl_tests_text(Text text);

/// `all_reduce_perf`, with or without a path, to `all_reduce`; empty when it is no such program.
std::string_view collective_of_program(std::string_view program);

}  // namespace railyard::intake

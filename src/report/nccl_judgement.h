#pragma once
// The verdict on measured collectives: findings as compilers print theirs, and each run size by
// size.

#include <string>

#include "base/json.h"
#include "judge/nccl_judgement.h"
#include "report/table.h"

namespace railyard::report {

std::string to_text(const judge::NcclJudgement& judgement, int width);
/// Every size of every run.
Table table_of(const judge::NcclJudgement& judgement);
void to_json(const judge::NcclJudgement& judgement, json::Writer& out);

int count(const judge::NcclJudgement& judgement, judge::NcclSeverity severity);

}  // namespace railyard::report

#pragma once
// The table of published nccl-tests results (validation/nccl_busbw.csv): one line a size.

#include <string_view>
#include <vector>

#include "base/problem.h"
#include "base/text.h"
#include "facts/busbw_row.h"

namespace railyard::intake {

/// Whether the header is that table's.
bool looks_like_busbw_csv(std::string_view bytes);

/// Refused: a line without GPUs, nodes, a size, or any of time, algbw and busbw.
Checked<std::vector<facts::BusbwRow>> read_busbw_csv(Text text);

}  // namespace railyard::intake

#pragma once
// Tables of measured collectives. Three layouts are known by their header: the compilation of
// published runs, the first H200 sweep (settings in a label), and sweeps with a column for each
// setting. Columns stand in any order.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "base/text.h"
#include "facts/busbw_row.h"

namespace railyard::intake {

enum class BusbwTable : std::uint8_t { compilation, labelled_sweep, sweep };

struct BusbwRows {
  BusbwTable layout = BusbwTable::compilation;
  std::vector<facts::BusbwRow> rows = {};
};

bool looks_like_busbw_csv(std::string_view bytes);
Checked<BusbwRows> read_busbw_csv(Text text);

}  // namespace railyard::intake

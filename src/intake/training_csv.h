#pragma once
// Tables of measured training runs. Four layouts are known by their header: the compilation of
// published runs (one metric per line), the nanotron sweep (throughput and memory, or a failure),
// the vTrain node grid (step time), and our own H200 runs.

#include <string_view>
#include <vector>

#include "base/problem.h"
#include "base/text.h"
#include "facts/training_run.h"

namespace railyard::intake {

enum class TrainingTable : std::uint8_t { compilation, nanotron_sweep, vtrain_grid, h200_runs };

struct TrainingRuns {
  TrainingTable layout = TrainingTable::compilation;
  std::vector<facts::TrainingRun> runs;
};

Checked<TrainingRuns> read_training_csv(Text text);

}  // namespace railyard::intake

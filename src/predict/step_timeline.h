#pragma once
// The whole step as bars: the pipeline's slots and sends, then gradients, optimizer, parameters and
// what the host does once a step. What a trace viewer shows.

#include <vector>

#include "predict/pipeline.h"
#include "predict/step.h"

namespace railyard::predict {

struct StepTimeline {
  int stages = 1;
  Seconds total = {};              ///< StepTime::total
  Seconds pipeline = {};           ///< of which the events of the schedule take
  std::vector<Event> events = {};  ///< by stage, then by start; `gradients` twice a stage with
                                   ///< sharded optimizers: reduction before, gathering behind it
};

/// Communication that hides behind compute begins before the compute ends; the exposed rest is
/// drawn behind it. O(stages x chunks x micro-batches).
StepTimeline step_timeline(const model::Job& job, const StepModel& model,
                           const Prediction& prediction, const StepModel::Pieces& pieces);

}  // namespace railyard::predict

#pragma once
// The pipeline schedule of one step: closed forms for searches, an event timeline that is exact.
//
// Notation: p stages, v chunks (virtual stages) per stage, m micro-batches. Chunk c of stage s is
// model part c*p + s. Stages may be uneven: the first also embeds, the last also does logits and loss.

#include <cstdint>
#include <span>
#include <vector>

#include "base/quantity.h"
#include "model/job.h"

namespace railyard::predict {

/// What one micro-batch costs on one part of the model.
struct PartCost {
  Seconds forward = {};
  Seconds backward_input = {};   ///< gradient of the input; unless zero-bubble, weights included
  Seconds backward_weight = {};  ///< gradient of the weights, when the schedule splits them
};

struct PipelineWork {
  int stages = 1, chunks = 1, micro_batches = 1;
  model::Schedule schedule = model::Schedule::one_f_one_b;
  std::vector<PartCost> parts = {};  ///< stages x chunks, index chunk * stages + stage
  Seconds send = {};                 ///< one activation (or gradient) between neighbours
  bool overlap_send = false;         ///< a send runs beside compute; else it holds both stages
};

/// Closed form. Exact for uniform stages; for uneven ones the slowest stage in steady state plus fill
/// and drain of the real chain.  [Narayanan et al., SC'21 (interleaved); Qi et al., ICLR'24 (zero bubble)]
struct PipelineTime {
  Seconds total = {};
  Seconds busy = {};       ///< compute of the slowest stage
  Seconds bubble = {};     ///< idle of that stage
  Seconds exposed_send = {};
};
PipelineTime pipeline_closed_form(const PipelineWork& work);

enum class EventKind : std::uint8_t { forward, backward, weight, send, gradients, optimizer, other };

/// One bar of the timeline.
struct Event {
  EventKind kind = EventKind::forward;
  int stage = 0, chunk = 0, micro_batch = 0;
  Seconds start = {}, end = {};
};

struct Timeline {
  Seconds total = {};
  std::vector<Seconds> busy = {};     ///< per stage
  std::vector<Event> events = {};     ///< by stage, then by start; empty when not recorded
};

/// Runs the schedule in dependency order. O(p v m) time; `record` keeps the events.
Timeline run_timeline(const PipelineWork& work, bool record = true);

/// The order in which stage `stage` works on its forwards, backwards and weight gradients.
struct Slot {
  EventKind kind = EventKind::forward;
  int chunk = 0, micro_batch = 0;
};
std::vector<Slot> stage_order(const PipelineWork& work, int stage);

/// Micro-batch-parts that stage `stage` holds at its peak: p - stage under 1F1B, m under GPipe, ...
int in_flight(const PipelineWork& work, int stage);

}  // namespace railyard::predict

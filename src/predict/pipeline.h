#pragma once
// The pipeline schedule of one step: a closed form for searches, an event timeline that is exact.
//
// Notation: p stages, v chunks (virtual stages) a stage, m micro-batches. Chunk c of stage s is
// model part c*p + s. Stages may be uneven: the first also embeds, the last also does logits and
// loss.
//
// A stage works through its slots (forward, backward, weight gradient) one at a time in a fixed
// order; a slot starts when the slot before it and the message it needs are done. Nothing else
// decides the time, so the step is a longest path, and both forms below are that path: the timeline
// walks all of it, the closed form compares the few shapes that it can have.

#include <cstdint>
#include <span>
#include <vector>

#include "base/quantity.h"
#include "model/job.h"

namespace railyard::predict {

/// What one micro-batch costs on one part of the model. A schedule that does not split the backward
/// does both halves at once, so a caller without the split puts all of it into `backward_input`.
struct PartCost {
  Seconds forward = {};
  Seconds backward_input = {};   ///< gradient of the input
  Seconds backward_weight = {};  ///< gradient of the weights
};

/// A pipeline whose costs somebody else holds; copying it copies no costs. Every function below
/// takes this form, so that a search can keep the costs on its stack.
struct PipelineView {
  int stages = 1, chunks = 1, micro_batches = 1;
  model::Schedule schedule = model::Schedule::one_f_one_b;
  std::span<const PartCost> parts = {};  ///< stages x chunks, index chunk * stages + stage
  Seconds send = {};                     ///< one activation (or gradient) to the neighbour
  bool overlap_send = false;             ///< see below
};
// A message of a stage waits for the stage's earlier messages of its kind (activations, gradients).
// With overlap it runs beside compute and costs latency only. Without, it holds both stages: the
// sender from the end of the slot that made it, the receiver just before the slot that needs it;
// what a stage sends and receives between two slots goes at once (full duplex), and a sender does
// not wait for a late receiver. That is how Megatron-LM pairs its send_forward_recv_backward.

/// A pipeline that owns its costs.
struct PipelineWork {
  int stages = 1, chunks = 1, micro_batches = 1;
  model::Schedule schedule = model::Schedule::one_f_one_b;
  std::vector<PartCost> parts = {};  ///< stages x chunks, index chunk * stages + stage
  Seconds send = {};
  bool overlap_send = false;

  operator PipelineView() const {  // NOLINT(google-explicit-constructor): the same thing, borrowed
    return {stages, chunks, micro_batches, schedule, parts, send, overlap_send};
  }
};

/// A step's time and what it went to: total = busy + bubble + exposed_send.
struct PipelineTime {
  /// What a step adds when steps follow each other: the longest span of one stage from its first
  /// slot to its last. A stage that is done early starts its next step early (zero-bubble's
  /// optimizer does not wait for all stages).
  Seconds total = {};
  /// First slot of all to last slot of all: the cost when every stage waits for the others before
  /// the optimizer. Larger than `total` only for zero-bubble schedules.
  Seconds makespan = {};
  Seconds busy = {};          ///< compute of the slowest stage
  Seconds bubble = {};        ///< idle of that stage if messages took no time
  Seconds exposed_send = {};  ///< what messages add
};

/// Closed form: O(p v) time, no allocation; sizes and counts are at least 1. Against the timeline
/// it is exact for even stages (within 1 % with blocking messages, 3 % where these hold up a
/// zero-bubble schedule), within 3 % where embedding and loss slow the ends, and low by up to a
/// fifth where messages take longer than the compute between them. The worst case that it was not
/// made for, zero-bubble with chunks and an incomplete last group, is low by up to 12 %. [Narayanan
/// et al., SC'21 (1F1B, interleaved); Qi et al., ICLR'24 (zero bubble)]
PipelineTime pipeline_closed_form(const PipelineView& work);

enum class EventKind : std::uint8_t {
  forward,
  backward,
  weight,
  send,
  gradients,
  optimizer,
  other
};

/// One bar of the timeline. A send belongs to the stage and chunk that send; the pipeline makes
/// forward, backward, weight and send only.
struct Event {
  EventKind kind = EventKind::forward;
  int stage = 0, chunk = 0, micro_batch = 0;
  Seconds start = {}, end = {};
};

struct Timeline {
  Seconds total = {};              ///< as PipelineTime::total
  Seconds makespan = {};           ///< as PipelineTime::makespan
  std::vector<Seconds> busy = {};  ///< compute, per stage
  std::vector<Event> events = {};  ///< by stage, then by start; empty when not recorded
};

/// Runs the schedule in dependency order, exact to the picosecond. O(p v m) time and memory;
/// `record` keeps the events.
Timeline run_timeline(const PipelineView& work, bool record = true);

struct Slot {
  EventKind kind = EventKind::forward;
  int chunk = 0, micro_batch = 0;
};

/// The order in which stage `stage` works on its forwards, backwards and weight gradients. Costs
/// and sends do not matter.
std::vector<Slot> stage_order(const PipelineView& work, int stage);

/// Most micro-batch-parts of stage `stage` whose forward is done and whose input gradient is not:
/// what it holds activations for. min(m, p - stage) under 1F1B, m v under GPipe. O(1).
int in_flight(const PipelineView& work, int stage);

/// Most micro-batch-parts of stage `stage` whose input gradient is done and whose weight gradient
/// is not: zero unless the schedule splits the backward. They still hold the inputs of their
/// layers. O(1).
int weights_pending(const PipelineView& work, int stage);

}  // namespace railyard::predict

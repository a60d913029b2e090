#pragma once
// The order of work on one stage, slot by slot, without storing it.
//
// Every schedule here is the same loop with four numbers: do `warmup` forwards, then one forward
// and one backward in turn until the forwards run out, then the backwards that are left; weight
// gradients follow their backward at a distance of `delay` and fill the end.
//
//   GPipe         warmup = all forwards                                   [Huang et al.,
//   NeurIPS'19] 1F1B          warmup = p - s - 1                      [Narayanan et al., SOSP'19,
//   SC'21] interleaved   warmup = 2 (p - s - 1) + (v - 1) p      [Narayanan et al., SC'21;
//   Megatron-LM] zero-bubble   H1: as 1F1B, delay = s; H2: warmup = 2 (p - s - 1), delay = 2 s;
//   then every stage
//                 holds p (H1) or 2 p - 1 (H2) micro-batches           [Qi et al., ICLR'24, fig. 2,
//                 3]
//
// Zero-bubble with chunks is the interleaved order with delay = s, as PyTorch's
// ScheduleInterleavedZeroBubble does it.
//
// With chunks, micro-batches go in groups of p: a group passes chunk 0, then chunk 1, ... A last
// group that is not full keeps the order of a full one with the missing micro-batches left out:
// leaving work out of an order without deadlock cannot make one. (Closing the ranks can, which is
// why Megatron-LM refuses such a group.) GPipe with chunks sends all micro-batches through a chunk
// before the next.

#include <algorithm>

#include "predict/pipeline.h"

namespace railyard::predict::detail {

/// The numbers of the loop. Counts are of micro-batch-parts as if the last group were full.
struct ScheduleRule {
  int group = 1;       ///< micro-batches that pass a chunk before the next chunk's turn
  int last_group = 1;  ///< of them in the last group; the others are missing
  int full = 0;        ///< micro-batch-parts with the missing ones
  int chunks = 1;
  int warmup = 0;      ///< forwards before the first forward-backward pair
  int delay = 0;       ///< weight gradients wait for this many backwards after theirs
  bool split = false;  ///< weight gradients are slots of their own

  /// How many of the first `steps` of the order exist.
  constexpr int present(int steps) const {
    const int whole = full - group * chunks;  // in full groups, of which none misses any
    if (steps <= whole || last_group == group) return std::clamp(steps, 0, full);
    const int rest = std::min(steps, full) - whole;
    return whole + rest / group * last_group + std::min(rest % group, last_group);
  }
};

constexpr bool splits_backward(model::Schedule s) {
  return s == model::Schedule::zero_bubble_h1 || s == model::Schedule::zero_bubble_h2;
}

constexpr ScheduleRule schedule_rule(const PipelineView& work, int stage) {
  using enum model::Schedule;
  const int p = work.stages, v = work.chunks, m = work.micro_batches, after = p - stage - 1;
  const bool grouped = v > 1 && work.schedule != gpipe;
  const bool steep = grouped || work.schedule == zero_bubble_h2;
  ScheduleRule rule;
  rule.chunks = v;
  rule.group = grouped ? p : m;
  rule.last_group = (m - 1) % rule.group + 1;
  rule.full = (m - rule.last_group + rule.group) * v;
  rule.split = splits_backward(work.schedule);
  rule.warmup = work.schedule == gpipe ? rule.full : (steep ? 2 : 1) * after + (v - 1) * p;
  rule.warmup = std::min(rule.warmup, rule.full);
  if (rule.split) rule.delay = (work.schedule == zero_bubble_h2 && !grouped ? 2 : 1) * stage;
  return rule;
}

/// Goes through the micro-batch-parts of one stage in the order of their forwards.
class PartWalk {
 public:
  PartWalk(const PipelineView& work, const ScheduleRule& rule)
      : chunks_(work.chunks), micro_batches_(work.micro_batches), group_(rule.group) {}

  int chunk() const { return chunk_; }
  int micro_batch() const { return base_ + in_group_; }
  bool missing() const { return micro_batch() >= micro_batches_; }
  void step() {
    ++steps_;
    if (++in_group_ < group_) return;
    in_group_ = 0;
    if (++chunk_ < chunks_) return;
    chunk_ = 0;
    base_ += group_;
  }
  int steps() const { return steps_; }

 private:
  int chunks_, micro_batches_, group_;
  int chunk_ = 0, in_group_ = 0, base_ = 0, steps_ = 0;
};

class ScheduleWalk {
 public:
  ScheduleWalk(const PipelineView& work, int stage)
      : rule_(schedule_rule(work, stage)),
        forward_(work, rule_),
        backward_(work, rule_),
        weight_(work, rule_) {}

  /// The next slot, or false at the end.
  bool next(Slot& slot) {
    for (;;) {
      const int f = forward_.steps(), b = backward_.steps(), w = weight_.steps();
      if (rule_.split && (b - w > rule_.delay || (b == rule_.full && w < b))) {
        if (take(weight_, EventKind::weight, slot)) return true;
      } else if (f < rule_.full && f <= b + rule_.warmup) {
        if (take(forward_, EventKind::forward, slot)) return true;
      } else if (b < rule_.full) {
        if (take(backward_, EventKind::backward, slot)) return true;
      } else {
        return false;
      }
    }
  }

 private:
  /// Backwards and weight gradients run through the chunks from the last to the first.
  bool take(PartWalk& walk, EventKind kind, Slot& slot) const {
    const bool present = !walk.missing();
    const int chunk = kind == EventKind::forward ? walk.chunk() : rule_.chunks - 1 - walk.chunk();
    slot = {.kind = kind, .chunk = chunk, .micro_batch = walk.micro_batch()};
    walk.step();
    return present;
  }

  ScheduleRule rule_;
  PartWalk forward_, backward_, weight_;
};

}  // namespace railyard::predict::detail

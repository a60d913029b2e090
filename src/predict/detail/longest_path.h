#pragma once
// The longest path through the slots of 1F1B, interleaved and zero-bubble schedules, without
// walking it.
//
// Every path is a lower bound of the step, so it is enough to look at the few that can be the
// longest. Each has a home, the stage whose slots it does one after the other; it gets there with
// the first micro-batch and leaves with the last:
//
//   fill to home + all slots of home + drain
//
// which for even stages is (m + p - 1)(tF + tB) under 1F1B, a bubble of (p - 1) / (v m) with
// chunks, and an idle time of (p - 1)(tF + tB - tW) under H1, (p - 1)(tF + tB - 2 tW) under H2. Or
// a path leaves home with one message, comes back with another, and skips what home does meanwhile.
// Such a detour counts when what it passes is longer than what it skips:
//
//   rounds   with chunks: the first micro-batch goes round all stages to home's next chunk, and the
//            last one does on its way back. Groups smaller than p; messages that take time.
//   loops    the first micro-batch goes up to the last stage and comes back as home's first
//            backward; the last one likewise at the end. A slow stage early in the pipeline.
//   zigzags  1F1B keeps no more micro-batches under way than a round trip of pure compute needs, so
//            every latency shows: p micro-batches pay for 2 (p - 1) messages.
//   spirals  a last group with gaps: a path steps down a stage at each gap and comes round again.
//   ends     embedding and loss of the first and the last group do not run beside each other.

#include "predict/detail/part_time.h"

namespace railyard::predict::detail {

/// The furthest that any path comes; see PipelineTime.
struct Reach {
  Seconds total = {}, makespan = {};

  /// A path ends at `end` on a stage that starts work at `start`.
  void note(Seconds start, Seconds end) {
    total = max(total, end - start);
    makespan = max(makespan, end);
  }
};

/// O(p v), no allocation. `send` takes the place of work.send; not for GPipe.
Reach longest_path(const PipelineView& work, Seconds send);

}  // namespace railyard::predict::detail

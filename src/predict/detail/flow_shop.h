#pragma once
// GPipe: all forwards, then all backwards. Each half is a flow shop of equal jobs, and the second
// starts where the first one ends, on the last stage.
//
// Equal jobs on machines in a row take one job's way through all machines and, for each further
// job, one turn of the slowest. With chunks the row passes each stage several times: a chunk's turn
// comes when its stage has done the chunk before and the first micro-batch is round again.

#include "predict/detail/part_time.h"

namespace railyard::predict::detail {

class FlowShop {
 public:
  /// `hop` is what a message adds to a way, `hold` what it takes from a stage (zero with overlap).
  struct Messages {
    Seconds hop = {}, hold = {};
  };
  FlowShop(const PipelineView& work, Messages messages) : work_(work), messages_(messages) {}

  Seconds both_ways() const {
    const int parts = work_.stages * work_.chunks;
    return one_way([&](int i) { return part_time(work_, i).forward; }) +
           one_way([&](int i) { return part_time(work_, parts - 1 - i).backward; });
  }

 private:
  template <class Of>
  Seconds one_way(const Of& of) const {
    const int p = work_.stages, v = work_.chunks, m = work_.micro_batches, parts = p * v;
    const auto [hop, hold] = messages_;
    const Seconds wire =
        hop - hold;  // a message that runs beside compute may be the slower of the two
    const auto turn = [&](int i) { return max(of(i) + hold, wire); };

    Seconds way = (parts - 1) * hop, slowest = {}, before = {}, behind = {}, skipped = p * hop;
    for (int i = 0; i < parts; ++i) {
      way += of(i);
      slowest = max(slowest, turn(i));
      if (i > 0 && i < p) skipped += of(i);
      if (i >= parts - p) behind += of(i);
    }
    Seconds best = way + (m - 1) * slowest;
    if (v == 1) return best;

    // All micro-batches wait at the first part, the first of the next chunk goes round to the last
    // part, where all wait again.
    best = max(best, way - skipped + (m - 1) * (turn(0) + turn(parts - 1)));
    // Or one stage is busy all the time, but for first and last part where these are slower.
    for (int s = 0; s < p; ++s) {
      const int last = parts - p + s;
      behind -= of(last);
      Seconds busy = m * stage_turns(turn, s) - (turn(last) - of(last));
      busy += (m - 1) * (positive(turn(0) - turn(s)) + positive(turn(parts - 1) - turn(last)));
      best = max(best, before + busy + behind + (p - 1) * hop);
      before += of(s);
    }
    return best;
  }
  template <class Turn>
  Seconds stage_turns(const Turn& turn, int stage) const {
    Seconds sum = {};
    for (int c = 0; c < work_.chunks; ++c) sum += turn(c * work_.stages + stage);
    return sum;
  }

  const PipelineView& work_;
  Messages messages_;
};

}  // namespace railyard::predict::detail

#pragma once
// Times of one micro-batch on one part of the model, as a schedule uses them: a schedule that does
// not split the backward does both halves at once.

#include "base/quantity.h"
#include "predict/detail/schedule_walk.h"
#include "predict/pipeline.h"

namespace railyard::predict::detail {

/// Of one part, or sums over several.
struct PartTime {
  Seconds forward = {}, backward = {}, weight = {};

  constexpr Seconds sum() const { return forward + backward + weight; }
  constexpr Seconds pair() const { return forward + backward; }
  friend constexpr PartTime operator+(PartTime a, PartTime b) {
    return {a.forward + b.forward, a.backward + b.backward, a.weight + b.weight};
  }
  friend constexpr PartTime operator-(PartTime a, PartTime b) {
    return {a.forward - b.forward, a.backward - b.backward, a.weight - b.weight};
  }
  friend constexpr PartTime operator/(PartTime a, double k) {
    return {a.forward / k, a.backward / k, a.weight / k};
  }
};

inline PartTime part_time(const PipelineView& work, int part) {
  const PartCost& c = work.parts[static_cast<std::size_t>(part)];
  if (splits_backward(work.schedule)) return {c.forward, c.backward_input, c.backward_weight};
  return {c.forward, c.backward_input + c.backward_weight, {}};
}

/// Sum over the chunks of a stage.
inline PartTime stage_time(const PipelineView& work, int stage) {
  PartTime sum;
  for (int c = 0; c < work.chunks; ++c) sum = sum + part_time(work, c * work.stages + stage);
  return sum;
}

constexpr Seconds positive(Seconds t) { return max(t, Seconds{}); }

}  // namespace railyard::predict::detail

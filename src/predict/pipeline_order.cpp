// What a stage works on in which order, and how much it holds meanwhile.

#include <algorithm>

#include "predict/detail/schedule_walk.h"
#include "predict/pipeline.h"

namespace railyard::predict {

namespace {

/// Micro-batch-parts that exist among the first `steps` of the order; the last group may have gaps.
int present(const PipelineView& work, const detail::ScheduleRule& rule, int steps) {
  const int in_group = work.micro_batches % rule.group;
  const int whole = (work.micro_batches - in_group) * work.chunks;
  const int rest = std::min(steps, rule.full) - whole;
  if (rest <= 0) return std::min(steps, whole);
  return whole + rest / rule.group * in_group + std::min(rest % rule.group, in_group);
}

}  // namespace

std::vector<Slot> stage_order(const PipelineView& work, int stage) {
  std::vector<Slot> order;
  const int passes = detail::splits_backward(work.schedule) ? 3 : 2;
  order.reserve(static_cast<std::size_t>(passes * work.chunks * work.micro_batches));
  detail::ScheduleWalk walk(work, stage);
  for (Slot slot; walk.next(slot);) order.push_back(slot);
  return order;
}

// The peak is right before the first backward: from then on each forward is preceded by a backward.
int in_flight(const PipelineView& work, int stage) {
  const detail::ScheduleRule rule = detail::schedule_rule(work, stage);
  return present(work, rule, rule.warmup + 1);
}

int weights_pending(const PipelineView& work, int stage) {
  const detail::ScheduleRule rule = detail::schedule_rule(work, stage);
  return rule.split ? present(work, rule, rule.delay + 1) : 0;
}

}  // namespace railyard::predict

// What a stage works on in which order, and how much it holds meanwhile.

#include "predict/detail/schedule_walk.h"
#include "predict/pipeline.h"

namespace railyard::predict {

std::vector<Slot> stage_order(const PipelineView& work, int stage) {
  std::vector<Slot> order;
  const int passes = detail::splits_backward(work.schedule) ? 3 : 2;
  order.reserve(static_cast<std::size_t>(passes * work.chunks * work.micro_batches));
  detail::ScheduleWalk walk(work, stage);
  for (Slot slot; walk.next(slot);) order.push_back(slot);
  return order;
}

// Both peaks are reached as early as they can be: from then on every slot that adds one comes after
// a slot that takes one away.
int in_flight(const PipelineView& work, int stage) {
  const detail::ScheduleRule rule = detail::schedule_rule(work, stage);
  return rule.present(rule.warmup + 1);
}

int weights_pending(const PipelineView& work, int stage) {
  const detail::ScheduleRule rule = detail::schedule_rule(work, stage);
  return rule.split ? rule.present(rule.delay + 1) : 0;
}

}  // namespace railyard::predict

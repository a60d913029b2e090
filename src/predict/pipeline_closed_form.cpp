// The closed form of a pipeline schedule: detail/flow_shop.h for GPipe, detail/longest_path.h for
// the others, asked once with messages and once without.
// tests/predict/pipeline_closed_form_test.cpp holds both against the timeline.

#include <cassert>

#include "predict/detail/flow_shop.h"
#include "predict/detail/longest_path.h"
#include "predict/pipeline.h"

namespace railyard::predict {

namespace {

detail::Reach reach(const PipelineView& work, Seconds send) {
  if (work.schedule != model::Schedule::gpipe) return detail::longest_path(work, send);
  const Seconds hop = work.stages > 1 ? send : Seconds{};
  const Seconds hold = work.overlap_send ? Seconds{} : hop;
  const Seconds total = detail::FlowShop(work, {.hop = hop, .hold = hold}).both_ways();
  return {.total = total, .makespan = total};
}

}  // namespace

PipelineTime pipeline_closed_form(const PipelineView& work) {
  assert(work.parts.size() == static_cast<std::size_t>(work.stages * work.chunks));
  Seconds busy = {};
  for (int s = 0; s < work.stages; ++s) busy = max(busy, detail::stage_time(work, s).sum());
  busy *= work.micro_batches;
  const detail::Reach silent = reach(work, {});
  const detail::Reach real = work.send > Seconds{} ? reach(work, work.send) : silent;
  return {.total = real.total,
          .makespan = real.makespan,
          .busy = busy,
          .bubble = silent.total - busy,
          .exposed_send = real.total - silent.total};
}

}  // namespace railyard::predict

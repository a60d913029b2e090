// How fast pipelines are priced. A search asks for the closed form of a million layouts; a timeline
// is drawn once for the one that won. Every answer is checked against the other way to it.

#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "predict/pipeline.h"

namespace railyard::predict {
namespace {

using enum model::Schedule;

constexpr PartCost layer{
    .forward = 1.0 * ms, .backward_input = 1.1 * ms, .backward_weight = 0.9 * ms};

/// A pipeline whose first stage embeds and whose last stage does the loss.
std::vector<PartCost> with_ends(int parts) {
  std::vector<PartCost> costs(static_cast<std::size_t>(parts), layer);
  costs.front().forward = 1.1 * ms;
  costs.back() = {.forward = 1.3 * ms, .backward_input = 1.5 * ms, .backward_weight = 1.1 * ms};
  return costs;
}

bool agree(Seconds a, Seconds b, double within) { return std::abs(a / b - 1) < within; }

/// Argument: stages. Four chunks a stage where the schedule has chunks.
void closed_form(benchmark::State& state, model::Schedule schedule) {
  const int stages = static_cast<int>(state.range(0)), chunks = schedule == interleaved ? 4 : 1;
  std::vector<PartCost> costs = with_ends(stages * chunks);
  const PipelineView work{.stages = stages,
                          .chunks = chunks,
                          .micro_batches = 64,
                          .schedule = schedule,
                          .parts = costs,
                          .send = 0.05 * ms,
                          .overlap_send = true};
  if (!agree(pipeline_closed_form(work).total, run_timeline(work, false).total, 0.01)) {
    state.SkipWithError("the closed form and the timeline differ");
    return;
  }
  Seconds sum = {};
  for (auto _ : state) {
    costs[1].forward += 1e-9 * ms;  // no two questions are the same
    sum += pipeline_closed_form(work).total;
  }
  if (!(sum > Seconds{})) state.SkipWithError("the sum is wrong");
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(closed_form, gpipe, gpipe)->Arg(8)->Arg(64);
BENCHMARK_CAPTURE(closed_form, one_f_one_b, one_f_one_b)->Arg(4)->Arg(8)->Arg(16)->Arg(64);
BENCHMARK_CAPTURE(closed_form, interleaved, interleaved)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(closed_form, zero_bubble_h1, zero_bubble_h1)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(closed_form, zero_bubble_h2, zero_bubble_h2)->Arg(8)->Arg(16);

/// 512 micro-batches. Arguments: stages, chunks, whether events are kept. 175B on 4,096
/// accelerators has 96 layers: 64 stages of one chunk, or 12 of eight; the last ones are beyond any
/// model.
void timeline(benchmark::State& state) {
  const int stages = static_cast<int>(state.range(0)), chunks = static_cast<int>(state.range(1));
  const bool record = state.range(2) != 0;
  const std::vector<PartCost> costs = with_ends(stages * chunks);
  const PipelineView work{.stages = stages,
                          .chunks = chunks,
                          .micro_batches = 512,
                          .schedule = chunks > 1 ? interleaved : one_f_one_b,
                          .parts = costs,
                          .send = 0.05 * ms,
                          .overlap_send = true};
  const Seconds expected = pipeline_closed_form(work).total;
  const auto slots = static_cast<std::size_t>(2 * 512 * stages * chunks);
  const auto messages = static_cast<std::size_t>(2 * 512 * (stages * chunks - 1));
  for (auto _ : state) {
    const Timeline t = run_timeline(work, record);
    if (!agree(t.total, expected, 0.01)) state.SkipWithError("the closed form says otherwise");
    if (record && t.events.size() != slots + messages) state.SkipWithError("events are missing");
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(slots) * state.iterations());
}
BENCHMARK(timeline)
    ->ArgNames({"p", "v", "events"})
    ->ArgsProduct({{64, 128}, {1, 8}, {0, 1}})
    ->Args({12, 8, 1})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace railyard::predict

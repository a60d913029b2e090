// From a published figure back to a step time: throughputs, FLOP rates, shares of a peak.

#include "judge/detail/run_parts.h"
#include "predict/step.h"

namespace railyard::judge::detail {

using facts::RunMetric;

Read<Seconds> read_metric(const facts::TrainingRun& run, const RunSetup& setup,
                          const Convention& convention) {
  const model::Job& job = setup.job;
  const double gpus = *run.gpus;
  const bool whole = convention.attention_flops == AttentionFlops::whole;
  const Flops model = predict::model_flops(job, whole) / gpus;
  const model::Precision precision = job.precision;
  const FlopRate peak = max(setup.cluster.server.accelerator.peak_of(precision), FlopRate::si(1));
  // Hardware FLOPs repeat the forward of every recomputed layer: 8 instead of 6 per parameter.
  const double again = job.layout.recompute == model::Recompute::full ? 4.0 / 3.0 : 1.0;
  switch (run.metric) {
    case RunMetric::step_time: return Seconds::si(run.value);
    case RunMetric::tokens_per_s_per_gpu:
      return Seconds::si(static_cast<double>(job.global_batch) * job.sequence / gpus / run.value);
    case RunMetric::model_tflops_per_gpu:
    case RunMetric::tflops_per_gpu: return model / (run.value * TFLOPS);
    case RunMetric::hw_tflops_per_gpu: return again * model / (run.value * TFLOPS);
    case RunMetric::mfu: return model / (run.value / 100 * peak);
    case RunMetric::hfu: {
      // selective recomputation repeats attention alone
      const Flops attention = predict::model_flops(job, true) - predict::model_flops(job, false);
      const Flops extra = job.layout.recompute == model::Recompute::selective
                              ? attention * (2.0 / 3.0) / gpus
                              : Flops{};
      return (again * model + extra) / (run.value / 100 * peak);
    }
    case RunMetric::pct_peak: return again * model / (run.value / 100 * peak);
    case RunMetric::peak_alloc_mem:
    case RunMetric::failed: return Seconds{};
  }
  return Why("unknown metric");
}

}  // namespace railyard::judge::detail

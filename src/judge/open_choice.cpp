// What a line leaves open, settled as whoever ran the job will have done: the least recomputation
// that fits, then the fastest micro-batch and number of virtual stages that fit.

#include <optional>

#include "judge/validate.h"

namespace railyard::judge {

namespace {

/// The least recomputation with which the job fits: what a run that did fit must have done. Nothing
/// changes when even recomputing everything is not enough.
void settle_recompute(model::Job& job, const predict::StepModel& model) {
  using model::Recompute;
  using enum model::RecomputeModule;
  constexpr int kSteps[] = {
      0, recompute_core_attention,
      recompute_core_attention | recompute_norms | recompute_activation_function,
      recompute_core_attention | recompute_norms | recompute_activation_function |
          recompute_latent_projection,
      recompute_core_attention | recompute_norms | recompute_activation_function |
          recompute_latent_projection | recompute_mlp | recompute_moe};
  model::Job trial = job;
  for (const int modules : kSteps) {
    // a fused kernel recomputes its scores anyway
    if (modules == recompute_core_attention && !model::unfused_attention(job)) continue;
    trial.layout.recompute_modules = static_cast<std::uint8_t>(modules);
    if (model.predict(trial).memory.fits()) {
      job = trial;
      return;
    }
  }
  trial.layout.recompute_modules = 0;
  trial.layout.recompute = Recompute::full;
  if (model.predict(trial).memory.fits()) job = trial;
}

/// The job with this micro-batch and these virtual stages where they are open; nothing when the
/// batch or the layers do not divide.
struct Choice {
  int micro_batch = 1, chunks = 1;
};
std::optional<model::Job> with(const RunSetup& setup, Choice c) {
  model::Job job = setup.job;
  model::Layout& l = job.layout;
  if (setup.open_micro_batch) l.micro_batch = c.micro_batch;
  if (job.global_batch % (l.data * l.micro_batch) != 0) return std::nullopt;
  if (!setup.open_virtual_stages) return job;
  if (c.chunks > 1 && job.model.layers % (c.chunks * l.pipeline) != 0) return std::nullopt;
  l.virtual_stages = c.chunks;
  l.schedule = c.chunks > 1 ? model::Schedule::interleaved : model::Schedule::one_f_one_b;
  return job;
}

}  // namespace

predict::Prediction best_open_choice(RunSetup& setup, const predict::StepModel& model) {
  if (setup.open_recompute) settle_recompute(setup.job, model);
  predict::Prediction best = model.predict(setup.job);
  if (!setup.open_micro_batch && !setup.open_virtual_stages) return best;
  const int most_micro = setup.open_micro_batch ? 8 : 1;
  const int most_chunks =
      setup.open_virtual_stages ? setup.job.model.layers / setup.job.layout.pipeline : 1;
  model::Job chosen = setup.job;
  bool fits = best.memory.fits();
  for (int micro = 1; micro <= most_micro; micro *= 2)
    for (int chunks = 1; chunks <= most_chunks; ++chunks) {
      const std::optional<model::Job> job = with(setup, {.micro_batch = micro, .chunks = chunks});
      if (!job) continue;
      const predict::Prediction p = model.predict(*job);
      if (!p.memory.fits() || (fits && p.time.total >= best.time.total)) continue;
      best = p;
      chosen = *job;
      fits = true;
    }
  setup.job = chosen;
  return best;
}

}  // namespace railyard::judge

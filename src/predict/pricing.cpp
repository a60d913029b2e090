#include "predict/pricing.h"

namespace railyard::predict {

namespace {

using model::Job;
using model::Recompute;

/// Host time per kernel. A recorded graph cannot hold experts whose token counts are known only
/// when the router has run, so models with experts launch kernel by kernel.
Seconds launch_time(const Job& job, const Constants& c, double host) {
  const model::Software& s = job.software;
  if (s.launch > Seconds{}) return s.launch;
  if (s.cuda_graphs && !job.model.experts) return Seconds::si(c.launch_graph);
  return Seconds::si(host * (s.compiled ? c.launch_compiled : c.launch));
}

}  // namespace

Pricer::Pricer(const Job& job, const Calibration& calibration, const Device& device)
    : job_(job),
      c_(calibration.constants),
      era_(device.quantised ? era_factor(c_, job.software.year, job.software.month) : 1),
      launch_(launch_time(job, c_, device.host)) {}

Priced Pricer::operator()(const Pass& p) const {
  const model::Software& s = job_.software;
  Priced out;
  out.device = era_ * p.device() + Seconds::si(c_.kernel_gap * p.kernels);
  out.host = launch_ * p.kernels;
  const auto beside_device = [&](Seconds comm, double share) {
    const Seconds hidden = min(share * comm, out.device);
    return comm - hidden + (c_.overlap_slowdown - 1) * hidden;
  };
  out.tensor = beside_device(p.tensor, s.overlap_tensor ? c_.overlap_tensor_hidden : 0);
  out.expert = beside_device(p.expert, s.overlap_expert ? c_.overlap_expert_hidden : 0);
  // ring attention: the next block of keys travels while this one is worked on
  out.context = exposed_behind(p.context, s.overlap_context ? era_ * p.attention : Seconds{});
  return out;
}

Seconds Pricer::exposed_behind(Seconds comm, Seconds window) const {
  const Seconds hidden = min(comm, window);
  return comm - hidden + (c_.overlap_slowdown - 1) * hidden;
}

Pass repeated(const Job& job, const Block& b) {
  if (job.layout.recompute == Recompute::full) return b.forward;
  if (job.layout.recompute == Recompute::selective) return b.selective;
  // Norms and the activation function are about a third each of what a layer streams.
  Pass out;
  const auto has = [&](std::uint8_t m) { return (job.layout.recompute_modules & m) != 0; };
  if (has(model::recompute_core_attention)) out = out + b.selective;
  if (has(model::recompute_norms)) out.memory += 0.3 * b.forward.memory;
  if (has(model::recompute_activation_function)) out.memory += 0.3 * b.forward.memory;
  if (has(model::recompute_latent_projection)) out = out + b.latent;
  const bool experts = b.expert_parameters > 0;
  if (has(experts ? model::recompute_moe : model::recompute_mlp)) out = out + b.ffn;
  return out;
}

}  // namespace railyard::predict

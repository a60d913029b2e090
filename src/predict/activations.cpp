#include "predict/activations.h"

#include <algorithm>

namespace railyard::predict {

namespace {

using model::Architecture;
using model::Job;
using model::Layout;
using model::Recompute;

bool eager(const Job& job) { return !job.software.fused_kernels && !job.software.compiled; }

/// Plain PyTorch under mixed precision computes norms in fp32 and keeps that copy.
double residual_bytes(const Job& job) {
  return eager(job) && job.software.master_bytes > 0 ? 4 : 2;
}

bool recomputes(const Job& job, std::uint8_t module) {
  return (job.layout.recompute_modules & module) != 0;
}

/// Ranks over which norms and residuals are spread.
double sequence_ways(const Job& job) {
  return job.layout.sequence_parallel ? job.layout.tensor : 1;
}

/// Bytes a token of what latent attention keeps between its norm and its projection.
double latent_operands(const Job& job) {
  const model::LatentAttention& m = *job.model.latent;
  const double heads = static_cast<double>(job.model.heads) / job.layout.tensor;
  const double qk = m.nope_dim + m.rope_dim;
  double kept = saved_element(job) * (m.query_rank + m.kv_rank) +
                2.0 * (m.query_rank + m.kv_rank + m.rope_dim);
  if (!recomputes(job, model::recompute_latent_projection))
    kept += 2.0 * heads * (2 * qk + m.value_dim);  // q, k, v as attention reads them
  return kept + 2.0 * heads * m.value_dim;
}

/// The same for multi-head and grouped attention.
double grouped_operands(const Job& job) {
  const Architecture& a = job.model;
  const double t = job.layout.tensor, d = a.head_width();
  const double heads = a.heads / t, kv = std::max(a.kv_heads / t, 1.0);
  double kept = 2.0 * d * (heads + 2 * kv);  // q, k, v
  kept += 2.0 * d * heads;                   // attention output, which the projection reads
  kept += 4.0 * heads;                       // log-sum-exp
  // Plain PyTorch keeps what fused kernels pass on: q and k before rotation, contiguous copies.
  if (eager(job) && a.positions == model::Positions::rotary) kept += 2.0 * d * (heads + kv);
  if (eager(job)) kept += 2.0 * d * (heads + 2 * kv);
  return kept;
}

/// The s x s matrices of attention that stores its scores.
Bytes stored_scores(const Job& job) {
  const Layout& l = job.layout;
  if (!model::unfused_attention(job) || l.recompute == Recompute::selective ||
      recomputes(job, model::recompute_core_attention))
    return {};
  const double cells =
      tokens_per_rank(job) * (static_cast<double>(job.model.heads) / l.tensor) * job.sequence;
  // softmax output 2; with dropout a mask 1 and the dropped copy 2
  return Bytes::si((job.software.attention_dropout ? 5 : 2) * cells);
}

/// Around a sub-layer: the residual that its norm reads again, the norm's output, the mask of the
/// dropout behind it.
double surroundings(const Job& job) {
  const double width = job.model.hidden / sequence_ways(job);
  double kept = residual_bytes(job) * width;
  if (!recomputes(job, model::recompute_norms)) kept += saved_element(job) * width;
  if (job.software.attention_dropout) kept += width;
  return kept;
}

Bytes attention(const Job& job) {
  const double operands = job.model.latent ? latent_operands(job) : grouped_operands(job);
  return Bytes::si((surroundings(job) + operands) * tokens_per_rank(job)) + stored_scores(job);
}

/// What stands between the two matrices of an FFN on this rank.
struct Inner {
  double width = 0, tokens = 0;
};
Bytes inner_ffn(const Job& job, Inner inner) {
  if (recomputes(job, model::recompute_mlp)) return {};
  const bool gated = job.model.gated;
  double kept = 2.0 * inner.width * (gated ? 2 : 1);  // before the activation
  if (!recomputes(job, model::recompute_activation_function)) {
    kept += saved_element(job) * inner.width;
    if (eager(job) && gated) kept += 2.0 * inner.width;  // silu(gate) on its own
  }
  return Bytes::si(kept * inner.tokens);
}

Bytes around_ffn(const Job& job) { return Bytes::si(surroundings(job) * tokens_per_rank(job)); }

Bytes dense_ffn(const Job& job) {
  const double width = static_cast<double>(job.model.ffn) / job.layout.tensor;
  return around_ffn(job) + inner_ffn(job, {width, tokens_per_rank(job)});
}

Bytes experts(const Job& job) {
  if (recomputes(job, model::recompute_moe)) return around_ffn(job);
  const model::Experts& e = *job.model.experts;
  const Layout& l = job.layout;
  const double tokens = tokens_per_rank(job);
  const double copies =
      tokens / l.tensor * e.top_k * l.expert_tensor * job.software.expert_imbalance;
  const double width = e.latent > 0 ? e.latent : job.model.hidden;
  Bytes kept =
      around_ffn(job) + inner_ffn(job, {static_cast<double>(e.ffn) / l.expert_tensor, copies});
  kept += Bytes::si(saved_element(job) * width * copies);  // the permuted input
  // what combine reads again: the experts' outputs, and the router's logits and probabilities
  kept += Bytes::si(2.0 * width * copies + 8.0 * e.experts * tokens / l.tensor);
  if (e.shared_ffn > 0)
    kept += inner_ffn(job, {static_cast<double>(e.shared_ffn) / l.tensor, tokens});
  return kept;
}

Bytes state_space(const Job& job) {
  const model::StateSpace& s = *job.model.state_space;
  const double inner = static_cast<double>(s.heads) * s.head_dim / job.layout.tensor;
  const double groups = std::max(static_cast<double>(s.groups) / job.layout.tensor, 1.0);
  return around_ffn(job) +
         Bytes::si(2.0 * tokens_per_rank(job) * (4 * inner + 4 * groups * s.state));
}

}  // namespace

double tokens_per_rank(const Job& job) {
  return static_cast<double>(job.layout.micro_batch) * job.sequence / job.layout.context;
}

double saved_element(const Job& job) {
  switch (job.precision) {
    case model::Precision::fp32:
    case model::Precision::tf32: return 4;
    case model::Precision::fp16:
    case model::Precision::bf16: return 2;
    case model::Precision::fp8:
    case model::Precision::mxfp8: return 1;
    case model::Precision::nvfp4: return 0.5625;  // 4 bits, and a scale of 8 for every 16 of them
  }
  return 2;
}

Bytes layer_input(const Job& job) {
  // Megatron keeps the checkpoint whole on each tensor rank unless sequence parallelism shards it.
  return Bytes::si(2.0 * tokens_per_rank(job) * job.model.hidden / sequence_ways(job));
}

Bytes layer_activations(const Job& job, LayerKind kind) {
  switch (kind) {
    case LayerKind::dense: return attention(job) + dense_ffn(job);
    case LayerKind::experts: return attention(job) + experts(job);
    case LayerKind::attention_only: return attention(job);
    case LayerKind::ffn_only: return dense_ffn(job);
    case LayerKind::experts_only: return experts(job);
    case LayerKind::state_space: return state_space(job);
  }
  return {};
}

}  // namespace railyard::predict

#include "predict/memory.h"

#include <algorithm>
#include <cmath>

#include "predict/pipeline.h"

namespace railyard::predict {

namespace {

using model::Job;
using model::Layout;
using model::Recompute;
using model::Shard;

double rows(const Job& job) {
  return static_cast<double>(job.layout.micro_batch) * job.sequence / job.layout.context;
}

/// Bytes per element of a tensor that a linear layer saves: quantised recipes keep the cast copy.
double saved_bytes(const Job& job) {
  switch (job.precision) {
    case model::Precision::fp32:
    case model::Precision::tf32: return 4;
    case model::Precision::fp16:
    case model::Precision::bf16: return 2;
    case model::Precision::fp8:
    case model::Precision::mxfp8: return 1;
    case model::Precision::nvfp4: return 0.5625;
  }
  return 2;
}

bool eager(const Job& job) { return !job.software.fused_kernels && !job.software.compiled; }

/// Plain PyTorch under mixed precision computes norms in fp32 and keeps that copy.
double residual_bytes(const Job& job) {
  return eager(job) && job.software.master_bytes > 0 ? 4 : 2;
}

bool recomputes(const Job& job, std::uint8_t module) {
  return (job.layout.recompute_modules & module) != 0;
}

Bytes attention_activations(const Job& job) {
  const model::Architecture& a = job.model;
  const Layout& l = job.layout;
  const double t = l.tensor, sp = l.sequence_parallel ? t : 1;
  const double linear = saved_bytes(job);
  const bool flash = !model::unfused_attention(job);
  double per_row = 0;
  per_row += residual_bytes(job) * a.hidden / sp;  // residual that the norm reads again
  if (!recomputes(job, model::recompute_norms)) per_row += linear * a.hidden / sp;  // norm output
  if (a.latent) {
    const model::LatentAttention& m = *a.latent;
    const double heads = a.heads / t, qk = m.nope_dim + m.rope_dim;
    per_row += linear * (m.query_rank + m.kv_rank) + 2.0 * (m.query_rank + m.kv_rank + m.rope_dim);
    if (!recomputes(job, model::recompute_latent_projection))
      per_row += 2.0 * heads * (2 * qk + m.value_dim);  // q, k, v as attention reads them
    per_row += 2.0 * heads * m.value_dim;
  } else {
    const double d = a.head_width();
    const double heads = a.heads / t, kv = std::max(a.kv_heads / t, 1.0);
    per_row += 2.0 * d * (heads + 2 * kv);  // q, k, v
    per_row += 2.0 * d * heads;             // attention output, which the projection reads
    per_row += 4.0 * heads;                 // log-sum-exp
    // Plain PyTorch keeps what fused kernels pass on: q and k before rotation, contiguous copies.
    if (eager(job) && a.positions == model::Positions::rotary) per_row += 2.0 * d * (heads + kv);
    if (eager(job)) per_row += 2.0 * d * (heads + 2 * kv);
  }
  if (job.software.attention_dropout) per_row += a.hidden / sp;  // mask after the projection
  Bytes out = Bytes::si(per_row * rows(job));
  if (!flash && l.recompute != Recompute::selective &&
      !recomputes(job, model::recompute_core_attention)) {
    // softmax output 2; with dropout a mask 1 and the dropped copy 2
    const double cells = static_cast<double>(l.micro_batch) * (a.heads / t) *
                         (static_cast<double>(job.sequence) / l.context) * job.sequence;
    out += Bytes::si((job.software.attention_dropout ? 5 : 2) * cells);
  }
  return out;
}

Bytes ffn_activations(const Job& job, double width, double tokens, bool experts) {
  const model::Architecture& a = job.model;
  const double linear = saved_bytes(job);
  double per_row = 0;
  if (!recomputes(job, model::recompute_mlp)) {
    per_row += 2.0 * width * (a.gated ? 2 : 1);  // before the activation
    if (!recomputes(job, model::recompute_activation_function))
      per_row +=
          linear * width + (eager(job) && a.gated ? 2.0 * width : 0);  // silu(gate) on its own
  }
  if (experts)  // the permuted input
    per_row += linear * (a.experts->latent > 0 ? a.experts->latent : a.hidden);
  return Bytes::si(per_row * tokens);
}

Bytes ffn_surroundings(const Job& job) {
  const Layout& l = job.layout;
  const double sp = l.sequence_parallel ? l.tensor : 1;
  double per_row = residual_bytes(job) * job.model.hidden / sp;
  if (!recomputes(job, model::recompute_norms)) per_row += saved_bytes(job) * job.model.hidden / sp;
  if (job.software.attention_dropout) per_row += job.model.hidden / sp;
  return Bytes::si(per_row * rows(job));
}

Bytes experts_activations(const Job& job) {
  const model::Experts& e = *job.model.experts;
  const Layout& l = job.layout;
  if (recomputes(job, model::recompute_moe)) return ffn_surroundings(job);
  const double copies =
      rows(job) / l.tensor * e.top_k * l.expert_tensor * job.software.expert_imbalance;
  Bytes out = ffn_surroundings(job) +
              ffn_activations(job, static_cast<double>(e.ffn) / l.expert_tensor, copies, true);
  // what combine reads again: the experts' outputs, and the router's logits and probabilities
  out += Bytes::si(2.0 * (e.latent > 0 ? e.latent : job.model.hidden) * copies +
                   8.0 * e.experts * rows(job) / l.tensor);
  if (e.shared_ffn > 0)
    out += ffn_activations(job, static_cast<double>(e.shared_ffn) / l.tensor, rows(job), false);
  return out;
}

}  // namespace

Bytes layer_input(const Job& job) {
  // Megatron keeps the checkpoint whole on each tensor rank unless sequence parallelism shards it.
  const double sp = job.layout.sequence_parallel ? job.layout.tensor : 1;
  return Bytes::si(2.0 * rows(job) * job.model.hidden / sp);
}

Bytes layer_activations(const Job& job, LayerKind kind) {
  const model::Architecture& a = job.model;
  const auto dense = [&] {
    return ffn_surroundings(job) +
           ffn_activations(job, static_cast<double>(a.ffn) / job.layout.tensor, rows(job), false);
  };
  switch (kind) {
    case LayerKind::dense: return attention_activations(job) + dense();
    case LayerKind::experts: return attention_activations(job) + experts_activations(job);
    case LayerKind::attention_only: return attention_activations(job);
    case LayerKind::ffn_only: return dense();
    case LayerKind::experts_only: return experts_activations(job);
    case LayerKind::state_space: {
      const model::StateSpace& s = *a.state_space;
      const double inner = static_cast<double>(s.heads) * s.head_dim / job.layout.tensor;
      const double groups = std::max(static_cast<double>(s.groups) / job.layout.tensor, 1.0);
      return ffn_surroundings(job) +
             Bytes::si(2.0 * rows(job) * (4 * inner + 4 * groups * s.state));
    }
  }
  return {};
}

MemoryTerms memory(const Job& job, const fabric::Machine& machine,
                   const std::vector<LayerCounts>& parts, const ModelBlocks& blocks) {
  const Layout& l = job.layout;
  const model::Software& sw = job.software;
  const int p = l.pipeline, v = static_cast<int>(parts.size()) / p;
  const PipelineView view{.stages = p,
                          .chunks = v,
                          .micro_batches = std::max(job.micro_batches(), 1),
                          .schedule = l.schedule};
  const double data = static_cast<double>(l.data) * l.context;
  const double shards = l.shard_group > 0 ? std::min<double>(l.shard_group, data) : data;
  const double expert_data = std::max(1.0, data * l.tensor / (l.expert * l.expert_tensor));
  const double kept_rate = l.recompute == Recompute::full ? 0 : 1;
  (void)kept_rate;

  MemoryTerms worst;
  for (int stage = 0; stage < p; ++stage) {
    MemoryTerms m;
    m.stage = stage;
    m.capacity = machine.gpu.memory_usable;
    double plain = 0, expert = 0, largest_block = 0;
    Bytes kept{}, full_working{};
    int layers = 0;
    for (int chunk = 0; chunk < v; ++chunk) {
      const LayerCounts& counts = parts[static_cast<std::size_t>(chunk * p + stage)];
      for (std::size_t k = 0; k < 6; ++k) {
        const int n = counts.of[k];
        if (n == 0) continue;
        const Block& b = blocks.layers[k];
        plain += n * (b.parameters - b.expert_parameters);
        expert += n * b.expert_parameters;
        largest_block = std::max(largest_block, b.parameters);
        full_working = max(full_working, blocks.kept[k]);
        kept += n * blocks.kept[k];
        layers += n;
      }
    }
    const bool first = stage == 0, last = stage == p - 1;
    if (first) plain += blocks.embedding.parameters;
    if (last)
      plain += (p > 1 && job.model.tied_embeddings) ? blocks.embedding.parameters
                                                    : blocks.head.parameters;

    // Model state.
    const double adam = job.optimizer == model::OptimizerKind::adam ? 2 : 1;
    const double state = sw.master_bytes + adam * sw.moment_bytes;
    double weight_bytes =
        job.precision == model::Precision::fp32 || job.precision == model::Precision::tf32 ? 4 : 2;
    const double quantised = sw.quantised_weights_kept ? 2 * saved_bytes(job) : 0;
    const double trained = job.adapters_only ? 0.01 : 1;  // rank-16 adapters on all linear layers
    const bool full = l.shard == Shard::full;
    const double ws = full ? shards : 1;
    const double gs = l.shard >= Shard::gradients ? shards : 1;
    const double os = l.shard >= Shard::optimizer ? shards : 1;
    const double ews = full ? expert_data : 1;
    const double egs = l.shard >= Shard::gradients ? expert_data : 1;
    const double eos = l.shard >= Shard::optimizer ? expert_data : 1;
    m.weights = Bytes::si((weight_bytes + quantised) * (plain / ws + expert / ews));
    m.gradients = Bytes::si(trained * sw.gradient_bytes * (plain / gs + expert / egs));
    if (full && !l.reshard_after_forward) {  // gathered once and kept, gradients whole until the
                                             // last micro-batch
      m.gathered += Bytes::si(weight_bytes * (plain + expert));
      if (view.micro_batches > 1)
        m.gathered += Bytes::si(trained * sw.gradient_bytes * (plain + expert));
    }
    m.optimizer = Bytes::si(trained * state * (plain / os + expert / eos));
    if (l.offload_optimizer != model::Offload::none) {
      m.host = m.optimizer;
      m.optimizer = {};
    }

    // Activations of the parts in flight.
    const double flight = in_flight(view, stage) / static_cast<double>(v);  // whole stages
    const double full_layers =
        l.recompute == Recompute::full
            ? (l.recompute_layers > 0 ? std::min(l.recompute_layers, layers) : layers)
            : 0;
    const double share = layers > 0 ? full_layers / layers : 0;
    m.activations = flight * ((1 - share) * kept + full_layers * layer_input(job));
    if (full_layers > 0) m.temporaries += full_working;
    if (first) m.activations += flight * Bytes::si(8.0 * l.micro_batch * job.sequence / l.context);
    if (l.offload_activations != model::Offload::none) {
      m.host += m.activations;
      m.activations = Bytes::si(m.activations.si() / std::max(layers, 1) * 2);
    }
    if (last && job.model.vocab > 0) {
      // logits at 16 bit and, unless the loss is fused, an fp32 copy and its softmax, plus the
      // input
      const double cells = rows(job) * job.model.vocab / l.tensor;
      m.loss = Bytes::si((sw.fused_loss ? 4.0 : 2.0 + 4.0 + 4.0) * cells) + layer_input(job) * 2.0;
    }

    if (full) {
      m.gathered += Bytes::si(2 * weight_bytes * largest_block);  // the one that runs and the next
      m.gathered += Bytes::si(sw.gradient_bytes * largest_block);
    } else if (l.data > 1) {
      m.buckets = Bytes::si(sw.bucket_bytes) + sw.bucket_share * m.gradients;
    }
    // Working set of one layer in backward: gradients of its widest tensors.
    const double width = std::max<double>(job.model.gated ? 2.0 * job.model.ffn : job.model.ffn,
                                          3.0 * job.model.hidden) /
                         l.tensor;
    m.temporaries += Bytes::si(2.0 * rows(job) * (width + 2.0 * job.model.hidden));
    // Optimizer step: fp32 copies of one bucket of gradients; smaller than activations when they
    // are gone. The gradient of one weight matrix, 16 bit and as fp32, before it is added to the
    // others.
    m.temporaries +=
        Bytes::si(6.0 * job.model.hidden * job.model.ffn * (job.model.gated ? 2 : 1) / l.tensor);
    m.communication = Bytes::si(1.0e9);
    m.context = Bytes::si(0.6e9);
    m.reserve = 0.03 * m.allocated();
    if (stage == 0 || m.total() > worst.total()) worst = m;
  }
  return worst;
}

}  // namespace railyard::predict

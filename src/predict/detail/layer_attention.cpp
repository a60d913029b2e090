// Attention: projections, the core (scores, softmax, values), context parallelism, and the
// collectives around it.

#include <algorithm>

#include "predict/activations.h"
#include "predict/detail/layer_parts.h"

namespace railyard::predict::detail {

namespace {

using model::Architecture;
using model::Job;
using model::Layout;

/// Heads on this rank and their widths.
struct Heads {
  double queries = 0, keys = 0;           ///< numbers of heads
  double key_width = 0, value_width = 0;  ///< a head
};

AttentionShape core_shape(const Job& job, const Heads& h) {
  const Layout& l = job.layout;
  AttentionShape s{.batch = static_cast<double>(l.micro_batch),
                   .heads = h.queries,
                   .kv_heads = h.keys,
                   .queries = static_cast<double>(job.sequence) / l.context,
                   .keys = static_cast<double>(job.sequence),
                   .head_dim = h.key_width,
                   .value_dim = h.value_width,
                   .causal = job.model.causal};
  if (l.context > 1 && l.context_kind == model::ContextKind::all_to_all) {
    s.heads /= l.context;  // each rank sees the whole sequence for a share of the heads
    s.queries = s.keys;
  }
  return s;
}

/// Of a mean layer: with sliding windows, some layers see the whole sequence and most a window.
TwoWay core_time(const BlockContext& c, const AttentionShape& whole) {
  const Architecture& a = c.job.model;
  const auto once = [&](const AttentionShape& shape) {
    return model::unfused_attention(c.job)
               ? unfused_attention(shape, c.device, c.constants, c.job.software.attention_dropout)
               : flash_attention(shape, c.device, c.constants);
  };
  const TwoWay t = once(whole);
  if (a.window <= 0 || a.window >= c.job.sequence) return t;
  AttentionShape windowed = whole;
  windowed.window = a.window;
  const TwoWay w = once(windowed);
  const double full = a.window_every > 1 ? 1.0 / a.window_every : 0.0;
  return {.forward = full * t.forward + (1 - full) * w.forward,
          .backward = full * t.backward + (1 - full) * w.backward};
}

void add_context_exchange(Block& b, const BlockContext& c, const Heads& h,
                          const AttentionShape& s) {
  const Layout& l = c.job.layout;
  if (l.context <= 1) return;
  const double width = h.key_width + h.value_width;
  if (l.context_kind == model::ContextKind::ring) {
    // keys and values travel around the ring; backward also returns their gradients
    const Bytes kv = Bytes::si(2 * s.batch * s.queries * h.keys * width);
    const Bytes whole = kv * static_cast<double>(l.context);
    b.forward.context += c.collectives.time(Collective::all_gather, whole, c.context).time;
    b.backward.context += 2 * c.collectives.time(Collective::all_gather, whole, c.context).time;
  } else {
    // queries and outputs, keys and values change from a share of tokens to a share of heads
    const double rows = s.batch * static_cast<double>(c.job.sequence) / l.context;
    const Bytes qkvo = Bytes::si(2 * rows * (h.queries * width + h.keys * width));
    const Seconds exchange = c.collectives.time(Collective::all_to_all, qkvo, c.context).time;
    b.forward.context += exchange;
    b.backward.context += exchange;
  }
  b.forward.kernels += l.context;
  b.backward.kernels += 2 * l.context;
}

void add_core(Block& b, const BlockContext& c, const Heads& h) {
  const AttentionShape s = core_shape(c.job, h);
  const TwoWay t = core_time(c, s);
  if (c.log) c.log->attentions.push_back({s, t});
  b.forward.attention += t.forward;
  b.backward.attention += t.backward;
  b.selective.attention += t.forward;
  const double kernels = model::unfused_attention(c.job) ? 5 : 1;
  b.forward.kernels += kernels;
  b.backward.kernels += 2 * kernels;
  b.selective.kernels += kernels;
  b.flops += Flops::si(2 * s.batch * s.heads * s.queries * s.keys * (s.head_dim + s.value_dim) *
                       (s.causal ? 0.5 : 1.0));
  add_context_exchange(b, c, h, s);
}

/// Multi-head latent attention: queries, keys and values come from narrow projections.
/// [DeepSeek-AI, DeepSeek-V2, 2024]
void add_latent(Block& b, const BlockContext& c) {
  const Architecture& a = c.job.model;
  const model::LatentAttention& l = *a.latent;
  const double rows = tokens_per_rank(c.job), hidden = a.hidden;
  const double qk = l.nope_dim + l.rope_dim;
  const double heads = static_cast<double>(a.heads) / c.job.layout.tensor;
  Linear linear(b, c);
  const auto up = [&](double out, double in) {
    const Pass before = b.forward;
    linear.add({rows, out, in});
    b.latent = b.latent + (b.forward - before);
  };
  if (l.query_rank > 0) {
    linear.add({rows, static_cast<double>(l.query_rank), hidden});
    up(heads * qk, static_cast<double>(l.query_rank));
  } else {
    linear.add({rows, heads * qk, hidden});
  }
  linear.add({rows, static_cast<double>(l.kv_rank + l.rope_dim), hidden});
  up(heads * (l.nope_dim + l.value_dim), static_cast<double>(l.kv_rank));
  linear.add({rows, hidden, heads * l.value_dim});
  // latent norms, the split and join of rotary and other parts of each head
  const double moved =
      rows * (heads * (2 * qk + l.nope_dim + l.value_dim) + l.query_rank + l.kv_rank);
  b.forward.memory += elementwise(Bytes::si(4 * moved), c.device);
  b.backward.memory += elementwise(Bytes::si(6 * moved), c.device);
  b.forward.kernels += 8;
  b.backward.kernels += 12;
  add_core(b, c,
           {.queries = heads,
            .keys = heads,
            .key_width = qk,
            .value_width = static_cast<double>(l.value_dim)});
}

/// Multi-head attention, or grouped: several query heads to one of keys and values.
void add_grouped(Block& b, const BlockContext& c) {
  const Architecture& a = c.job.model;
  const double t = c.job.layout.tensor;
  const double rows = tokens_per_rank(c.job), hidden = a.hidden;
  const double d = a.head_width();
  const double heads = a.heads / t;
  const double kv = std::max(a.kv_heads / t, 1.0);
  Linear linear(b, c);
  linear.add({rows, (heads + 2 * kv) * d, hidden});
  linear.add({rows, hidden, heads * d});
  const bool rotary = a.positions == model::Positions::rotary;
  const double moved = rows * d * (rotary ? heads + kv : 0.0) +
                       (c.job.software.fused_kernels ? 0.0 : rows * d * (heads + 2 * kv));
  b.forward.memory += elementwise(Bytes::si(4 * moved), c.device);
  b.backward.memory += elementwise(Bytes::si(4 * moved), c.device);
  b.forward.kernels += (rotary ? 2 : 0) + launches(c.job, {.compiled = 1, .fused = 4, .eager = 5});
  b.backward.kernels +=
      (rotary ? 2 : 0) + launches(c.job, {.compiled = 2, .fused = 8, .eager = 10});
  add_core(b, c, {.queries = heads, .keys = kv, .key_width = d, .value_width = d});
}

}  // namespace

void add_attention(Block& b, const BlockContext& c) {
  if (c.job.model.latent)
    add_latent(b, c);
  else
    add_grouped(b, c);
  b.parameters += 2.0 * c.job.model.hidden;
  add_surroundings(b, c);
  add_tensor_collectives(b, c);
}

}  // namespace railyard::predict::detail

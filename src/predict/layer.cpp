#include "predict/layer.h"

#include <algorithm>
#include <cmath>

namespace railyard::predict {

Pass operator+(const Pass& a, const Pass& b) {
  return {.matmul = a.matmul + b.matmul,
          .attention = a.attention + b.attention,
          .memory = a.memory + b.memory,
          .kernels = a.kernels + b.kernels,
          .tensor = a.tensor + b.tensor,
          .context = a.context + b.context,
          .expert = a.expert + b.expert};
}

Pass operator*(double k, const Pass& p) {
  return {.matmul = k * p.matmul,
          .attention = k * p.attention,
          .memory = k * p.memory,
          .kernels = k * p.kernels,
          .tensor = k * p.tensor,
          .context = k * p.context,
          .expert = k * p.expert};
}

namespace {

using model::Architecture;
using model::AttentionKernel;
using model::Job;
using model::Layout;

/// Adds a linear layer: forward y[T,n] = x[T,k] W, backward dx and dW. In fp8 and fp4 the operands
/// are cast first: one read at 16 bit and two writes (both orientations) per operand.
class Linear {
 public:
  Linear(Block& block, const BlockContext& c) : b_(block), c_(c) {}

  struct Options {
    Operands operands = Operands::job_precision;
    bool expert = false;
    double batch = 1;  ///< experts on this rank; tokens are per expert then
  };

  struct Size {
    double tokens = 0, out = 0, in = 0;
  };

  void add(Size s, Options o) {
    const Seconds forward =
        gemm({s.tokens, s.out, s.in, o.batch}, c_.device, c_.constants, o.operands);
    const Seconds input =
        gemm({s.tokens, s.in, s.out, o.batch}, c_.device, c_.constants, o.operands);
    const Seconds weight =
        gemm({s.out, s.in, s.tokens, o.batch}, c_.device, c_.constants, o.operands);
    b_.forward.matmul += forward;
    b_.backward.matmul += input + weight;
    b_.weight_gradients += weight;
    if (c_.log)
      c_.log->linears.push_back(
          {{s.tokens, s.out, s.in, o.batch}, o.operands, forward, input + weight});
    b_.forward.kernels += 1;
    b_.backward.kernels += 2;
    const double weights = o.batch * s.out * s.in;
    (o.expert ? b_.expert_parameters : b_.parameters) += weights;
    b_.flops += Flops::si(2 * o.batch * s.tokens * s.out * s.in);
    if (c_.device.quantised && o.operands == Operands::job_precision) {
      const double cast = 2 + 2 * c_.device.input_bytes;
      b_.forward.memory += elementwise(Bytes::si(cast * o.batch * s.tokens * s.in), c_.device);
      b_.backward.memory += elementwise(Bytes::si(cast * o.batch * s.tokens * s.out), c_.device);
      // weights are cast once per step in most recipes; spread over micro-batches
      const double passes = std::max(1, c_.job.micro_batches());
      b_.forward.memory += elementwise(Bytes::si(cast * weights / passes), c_.device);
    }
    accumulate(weights);
  }
  void add(Size s) { add(s, Options{}); }

 private:
  /// The weight gradient is added into the buffer of the step. Stacks with gradient accumulation
  /// fusion do it in the GEMM's epilogue, behind its arithmetic; others run a kernel of their own.
  void accumulate(double weights) {
    const double g = c_.job.software.gradient_bytes;
    if (c_.job.software.fused_accumulation || (c_.job.micro_batches() <= 1 && g <= 2)) return;
    // In 16 bit two reads and a write; into fp32 a cast (2 read, 4 written) and then the addition.
    const double moved = g > 2 ? 2 + g + 3 * g : 3 * g;
    b_.backward.memory += elementwise(Bytes::si(moved * weights), c_.device);
    b_.backward.kernels += 1;
  }

  Block& b_;
  const BlockContext& c_;
};

/// Tokens that one rank works on: of one micro-batch, after context parallelism.
double tokens(const Job& job) {
  return static_cast<double>(job.layout.micro_batch) * job.sequence / job.layout.context;
}

/// Without sequence parallelism every tensor rank does all the norms and residuals.
double norm_tokens(const Job& job) {
  return tokens(job) / (job.layout.sequence_parallel ? job.layout.tensor : 1);
}

double activation_factor(const BlockContext& c) {
  const model::Software& s = c.job.software;
  return s.compiled        ? c.constants.compiled_traffic
         : s.fused_kernels ? 1.0
                           : c.constants.eager_traffic;
}

/// Kernels of a chain of small operations, by how well the software fuses. Counted from profiles of
/// a GPT layer: about 12 forward and 25 backward with torch.compile, 20 and 45 with Megatron-LM's
/// fused kernels, 28 and 60 in plain PyTorch.
struct Launches {
  double compiled = 0, fused = 0, eager = 0;
};
double launches(const Job& job, Launches n) {
  return job.software.compiled ? n.compiled : job.software.fused_kernels ? n.fused : n.eager;
}

/// Norms, residuals and dropout around one sub-layer (attention or FFN).
void add_surroundings(Block& b, const BlockContext& c) {
  const double th = norm_tokens(c.job) * c.job.model.hidden;
  const double f = activation_factor(c);
  b.forward.memory +=
      reduction(Bytes::si(4 * th), c.device) + elementwise(Bytes::si(7 * f * th), c.device);
  b.backward.memory +=
      reduction(Bytes::si(8 * th), c.device) + elementwise(Bytes::si(8 * f * th), c.device);
  b.forward.kernels += launches(c.job, {.compiled = 2, .fused = 3, .eager = 6});
  b.backward.kernels += launches(c.job, {.compiled = 4, .fused = 8, .eager = 12});
}

/// The pair of collectives around a tensor-parallel sub-layer: all-reduce, or with sequence
/// parallelism an all-gather before and a reduce-scatter after (the same volume), one set each way.
void add_tensor_collectives(Block& b, const BlockContext& c) {
  const Layout& l = c.job.layout;
  if (l.tensor <= 1) return;
  const Bytes size = Bytes::si(2 * tokens(c.job) * c.job.model.hidden);
  Seconds once = {};
  if (l.sequence_parallel) {
    once = c.collectives.time(Collective::all_gather, size, c.tensor).time +
           c.collectives.time(Collective::reduce_scatter, size, c.tensor).time;
    // backward gathers the saved input once more for the weight gradient
    b.backward.tensor += c.collectives.time(Collective::all_gather, size, c.tensor).time;
  } else {
    once = c.collectives.time(Collective::all_reduce, size, c.tensor).time;
  }
  b.forward.tensor += once;
  b.backward.tensor += once;
  b.forward.kernels += l.sequence_parallel ? 2 : 1;
  b.backward.kernels += l.sequence_parallel ? 3 : 1;
}

void add_core_attention(Block& b, const BlockContext& c, double heads, double kv_heads,
                        double head_dim, double value_dim) {
  const Job& job = c.job;
  const Architecture& a = job.model;
  const Layout& l = job.layout;
  AttentionShape s{.batch = static_cast<double>(l.micro_batch),
                   .heads = heads,
                   .kv_heads = kv_heads,
                   .queries = static_cast<double>(job.sequence) / l.context,
                   .keys = static_cast<double>(job.sequence),
                   .head_dim = head_dim,
                   .value_dim = value_dim,
                   .causal = a.causal};
  if (l.context > 1 && l.context_kind == model::ContextKind::all_to_all) {
    s.heads /= l.context;  // each rank sees the whole sequence for a share of the heads
    s.queries = s.keys;
  }
  const bool unfused = model::unfused_attention(job);
  const auto once = [&](const AttentionShape& shape) {
    return unfused ? unfused_attention(shape, c.device, c.constants, job.software.attention_dropout)
                   : flash_attention(shape, c.device, c.constants);
  };
  TwoWay t = once(s);
  if (a.window > 0 && a.window < job.sequence) {
    AttentionShape windowed = s;
    windowed.window = a.window;
    const TwoWay w = once(windowed);
    const double full = a.window_every > 1 ? 1.0 / a.window_every : 0.0;
    t = {.forward = full * t.forward + (1 - full) * w.forward,
         .backward = full * t.backward + (1 - full) * w.backward};
  }
  if (c.log) c.log->attentions.push_back({s, t});
  b.forward.attention += t.forward;
  b.backward.attention += t.backward;
  b.selective.attention += t.forward;
  const double kernels = unfused ? 5 : 1;
  b.forward.kernels += kernels;
  b.backward.kernels += 2 * kernels;
  b.selective.kernels += kernels;
  b.flops += Flops::si(2 * s.batch * s.heads * s.queries * s.keys * (head_dim + value_dim) *
                       (a.causal ? 0.5 : 1.0));

  if (l.context > 1) {
    if (l.context_kind == model::ContextKind::ring) {
      // keys and values travel around the ring; backward also returns their gradients
      const Bytes kv = Bytes::si(2 * s.batch * s.queries * kv_heads * (head_dim + value_dim));
      const Bytes whole = kv * static_cast<double>(l.context);
      b.forward.context += c.collectives.time(Collective::all_gather, whole, c.context).time;
      b.backward.context += 2 * c.collectives.time(Collective::all_gather, whole, c.context).time;
    } else {
      const double rows = s.batch * static_cast<double>(job.sequence) / l.context;
      const Bytes qkvo = Bytes::si(
          2 * rows * (heads * (head_dim + value_dim) + kv_heads * (head_dim + value_dim)));
      const Seconds exchange = c.collectives.time(Collective::all_to_all, qkvo, c.context).time;
      b.forward.context += exchange;
      b.backward.context += exchange;
    }
    b.forward.kernels += l.context;
    b.backward.kernels += 2 * l.context;
  }
}

void add_attention(Block& b, const BlockContext& c) {
  const Architecture& a = c.job.model;
  const double t = c.job.layout.tensor;
  const double rows = tokens(c.job);
  Linear linear(b, c);
  if (a.latent) {
    const model::LatentAttention& l = *a.latent;
    const double qk = l.nope_dim + l.rope_dim;
    const double heads = a.heads / t;
    if (l.query_rank > 0) {
      linear.add({rows, static_cast<double>(l.query_rank), static_cast<double>(a.hidden)});
      linear.add({rows, heads * qk, static_cast<double>(l.query_rank)});
    } else {
      linear.add({rows, heads * qk, static_cast<double>(a.hidden)});
    }
    linear.add({rows, static_cast<double>(l.kv_rank + l.rope_dim), static_cast<double>(a.hidden)});
    linear.add({rows, heads * (l.nope_dim + l.value_dim), static_cast<double>(l.kv_rank)});
    linear.add({rows, static_cast<double>(a.hidden), heads * l.value_dim});
    // latent norms, the split and join of rotary and other parts of each head
    const double moved =
        rows * (heads * (2 * qk + l.nope_dim + l.value_dim) + l.query_rank + l.kv_rank);
    b.forward.memory += elementwise(Bytes::si(4 * moved), c.device);
    b.backward.memory += elementwise(Bytes::si(6 * moved), c.device);
    b.forward.kernels += 8;
    b.backward.kernels += 12;
    add_core_attention(b, c, heads, heads, qk, l.value_dim);
  } else {
    const double d = a.head_width();
    const double heads = a.heads / t;
    const double kv = std::max(a.kv_heads / t, 1.0);
    linear.add({rows, (heads + 2 * kv) * d, static_cast<double>(a.hidden)});
    linear.add({rows, static_cast<double>(a.hidden), heads * d});
    const bool rotary = a.positions == model::Positions::rotary;
    const double moved = rows * d * (rotary ? heads + kv : 0.0) +
                         (c.job.software.fused_kernels ? 0.0 : rows * d * (heads + 2 * kv));
    b.forward.memory += elementwise(Bytes::si(4 * moved), c.device);
    b.backward.memory += elementwise(Bytes::si(4 * moved), c.device);
    b.forward.kernels +=
        (rotary ? 2 : 0) + launches(c.job, {.compiled = 1, .fused = 4, .eager = 5});
    b.backward.kernels +=
        (rotary ? 2 : 0) + launches(c.job, {.compiled = 2, .fused = 8, .eager = 10});
    add_core_attention(b, c, heads, kv, d, d);
  }
  b.parameters += 2.0 * a.hidden;
  add_surroundings(b, c);
  add_tensor_collectives(b, c);
}

/// Up, activation, down of width `ffn` on this rank, for `rows` tokens (`batch` experts at once).
struct FfnSize {
  double rows = 0, width = 0, hidden = 0;
};
void add_ffn_matrices(Block& b, const BlockContext& c, FfnSize s, Linear::Options o) {
  const Architecture& a = c.job.model;
  const double rows = s.rows, ffn = s.width;
  Linear linear(b, c);
  linear.add({rows, (a.gated ? 2 : 1) * ffn, s.hidden}, o);
  linear.add({rows, s.hidden, ffn}, o);
  const double cells = o.batch * rows * ffn * activation_factor(c);
  b.forward.memory += elementwise(Bytes::si((a.gated ? 6 : 4) * cells), c.device);
  b.backward.memory += elementwise(Bytes::si((a.gated ? 10 : 6) * cells), c.device);
  const double gate = a.gated ? 2 : 1;
  b.forward.kernels += launches(c.job, {.compiled = 1, .fused = 1, .eager = gate});
  b.backward.kernels += launches(c.job, {.compiled = 1, .fused = 2, .eager = 2 * gate});
}

void add_dense_ffn(Block& b, const BlockContext& c) {
  const Architecture& a = c.job.model;
  add_ffn_matrices(b, c,
                   {tokens(c.job), static_cast<double>(a.ffn) / c.job.layout.tensor,
                    static_cast<double>(a.hidden)},
                   {});
  b.parameters += 2.0 * a.hidden;
  if (a.parallel_blocks) return;  // shares the norm and the all-reduce of attention
  add_surroundings(b, c);
  add_tensor_collectives(b, c);
}

void add_experts(Block& b, const BlockContext& c) {
  const Architecture& a = c.job.model;
  const Layout& l = c.job.layout;
  const model::Experts& e = *a.experts;
  const double rows = tokens(c.job) / l.tensor;  // routed from the sequence-sharded tokens
  const double local_experts = std::max(1.0, static_cast<double>(e.experts) / l.expert);
  const double ffn = static_cast<double>(e.ffn) / l.expert_tensor;
  Linear linear(b, c);
  linear.add({rows, static_cast<double>(e.experts), static_cast<double>(a.hidden)},
             {.operands = Operands::sixteen_bit});

  // Each rank sends top_k copies of its tokens and receives as many on average; the busiest rank
  // receives `expert_imbalance` times that.
  const double copies = rows * e.top_k * l.expert_tensor * c.job.software.expert_imbalance;
  // Latent experts work at a narrower width, between a projection down and one up.
  const double width = e.latent > 0 ? e.latent : a.hidden;
  if (e.latent > 0) {
    linear.add({rows, width, static_cast<double>(a.hidden)});
    linear.add({rows, static_cast<double>(a.hidden), width});
  }
  add_ffn_matrices(b, c, {copies / local_experts, ffn, width},
                   {.expert = true, .batch = local_experts});
  if (e.shared_ffn > 0)
    add_ffn_matrices(b, c,
                     {tokens(c.job), static_cast<double>(e.shared_ffn) / l.tensor,
                      static_cast<double>(a.hidden)},
                     {});

  // Permutation gathers whole rows at the streaming rate; un-permutation adds rows into each other
  // and is several times slower (index_add on H200: 15 % of the memory rate). Backward swaps the
  // two. Stacks with dispatch kernels of their own (DeepEP) fuse it with the exchange.
  const double moved = copies * width;
  const double scatter = c.job.software.deduplicate_dispatch ? c.constants.expert_scatter_fused
                                                             : c.constants.expert_scatter;
  const Seconds rows_moved =
      elementwise(Bytes::si(4 * moved), c.device) + reduction(Bytes::si(scatter * moved), c.device);
  b.forward.memory += rows_moved;
  b.backward.memory += rows_moved;
  // Grouped linear layers launch one GEMM per local expert, casts included when quantised.
  const double per_expert = c.device.quantised ? 2 : 1;
  b.forward.kernels += 20 + 2 * per_expert * local_experts;
  b.backward.kernels += 30 + 4 * per_expert * local_experts;
  if (l.expert > 1) {
    const double each = 2 * rows * c.job.software.expert_imbalance * width;
    const Bytes dispatched = Bytes::si(each * e.top_k);
    Seconds exchange = c.collectives.time(Collective::all_to_all, dispatched, c.expert).time;
    if (c.job.software.deduplicate_dispatch && c.expert.domains > 1) {
      // Kernels such as DeepEP send a token once to each scale-up domain that wants it and copy it
      // there: of D domains, a token with k random experts wants D (1 - (1 - 1/D)^k).
      const double d = c.expert.domains;
      const double wanted = d * (1 - std::pow(1 - 1 / d, e.top_k));
      const Group inside{.ranks = c.expert.per_domain,
                         .stride = c.expert.stride,
                         .per_domain = c.expert.per_domain,
                         .per_server = std::min(c.expert.per_domain, c.expert.per_server)};
      exchange =
          min(exchange,
              c.collectives.time(Collective::all_to_all, Bytes::si(each * wanted), c.expert).time +
                  c.collectives.time(Collective::all_to_all, dispatched, inside).time);
    }
    b.forward.expert += 2 * exchange;
    b.backward.expert += 2 * exchange;
    b.forward.kernels += 2;
    b.backward.kernels += 2;
  }
  b.parameters += 2.0 * a.hidden;
  add_surroundings(b, c);
  if (l.expert_tensor > 1 || e.shared_ffn > 0) add_tensor_collectives(b, c);
}

void add_state_space(Block& b, const BlockContext& c) {
  const Architecture& a = c.job.model;
  const model::StateSpace& s = *a.state_space;
  const double t = c.job.layout.tensor;
  const double rows = tokens(c.job);
  const double inner = static_cast<double>(s.heads) * s.head_dim / t;
  const double groups = std::max(static_cast<double>(s.groups) / t, 1.0);
  Linear linear(b, c);
  linear.add({rows, 2 * inner + 2 * groups * s.state + s.heads / t, static_cast<double>(a.hidden)});
  linear.add({rows, static_cast<double>(a.hidden), inner});
  // The scan in chunks of 256: within a chunk like attention over the state width, between chunks a
  // small recurrence.  [Dao and Gu, Mamba-2, 2024]
  const double chunk = 256;
  const double flops = 2 * rows * inner * (chunk / 2 + 2 * s.state);
  const Seconds scan = Seconds::si(flops / (0.5 * c.device.attention.si()));
  b.forward.attention += scan;
  b.backward.attention += 2.5 * scan;
  b.flops += Flops::si(flops);
  const double cells = rows * (2 * inner + 2 * groups * s.state);
  // convolution, gate, and the chunk kernels, which pass fp32 states and decay sums through memory
  b.forward.memory += elementwise(Bytes::si(24 * cells), c.device);
  b.backward.memory += elementwise(Bytes::si(48 * cells), c.device);
  b.forward.kernels += 8;
  b.backward.kernels += 14;
  b.parameters += 2.0 * a.hidden;
  add_surroundings(b, c);
  add_tensor_collectives(b, c);
}

}  // namespace

BlockContext make_context(const Job& job, const Device& device, const Calibration& calibration,
                          const CollectiveModel& collectives, const fabric::Machine& machine) {
  const Layout& l = job.layout;
  // Rank order: tensor fastest, then context, then data, pipeline outermost (Megatron's default
  // tp-cp-ep-dp-pp). Experts spread over neighbouring ranks of tensor x context x data.
  return {.job = job,
          .device = device,
          .constants = calibration.constants,
          .collectives = collectives,
          .tensor = make_group(machine, l.tensor, 1),
          .context = make_group(machine, l.context, l.tensor),
          .expert = make_group(machine, l.expert, l.expert_tensor),
          .expert_tensor = make_group(machine, l.expert_tensor, 1)};
}

Block layer_block(const BlockContext& c, LayerKind kind) {
  Block b;
  switch (kind) {
    case LayerKind::dense:
      add_attention(b, c);
      add_dense_ffn(b, c);
      break;
    case LayerKind::experts:
      add_attention(b, c);
      add_experts(b, c);
      break;
    case LayerKind::state_space: add_state_space(b, c); break;
    case LayerKind::attention_only: add_attention(b, c); break;
    case LayerKind::ffn_only: add_dense_ffn(b, c); break;
    case LayerKind::experts_only: add_experts(b, c); break;
  }
  b.parameters += b.expert_parameters;
  return b;
}

Block embedding_block(const BlockContext& c) {
  const Architecture& a = c.job.model;
  Block b;
  const double table = static_cast<double>(a.vocab) * a.hidden / c.job.layout.tensor;
  const double cells = tokens(c.job) * a.hidden;
  b.parameters = table;
  if (a.positions == model::Positions::learned)
    b.parameters += static_cast<double>(std::max(a.max_positions, c.job.sequence)) * a.hidden;
  b.forward.memory = elementwise(Bytes::si(8 * cells), c.device);
  // Gradient rows are added into the table; the table's gradient is cleared or added once a pass.
  b.backward.memory = reduction(Bytes::si(8 * cells), c.device) +
                      elementwise(Bytes::si(2.0 * c.job.software.gradient_bytes * table), c.device);
  b.forward.kernels = 3;
  b.backward.kernels = 4;
  if (c.job.layout.tensor > 1) {
    const Bytes size = Bytes::si(2 * cells);
    b.forward.tensor = c.collectives
                           .time(c.job.layout.sequence_parallel ? Collective::reduce_scatter
                                                                : Collective::all_reduce,
                                 size, c.tensor)
                           .time;
  }
  return b;
}

Block head_block(const BlockContext& c) {
  const Architecture& a = c.job.model;
  Block b;
  const double rows = tokens(c.job);
  const double vocab = static_cast<double>(a.vocab) / c.job.layout.tensor;
  Linear linear(b, c);
  linear.add({rows, vocab, static_cast<double>(a.hidden)}, {.operands = Operands::sixteen_bit});
  if (a.tied_embeddings) b.parameters = 0;
  // Cross entropy: bytes per logit at the reduction rate, measured on H200: 13 forward and 13
  // backward through an fp32 copy, 3 and 5 without one [validation/h200_kernels.csv, ce_*].
  const double logits = rows * vocab;
  const bool fused = c.job.software.fused_loss || c.job.software.compiled;
  b.forward.memory += reduction(Bytes::si((fused ? 3 : 13) * logits), c.device);
  b.backward.memory += reduction(Bytes::si((fused ? 5 : 13) * logits), c.device);
  b.forward.kernels += fused ? 4 : 10;
  b.backward.kernels += fused ? 3 : 8;
  const double th = norm_tokens(c.job) * a.hidden;
  b.forward.memory += reduction(Bytes::si(4 * th), c.device);
  b.backward.memory += reduction(Bytes::si(8 * th), c.device);
  if (c.job.layout.tensor > 1) {
    const Bytes size = Bytes::si(2 * rows * a.hidden);
    if (c.job.layout.sequence_parallel) {
      b.forward.tensor += c.collectives.time(Collective::all_gather, size, c.tensor).time;
      b.backward.tensor += c.collectives.time(Collective::reduce_scatter, size, c.tensor).time;
    } else {
      b.backward.tensor += c.collectives.time(Collective::all_reduce, size, c.tensor).time;
    }
    // the loss reduces a maximum, a sum and the target's logit per token
    b.forward.tensor +=
        3 * c.collectives.time(Collective::all_reduce, Bytes::si(4 * rows), c.tensor).time;
  }
  return b;
}

Block convolutional_block(const BlockContext& c) {
  const model::Convolutional& n = *c.job.model.convolutional;
  const double samples = c.job.layout.micro_batch;
  Block b;
  b.parameters = n.parameters;
  b.flops = samples * n.forward_per_sample;
  // Small convolutions with batch norm and ReLU between them reach about half of a GEMM's rate and
  // wait for memory the rest of the time: activations are written once and read four times each
  // way.
  b.forward.matmul = Seconds::si(b.flops.si() / (0.5 * c.device.matmul.si()));
  b.forward.memory = elementwise(3 * samples * n.activations_per_sample, c.device);
  b.backward.matmul = 2 * b.forward.matmul;
  b.backward.memory = elementwise(6 * samples * n.activations_per_sample, c.device);
  b.weight_gradients = b.forward.matmul;
  b.forward.kernels = n.kernels;
  b.backward.kernels = 2 * n.kernels;
  return b;
}

}  // namespace railyard::predict

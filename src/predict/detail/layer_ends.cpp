// The two ends of a model: the embedding, and the logits with the loss.

#include <algorithm>

#include "predict/activations.h"
#include "predict/detail/layer_parts.h"

namespace railyard::predict {

using model::Architecture;

Block embedding_block(const BlockContext& c) {
  const Architecture& a = c.job.model;
  Block b;
  const double table = static_cast<double>(a.vocab) * a.hidden / c.job.layout.tensor;
  const double cells = tokens_per_rank(c.job) * a.hidden;
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
  const double rows = tokens_per_rank(c.job);
  const double vocab = static_cast<double>(a.vocab) / c.job.layout.tensor;
  detail::Linear(b, c).add({rows, vocab, static_cast<double>(a.hidden)},
                           {.operands = Operands::sixteen_bit});
  if (a.tied_embeddings) b.parameters = 0;
  // Cross entropy: bytes per logit at the reduction rate, measured on H200: 13 forward and 13
  // backward through an fp32 copy, 3 and 5 without one [validation/h200_kernels.csv, ce_*].
  const double logits = rows * vocab;
  const bool fused = c.job.software.fused_loss || c.job.software.compiled;
  b.forward.memory += reduction(Bytes::si((fused ? 3 : 13) * logits), c.device);
  b.backward.memory += reduction(Bytes::si((fused ? 5 : 13) * logits), c.device);
  b.forward.kernels += fused ? 4 : 10;
  b.backward.kernels += fused ? 3 : 8;
  const double th = detail::norm_tokens(c.job) * a.hidden;
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

}  // namespace railyard::predict

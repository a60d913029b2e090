// The dense feed-forward layer: up (twice when gated), activation, down.

#include "predict/activations.h"
#include "predict/detail/layer_parts.h"

namespace railyard::predict::detail {

void add_ffn_matrices(Block& b, const BlockContext& c, FfnSize s, Linear::Options o) {
  const model::Architecture& a = c.job.model;
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
  const model::Architecture& a = c.job.model;
  const Pass before = b.forward;
  add_ffn_matrices(b, c,
                   {tokens_per_rank(c.job), static_cast<double>(a.ffn) / c.job.layout.tensor,
                    static_cast<double>(a.hidden)},
                   {});
  b.ffn = b.forward - before;
  b.parameters += 2.0 * a.hidden;
  if (a.parallel_blocks) return;  // shares the norm and the all-reduce of attention
  add_surroundings(b, c);
  add_tensor_collectives(b, c);
}

}  // namespace railyard::predict::detail

// A state-space mixer (Mamba-2) instead of attention.

#include <algorithm>

#include "predict/activations.h"
#include "predict/detail/layer_parts.h"

namespace railyard::predict::detail {

void add_state_space(Block& b, const BlockContext& c) {
  const model::Architecture& a = c.job.model;
  const model::StateSpace& s = *a.state_space;
  const double t = c.job.layout.tensor;
  const double rows = tokens_per_rank(c.job);
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

}  // namespace railyard::predict::detail

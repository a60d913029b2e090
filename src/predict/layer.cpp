#include "predict/layer.h"

#include "predict/detail/layer_parts.h"

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

Pass operator-(const Pass& a, const Pass& b) { return a + -1 * b; }

Pass operator*(double k, const Pass& p) {
  return {.matmul = k * p.matmul,
          .attention = k * p.attention,
          .memory = k * p.memory,
          .kernels = k * p.kernels,
          .tensor = k * p.tensor,
          .context = k * p.context,
          .expert = k * p.expert};
}

BlockContext make_context(const model::Job& job, const Device& device,
                          const Calibration& calibration, const CollectiveModel& collectives,
                          const fabric::Machine& machine) {
  const model::Layout& l = job.layout;
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
      detail::add_attention(b, c);
      detail::add_dense_ffn(b, c);
      break;
    case LayerKind::experts:
      detail::add_attention(b, c);
      detail::add_experts(b, c);
      break;
    case LayerKind::state_space: detail::add_state_space(b, c); break;
    case LayerKind::attention_only: detail::add_attention(b, c); break;
    case LayerKind::ffn_only: detail::add_dense_ffn(b, c); break;
    case LayerKind::experts_only: detail::add_experts(b, c); break;
  }
  b.parameters += b.expert_parameters;
  return b;
}

}  // namespace railyard::predict

#include "predict/detail/layer_parts.h"

#include <algorithm>

#include "predict/activations.h"

namespace railyard::predict::detail {

using model::Job;
using model::Layout;

void Linear::add(Size s, Options o) {
  const GemmShape shape{s.tokens, s.out, s.in, o.batch};
  const Seconds forward = gemm(shape, c_.device, c_.constants, o.operands);
  const Seconds input = gemm({s.tokens, s.in, s.out, o.batch}, c_.device, c_.constants, o.operands);
  const Seconds weight =
      gemm({s.out, s.in, s.tokens, o.batch}, c_.device, c_.constants, o.operands);
  b_.forward.matmul += forward;
  b_.backward.matmul += input + weight;
  b_.weight_gradients += weight;
  if (c_.log) c_.log->linears.push_back({shape, o.operands, forward, input + weight});
  b_.forward.kernels += 1;
  b_.backward.kernels += 2;
  const double weights = o.batch * s.out * s.in;
  (o.expert ? b_.expert_parameters : b_.parameters) += weights;
  b_.flops += Flops::si(2 * o.batch * s.tokens * s.out * s.in);
  if (c_.device.quantised && o.operands == Operands::job_precision) cast(s, o);
  accumulate(weights);
}

void Linear::cast(Size s, Options o) {
  const double moved = 2 + 2 * c_.device.input_bytes;  // an element
  b_.forward.memory += elementwise(Bytes::si(moved * o.batch * s.tokens * s.in), c_.device);
  b_.backward.memory += elementwise(Bytes::si(moved * o.batch * s.tokens * s.out), c_.device);
  // weights are cast once per step in most recipes; spread over micro-batches
  const double passes = std::max(1, c_.job.micro_batches());
  const double weights = o.batch * s.out * s.in;
  b_.forward.memory += elementwise(Bytes::si(moved * weights / passes), c_.device);
}

/// The weight gradient is added into the buffer of the step. Stacks with gradient accumulation
/// fusion do it in the GEMM's epilogue, behind its arithmetic; others run a kernel of their own.
void Linear::accumulate(double weights) {
  const double g = c_.job.software.gradient_bytes;
  if (c_.job.software.fused_accumulation || (c_.job.micro_batches() <= 1 && g <= 2)) return;
  // In 16 bit two reads and a write; into fp32 a cast (2 read, 4 written) and then the addition.
  const double moved = g > 2 ? 2 + g + 3 * g : 3 * g;
  b_.backward.memory += elementwise(Bytes::si(moved * weights), c_.device);
  b_.backward.kernels += 1;
}

double norm_tokens(const Job& job) {
  return tokens_per_rank(job) / (job.layout.sequence_parallel ? job.layout.tensor : 1);
}

double activation_factor(const BlockContext& c) {
  const model::Software& s = c.job.software;
  return s.compiled        ? c.constants.compiled_traffic
         : s.fused_kernels ? 1.0
                           : c.constants.eager_traffic;
}

double launches(const Job& job, Launches n) {
  return job.software.compiled ? n.compiled : job.software.fused_kernels ? n.fused : n.eager;
}

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

void add_tensor_collectives(Block& b, const BlockContext& c) {
  const Layout& l = c.job.layout;
  if (l.tensor <= 1) return;
  const Bytes size = Bytes::si(2 * tokens_per_rank(c.job) * c.job.model.hidden);
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

}  // namespace railyard::predict::detail

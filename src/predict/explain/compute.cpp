// Terms of what the accelerator itself does: matrix multiplications by shape, attention,
// memory-bound kernels, recomputation.

#include "base/measure.h"
#include "predict/explain/terms.h"

namespace railyard::predict::explained {

namespace {

const char* kCalibration = "catalog/calibration.yaml";

std::string shape_of(const GemmShape& s) {
  std::string out = count(s.m) + " x " + count(s.n) + " x " + count(s.k);
  return s.batch > 1 ? count(s.batch) + " of " + out : out;
}

/// One linear layer: a GEMM forward, two backward (input and weights).
Term linear_term(const KernelLog::Linear& l) {
  const FlopRate forward = l.shape.flops() / l.forward;
  const FlopRate backward = 2 * l.shape.flops() / l.backward;
  return term("GEMM " + shape_of(l.shape), l.forward + l.backward,
              "forward " + show(l.forward) + " at " + show(forward) + ", backward " +
                  show(l.backward) + " at " + show(backward) +
                  (l.operands == Operands::sixteen_bit ? ", 16 bit" : ""),
              kCalibration);
}

Term attention_term(const KernelLog::Attention& a) {
  const AttentionShape& s = a.shape;
  return term(
      "heads " + count(s.heads) + ", " + count(s.queries) + " x " + count(s.keys) + " tokens",
      a.time.forward + a.time.backward,
      "forward " + show(a.time.forward) + ", backward " + show(a.time.backward) + "; head width " +
          count(s.head_dim) + (s.causal ? ", causal" : "") +
          (s.window > 0 ? ", window " + count(s.window) : ""),
      kCalibration);
}

/// What one block contributes to a part of the step, once a micro-batch.
struct Contribution {
  Seconds each = {};
  std::string formula = {};
  std::vector<Term> children = {};
};

Contribution matmul(const BlockView& b, const Facts& f) {
  Contribution out{.each = b.block.forward.matmul + b.block.backward.matmul};
  for (const KernelLog::Linear& l : b.kernels.linears) out.children.push_back(linear_term(l));
  if (f.outlook.job.adapters_only && b.block.weight_gradients > Seconds{}) {
    out.each -= b.block.weight_gradients;
    out.children.push_back(term("frozen weights", -1 * b.block.weight_gradients,
                                "no gradients of their own, only the adapters'", kCalibration));
  }
  return out;
}

Contribution attention(const BlockView& b, const Facts&) {
  Contribution out{.each = b.block.forward.attention + b.block.backward.attention};
  for (const KernelLog::Attention& a : b.kernels.attentions)
    out.children.push_back(attention_term(a));
  return out;
}

Contribution memory_bound(const BlockView& b, const Facts& f) {
  const Seconds streams = b.block.forward.memory + b.block.backward.memory;
  const double kernels = b.block.forward.kernels + b.block.backward.kernels;
  const Seconds gap = Seconds::si(f.calibration.constants.kernel_gap);
  const Device& d = f.outlook.pieces.device;
  Contribution out{.each = streams + kernels * gap};
  out.children = {
      term("streams", streams,
           "element-wise at " + show(d.memory) + ", norms and losses at " + show(d.reduction),
           kCalibration),
      term("gaps between kernels", kernels * gap, times(kernels, gap), kCalibration)};
  return out;
}

/// Recomputation repeats parts of the forward pass: all of it when it is full.
Contribution recompute(const BlockView& b, const Facts& f) {
  Contribution out;
  if (!b.repeats) return out;
  const bool full = f.outlook.job.layout.recompute == model::Recompute::full;
  const Pass& again = full ? b.block.forward : b.block.selective;
  const Seconds gap = Seconds::si(f.calibration.constants.kernel_gap);
  out.each = again.device() + again.kernels * gap;
  out.formula = full ? ", the whole forward again" : ", attention again";
  return out;
}

}  // namespace

std::vector<Term> compute_terms(const Facts& f, const TimePart& part) {
  const auto contribution = part.key == "matmul"         ? matmul
                            : part.key == "attention"    ? attention
                            : part.key == "memory_bound" ? memory_bound
                                                         : recompute;
  std::vector<Term> out;
  for (const BlockView& b : f.blocks) {
    Contribution c = contribution(b, f);
    if (c.each <= Seconds{}) continue;
    Term t = term(b.name, f.micro_batches * b.count * c.each,
                  micro_batches(f) + " x " + times(b.count, c.each) + c.formula);
    t.children = std::move(c.children);
    out.push_back(std::move(t));
  }
  const model::Software& s = f.outlook.job.software;
  settle(out, f.outlook.prediction.time.*part.member,
         {"software",
          s.stack + " of " + std::to_string(s.year) + "-" + std::to_string(s.month) +
              ": what it does with these kernels",
          kCalibration});
  return out;
}

}  // namespace railyard::predict::explained

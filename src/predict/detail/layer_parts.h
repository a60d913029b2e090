#pragma once
// What the layers of every kind are put together from: linear layers, what stands around a
// sub-layer, and the sub-layers themselves. Each function adds its time, launches, parameters and
// collectives to a block.

#include "predict/layer.h"

namespace railyard::predict::detail {

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
  void add(Size s, Options o);
  void add(Size s) { add(s, Options{}); }

 private:
  void cast(Size s, Options o);
  void accumulate(double weights);

  Block& b_;
  const BlockContext& c_;
};

/// Tokens for norms and residuals: without sequence parallelism every tensor rank does all of them.
double norm_tokens(const model::Job& job);

/// Bytes that chains of small operations move, as a multiple of what one fused kernel would.
double activation_factor(const BlockContext& c);

/// Kernels of a chain of small operations, by how well the software fuses. Counted from profiles of
/// a GPT layer: about 12 forward and 25 backward with torch.compile, 20 and 45 with Megatron-LM's
/// fused kernels, 28 and 60 in plain PyTorch.
struct Launches {
  double compiled = 0, fused = 0, eager = 0;
};
double launches(const model::Job& job, Launches n);

/// Norms, residuals and dropout around one sub-layer (attention or FFN).
void add_surroundings(Block& b, const BlockContext& c);

/// The pair of collectives around a tensor-parallel sub-layer: all-reduce, or with sequence
/// parallelism an all-gather before and a reduce-scatter after (the same volume), one set each way.
void add_tensor_collectives(Block& b, const BlockContext& c);

// Sub-layers, each with what stands around it.
void add_attention(Block& b, const BlockContext& c);
void add_dense_ffn(Block& b, const BlockContext& c);
void add_experts(Block& b, const BlockContext& c);
void add_state_space(Block& b, const BlockContext& c);

/// Up, activation, down of width `width` on this rank, for `rows` tokens.
struct FfnSize {
  double rows = 0, width = 0, hidden = 0;
};
void add_ffn_matrices(Block& b, const BlockContext& c, FfnSize s, Linear::Options o);

}  // namespace railyard::predict::detail

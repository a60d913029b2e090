#pragma once
// What one block of the network costs one rank for one micro-batch, forward and backward.
//
// A block is a layer of one kind (attention with a dense or an expert FFN, a state-space mixer,
// ...), the embedding, or the logits with the loss. The step model multiplies blocks by counts;
// nothing here knows about pipelines or data parallelism.

#include <vector>

#include "base/quantity.h"
#include "model/architecture.h"
#include "model/job.h"
#include "predict/collective.h"
#include "predict/kernels.h"

namespace railyard::predict {

/// One direction through a block.
struct Pass {
  Seconds matmul = {}, attention = {}, memory = {};  ///< on the device
  double kernels = 0;                                ///< launches
  Seconds tensor = {}, context = {}, expert = {};    ///< collectives, as if alone

  Seconds device() const { return matmul + attention + memory; }
};
Pass operator+(const Pass& a, const Pass& b);
Pass operator-(const Pass& a, const Pass& b);
Pass operator*(double k, const Pass& p);

struct Block {
  Pass forward = {}, backward = {};
  Seconds weight_gradients = {};  ///< the part of backward that computes them
  Pass selective = {};            ///< forward of the attention core
  Pass latent = {};               ///< forward of the up-projections of latent attention
  Pass ffn = {};                  ///< forward of the FFN or of the experts, dispatch included
  double parameters = 0;          ///< on this rank, experts included
  double expert_parameters = 0;   ///< on this rank
  Flops flops = {};               ///< forward matmul and attention work of this rank (causal: half)
};

/// What the block functions worked with; they note it down when the context has a log.
struct KernelLog {
  struct Linear {
    GemmShape shape = {};  ///< of the forward pass
    Operands operands = Operands::job_precision;
    Seconds forward = {}, backward = {};
  };
  struct Attention {
    AttentionShape shape = {};
    TwoWay time = {};
  };
  std::vector<Linear> linears = {};
  std::vector<Attention> attentions = {};
};

/// Everything the block functions need, put together once per layout.
struct BlockContext {
  const model::Job& job;
  const Device& device;
  const Constants& constants;
  const CollectiveModel& collectives;
  Group tensor = {}, context = {}, expert = {}, expert_tensor = {};
  KernelLog* log = nullptr;  ///< for explanations
};
BlockContext make_context(const model::Job& job, const Device& device,
                          const Calibration& calibration, const CollectiveModel& collectives,
                          const fabric::Machine& machine);

enum class LayerKind : std::uint8_t {
  dense,
  experts,
  state_space,
  attention_only,
  ffn_only,
  experts_only
};
Block layer_block(const BlockContext& c, LayerKind kind);
Block embedding_block(const BlockContext& c);
Block head_block(const BlockContext& c);
/// A convolutional network as one block (ResNet-50).
Block convolutional_block(const BlockContext& c);

}  // namespace railyard::predict

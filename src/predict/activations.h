#pragma once
// What a layer keeps from its forward pass because its backward reads it again: the inputs of
// linear layers and norms, the operands of attention, what the activation function saw. Per
// micro-batch and rank.  [counted as in Korthikanti et al., MLSys'23; docs/model.md lists every
// tensor]

#include "base/quantity.h"
#include "model/job.h"
#include "predict/layer.h"

namespace railyard::predict {

/// Bytes that one layer of a kind keeps until its backward.
Bytes layer_activations(const model::Job& job, LayerKind kind);
/// Its input alone: what full recomputation keeps.
Bytes layer_input(const model::Job& job);

/// Bytes per element of a tensor that a linear layer saves: quantised recipes keep the cast copy.
double saved_element(const model::Job& job);
/// Tokens of one micro-batch on one rank, after context parallelism.
double tokens_per_rank(const model::Job& job);

}  // namespace railyard::predict

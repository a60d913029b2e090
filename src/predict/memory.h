#pragma once
// What one rank keeps in accelerator memory, by kind, on the stage that needs most.
//
//   weights    2 N (+ casts in fp8),  gradients g N,  optimizer (master + 2 moments) N / shards
//   activations per layer and micro-batch: what backward reads again, see activations.h
//   in flight: min(m, p - stage) micro-batches of the stage's layers under 1F1B, more when
//   interleaved
// [Korthikanti et al., MLSys'23 for the counting; docs/model.md lists every tensor]

#include <array>
#include <vector>

#include "base/quantity.h"
#include "fabric/machine.h"
#include "model/job.h"
#include "predict/activations.h"
#include "predict/layer.h"
#include "predict/stages.h"

namespace railyard::predict {

struct MemoryTerms {
  Bytes weights = {}, gradients = {}, optimizer = {}, activations = {};
  Bytes loss = {};           ///< logits and what the loss makes of them
  Bytes gathered = {};       ///< ZeRO-3: blocks held whole while they compute
  Bytes buckets = {};        ///< communication buckets of data parallelism
  Bytes temporaries = {};    ///< working set of the layer that runs, workspace of the GEMM library
  Bytes communication = {};  ///< NCCL's own buffers
  Bytes context = {};        ///< CUDA context, modules
  Bytes reserve = {};        ///< what the allocator holds and cannot use
  int stage = 0;             ///< the stage that these are of
  Bytes capacity = {};       ///< of the accelerator, as the driver reports it
  Bytes host = {};           ///< offloaded, per rank

  /// What torch.cuda.max_memory_allocated reports.
  Bytes allocated() const {
    return weights + gradients + optimizer + activations + loss + gathered + buckets + temporaries;
  }
  Bytes total() const { return allocated() + communication + context + reserve; }
  bool fits() const { return total() <= capacity; }
};

/// The blocks of a model, priced once per layout.
struct ModelBlocks {
  std::array<Block, 6> layers = {};  ///< by LayerKind
  Block embedding = {}, head = {};
  std::array<Bytes, 6> kept = {};  ///< layer_activations by kind
  const Block& of(LayerKind k) const { return layers[static_cast<std::size_t>(k)]; }
};

/// On the stage that needs most. `parts` as split_layers gives them.
MemoryTerms memory(const model::Job& job, const fabric::Machine& machine,
                   const std::vector<LayerCounts>& parts, const ModelBlocks& blocks);

}  // namespace railyard::predict

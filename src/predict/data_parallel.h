#pragma once
// What data-parallel ranks send each other: gradients and parameters once per step, or with ZeRO-3
// block by block.

#include <vector>

#include "base/quantity.h"
#include "fabric/machine.h"
#include "model/job.h"
#include "predict/collective.h"
#include "predict/kernels.h"
#include "predict/memory.h"
#include "predict/stages.h"

namespace railyard::predict {

/// The groups. Data parallelism includes context parallelism: its ranks hold the same weights.
struct DataGroups {
  int ways = 1;         ///< data x context
  int shard = 1;        ///< ranks that share one copy
  int expert_ways = 1;  ///< ranks that hold the same experts
  Group all = {}, shards = {}, copies = {}, experts = {};

  bool sharded_weights = false;  ///< ZeRO-3, FSDP
};
DataGroups make_data_groups(const model::Job& job, const fabric::Machine& machine);

/// Parameters of one rank, experts apart: their groups differ.
struct RankParameters {
  double plain = 0, experts = 0;
};
/// Of the stage that has most.
RankParameters most_parameters(const model::Job& job, const std::vector<LayerCounts>& parts,
                               const ModelBlocks& blocks);

/// Adapters train about a hundredth of the weights (rank 16 on all linear layers).
double trained_share(const model::Job& job);

/// Alone, without overlap.
struct Exchange {
  Seconds gather = {}, reduce = {};
};
/// ZeRO-3: one block's weights gathered, its gradients reduced, with the copies in and out of
/// buffers.
Exchange exchange_block(const model::Job& job, const DataGroups& groups, const Device& device,
                        const CollectiveModel& collectives, const RankParameters& block);
/// ZeRO-0 to 2: a step's gradients reduced (`reduce`), updated parameters gathered (`gather`).
Exchange exchange_step(const model::Job& job, const DataGroups& groups,
                       const CollectiveModel& collectives, const RankParameters& rank);

}  // namespace railyard::predict

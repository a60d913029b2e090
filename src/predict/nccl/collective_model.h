#pragma once
// The time law as the step model's collectives: groups of a machine become platforms, and the law
// of nccl-tests becomes that of a training step, whose host launches ahead and hides its own time.
//
// GPUs that are not NVIDIA's, meshes and islands on PCIe keep the link law: NCCL's classes say
// nothing about them.

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "fabric/machine.h"
#include "predict/collective.h"
#include "predict/nccl/graph_memory.h"
#include "predict/nccl/time_law.h"

namespace railyard::predict::nccl {

class StepCollectives final : public CollectiveModel {
 public:
  StepCollectives(const fabric::Machine& machine, const Calibration& calibration);

  CollectiveTime time(Collective what, Bytes size, const Group& group) const override;

 private:
  /// NCCL's algorithm by half octaves of the size, from kSmallest up. The protocol is left to the
  /// law: the measurements behind it do not say which one ran.
  using Pick = std::optional<Algorithm>;
  using Picks = std::array<std::vector<Pick>, kFunctions>;

  bool law_knows(const Group& group) const;
  Pick pick_of(Collective what, Bytes size, const Group& group) const;
  const Picks& picks_of(const Group& group) const;
  Platform platform_of(Collective what, const Group& group) const;

  LinkLawModel link_law_;
  Priors priors_;
  Platform node_;  ///< what all groups have in common
  Bandwidth ports_per_server_ = {}, uplinks_per_server_ = {};
  int gpus_per_server_ = 8, servers_per_leaf_ = 0, domain_ = 8;
  bool nvidia_ = false;
  std::shared_ptr<const model::nccl::System> server_;
  std::shared_ptr<GraphMemory> graphs_;
  mutable std::mutex guard_;  ///< of the choices, which are made when first asked for
  mutable std::map<std::tuple<int, int, int>, Picks> picks_;
};

}  // namespace railyard::predict::nccl

#pragma once
// The time law as the step model's collectives: groups of a machine become platforms, and the law
// of nccl-tests becomes that of a training step, whose host launches ahead and hides its own time.
//
// GPUs that are not NVIDIA's, meshes and islands on PCIe keep the link law: NCCL's classes say
// nothing about them.

#include "fabric/machine.h"
#include "predict/collective.h"
#include "predict/nccl/time_law.h"

namespace railyard::predict::nccl {

class StepCollectives final : public CollectiveModel {
 public:
  StepCollectives(const fabric::Machine& machine, const Calibration& calibration);

  CollectiveTime time(Collective what, Bytes size, const Group& group) const override;

 private:
  bool law_knows(const Group& group) const;
  Platform platform_of(Collective what, const Group& group) const;

  LinkLawModel link_law_;
  Priors priors_;
  Platform node_;  ///< what all groups have in common
  Bandwidth ports_per_server_ = {}, uplinks_per_server_ = {};
  int gpus_per_server_ = 8, servers_per_leaf_ = 0, domain_ = 8;
  double extra_latency_us_ = 0;
  bool nvidia_ = false;
};

}  // namespace railyard::predict::nccl

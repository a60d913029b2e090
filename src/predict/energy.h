#pragma once
// Electric power of a job and energy of a step. A rough figure, from above: an accelerator that
// runs a kernel is taken to draw its power limit, also while the kernel only waits for others.

#include "base/quantity.h"
#include "model/cluster.h"
#include "predict/step.h"

namespace railyard::predict {

/// An accelerator that does nothing, over its power limit: A100s of 400 W drew 60 to 66 W
/// [data/traces/sched_util_quantiles.csv, POWER_W of Acme's Seren].
inline constexpr double kIdlePower = 0.16;

struct Energy {
  Watts accelerators = {};  ///< of the job, together
  Watts servers = {};       ///< hosts, fans, NICs: Server::power_besides; zero where none is given
  Joules step = {};         ///< of one step
  bool servers_known = false;

  Watts total() const { return accelerators + servers; }
};

/// `job_accelerators` of the cluster's take part; servers count in proportion.
Energy energy(const model::Cluster& cluster, const Prediction& prediction, int job_accelerators);

}  // namespace railyard::predict

#pragma once
// Everything that is said about one job on one cluster: the prediction and what follows from it.
// What the commands print and compare.

#include <optional>
#include <string>
#include <vector>

#include "fabric/machine.h"
#include "model/cluster.h"
#include "model/job.h"
#include "predict/calibration.h"
#include "predict/energy.h"
#include "predict/fit_advice.h"
#include "predict/goodput.h"
#include "predict/limits.h"
#include "predict/step.h"

namespace railyard::predict {

struct Outlook {
  model::Job job = {};  ///< as predicted: data_parallel settled
  fabric::Machine machine = {};
  int accelerators = 0;  ///< that the job uses, of those that the cluster has
  Prediction prediction = {};
  StepModel::Pieces pieces = {};
  std::vector<Bottleneck> bottlenecks = {};  ///< the first one limits the step
  Fit fit = {};
  std::vector<FitChange> advice = {};  ///< when it does not fit
  std::optional<Goodput> goodput = {};
  Energy energy = {};
  Dollars rent_per_hour = {};  ///< of the job's accelerators; zero: the cluster has no price
  Seconds whole_run = {};      ///< wall time of all its tokens, failures included; zero: not asked
  std::vector<std::string> notes = {};  ///< sentences for people: what was assumed

  const Bottleneck& limited_by() const { return bottlenecks.front(); }
};

/// `job` must have been fitted to the cluster (model::fit_to).
Outlook outlook(const model::Cluster& cluster, const model::Job& job,
                const Calibration& calibration);

}  // namespace railyard::predict

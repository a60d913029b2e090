#pragma once
// When a job does not fit: by how much, and the smallest change of the job that does.
//
// Every change is tried by pricing the job again, so what it costs in time is known too. First one
// change, then two and three together; the answer is ordered by step time. Accelerators stay as
// many as they are: what tensor, context or pipeline parallelism gains, data parallelism gives.

#include <string>
#include <vector>

#include "base/quantity.h"
#include "fabric/machine.h"
#include "model/job.h"
#include "predict/step.h"

namespace railyard::predict {

/// What a rank and a server have to hold against what they have.
struct Fit {
  Bytes need = {}, capacity = {};            ///< accelerator memory, of the stage that needs most
  Bytes host_need = {}, host_capacity = {};  ///< of a server, for what is offloaded; a capacity of
                                             ///< zero is not known and never overflows

  bool tier_is_missing = false;  ///< CXL memory is asked for and there is none

  bool device_fits() const { return need <= capacity; }
  bool host_fits() const {
    return !tier_is_missing && (host_capacity <= Bytes{} || host_need <= host_capacity);
  }
  bool fits() const { return device_fits() && host_fits(); }
};
Fit check_fit(const model::Job& job, const fabric::Machine& machine, const MemoryTerms& memory);

/// A change of the job that makes it fit.
struct FitChange {
  std::string change = {};  ///< in the words of the job file: "layout.recompute: full"
  model::Job job = {};
  Fit fit = {};
  Seconds step = {};
};

/// Changes that fit, fastest first; pairs of changes only where no single one does. Empty: none
/// does. The job must have passed model::check.
std::vector<FitChange> fit_advice(const model::Job& job, const StepModel& model);

}  // namespace railyard::predict

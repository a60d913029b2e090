#pragma once
// One training step: the closed form that searches use, and the same numbers for the event
// timeline.
//
//   step = fill, steady state and drain of the pipeline (compute and exposed tensor, context and
//   expert
//          communication of every micro-batch, sends, bubble)
//        + exposed data-parallel communication + optimizer + fixed host work, x stragglers
//
// docs/model.md derives every term.

#include <string>
#include <vector>

#include "base/quantity.h"
#include "fabric/machine.h"
#include "model/job.h"
#include "predict/calibration.h"
#include "predict/layer.h"
#include "predict/memory.h"
#include "predict/nccl/collective_model.h"
#include "predict/pipeline.h"
#include "predict/stages.h"

namespace railyard::predict {

/// Where the time of a step goes on the rank that sets the pace. The parts sum to `total`.
struct StepTime {
  Seconds matmul = {}, attention = {}, memory_bound = {}, recompute = {};
  Seconds tensor = {}, context = {}, expert = {};  ///< exposed communication
  Seconds pipeline = {};                           ///< exposed sends between stages
  Seconds bubble = {};
  Seconds data = {};  ///< exposed reduction of gradients, gathering of parameters
  Seconds optimizer = {};
  Seconds offload = {};
  Seconds overhead = {};  ///< host launches that the device waits for, fixed work, stragglers
  Seconds total = {};

  Seconds compute() const { return matmul + attention + memory_bound + recompute; }
};

/// GPU utilisation is three figures, never one.
struct Utilisation {
  double busy = 0;     ///< as nvidia-smi shows it: a kernel runs, waiting inside NCCL counts
  double compute = 0;  ///< kernels that compute
  double mfu = 0;      ///< model FLOPs over the dense peak of the job's precision
};

struct Prediction {
  StepTime time = {};
  double low = 0, high = 0;  ///< 80 % band of the step time, as factors of `time.total`
  MemoryTerms memory = {};
  Seconds data_communication = {};  ///< all of it, exposed or hidden
  Binding data_binding = Binding::none;
  double tokens_per_second = 0;  ///< of the cluster (samples where there are no tokens)
  double tokens_per_second_per_gpu = 0;
  Flops model_flops = {};  ///< per step and accelerator, causal attention counted half
  Utilisation utilisation = {};
  Seconds stage_forward = {}, stage_backward = {};  ///< one micro-batch on the slowest stage
};

/// Predictor for one machine. Building it does the work that layouts share.
class StepModel {
 public:
  StepModel(const fabric::Machine& machine, const Calibration& calibration);
  StepModel(const fabric::Machine& machine, const Calibration& calibration,
            const CollectiveModel& collectives);

  /// The job must have passed model::check and fit the machine's accelerators.
  Prediction predict(const model::Job& job) const;

  /// The pieces that `predict` put together, for the timeline and the explanation.
  struct Pieces {
    Device device = {};
    ModelBlocks blocks = {};
    std::vector<LayerCounts> parts = {};
    std::vector<PartCost> costs = {};
    Seconds send = {};
    Seconds gradient_sync = {}, parameter_sync = {};
    PipelineTime pipeline = {};
    Group tensor = {}, data = {}, stages = {}, context = {}, expert = {};
    Bytes gradient_bytes = {};
    int pacing_stage = 0;       ///< the stage whose work `StepTime` splits up
    Seconds data_exposed = {};  ///< of StepTime::data: what does not recur with every micro-batch
    double lateness = 1;        ///< stragglers: the step over what it would be without
  };
  Prediction predict(const model::Job& job, Pieces& pieces) const;

  const fabric::Machine& machine() const { return machine_; }
  const Calibration& calibration() const { return calibration_; }

 private:
  const fabric::Machine& machine_;
  const Calibration& calibration_;
  nccl::StepCollectives own_;
  const CollectiveModel& collectives_;
};

/// Model FLOPs of one step, all accelerators: forward and backward of every matrix multiplication;
/// `whole_square` counts masked attention as most publications do.
Flops model_flops(const model::Job& job, bool whole_square);

}  // namespace railyard::predict

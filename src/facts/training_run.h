#pragma once
// A published measurement of a training run, as its table prints it. One record per line of the
// table; a run with two metrics has two records. What is not printed is not there: no field has a
// default.

#include <cstdint>
#include <optional>
#include <string>

#include "base/problem.h"

namespace railyard::facts {

enum class RunMetric : std::uint8_t {
  tokens_per_s_per_gpu,
  step_time,             ///< s
  model_tflops_per_gpu,  ///< recomputation not counted
  hw_tflops_per_gpu,     ///< recomputation counted
  tflops_per_gpu,        ///< convention not stated
  mfu,
  hfu,
  pct_peak,        ///< percent
  peak_alloc_mem,  ///< GiB
  failed,          ///< the run did not work (out of memory, hang or crash)
};

struct TrainingRun {
  Place at = {};
  std::string source = {}, table = {}, model = {}, gpu = {}, intra_node = {}, inter_node = {};
  std::optional<double> params_b = {};
  std::optional<int> layers = {}, hidden = {}, heads = {}, kv_heads = {}, ffn = {}, vocab = {};
  std::optional<int> sequence = {}, gpus = {}, nodes = {};
  std::optional<int> tensor = {}, pipeline = {}, virtual_stages = {}, data = {}, context = {},
                     expert = {}, micro_batch = {}, global_batch = {}, accumulation = {};
  std::optional<int> zero = {};
  bool interleaved = false;  ///< stated without a degree
  std::string precision = {}, recompute = {}, sharding = {}, other = {};
  RunMetric metric = RunMetric::step_time;
  double value = 0;
  std::optional<double> memory_gb = {};  ///< beside the metric, where the line has both
};

}  // namespace railyard::facts

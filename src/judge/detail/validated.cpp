#include "judge/detail/validated.h"

#include <map>

#include "fabric/machine.h"

namespace railyard::judge {

std::string source_group(const std::string& source) {
  // "MLPerf Training v4.1 NVIDIA/eos_n64": the version is the group
  if (!source.starts_with("MLPerf Training ")) return source;
  const std::size_t end = source.find(' ', 16);
  return source.substr(0, end);
}

namespace detail {

namespace {

using facts::RunMetric;
using facts::TrainingRun;

std::string metric_name(RunMetric m) {
  switch (m) {
    case RunMetric::tokens_per_s_per_gpu: return "tokens_per_s_per_gpu";
    case RunMetric::step_time: return "step_time";
    case RunMetric::model_tflops_per_gpu: return "model_tflops_per_gpu";
    case RunMetric::hw_tflops_per_gpu: return "hw_tflops_per_gpu";
    case RunMetric::tflops_per_gpu: return "tflops_per_gpu";
    case RunMetric::mfu: return "mfu";
    case RunMetric::hfu: return "hfu";
    case RunMetric::pct_peak: return "pct_peak";
    case RunMetric::peak_alloc_mem: return "peak_alloc_mem";
    case RunMetric::failed: return "failed";
  }
  return {};
}

}  // namespace

ValidatedRow row_of(const TrainingRun& run, const ValidationInputs& in) {
  ValidatedRow row;
  row.at = run.at;
  row.source = run.source;
  row.model = run.model;
  row.metric = metric_name(run.metric);
  if (const Convention* c = in.conventions.of(run)) {
    row.untouched = c->reserved_test;
    row.fit = c->fit && run.gpus.value_or(99) <= 8;
  }
  return row;
}

std::expected<Predicted, std::string> predict_run(const TrainingRun& run,
                                                  const ValidationInputs& in) {
  Predicted out;
  out.setup = RY_TRY(set_up(run, in.catalog, in.stacks, in.conventions));
  const fabric::Machine machine = fabric::summarise(out.setup.cluster);
  const predict::StepModel model(machine, in.calibration);
  out.prediction = best_open_choice(out.setup, model);
  return out;
}

void fill_in_times(const Predicted& p, ValidatedRow& row) {
  row.measured = p.setup.measured.si();
  row.predicted = p.prediction.time.total.si();
  row.error = row.predicted / row.measured - 1;
}

std::vector<SourceAccuracy> by_source(const std::vector<ValidatedRow>& rows) {
  std::vector<std::string> order;
  std::map<std::string, std::pair<std::vector<double>, int>> sums;
  for (const ValidatedRow& r : rows) {
    const std::string group = source_group(r.source);
    if (!sums.contains(group)) order.push_back(group);
    auto& [errors, n] = sums[group];
    ++n;
    if (r.error) errors.push_back(*r.error);
  }
  std::vector<SourceAccuracy> out;
  for (const std::string& s : order) out.push_back({s, accuracy(sums[s].first, sums[s].second)});
  return out;
}

}  // namespace detail

}  // namespace railyard::judge

#include "judge/detail/validated.h"

namespace railyard::judge {

namespace {

using facts::RunMetric;
using facts::TrainingRun;

/// A compilation prints memory as a metric of its own; sweeps have it beside the throughput.
bool of_a_sweep(const TrainingRun& run) { return run.metric != RunMetric::peak_alloc_mem; }

bool says_something_about_memory(const TrainingRun& run) {
  return run.metric == RunMetric::failed || run.metric == RunMetric::peak_alloc_mem ||
         run.memory_gb;
}

Bytes printed_peak(const TrainingRun& run) {
  if (!of_a_sweep(run)) return run.value * GiB;
  const bool in_gib = run.source.starts_with("railyard");
  return *run.memory_gb * (in_gib ? GiB : GB);
}

/// What corresponds to the printed number: the driver's view of the device or the allocator's.
Bytes predicted_peak(const predict::MemoryTerms& memory, const Convention* convention) {
  return convention && convention->device_memory ? memory.total() : memory.allocated();
}

double share(int part, int whole) { return whole > 0 ? static_cast<double>(part) / whole : 0; }

}  // namespace

MemoryValidation validate_memory(const std::vector<TrainingRun>& runs, const ValidationInputs& in) {
  MemoryValidation out;
  std::vector<double> errors;
  int false_oom = 0, passed = 0;
  for (const TrainingRun& run : runs) {
    if (!says_something_about_memory(run)) continue;
    ValidatedRow& row = out.rows.emplace_back(detail::row_of(run, in));
    auto p = detail::predict_run(run, in);
    if (!p) {
      row.reason = std::move(p).error();
      continue;
    }
    const predict::MemoryTerms& memory = p->prediction.memory;
    if (run.metric == RunMetric::failed) {
      ++out.failed;
      passed += memory.fits() ? 1 : 0;
      row.reason = "the run failed: classified only";
      row.predicted = memory.total().si();
      continue;
    }
    row.predicted = predicted_peak(memory, in.conventions.of(run)).si();
    row.measured = printed_peak(run).si();
    row.error = row.predicted / row.measured - 1;
    errors.push_back(*row.error);
    if (of_a_sweep(run)) {
      ++out.worked;
      false_oom += memory.fits() ? 0 : 1;
    }
  }
  out.sources = detail::by_source(out.rows);
  out.overall = accuracy(errors, static_cast<int>(out.rows.size()));
  out.false_oom = share(false_oom, out.worked);
  out.passed_failures = share(passed, out.failed);
  return out;
}

}  // namespace railyard::judge

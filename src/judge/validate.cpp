#include "judge/validate.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "fabric/machine.h"

namespace railyard::judge {

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

struct Predicted {
  RunSetup setup;
  predict::Prediction prediction;
};

std::expected<Predicted, std::string> predict_run(const TrainingRun& run,
                                                  const ValidationInputs& in) {
  Predicted out;
  out.setup = RY_TRY(set_up(run, in.catalog, in.stacks, in.conventions));
  const fabric::Machine machine = fabric::summarise(out.setup.cluster);
  const predict::StepModel model(machine, in.calibration);
  out.prediction = best_open_choice(out.setup, model);
  return out;
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

}  // namespace

namespace {

/// The least recomputation with which the job fits: what a run that did fit must have done. Nothing
/// changes when even recomputing everything is not enough.
void settle_recompute(model::Job& job, const predict::StepModel& model) {
  using model::Recompute;
  using enum model::RecomputeModule;
  constexpr int kSteps[] = {
      0, recompute_core_attention,
      recompute_core_attention | recompute_norms | recompute_activation_function,
      recompute_core_attention | recompute_norms | recompute_activation_function |
          recompute_latent_projection,
      recompute_core_attention | recompute_norms | recompute_activation_function |
          recompute_latent_projection | recompute_mlp | recompute_moe};
  model::Job trial = job;
  for (const int modules : kSteps) {
    // a fused kernel recomputes its scores anyway
    if (modules == recompute_core_attention && !model::unfused_attention(job)) continue;
    trial.layout.recompute_modules = static_cast<std::uint8_t>(modules);
    if (model.predict(trial).memory.fits()) {
      job = trial;
      return;
    }
  }
  trial.layout.recompute_modules = 0;
  trial.layout.recompute = Recompute::full;
  if (model.predict(trial).memory.fits()) job = trial;
}

}  // namespace

predict::Prediction best_open_choice(RunSetup& setup, const predict::StepModel& model) {
  if (setup.open_recompute) settle_recompute(setup.job, model);
  predict::Prediction best = model.predict(setup.job);
  if (!setup.open_micro_batch && !setup.open_virtual_stages) return best;
  model::Job chosen = setup.job;
  bool fits = best.memory.fits();
  for (const int micro : {1, 2, 4, 8}) {
    if (micro > 1 && !setup.open_micro_batch) break;
    model::Job job = setup.job;
    if (setup.open_micro_batch) job.layout.micro_batch = micro;
    if (job.global_batch % (job.layout.data * job.layout.micro_batch) != 0) continue;
    for (int chunks = 1; chunks * job.layout.pipeline <= job.model.layers; ++chunks) {
      if (chunks > 1 &&
          (!setup.open_virtual_stages || job.model.layers % (chunks * job.layout.pipeline) != 0))
        continue;
      if (setup.open_virtual_stages) {
        job.layout.virtual_stages = chunks;
        job.layout.schedule =
            chunks > 1 ? model::Schedule::interleaved : model::Schedule::one_f_one_b;
      }
      const predict::Prediction p = model.predict(job);
      const bool better = p.memory.fits() && (!fits || p.time.total < best.time.total);
      if (!better) continue;
      best = p;
      chosen = job;
      fits = true;
    }
  }
  setup.job = chosen;
  return best;
}

std::string source_group(const std::string& source) {
  // "MLPerf Training v4.1 NVIDIA/eos_n64": the version is the group
  if (!source.starts_with("MLPerf Training ")) return source;
  const std::size_t end = source.find(' ', 16);
  return source.substr(0, end);
}

TrainingValidation validate_training(const std::vector<TrainingRun>& runs,
                                     const ValidationInputs& in) {
  TrainingValidation out;
  std::vector<double> all, full;
  int counted = 0, full_rows = 0, inside = 0;
  for (const TrainingRun& run : runs) {
    if (run.metric == RunMetric::peak_alloc_mem || run.metric == RunMetric::failed) continue;
    ++counted;
    ValidatedRow row = row_of(run, in);
    auto p = predict_run(run, in);
    if (!p) {
      row.reason = std::move(p).error();
    } else {
      row.measured = p->setup.measured.si();
      row.predicted = p->prediction.time.total.si();
      row.error = row.predicted / row.measured - 1;
      row.full = p->setup.full;
      row.inside_band = row.measured >= row.predicted * p->prediction.low &&
                        row.measured <= row.predicted * p->prediction.high;
      inside += row.inside_band ? 1 : 0;
      all.push_back(*row.error);
      if (row.full) {
        full.push_back(*row.error);
        ++full_rows;
      }
    }
    out.rows.push_back(std::move(row));
  }
  out.sources = by_source(out.rows);
  out.overall = accuracy(all, counted);
  out.full_rows = accuracy(full, full_rows);
  out.band_coverage =
      all.empty() ? 0 : static_cast<double>(inside) / static_cast<double>(all.size());
  return out;
}

MemoryValidation validate_memory(const std::vector<TrainingRun>& runs, const ValidationInputs& in) {
  MemoryValidation out;
  std::vector<double> errors;
  int counted = 0, false_oom = 0, passed = 0;
  for (const TrainingRun& run : runs) {
    // A compilation prints memory as a metric of its own; sweeps have it beside the throughput.
    const bool sweep = run.metric == RunMetric::failed ||
                       (run.memory_gb && run.metric != RunMetric::peak_alloc_mem);
    if (run.metric != RunMetric::peak_alloc_mem && !sweep) continue;
    ValidatedRow row = row_of(run, in);
    auto p = predict_run(run, in);
    if (!p) {
      row.reason = std::move(p).error();
    } else if (run.metric == RunMetric::failed) {
      ++out.failed;
      row.reason = "the run failed: classified only";
      passed += p->prediction.memory.fits() ? 1 : 0;
      row.predicted = p->prediction.memory.total().si();
    } else {
      const Convention* convention = in.conventions.of(run);
      const predict::MemoryTerms& memory = p->prediction.memory;
      row.predicted =
          (convention && convention->device_memory ? memory.total() : memory.allocated()).si();
      row.measured = (run.metric == RunMetric::peak_alloc_mem ? run.value * GiB
                      : run.source.starts_with("railyard")    ? *run.memory_gb * GiB
                                                              : *run.memory_gb * GB)
                         .si();
      row.error = row.predicted / row.measured - 1;
      ++counted;
      errors.push_back(*row.error);
      if (run.metric != RunMetric::peak_alloc_mem) {
        ++out.worked;
        false_oom += p->prediction.memory.fits() ? 0 : 1;
      }
    }
    out.rows.push_back(std::move(row));
  }
  out.sources = by_source(out.rows);
  out.overall = accuracy(errors, static_cast<int>(out.rows.size()));
  out.false_oom = out.worked > 0 ? static_cast<double>(false_oom) / out.worked : 0;
  out.passed_failures = out.failed > 0 ? static_cast<double>(passed) / out.failed : 0;
  (void)counted;
  return out;
}

/// Fewer say nothing about order.
constexpr std::size_t kLeastConfigurations = 5;

RankingValidation validate_ranking(const std::vector<TrainingRun>& runs,
                                   const ValidationInputs& in) {
  struct Group {
    std::vector<double> measured, predicted;  // throughputs
  };
  // Layouts of one job on one cluster: same source, model, accelerators, sequence and batch.
  std::map<std::tuple<std::string, std::string, int, int, int>, Group> groups;
  RankingValidation out;
  for (const TrainingRun& run : runs) {
    if (run.metric != RunMetric::tokens_per_s_per_gpu) continue;
    ValidatedRow row = row_of(run, in);
    auto p = predict_run(run, in);
    if (!p) {
      row.reason = std::move(p).error();
    } else {
      row.measured = p->setup.measured.si();
      row.predicted = p->prediction.time.total.si();
      row.error = row.predicted / row.measured - 1;
      Group& g = groups[{run.source, run.model, run.gpus.value_or(0), run.sequence.value_or(0),
                         run.global_batch.value_or(0)}];
      g.measured.push_back(run.value);
      g.predicted.push_back(p->prediction.tokens_per_second_per_gpu);
    }
    out.rows.push_back(std::move(row));
  }
  for (const auto& [key, g] : groups) {
    if (g.measured.size() < kLeastConfigurations) continue;
    const auto ours = std::ranges::max_element(g.predicted) - g.predicted.begin();
    const double best = *std::ranges::max_element(g.measured);
    RankedGroup ranked{.model = std::get<1>(key),
                       .gpus = std::get<2>(key),
                       .configurations = static_cast<int>(g.measured.size())};
    ranked.spearman = spearman(g.measured, g.predicted);
    ranked.regret = 1 - g.measured[static_cast<std::size_t>(ours)] / best;
    out.spearman += ranked.spearman;
    out.regret += ranked.regret;
    out.groups.push_back(std::move(ranked));
  }
  if (!out.groups.empty()) {
    out.spearman /= static_cast<double>(out.groups.size());
    out.regret /= static_cast<double>(out.groups.size());
  }
  return out;
}

}  // namespace railyard::judge

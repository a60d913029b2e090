#include "residuals.h"

#include <fmt/format.h>

#include <map>

namespace railyard::fit {

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

judge::Accuracy accuracy_of(const std::vector<double>& errors) {
  return judge::accuracy(errors, static_cast<int>(errors.size()));
}

void print_line(const std::string& name, const std::vector<double>& errors) {
  const judge::Accuracy a = accuracy_of(errors);
  fmt::print(
      "{:58.58} n {:5}  mape {:6.1f}  median {:6.1f}  p90 {:6.1f}  max {:7.1f}  bias {:+6.1f}\n",
      name, a.n, 100 * a.mape, 100 * a.median, 100 * a.p90, 100 * a.max, 100 * a.bias);
}

void print_row(const Row& p, const predict::Prediction& prediction) {
  const predict::StepTime& t = prediction.time;
  const model::Layout& l = p.setup.job.layout;
  const auto percent = [&](Seconds part) { return 100 * (part / t.total); };
  fmt::print(
      "{:5} {:18.18} {:10.10} g{:<5} t{} p{} v{} d{} c{} e{} b{} B{} s{} m{} {:>8.4g} s err "
      "{:+6.1f}%",
      p.run.at.line, p.run.model, p.machine.gpu.id, *p.run.gpus, l.tensor, l.pipeline,
      l.virtual_stages, l.data, l.context, l.expert, l.micro_batch, p.setup.job.global_batch,
      p.setup.job.sequence, p.setup.job.micro_batches(), p.setup.measured.si(),
      100 * (t.total / p.setup.measured - 1));
  fmt::print(
      " | mm {:4.1f} at {:4.1f} me {:4.1f} rc {:4.1f} tp {:4.1f} cp {:4.1f} ep {:4.1f} pp {:4.1f} "
      "bub {:4.1f} dp {:4.1f} opt {:4.1f} oh {:4.1f} | {} {} {}\n",
      percent(t.matmul), percent(t.attention), percent(t.memory_bound), percent(t.recompute),
      percent(t.tensor), percent(t.context), percent(t.expert), percent(t.pipeline),
      percent(t.bubble), percent(t.data), percent(t.optimizer), percent(t.overhead),
      p.run.recompute, p.run.sharding, p.run.precision);
}

/// Peak in GB, where the line prints one.
std::optional<double> printed_memory(const facts::TrainingRun& run) {
  if (run.metric == facts::RunMetric::peak_alloc_mem) return (run.value * GiB).in(GB);
  return run.memory_gb;
}

}  // namespace

void print_sources(const std::vector<Row>& rows, const predict::Calibration& c) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<double>> by_source;
  std::vector<double> full;
  for (const Row& row : rows) {
    if (!by_source.contains(row.group)) order.push_back(row.group);
    const double e = error_of(row, c);
    by_source[row.group].push_back(e);
    if (row.setup.full && !of_a_sweep(row)) full.push_back(e);
  }
  for (const std::string& source : order) print_line(source, by_source[source]);
  print_line("FULL (without sweeps)", full);
}

void print_groups(const std::vector<Row>& rows, const predict::Calibration& c) {
  std::map<std::string, std::vector<double>> groups;
  for (const Row& row : rows)
    groups[fmt::format("{:.22} | {} | {} | {} {}", row.group, row.machine.gpu.id, row.run.model,
                       row.run.precision, row.run.recompute)]
        .push_back(error_of(row, c));
  for (const auto& [name, errors] : groups) {
    const judge::Accuracy a = accuracy_of(errors);
    if (a.mape > 0.08)
      fmt::print("{:90.90} n {:3} mape {:5.1f} bias {:+5.1f}\n", name, a.n, 100 * a.mape,
                 100 * a.bias);
  }
}

void print_rows(const std::vector<Row>& rows, const predict::Calibration& c,
                const std::string& filter) {
  for (const Row& row : rows)
    if (has(row.run.source, filter) || has(row.run.table, filter))
      print_row(row, predict::StepModel(row.machine, c).predict(row.setup.job));
}

void print_ranking(const intake::TrainingRuns& file, const World& world) {
  if (file.layout != intake::TrainingTable::nanotron_sweep) return;
  const judge::RankingValidation r = judge::validate_ranking(file.runs, world.inputs());
  for (const judge::RankedGroup& g : r.groups)
    fmt::print("{:14} {:4} n {:3} spearman {:.2f} regret {:.2f}\n", g.model, g.gpus,
               g.configurations, g.spearman, g.regret);
  fmt::print("ranking: spearman {:.3f} regret {:.3f}\n", r.spearman, r.regret);
}

void print_memory(const intake::TrainingRuns& file, const World& world, bool rows) {
  const judge::MemoryValidation m = judge::validate_memory(file.runs, world.inputs());
  for (const judge::SourceAccuracy& s : m.sources)
    fmt::print("memory {:40.40} n {:4} mape {:.3f} max {:.3f} bias {:+.3f}\n", s.source,
               s.all.predicted, s.all.mape, s.all.max, s.all.bias);
  fmt::print("memory false_oom {:.3f} passed {:.3f}\n", m.false_oom, m.passed_failures);
  if (!rows) return;
  for (const judge::ValidatedRow& r : m.rows)
    if (r.error && !has(r.source, "sweep"))
      fmt::print("{} {:.30} {:.2f} GiB {:+.1f} %\n", r.at.line, r.model,
                 Bytes::si(r.measured).in(GiB), 100 * *r.error);
}

void print_memory_parts(const intake::TrainingRuns& file, const World& world) {
  for (const facts::TrainingRun& run : file.runs) {
    const std::optional<double> printed = printed_memory(run);
    if (!printed) continue;
    const auto setup = judge::set_up(run, world.catalog, world.stacks, world.conventions);
    if (!setup) continue;
    const fabric::Machine machine = fabric::summarise(setup->cluster);
    const predict::MemoryTerms m =
        predict::StepModel(machine, world.calibration).predict(setup->job).memory;
    const model::Layout& l = setup->job.layout;
    fmt::print(
        "{:5} {:14.14} g{} t{} p{} d{} b{} m{} z{} got {:6.1f} pred {:6.1f} | w {:.1f} g {:.1f} o "
        "{:.1f} act {:.1f} loss {:.1f} gath {:.1f} tmp {:.1f} stage {}\n",
        run.at.line, run.model, *run.gpus, l.tensor, l.pipeline, l.data, l.micro_batch,
        setup->job.micro_batches(), static_cast<int>(l.shard), *printed, m.allocated().in(GB),
        m.weights.in(GB), m.gradients.in(GB), m.optimizer.in(GB), m.activations.in(GB),
        m.loss.in(GB), m.gathered.in(GB), m.temporaries.in(GB), m.stage);
  }
}

}  // namespace railyard::fit

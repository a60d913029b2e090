#include "rows.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/text.h"

namespace railyard::fit {

namespace {

bool may_fit(const facts::TrainingRun& r) {
  if (r.gpus.value_or(99) > 8) return false;
  if (r.source.starts_with("VIA-Research/vTrain (node grid)")) return true;
  if (r.source.starts_with("mosaicml/llm-foundry")) return true;
  return r.source.starts_with("MooreThreads/SimuMax") && r.tensor.value_or(1) <= 2;
}

bool has_step_time(const facts::TrainingRun& run) {
  return run.metric != facts::RunMetric::peak_alloc_mem && run.metric != facts::RunMetric::failed;
}

}  // namespace

void stop(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(3);
}

World load_world(const std::string& root) {
  return {.catalog = need(model::load_catalog(root + "/catalog")),
          .stacks = need(model::load_stacks(root + "/catalog/stacks.yaml")),
          .conventions = need(judge::load_conventions(root + "/validation/sources.yaml")),
          .calibration = need(predict::load_calibration(root + "/catalog/calibration.yaml"))};
}

intake::TrainingRuns read_runs(const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes) stop(bytes.error().text());
  return need(intake::read_training_csv({path, *bytes}));
}

std::vector<Row> set_up_rows(const std::vector<intake::TrainingRuns>& files, const World& world) {
  std::vector<Row> rows;
  std::map<std::string, int> reasons;
  for (const intake::TrainingRuns& file : files)
    for (const facts::TrainingRun& run : file.runs) {
      if (!has_step_time(run)) continue;
      const std::string group = judge::source_group(run.source);
      auto setup = judge::set_up(run, world.catalog, world.stacks, world.conventions);
      if (!setup) {
        ++reasons[group.substr(0, 30) + ": " + setup.error()];
        continue;
      }
      Row row{run, *std::move(setup), {}, group, may_fit(run)};
      row.machine = fabric::summarise(row.setup.cluster);
      (void)judge::best_open_choice(row.setup, predict::StepModel(row.machine, world.calibration));
      rows.push_back(std::move(row));
    }
  for (const auto& [reason, n] : reasons) fmt::print("not predicted {:4}  {}\n", n, reason);
  return rows;
}

double error_of(const Row& row, const predict::Calibration& c) {
  const predict::StepModel model(row.machine, c);
  return model.predict(row.setup.job).time.total / row.setup.measured - 1;
}

bool of_a_sweep(const Row& row) {
  return row.group.find("sweep") != std::string::npos ||
         row.group.find("grid") != std::string::npos;
}

}  // namespace railyard::fit

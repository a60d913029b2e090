#pragma once
// The published rows that the fit works on and reports on, set up as jobs on clusters.

#include <string>
#include <vector>

#include "base/problem.h"
#include "fabric/machine.h"
#include "facts/training_run.h"
#include "intake/training_csv.h"
#include "judge/validate.h"

namespace railyard::fit {

/// Everything that comes from the repository; the calibration is what changes.
struct World {
  model::Catalog catalog;
  model::Stacks stacks;
  judge::Conventions conventions;
  predict::Calibration calibration;

  judge::ValidationInputs inputs() const { return {catalog, stacks, conventions, calibration}; }
};
World load_world(const std::string& root);

struct Row {
  facts::TrainingRun run;
  judge::RunSetup setup;
  fabric::Machine machine;
  std::string group;  ///< judge::source_group
  bool fit = false;   ///< the search may see it
};

intake::TrainingRuns read_runs(const std::string& path);

/// The rows with a step time that can be predicted; what cannot is counted on standard output.
std::vector<Row> set_up_rows(const std::vector<intake::TrainingRuns>& files, const World& world);

/// Predicted over measured step time, less one.
double error_of(const Row& row, const predict::Calibration& c);
/// Sweeps have so many rows that they would drown the other sources.
bool of_a_sweep(const Row& row);

/// Says why and ends the program.
[[noreturn]] void stop(const std::string& why);
template <class T>
T need(Checked<T> value) {
  if (!value) stop(text(value.error()));
  return *std::move(value);
}

}  // namespace railyard::fit

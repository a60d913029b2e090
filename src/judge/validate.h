#pragma once
// Predictions against published runs: training time, memory, ranking.
//
// Every line of the table gives a row, predicted or with the reason why not. Lines of one run share
// a prediction. Groups (ranking) and classes (memory) weigh equally.

#include <optional>
#include <string>
#include <vector>

#include "facts/training_run.h"
#include "judge/accuracy.h"
#include "judge/conventions.h"
#include "judge/run_setup.h"
#include "model/catalog.h"
#include "model/stacks.h"
#include "predict/calibration.h"
#include "predict/step.h"

namespace railyard::judge {

struct ValidationInputs {
  const model::Catalog& catalog;
  const model::Stacks& stacks;
  const Conventions& conventions;
  const predict::Calibration& calibration;
};

struct ValidatedRow {
  Place at = {};
  std::string source = {}, model = {}, metric = {};
  double measured = 0, predicted = 0;  ///< s, or B for memory
  std::optional<double> error = {};    ///< predicted / measured - 1
  std::string reason = {};             ///< why there is no error
  bool full = false;                   ///< configuration printed in full
  bool inside_band = false;
  bool fit = false, untouched = false;
};

struct SourceAccuracy {
  std::string source = {};
  Accuracy all = {};
};

struct TrainingValidation {
  std::vector<ValidatedRow> rows = {};
  std::vector<SourceAccuracy> sources = {};
  Accuracy overall = {}, full_rows = {};
  double band_coverage = 0;  ///< share of predicted rows inside their 80 % band
};
TrainingValidation validate_training(const std::vector<facts::TrainingRun>& runs,
                                     const ValidationInputs& in);

struct MemoryValidation {
  std::vector<ValidatedRow> rows = {};
  std::vector<SourceAccuracy> sources = {};
  Accuracy overall = {};
  int worked = 0, failed = 0;
  double false_oom = 0, passed_failures = 0;
};
MemoryValidation validate_memory(const std::vector<facts::TrainingRun>& runs,
                                 const ValidationInputs& in);

struct RankedGroup {
  std::string model = {};
  int gpus = 0, configurations = 0;
  double spearman = 0, regret = 0;
};
struct RankingValidation {
  std::vector<RankedGroup> groups = {};
  std::vector<ValidatedRow> rows = {};
  double spearman = 0, regret = 0;
};
RankingValidation validate_ranking(const std::vector<facts::TrainingRun>& runs,
                                   const ValidationInputs& in);

/// Predicts the job; where its line leaves micro-batch or virtual stages open, the fastest choice
/// that fits into memory is taken and written into the setup.
predict::Prediction best_open_choice(RunSetup& setup, const predict::StepModel& model);

/// The source's name without the part that differs from submission to submission (MLPerf).
std::string source_group(const std::string& source);

}  // namespace railyard::judge

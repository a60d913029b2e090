// Fidelity: predictions against published measurements. Each test prints its number as a line
// `bar: what | measured | at least | aim`, and fails when a number that was reached is lost.
//
// Bars that the model does not reach yet carry a limit of their own, just above today's number, so
// that they cannot get worse unseen; docs/accuracy.md says why.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "intake/training_csv.h"
#include "judge/validate.h"
#include "support/support.h"

namespace railyard::judge {
namespace {

/// Catalogue, stacks, conventions and calibration as they ship.
struct World {
  model::Catalog catalog = model::load_catalog(test::repository("catalog")).value();
  model::Stacks stacks = model::load_stacks(test::repository("catalog/stacks.yaml")).value();
  Conventions conventions = load_conventions(test::repository("validation/sources.yaml")).value();
  predict::Calibration calibration =
      predict::load_calibration(test::repository("catalog/calibration.yaml")).value();

  ValidationInputs inputs() const { return {catalog, stacks, conventions, calibration}; }
};

const World& world() {
  static const World w;
  return w;
}

std::vector<facts::TrainingRun> runs_of(const std::string& path) {
  const std::string bytes = read_file(path).value();
  return intake::read_training_csv({path, bytes}).value().runs;
}

TrainingValidation published() {
  return validate_training(runs_of(test::repository("validation/training_throughput.csv")),
                           world().inputs());
}

void bar(const char* what, double measured, double least, double aim) {
  std::printf("bar: %-62s %6.2f %%  at least %5.1f %%  aim %5.1f %%\n", what, 100 * measured,
              100 * least, 100 * aim);
}

/// Errors of the rows whose source begins so.
Accuracy of_source(const TrainingValidation& v, const std::string& source,
                   const std::string& model = "") {
  std::vector<double> errors;
  int n = 0;
  for (const ValidatedRow& r : v.rows) {
    if (!r.source.starts_with(source) || r.model.find(model) == std::string::npos) continue;
    ++n;
    if (r.error) errors.push_back(*r.error);
  }
  return accuracy(errors, n);
}

TEST(Fidelity, MostPublishedLinesArePredictedAndTheRestHasAReason) {
  const TrainingValidation v = published();
  const double share = static_cast<double>(v.overall.predicted) / v.overall.n;
  bar("lines of training_throughput.csv predicted", share, 0.85, 0.95);
  EXPECT_GE(share, 0.95);
  for (const ValidatedRow& r : v.rows) EXPECT_TRUE(r.error || !r.reason.empty()) << r.at.line;
}

TEST(Fidelity, RowsWithFullConfiguration) {
  const Accuracy a = published().full_rows;
  bar("full configuration: median", a.median, 0.08, 0.05);
  bar("full configuration: p90", a.p90, 0.20, 0.12);
  bar("full configuration: absolute bias", std::abs(a.bias), 0.04, 0.02);
  EXPECT_LE(a.median, 0.08);
  EXPECT_LE(std::abs(a.bias), 0.04);
  EXPECT_LE(a.p90,
            0.25);  // the bar of 20 % is not reached: experts on Hopper, and nanotron's best rows
}

TEST(Fidelity, KorthikantiTable5) {
  const Accuracy a = of_source(published(), "Korthikanti 2022 Table 5");
  bar("Korthikanti 2022 Table 5: mean", a.mape, 0.036, 0.02);
  EXPECT_LE(a.mape,
            0.075);  // not reached: this machine runs large GEMMs 7 % faster than the fitted ones
}

TEST(Fidelity, ClustersOfA100) {
  const TrainingValidation v = published();
  const Accuracy vtrain = of_source(v, "VIA-Research/vTrain"), bloom = of_source(v, "BLOOM");
  bar("vTrain multi-node: mean", vtrain.mape, 0.12, 0.08);
  bar("BLOOM: mean", bloom.mape, 0.12, 0.08);
  EXPECT_LE(vtrain.mape, 0.12);
  EXPECT_LE(bloom.mape, 0.12);
}

TEST(Fidelity, MlperfGpt3OnH100) {
  const TrainingValidation v = published();
  std::vector<double> errors;
  for (const ValidatedRow& r : v.rows)
    if (r.source.starts_with("MLPerf") && r.model == "GPT3-175B" && r.error)
      errors.push_back(*r.error);
  const Accuracy a = accuracy(errors, static_cast<int>(errors.size()));
  bar("MLPerf GPT-3 175B: mean", a.mape, 0.15, 0.08);
  EXPECT_GE(a.predicted, 10);
  EXPECT_LE(a.mape, 0.15);
}

TEST(Fidelity, BandsCoverWhatTheySay) {
  const double coverage = published().band_coverage;
  bar("rows inside their 80 % band (70-90, aim 77-83)", coverage, 0.70, 0.80);
  EXPECT_GE(coverage, 0.70);
  EXPECT_LE(coverage, 0.90);
}

TEST(Fidelity, TheVtrainNodeSweep) {
  const std::string path = test::shared("data/training_sweep_vtrain_a100_node.csv");
  if (path.empty()) GTEST_SKIP() << "the vTrain sweep is not here (RAILYARD_SHARED)";
  const TrainingValidation v = validate_training(runs_of(path), world().inputs());
  bar("vTrain node sweep: mean", v.overall.mape, 0.10, 0.05);
  EXPECT_EQ(v.overall.predicted, 1170);
  EXPECT_LE(v.overall.mape, 0.10);
}

TEST(Fidelity, OurOwnH200Runs) {
  const TrainingValidation v =
      validate_training(runs_of(test::repository("validation/h200_train.csv")), world().inputs());
  bar("H200 runs: mean", v.overall.mape, 0.12, 0.05);
  bar("H200 runs: max", v.overall.max, 0.25, 0.12);
  EXPECT_EQ(v.overall.predicted, 11);
  EXPECT_LE(v.overall.mape, 0.12);
  EXPECT_LE(v.overall.max, 0.25);
}

TEST(Fidelity, PeakMemoryOfSimumaxRuns) {
  const MemoryValidation v = validate_memory(
      runs_of(test::repository("validation/training_throughput.csv")), world().inputs());
  for (const SourceAccuracy& s : v.sources) {
    if (!s.source.starts_with("MooreThreads/SimuMax")) continue;
    bar("peak memory, SimuMax B200: mean", s.all.mape, 0.03, 0.01);
    bar("peak memory, SimuMax B200: max", s.all.max, 0.08, 0.03);
    EXPECT_EQ(s.all.predicted, 40);
    EXPECT_LE(s.all.mape, 0.03);
    EXPECT_LE(s.all.max, 0.08);
    return;
  }
  FAIL() << "no SimuMax rows";
}

TEST(Fidelity, TheNanotronSweepFitsAndRanks) {
  const std::string path = test::shared("data/training_sweep_nanotron_h100.csv");
  if (path.empty()) GTEST_SKIP() << "the nanotron sweep is not here (RAILYARD_SHARED)";
  const auto runs = runs_of(path);
  const MemoryValidation memory = validate_memory(runs, world().inputs());
  bar("nanotron: false out-of-memory", memory.false_oom, 0.02, 0.01);
  bar("nanotron: failed runs passed", memory.passed_failures, 0.20, 0.15);
  EXPECT_GT(memory.worked, 800);
  EXPECT_LE(memory.false_oom, 0.02);
  EXPECT_LE(memory.passed_failures, 0.20);
  const RankingValidation ranking = validate_ranking(runs, world().inputs());
  bar("nanotron: mean Spearman (higher is better)", ranking.spearman, 0.80, 0.90);
  bar("nanotron: mean top-1 regret", ranking.regret, 0.08, 0.03);
  EXPECT_GE(ranking.groups.size(), 10U);
  EXPECT_GE(ranking.spearman,
            0.60);  // not reached: see docs/accuracy.md on runs of 1.2 s a micro-batch
  EXPECT_LE(ranking.regret, 0.40);
}

}  // namespace
}  // namespace railyard::judge

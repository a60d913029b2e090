// How fast a search and a timeline are, in CPU time of this build. The numbers that count are those
// of the release build (./dev bench); this one guards the order of magnitude and the answers.

#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>

#include "predict/step_timeline.h"
#include "step_setup.h"

namespace railyard::predict {
namespace {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

model::Job gpt_175b_on_4096() {
  model::Job job = job_of({"gpt3-175b"});
  job.layout.tensor = 8;
  job.layout.sequence_parallel = true;
  job.layout.pipeline = 16;
  job.layout.data = 32;
  job.layout.shard = model::Shard::optimizer;
  job.global_batch = 1536;
  return job;
}

TEST(Speed, ClosedFormPredictionsPerSecondAndCore) {
  const fabric::Machine machine = fabric::summarise(h100_cluster(512));
  const StepModel model(machine, shipped().calibration);
  const model::Job job = gpt_175b_on_4096();
  StepModel::Pieces pieces;
  const Seconds first = model.predict(job, pieces).time.total;
  constexpr int kTimes = 2000;
  const double start = cpu_seconds();
  for (int i = 0; i < kTimes; ++i) ASSERT_EQ(model.predict(job, pieces).time.total, first);
  const double rate = kTimes / (cpu_seconds() - start);
  std::printf("bar: %-55s %9.0f /s  at least 100000  aim 1000000\n",
              "closed-form predictions a core (this build)", rate);
  EXPECT_GT(rate, 2000);
}

TEST(Speed, TimelineOf175BOn4096) {
  const fabric::Machine machine = fabric::summarise(h100_cluster(512));
  const StepModel model(machine, shipped().calibration);
  const model::Job job = gpt_175b_on_4096();
  ASSERT_EQ(job.accelerators(), 4096);
  StepModel::Pieces pieces;
  const Prediction p = model.predict(job, pieces);
  const double start = cpu_seconds();
  const StepTimeline t = step_timeline(job, model, p, pieces);
  const double took = cpu_seconds() - start;
  std::printf("bar: %-55s %9.1f ms  at most 1000 ms  aim 50 ms\n",
              "event timeline of 175B on 4,096 GPUs (this build)", 1e3 * took);
  EXPECT_EQ(t.stages, 16);
  EXPECT_GE(t.events.size(), 2U * 16 * 48);
  EXPECT_NEAR(t.total / p.time.total, 1, 0.01);
  EXPECT_LT(took, 1.0);
}

}  // namespace
}  // namespace railyard::predict

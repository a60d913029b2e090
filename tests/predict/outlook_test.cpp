// What follows from a prediction: what limits the step, what makes it fit, the timeline, the power,
// and an explanation whose sums are right.

#include "predict/outlook.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "predict/explain_step.h"
#include "predict/step_parts.h"
#include "predict/step_timeline.h"
#include "step_setup.h"

namespace railyard::predict {
namespace {

using model::Job;
using model::Shard;

Outlook look(const model::Cluster& cluster, const Job& job) {
  return outlook(cluster, job, shipped().calibration);
}

/// 13B with tensor 8 and data 8, on 64 accelerators.
Job tensor_and_data() {
  Job job = job_of({"gpt3-13b"});
  job.layout.tensor = 8;
  job.layout.data = 8;
  return job;
}

TEST(Bottlenecks, AreAllPartsThatTakeTimeAndOneOfThemLeads) {
  const Outlook o = look(h100_cluster(8), tensor_and_data());
  Seconds sum{};
  for (const Bottleneck& b : o.bottlenecks) {
    sum += b.time;
    EXPECT_FALSE(b.what.empty());
    EXPECT_FALSE(b.number.empty()) << b.what;
  }
  EXPECT_NEAR(sum / o.prediction.time.total, 1, 1e-9);
}

TEST(Bottlenecks, ASlowNetworkLimitsTheStepByNameOfTheCard) {
  model::Cluster cluster = h100_cluster(8);
  for (model::NicPlace& nic : cluster.server.nics) nic.part.port_rate = 1.0 * Gbps;
  Job job = tensor_and_data();
  job.software.overlap_gradients = job.software.overlap_parameters = false;
  const Outlook o = look(cluster, job);
  EXPECT_EQ(o.limited_by().part, "data_communication");
  EXPECT_EQ(o.limited_by().what, "data-parallel communication over the network");
  EXPECT_NE(o.limited_by().reason.find("8 x ports of"), std::string::npos) << o.limited_by().reason;
  EXPECT_GT(o.limited_by().share, kHoldsBack);
}

TEST(Bottlenecks, ALossBelowTheThresholdDoesNotLimitTheWork) {
  Job job = job_of({"gpt3-175b"});  // one accelerator: nothing but work, were it to fit
  job.global_batch = 64;
  const Outlook o = look(one_gpu(), job);
  EXPECT_EQ(o.limited_by().what, "matrix multiplication rate");
  EXPECT_TRUE(o.limited_by().work);
}

TEST(Bottlenecks, AShortPipelineIsLimitedByItsBubble) {
  Job job = job_of({"gpt3-13b"});
  job.layout.tensor = 8;
  job.layout.pipeline = 8;
  job.global_batch = 4;  // (8 - 1) / 4: the bubble is longer than the work
  const Outlook o = look(h100_cluster(8), job);
  EXPECT_EQ(o.limited_by().what, "pipeline bubble");
  EXPECT_NE(o.limited_by().number.find("(p-1)/m = 7/4 = 175 %"), std::string::npos)
      << o.limited_by().number;
}

TEST(FitAdvice, SaysNothingWhenAllFits) {
  const Outlook o = look(h100_cluster(8), tensor_and_data());
  EXPECT_TRUE(o.fit.fits());
  EXPECT_TRUE(o.advice.empty());
}

TEST(FitAdvice, EveryChangeFitsAndIsPossibleAndTheFastestStandsFirst) {
  Job job = job_of({"gpt3-13b"});
  job.layout.data = 64;  // 18 bytes x 13e9 are 234 GB on every rank
  const Outlook o = look(h100_cluster(8), job);
  EXPECT_FALSE(o.fit.fits());
  ASSERT_FALSE(o.advice.empty());
  for (const FitChange& c : o.advice) {
    EXPECT_TRUE(c.fit.fits()) << c.change;
    EXPECT_TRUE(model::check(c.job).empty()) << c.change;
    EXPECT_EQ(c.job.accelerators(), job.accelerators()) << c.change;
    EXPECT_NEAR(StepModel(o.machine, shipped().calibration).predict(c.job).time.total / c.step, 1,
                1e-12);
  }
  EXPECT_TRUE(std::ranges::is_sorted(o.advice, {}, &FitChange::step));
  EXPECT_TRUE(std::ranges::any_of(o.advice,
                                  [](const FitChange& c) { return c.change == "layout.zero: 3"; }));
}

TEST(FitAdvice, TriesTwoChangesWhereOneIsNotEnough) {
  Job job = job_of({"gpt3-175b"});
  job.layout.tensor = 8;
  job.layout.data = 8;
  job.layout.micro_batch = 2;
  const Outlook o = look(h100_cluster(8), job);
  EXPECT_FALSE(o.fit.fits());
  ASSERT_FALSE(o.advice.empty());
  EXPECT_NE(o.advice.front().change.find(", "), std::string::npos) << o.advice.front().change;
}

TEST(Fit, HostMemoryIsCountedAServer) {
  Job job = job_of({"gpt3-175b"});
  job.layout.tensor = 8;
  job.layout.data = 8;
  job.layout.offload_optimizer = model::Offload::host;
  model::Cluster cluster = h100_cluster(8);
  const Outlook o = look(cluster, job);
  // A server holds the model once: 12 bytes x 175e9 are 2.1 TB, more than the 2 TB of a DGX.
  EXPECT_NEAR(o.fit.host_need.in(TB), 2.1, 0.03);
  EXPECT_FALSE(o.fit.host_fits());
  cluster.server.host_memory = {};
  const Outlook unknown = look(cluster, job);
  EXPECT_TRUE(unknown.fit.host_fits());
  EXPECT_FALSE(unknown.notes.empty());
}

TEST(Energy, IsThePowerLimitOfBusyAcceleratorsAndTheirServers) {
  const model::Cluster cluster = h100_cluster(8);
  const Outlook o = look(cluster, tensor_and_data());
  const double busy = o.prediction.utilisation.busy;
  const double limit = cluster.server.accelerator.power.si();
  EXPECT_NEAR(o.energy.accelerators.si(), 64 * limit * (0.16 + 0.84 * busy), 1e-6);
  EXPECT_NEAR(o.energy.servers.si(), 8 * cluster.server.power_besides.si(), 1e-6);
  EXPECT_NEAR(o.energy.step / (o.energy.total() * o.prediction.time.total), 1, 1e-12);
}

TEST(WholeRun, IsTokensOverRateAndGoodput) {
  Job job = tensor_and_data();
  job.trained_tokens = 1e12;
  const Outlook smooth = look(h100_cluster(8), job);
  EXPECT_NEAR(smooth.whole_run.si() * smooth.prediction.tokens_per_second / 1e12, 1, 1e-12);
  job.reliability = {.checkpoint_save = 60.0 * second,
                     .restart = 600.0 * second,
                     .accelerator_mtbf = 50000.0 * hour};
  const Outlook rough = look(h100_cluster(8), job);
  ASSERT_TRUE(rough.goodput);
  EXPECT_NEAR(rough.whole_run / smooth.whole_run, 1 / rough.goodput->useful, 1e-12);
}

/// Looks through the tree; calls `each` with every term.
void walk(const Term& t, const std::function<void(const Term&)>& each) {
  each(t);
  for (const Term& child : t.children) walk(child, each);
}
const Term* find(const Term& t, const std::string& name) {
  if (t.name == name) return &t;
  for (const Term& child : t.children)
    if (const Term* found = find(child, name)) return found;
  return nullptr;
}
double sum_of_children(const Term& t) {
  double sum = 0;
  for (const Term& child : t.children) sum += child.number;
  return sum;
}

class Explained : public testing::TestWithParam<const char*> {
 protected:
  static Job job() {
    const std::string_view kind = GetParam();
    if (kind == "experts") {
      Job job = job_of({"mixtral-8x7b"});
      job.layout.tensor = 2;
      job.layout.expert = 8;
      job.layout.data = 32;
      return job;
    }
    if (kind == "resnet") {
      Job job = job_of({"resnet-50", "pytorch-ddp"});
      job.layout.data = 64;
      job.global_batch = 2048;
      job.layout.micro_batch = 32;
      job.sequence = 1;
      return job;
    }
    Job job = job_of({"gpt3-13b"});
    job.layout.tensor = 2;
    job.layout.pipeline = kind == "zero3" ? 1 : 4;
    job.layout.data = kind == "zero3" ? 32 : 8;
    if (kind == "zero3") {
      job.layout.shard = Shard::full;
      job.layout.recompute = model::Recompute::full;
    }
    return job;
  }
};

TEST_P(Explained, TheSumsAreRight) {
  const model::Cluster cluster = h100_cluster(8);
  const Outlook o = look(cluster, job());
  const Term root = explain(o, cluster, shipped().calibration);
  const Term* step = find(root, "step");
  const Term* memory = find(root, "memory");
  ASSERT_TRUE(step && memory);
  EXPECT_NEAR(step->number, o.prediction.time.total.si(), 1e-12);
  EXPECT_NEAR(sum_of_children(*step) / step->number, 1, 1e-9);
  for (const Term& part : step->children) {
    if (part.children.empty()) continue;
    EXPECT_NEAR(sum_of_children(part), part.number, 1e-6 * step->number) << part.name;
  }
  EXPECT_NEAR(sum_of_children(*memory) / o.prediction.memory.total().si(), 1, 1e-9);
}

TEST_P(Explained, EveryNumberHasASumOrASource) {
  const model::Cluster cluster = h100_cluster(8);
  walk(explain(look(cluster, job()), cluster, shipped().calibration), [](const Term& t) {
    const bool told = !t.formula.empty() || !t.source.empty() || !t.children.empty();
    EXPECT_TRUE(told) << t.name;
  });
}
INSTANTIATE_TEST_SUITE_P(Jobs, Explained,
                         testing::Values("pipeline", "zero3", "experts", "resnet"));

TEST(Explanation, ShowsTheGemmsOfALayerByShape) {
  Job job = job_of({"gpt3-175b"});
  job.layout.tensor = 8;
  job.layout.data = 8;
  const model::Cluster cluster = h100_cluster(8);
  const Term root = explain(look(cluster, job), cluster, shipped().calibration);
  // 2048 tokens; query, key and value of 12 of 96 heads: 3 x 12288 / 8 = 4608 columns.
  EXPECT_TRUE(find(root, "GEMM 2048 x 4608 x 12288"));
  EXPECT_TRUE(find(root, "GEMM 2048 x 12288 x 1536"));
  EXPECT_TRUE(find(root, "GEMM 2048 x 6144 x 12288"));
  EXPECT_TRUE(find(root, "GEMM 2048 x 12288 x 6144"));
}

TEST(StepTimeline, BarsOfAStageDoNotOverlapOnItsComputeAndEndWithTheStep) {
  Job job = job_of({"gpt3-13b"});
  job.layout.tensor = 2;
  job.layout.pipeline = 4;
  job.layout.data = 8;
  job.layout.shard = Shard::optimizer;
  const Outlook o = look(h100_cluster(8), job);
  const StepModel model(o.machine, shipped().calibration);
  const StepTimeline t = step_timeline(job, model, o.prediction, o.pieces);
  Seconds last{};
  int forwards = 0;
  for (int stage = 0; stage < 4; ++stage) {
    Seconds busy_until{};
    for (const Event& e : t.events) {
      if (e.stage != stage) continue;
      last = max(last, e.end);
      forwards += e.kind == EventKind::forward ? 1 : 0;
      const bool compute = e.kind <= EventKind::weight || e.kind == EventKind::optimizer;
      if (!compute) continue;
      EXPECT_GE(e.start.si(), busy_until.si() - 1e-9);
      busy_until = e.end;
    }
  }
  EXPECT_EQ(forwards, 4 * 32);  // 256 / 8 micro-batches on each stage
  EXPECT_NEAR(last / (o.prediction.time.total / o.pieces.lateness), 1,
              0.01);  // the closed form is so near
}

}  // namespace
}  // namespace railyard::predict

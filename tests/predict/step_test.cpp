// Laws of a step, whatever the calibration: parts sum up, more of anything never hurts, and what is
// not there costs nothing.

#include "predict/step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "predict/step_parts.h"
#include "step_setup.h"

namespace railyard::predict {
namespace {

using model::Job;
using model::Recompute;
using model::Shard;

/// A layout of every kind, for a cluster of 64 accelerators.
struct Named {
  std::string name;
  Job job;
};
std::vector<Named> jobs() {
  std::vector<Named> out;
  const auto add = [&](std::string name, Job job, auto change) {
    change(job);
    out.push_back({std::move(name), std::move(job)});
  };
  const Job gpt = job_of({"gpt3-13b"});
  add("data", gpt, [](Job& j) { j.layout.data = 64; });
  add("tensor and data", gpt, [](Job& j) {
    j.layout.tensor = 8;
    j.layout.sequence_parallel = true;
    j.layout.data = 8;
    j.layout.shard = Shard::optimizer;
  });
  add("adapters", gpt, [](Job& j) {
    j.layout.data = 8;
    j.adapters_only = true;
  });
  add("pipeline", gpt, [](Job& j) {
    j.layout.tensor = 2;
    j.layout.pipeline = 4;
    j.layout.data = 8;
  });
  add("interleaved", gpt, [](Job& j) {
    j.layout.tensor = 2;
    j.layout.pipeline = 4;
    j.layout.virtual_stages = 5;
    j.layout.schedule = model::Schedule::interleaved;
    j.layout.data = 8;
  });
  add("zero-3 and recompute", gpt, [](Job& j) {
    j.layout.data = 64;
    j.layout.shard = Shard::full;
    j.layout.recompute = Recompute::full;
  });
  add("context", gpt, [](Job& j) {
    j.sequence = 32768;
    j.layout.tensor = 4;
    j.layout.context = 4;
    j.layout.data = 4;
  });
  add("experts", job_of({"mixtral-8x7b"}), [](Job& j) {
    j.layout.tensor = 2;
    j.layout.expert = 8;
    j.layout.data = 32;
  });
  add("uneven stages", job_of({"llama3-405b"}), [](Job& j) {
    j.layout.tensor = 8;
    j.layout.pipeline = 8;
    j.layout.data = 1;
  });
  add("unfused", job_of({"gpt3-13b", "megatron-lm-2021"}), [](Job& j) {
    j.layout.tensor = 8;
    j.layout.data = 8;
    j.layout.recompute = Recompute::selective;
  });
  add("convolutional", job_of({"resnet-50", "pytorch-ddp"}), [](Job& j) {
    j.layout.data = 64;
    j.layout.micro_batch = 32;
    j.global_batch = 2048;
    j.sequence = 1;
  });
  return out;
}

class Step : public testing::Test {
 protected:
  Step() : machine_(fabric::summarise(h100_cluster(8))) {}
  Prediction predict(const Job& job) const {
    return StepModel(machine_, shipped().calibration).predict(job);
  }
  fabric::Machine machine_;
};

TEST_F(Step, ThePartsSumToTheTotalAndNoneIsNegative) {
  for (const Named& n : jobs()) {
    ASSERT_TRUE(model::check(n.job).empty()) << n.name;
    const StepTime t = predict(n.job).time;
    Seconds sum{};
    for (const TimePart& part : time_parts()) {
      sum += t.*part.member;
      EXPECT_GE((t.*part.member).si(), -1e-9 * t.total.si()) << n.name << ": " << part.key;
    }
    EXPECT_NEAR(sum / t.total, 1, 1e-12) << n.name;
    EXPECT_GT(t.total, Seconds{}) << n.name;
  }
}

TEST_F(Step, ThroughputAndMfuFollowFromTheTime) {
  for (const Named& n : jobs()) {
    const Prediction p = predict(n.job);
    const double units = static_cast<double>(n.job.global_batch) * n.job.sequence;
    EXPECT_NEAR(p.tokens_per_second * p.time.total.si() / units, 1, 1e-12) << n.name;
    EXPECT_NEAR(p.tokens_per_second / p.tokens_per_second_per_gpu, n.job.accelerators(), 1e-6)
        << n.name;
    EXPECT_LT(p.utilisation.mfu, 0.85) << n.name;
    EXPECT_GT(p.utilisation.mfu, 0) << n.name;
    EXPECT_LE(p.utilisation.mfu, p.utilisation.compute + 1e-12) << n.name;
    EXPECT_LE(p.utilisation.compute, p.utilisation.busy + 1e-12) << n.name;
    EXPECT_LE(p.low, 1) << n.name;
    EXPECT_GE(p.high, 1) << n.name;
  }
}

TEST_F(Step, MoreBandwidthOrRateNeverMakesAStepSlower) {
  const std::vector<std::pair<const char*, void (*)(fabric::Machine&)>> upgrades = {
      {"network", [](fabric::Machine& m) { m.network_per_server *= 2; }},
      {"scale-up", [](fabric::Machine& m) { m.scale_up *= 2; }},
      {"memory", [](fabric::Machine& m) { m.gpu.memory *= 2; }},
      {"peaks", [](fabric::Machine& m) {
         for (FlopRate& peak : m.gpu.peak) peak *= 2;
       }}};
  for (const Named& n : jobs()) {
    const Seconds before = predict(n.job).time.total;
    for (const auto& [what, upgrade] : upgrades) {
      fabric::Machine better = machine_;
      upgrade(better);
      const Seconds after = StepModel(better, shipped().calibration).predict(n.job).time.total;
      EXPECT_LE(after.si(), before.si() * (1 + 1e-9)) << n.name << ": " << what;
    }
  }
}

TEST_F(Step, TwiceThePeakHalvesMatrixMultiplication) {
  Job job = job_of({"gpt3-175b"});
  job.layout.tensor = 8;
  job.layout.data = 8;
  fabric::Machine fast = machine_;
  for (FlopRate& peak : fast.gpu.peak) peak *= 2;
  const Seconds once = predict(job).time.matmul;
  const Seconds twice = StepModel(fast, shipped().calibration).predict(job).time.matmul;
  EXPECT_NEAR(once / twice, 2, 0.02);
}

TEST(StepAlone, OneAcceleratorCommunicatesWithNobody) {
  const fabric::Machine machine = fabric::summarise(one_gpu());
  for (const char* model : {"gpt3-1.3b", "mixtral-8x7b"}) {
    const Job job = job_of({model});
    const Prediction p = StepModel(machine, shipped().calibration).predict(job);
    const Seconds communication =
        p.time.tensor + p.time.context + p.time.expert + p.time.pipeline + p.time.data;
    EXPECT_EQ(communication, Seconds{}) << model;
    EXPECT_NEAR(p.time.bubble / p.time.total, 0, 1e-12) << model;
  }
}

TEST_F(Step, WithoutOverlapTheWholeGradientSynchronisationIsExposed) {
  Job job = job_of({"gpt3-13b"});
  job.layout.tensor = 8;
  job.layout.data = 8;
  job.software.overlap_gradients = job.software.overlap_parameters = false;
  StepModel::Pieces pieces;
  const StepModel model(machine_, shipped().calibration);
  const Prediction apart = model.predict(job, pieces);
  EXPECT_NEAR(apart.time.data / (pieces.gradient_sync + pieces.parameter_sync), 1, 1e-9);
  job.software.overlap_gradients = true;
  EXPECT_LT(model.predict(job).time.data, apart.time.data);
}

TEST_F(Step, ShardedGradientsAreReducedByEveryMicroBatch) {
  Job job = job_of({"gpt3-13b"});
  job.layout.tensor = 8;
  job.layout.data = 8;
  job.layout.shard = Shard::optimizer;
  ASSERT_GT(job.micro_batches(), 1);
  const StepModel model(machine_, shipped().calibration);
  StepModel::Pieces once, each;
  const Prediction whole = model.predict(job, once);
  job.layout.shard = Shard::gradients;
  const Prediction sharded = model.predict(job, each);
  EXPECT_NEAR(each.gradient_sync / once.gradient_sync, job.micro_batches(), 1e-9);
  EXPECT_GT(sharded.time.total, whole.time.total);
}

TEST_F(Step, EveryModuleThatIsRecomputedCostsTime) {
  using enum model::RecomputeModule;
  const auto again = [&](const char* model, std::uint8_t modules) {
    Job job = job_of({model});
    job.layout.expert = job.model.experts ? 8 : 1;
    job.layout.data = 64;
    job.layout.recompute = Recompute::none;
    job.layout.recompute_modules = modules;
    return predict(job).time.recompute;
  };
  for (const std::uint8_t module :
       {recompute_core_attention, recompute_norms, recompute_activation_function, recompute_mlp})
    EXPECT_GT(again("gpt3-13b", module), Seconds{}) << int{module};
  for (const std::uint8_t module : {recompute_moe, recompute_latent_projection})
    EXPECT_GT(again("deepseek-v3", module), Seconds{}) << int{module};
  EXPECT_EQ(again("gpt3-13b", recompute_moe), Seconds{});
}

TEST_F(Step, RecomputedExpertsAreDispatchedAgain) {
  Job job = job_of({"mixtral-8x7b"});
  job.layout.expert = 8;
  job.layout.data = 64;
  const Seconds kept = predict(job).time.expert;
  job.layout.recompute_modules = model::recompute_moe;
  EXPECT_NEAR(predict(job).time.expert / kept, 1.5, 1e-6);
}

TEST_F(Step, ActivationsOnTheHostCostWhatTheirTransferDoesNotHide) {
  Job job = job_of({"gpt3-13b"});
  job.layout.tensor = 8;
  job.layout.data = 8;
  const Prediction near = predict(job);
  job.layout.offload_activations = model::Offload::host;
  fabric::Machine slow = machine_, fast = machine_;
  slow.host_link_shared = Bandwidth::si(1e9);
  fast.host_link_shared = fast.host_memory = Bandwidth::si(1e15);
  const Prediction far = StepModel(slow, shipped().calibration).predict(job);
  // there and back over 1 GB/s, less the compute that runs beside it
  const double bytes = far.memory.host.si() * job.micro_batches();
  EXPECT_GT(far.time.offload.si(), 2 * bytes / 1e9 * 0.9 - near.time.total.si());
  EXPECT_LT(far.time.offload.si(), 2 * bytes / 1e9);
  EXPECT_EQ(StepModel(fast, shipped().calibration).predict(job).time.offload, Seconds{});
}

TEST_F(Step, MoreMicroBatchesShrinkTheShareOfBubbleAndSynchronisation) {
  Job job = job_of({"gpt3-13b"});
  job.layout.tensor = 2;
  job.layout.pipeline = 4;
  job.layout.data = 8;
  const StepTime few = predict(job).time;
  job.global_batch *= 4;
  const StepTime many = predict(job).time;
  EXPECT_LT(many.bubble / many.total, few.bubble / few.total);
  EXPECT_LT(many.data / many.total, few.data / few.total);
}

TEST_F(Step, FullRecomputationRepeatsTheForwardOfEveryLayer) {
  Job job = job_of({"gpt3-175b"});
  job.layout.tensor = 8;
  job.layout.data = 8;
  const StepTime without = predict(job).time;
  job.layout.recompute = Recompute::full;
  const StepTime with = predict(job).time;
  EXPECT_EQ(without.recompute, Seconds{});
  // Forward is about a third of forward and backward.
  EXPECT_NEAR(with.recompute / without.compute(), 1.0 / 3, 0.05);
}

TEST_F(Step, StragglersLengthenTheStepByTheExpectedMaximum) {
  Job job = job_of({"gpt3-13b"});
  job.layout.tensor = 8;
  job.layout.data = 8;
  StepModel::Pieces pieces;
  StepModel(machine_, shipped().calibration).predict(job, pieces);
  const double before = pieces.lateness;
  machine_.straggler = 0.02;
  StepModel(machine_, shipped().calibration).predict(job, pieces);
  EXPECT_NEAR(pieces.lateness - before, 0.02 * std::sqrt(2 * std::log(64.0)), 1e-12);  // 5.8 %
}

TEST(ModelFlops, AGptBlockIsTwelveHSquaredALayer) {
  // GPT-3 175B, 1 sequence of 2048: 6 (96 x 12 x 12288^2 + 51200 x 12288) + 6 x 96 x 2048 x 12288 a
  // token.
  Job job = job_of({"gpt3-175b"});
  job.global_batch = 1;
  const double matrices = 96.0 * 12 * 12288 * 12288 + 51200.0 * 12288;
  const double half_square = 6.0 * 96 * 2048 * 12288;
  const double expected = 2048 * (6 * matrices + half_square);
  EXPECT_NEAR(model_flops(job, false).si() / expected, 1,
              2e-4);  // norms and biases are counted too
  EXPECT_NEAR((model_flops(job, true) - model_flops(job, false)).si() / (2048 * half_square), 1,
              1e-9);
}

}  // namespace
}  // namespace railyard::predict

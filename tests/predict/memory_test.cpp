// What a rank keeps, against the published sums: bytes of model state a parameter under each stage
// of ZeRO, and of activations a layer.  [Rajbhandari et al., SC'20; Korthikanti et al., MLSys'23]

#include "predict/memory.h"

#include <gtest/gtest.h>

#include "predict/step.h"
#include "step_setup.h"

namespace railyard::predict {
namespace {

using model::Job;
using model::Recompute;
using model::Shard;

MemoryTerms memory_of(const Job& job, int servers = 8) {
  const fabric::Machine machine = fabric::summarise(h100_cluster(servers));
  return StepModel(machine, shipped().calibration).predict(job).memory;
}

/// GPT as first published: dropout, stored scores, 16-bit weights, fp32 gradients and Adam.
Job gpt(std::string_view model) {
  Job job = job_of({model});
  job.software.attention = model::AttentionKernel::unfused;
  job.software.attention_dropout = true;
  job.software.gradient_bytes = job.software.master_bytes = job.software.moment_bytes = 4;
  job.software.quantised_weights_kept = false;
  return job;
}

class StateBytes : public testing::TestWithParam<int> {
 protected:
  /// Weights, gradients and optimizer, in bytes a parameter of the rank.
  static double state(Shard shard, int data) {
    Job job = gpt("gpt3-13b");
    job.layout.tensor = 64 / data;
    job.layout.data = data;
    job.layout.shard = shard;
    const MemoryTerms m = memory_of(job);
    Job whole = job;
    whole.layout.shard = Shard::none;
    const double parameters = memory_of(whole).weights.si() / 2;
    return (m.weights + m.gradients + m.optimizer).si() / parameters;
  }
};

TEST_P(StateBytes, FollowTheStagesOfZero) {
  const double d = GetParam();
  EXPECT_DOUBLE_EQ(state(Shard::none, GetParam()), 18);
  EXPECT_DOUBLE_EQ(state(Shard::optimizer, GetParam()), 6 + 12 / d);
  EXPECT_DOUBLE_EQ(state(Shard::gradients, GetParam()), 2 + 16 / d);
  EXPECT_DOUBLE_EQ(state(Shard::full, GetParam()), 18 / d);
}
INSTANTIATE_TEST_SUITE_P(DataParallel, StateBytes, testing::Values(8, 16, 64));

TEST(StateBytes, OneAcceleratorHoldsEveryParameterOnce) {
  Job job = gpt("gpt3-1.3b");
  const fabric::Machine machine = fabric::summarise(one_gpu());
  const MemoryTerms m = StepModel(machine, shipped().calibration).predict(job).memory;
  const double parameters = model::count_parameters(job.model).total;
  EXPECT_NEAR(m.weights.si() / (2 * parameters), 1, 2e-3);  // biases are not cut out of matrices
  EXPECT_NEAR(m.optimizer.si() / (12 * parameters), 1, 2e-3);
}

/// s b h of a job.
double unit(const Job& job) {
  return static_cast<double>(job.sequence) * job.layout.micro_batch * job.model.hidden;
}
/// a s^2 b: one score of every head.
double scores(const Job& job) {
  return static_cast<double>(job.model.heads) * job.sequence * job.sequence *
         job.layout.micro_batch;
}

TEST(Activations, ALayerOfGptKeepsThirtyFourBytesAndItsScores) {
  Job job = gpt("gpt3-175b");
  job.layout.micro_batch = 2;
  const double expected = 34 * unit(job) + 5 * scores(job);
  EXPECT_NEAR(layer_activations(job, LayerKind::dense).si() / expected, 1, 1e-3);
}

TEST(Activations, TensorParallelismCutsTwentyFourOfThem) {
  Job job = gpt("gpt3-175b");
  job.layout.tensor = 8;
  const double expected = (10 + 24.0 / 8) * unit(job) + 5 * scores(job) / 8;
  EXPECT_NEAR(layer_activations(job, LayerKind::dense).si() / expected, 1, 1e-3);
}

TEST(Activations, SequenceParallelismCutsTheRest) {
  Job job = gpt("gpt3-175b");
  job.layout.tensor = 8;
  job.layout.sequence_parallel = true;
  const double expected = (34 * unit(job) + 5 * scores(job)) / 8;
  EXPECT_NEAR(layer_activations(job, LayerKind::dense).si() / expected, 1, 1e-3);
}

TEST(Activations, SelectiveRecomputationDropsTheScores) {
  Job job = gpt("gpt3-175b");
  job.layout.recompute = Recompute::selective;
  EXPECT_NEAR(layer_activations(job, LayerKind::dense).si() / (34 * unit(job)), 1, 1e-3);
}

TEST(Activations, FullRecomputationKeepsTheInput) {
  const Job job = gpt("gpt3-175b");
  EXPECT_DOUBLE_EQ(layer_input(job).si(), 2 * unit(job));
}

TEST(Activations, ContextParallelismCutsTheSequence) {
  Job job = job_of({"llama3-70b"});
  job.sequence = 16384;
  const Bytes whole = layer_activations(job, LayerKind::dense);
  job.layout.context = 4;
  EXPECT_NEAR(layer_activations(job, LayerKind::dense) / whole, 0.25, 1e-9);
}

TEST(InFlight, TheFirstStageHoldsAsMuchAsTheWholeModelWould) {
  Job job = gpt("gpt3-175b");
  job.layout.tensor = 8;
  job.layout.sequence_parallel = true;
  job.layout.pipeline = 8;
  job.layout.data = 1;
  const Bytes layer = layer_activations(job, LayerKind::dense);
  const MemoryTerms m = memory_of(job);
  EXPECT_EQ(m.stage, 0);
  // 8 micro-batches of 12 layers are 96 layers of one; token ids and positions come on top.
  EXPECT_NEAR(m.activations / (96 * layer), 1, 0.01);
  job.global_batch = 4;  // fewer micro-batches than stages: four in flight
  EXPECT_NEAR(memory_of(job).activations / (4 * 12 * layer), 1, 0.01);
}

TEST(Offload, MovesTheOptimizerToTheHost) {
  Job job = gpt("gpt3-13b");
  job.layout.data = 64;
  job.layout.shard = Shard::full;
  const MemoryTerms before = memory_of(job);
  job.layout.offload_optimizer = model::Offload::host;
  const MemoryTerms after = memory_of(job);
  EXPECT_EQ(after.optimizer, Bytes{});
  EXPECT_EQ(after.host, before.optimizer);
}

}  // namespace
}  // namespace railyard::predict

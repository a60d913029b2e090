// The laws that a layout must keep, and what fit_to makes of a cluster.

#include "model/job.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/text.h"
#include "gtest/gtest.h"
#include "support/support.h"

namespace railyard::model {
namespace {

/// Llama 3 70B in short, on 64 accelerators: legal as it stands.
Job legal() {
  Job job;
  job.model.layers = 80;
  job.model.hidden = 8192;
  job.model.heads = 64;
  job.model.kv_heads = 8;
  job.model.ffn = 28672;
  job.model.vocab = 128256;
  job.model.gated = true;
  job.sequence = 8192;
  job.global_batch = 128;
  job.layout = {.tensor = 4, .pipeline = 4, .virtual_stages = 5, .data = 4, .micro_batch = 1};
  job.layout.schedule = Schedule::interleaved;
  job.layout.sequence_parallel = true;
  return job;
}

/// Qwen3-30B-A3B in short: 128 experts of width 768.
Job with_experts() {
  Job job = legal();
  job.model.experts = Experts{.experts = 128, .top_k = 8, .ffn = 768};
  job.layout = {.tensor = 2, .data = 32, .expert = 8, .micro_batch = 1};
  return job;
}

/// The fields that are impossible, in order, each once: "layout.tensor_parallel global_batch".
std::string fields(const Job& job) {
  std::string out;
  for (const Impossible& i : check(job)) out += (out.empty() ? "" : " ") + i.field;
  return out;
}

TEST(LayoutLaws, ALegalJobBreaksNone) {
  EXPECT_EQ(fields(legal()), "");
  EXPECT_EQ(fields(with_experts()), "");
  EXPECT_EQ(legal().accelerators(), 64);
  EXPECT_EQ(legal().micro_batches(), 32);
}

TEST(LayoutLaws, TensorParallelDividesTheHeads) {
  for (int t = 1; t <= 128; ++t) {
    Job job = legal();
    job.layout.sequence_parallel = false;
    job.layout.tensor = t;
    // 64 heads; 8 key-value heads are divided or shared by every power of two; 28672 = 4096 x 7.
    const bool possible = t == 1 || t == 2 || t == 4 || t == 8 || t == 16 || t == 32 || t == 64;
    EXPECT_EQ(fields(job).find("layout.tensor_parallel") == std::string::npos, possible) << t;
  }
}

TEST(LayoutLaws, TheHintNamesDegreesThatWouldDo) {
  Job job = legal();
  job.layout.sequence_parallel = false;
  job.layout.tensor = 3;
  const auto broken = check(job);
  ASSERT_FALSE(broken.empty());
  EXPECT_EQ(broken[0].expected, "a tensor_parallel that divides 64 attention heads");
  EXPECT_EQ(broken[0].found, "3");
  EXPECT_EQ(broken[0].hint, "1, 2, 4, 8, 16, 32 and 64 do");
}

TEST(LayoutLaws, KeyValueHeadsMayBeFewerThanRanks) {
  Job job = legal();
  job.model.heads = 48;
  job.model.kv_heads = 6;
  job.layout.tensor = 4;  // 6 and 4: neither divides the other
  EXPECT_EQ(fields(job), "layout.tensor_parallel");
  job.layout.tensor = 12;  // two ranks share each head: heads 48/12, but 28672/12 is not whole
  job.model.ffn = 28800;
  job.sequence = 8196;
  EXPECT_EQ(fields(job), "");
}

TEST(LayoutLaws, TheFfnIsCutEvenly) {
  Job job = legal();
  job.model.ffn = 11000;
  job.layout.tensor = 16;
  EXPECT_EQ(fields(job), "layout.tensor_parallel");
}

TEST(LayoutLaws, SequenceParallelNeedsATensorDivisibleSequence) {
  Job job = legal();
  job.sequence = 8190;
  EXPECT_EQ(fields(job), "layout.sequence_parallel");
  job.layout.sequence_parallel = false;
  EXPECT_EQ(fields(job), "");
}

TEST(LayoutLaws, PipelinePartsNeedNotBeEqualButNotMoreThanLayersAndEnds) {
  Job job = legal();
  job.layout.virtual_stages = 20;  // 80 parts
  EXPECT_EQ(fields(job), "");
  job.model.layers = 78;  // and the embedding and the loss
  EXPECT_EQ(fields(job), "");
  job.model.layers = 77;
  EXPECT_EQ(fields(job), "layout.virtual_stages");
  EXPECT_EQ(check(job)[0].found, "4 stages x 20");
}

TEST(LayoutLaws, VirtualStagesNeedAPipelineAndItsSchedule) {
  Job job = legal();
  job.layout.schedule = Schedule::gpipe;
  EXPECT_EQ(fields(job), "layout.schedule");
  job.layout.schedule = Schedule::interleaved;
  job.layout.pipeline = 1;
  EXPECT_EQ(fields(job), "layout.virtual_stages");
}

TEST(LayoutLaws, ContextParallelCutsACausalSequenceIntoTwicePiecesInARing) {
  Job job = legal();
  job.layout.sequence_parallel = false;
  job.sequence = 4104;  // 8 x 513: 4 ranks of two pieces, or 8 of one
  job.layout.context = 4;
  EXPECT_EQ(fields(job), "");
  job.layout.context = 8;
  EXPECT_EQ(fields(job), "layout.context_parallel");
  job.layout.context_kind = ContextKind::all_to_all;
  job.layout.tensor = 8;
  EXPECT_EQ(fields(job), "");
  job.layout.tensor = 16;  // 16 x 8 heads
  EXPECT_EQ(fields(job), "layout.context_parallel");
}

TEST(LayoutLaws, ExpertsAreDividedAndTheirGroupsFit) {
  Job job = with_experts();
  job.layout.expert = 12;
  EXPECT_EQ(fields(job), "layout.expert_parallel layout.expert_parallel");
  job.layout.expert = 128;  // 64 ranks
  EXPECT_EQ(fields(job), "layout.expert_parallel");
  job.layout.expert = 64;
  EXPECT_EQ(fields(job), "");
  job.layout.expert_tensor = 2;
  EXPECT_EQ(fields(job), "layout.expert_parallel");
  job.layout.expert = 8;
  job.layout.expert_tensor = 5;  // 768 is no multiple of 5, 64 none of 40
  EXPECT_EQ(fields(job), "layout.expert_tensor_parallel layout.expert_parallel");
}

TEST(LayoutLaws, ADenseModelHasNoExpertParallelism) {
  Job job = legal();
  job.layout.expert = 4;
  EXPECT_EQ(fields(job), "layout.expert_parallel");
}

TEST(LayoutLaws, TheBatchIsAMultipleOfWhatRunsAtOnce) {
  Job job = legal();
  job.global_batch = 130;
  EXPECT_EQ(fields(job), "global_batch");
  EXPECT_EQ(check(job)[0].hint, "for example 132");
  job.layout.data = 0;  // not settled yet: only the micro-batch counts
  EXPECT_EQ(fields(job), "");
  job.layout.micro_batch = 4;
  EXPECT_EQ(fields(job), "global_batch");
}

TEST(LayoutLaws, AShardGroupDividesTheDataParallelRanks) {
  Job job = legal();
  job.layout.shard_group = 2;
  EXPECT_EQ(fields(job), "layout.shard_group");  // nothing is sharded
  job.layout.shard = Shard::optimizer;
  EXPECT_EQ(fields(job), "");
  job.layout.shard_group = 3;
  EXPECT_EQ(fields(job), "layout.shard_group");
}

TEST(LayoutLaws, RecomputedLayersAreThoseOfAStage) {
  Job job = legal();
  job.layout.recompute = Recompute::full;
  job.layout.recompute_layers = 20;
  EXPECT_EQ(fields(job), "");
  job.layout.recompute_layers = 21;
  EXPECT_EQ(fields(job), "layout.recompute");
}

TEST(LayoutLaws, ConvolutionsAreDataParallelOnly) {
  Job job;
  job.model.convolutional = Convolutional{};
  job.sequence = 1;
  job.global_batch = 256;
  job.layout.data = 8;
  EXPECT_EQ(fields(job), "");
  job.layout.tensor = 2;
  EXPECT_EQ(fields(job), "layout.tensor_parallel");
}

TEST(LayoutLaws, NonsenseSizesAreNamedAndNothingIsDividedByThem) {
  Job job = legal();
  job.layout.tensor = 0;
  job.layout.micro_batch = -1;
  job.sequence = 0;
  EXPECT_EQ(fields(job), "layout.tensor_parallel layout.micro_batch sequence");
  job = legal();
  job.layout.tensor = job.layout.pipeline = job.layout.data = 1 << 20;
  EXPECT_EQ(fields(job), "layout");
}

TEST(FitTo, DataParallelismFillsTheCluster) {
  Job job = legal();
  job.layout.data = 0;
  const auto fitted = fit_to(job, 256);
  ASSERT_TRUE(fitted) << text(fitted.error());
  EXPECT_EQ(fitted->layout.data, 16);
  EXPECT_EQ(fitted->accelerators(), 256);
}

TEST(FitTo, AGivenDataParallelismMayUseAPartOfTheCluster) {
  const auto fitted = fit_to(legal(), 1024);
  ASSERT_TRUE(fitted) << text(fitted.error());
  EXPECT_EQ(fitted->accelerators(), 64);
}

TEST(FitTo, ALayoutThatNeedsMoreThanThereAreSaysSo) {
  Job job = legal();
  job.layout.data = 32;
  const auto fitted = fit_to(job, 256);
  ASSERT_FALSE(fitted);
  EXPECT_EQ(fitted.error()[0].found, "layout needs 512 accelerators, cluster has 256");
  EXPECT_EQ(fitted.error()[0].hint, "tensor 4 x pipeline 4 x data 32 = 512");
}

TEST(FitTo, ALayoutThatDoesNotDivideTheClusterSaysSo) {
  Job job = legal();
  job.layout.data = 0;
  const auto fitted = fit_to(job, 100);
  ASSERT_FALSE(fitted);
  EXPECT_EQ(fitted.error()[0].expected, "a layout that divides the cluster's 100 accelerators");
  EXPECT_EQ(fitted.error()[0].found, "tensor 4 x pipeline 4 = 16");
}

TEST(FitTo, TheBatchIsCheckedAgainstWhatFilledTheCluster) {
  Job job = legal();
  job.layout.data = 0;
  job.global_batch = 24;
  const auto fitted = fit_to(job, 256);
  ASSERT_FALSE(fitted);
  EXPECT_EQ(fitted.error()[0].expected, "a multiple of data_parallel 16 x micro_batch 1 = 16");
}

/// An integer of the table, or `otherwise` where the field is empty.
int number(const csv::Table& t, std::size_t row, std::string_view column, int otherwise) {
  Problems problems;
  return t.integer(row, column, problems).value_or(otherwise);
}

// Whatever was run and published is possible: the laws must not be stricter than the field.
TEST(LayoutLaws, PublishedRunsAreLegal) {
  const std::string path = test::shared("data/training_throughput.csv");
  if (path.empty()) GTEST_SKIP() << "shared data is not here";
  const auto bytes = read_file(path);
  ASSERT_TRUE(bytes);
  const auto table = csv::Table::parse({.file = path, .bytes = *bytes});
  ASSERT_TRUE(table);
  int checked = 0;
  std::map<std::string, int> refused;
  for (std::size_t r = 0; r < table->rows(); ++r) {
    bool full = true;
    for (const char* c :
         {"layers", "hidden", "heads", "ffn", "tp", "pp", "dp", "micro_batch", "global_batch"})
      full = full && !table->at(r, c).empty();
    if (!full) continue;
    Job job;
    job.model.layers = number(*table, r, "layers", 0);
    job.model.hidden = number(*table, r, "hidden", 0);
    job.model.heads = number(*table, r, "heads", 0);
    job.model.kv_heads = number(*table, r, "kv_heads", job.model.heads);
    job.model.ffn = number(*table, r, "ffn", 0);
    job.sequence = number(*table, r, "seq_len", 0);
    job.global_batch = number(*table, r, "global_batch", 0);
    job.layout.tensor = number(*table, r, "tp", 1);
    job.layout.pipeline = number(*table, r, "pp", 1);
    job.layout.data = number(*table, r, "dp", 1);
    job.layout.context = number(*table, r, "cp", 1);
    job.layout.micro_batch = number(*table, r, "micro_batch", 1);
    Problems text_is_fine;  // "interleaved (degree not printed)"
    job.layout.virtual_stages = table->integer(r, "vpp", text_is_fine).value_or(1);
    if (job.layout.virtual_stages > 1) job.layout.schedule = Schedule::interleaved;
    ++checked;
    for (const Impossible& i : check(job))
      ++refused[i.field + ": " + i.expected + ", " + i.found + " | " +
                std::string(table->at(r, "source")) + " " + std::string(table->at(r, "model"))];
  }
  EXPECT_GT(checked, 900);
  for (const auto& [what, count] : refused) ADD_FAILURE() << count << " x " << what;
}

}  // namespace
}  // namespace railyard::model

#include "model/job_reader.h"

#include <string>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "support/support.h"

namespace railyard::model {
namespace {

const Catalog& catalogue() {
  static const Checked<Catalog> loaded = load_catalog(test::repository("catalog"));
  if (!loaded) ADD_FAILURE() << text(loaded.error());
  return *loaded;
}
const Stacks& stacks() {
  static const Checked<Stacks> loaded = load_stacks(test::repository("catalog/stacks.yaml"));
  if (!loaded) ADD_FAILURE() << text(loaded.error());
  return *loaded;
}

/// A config.json of two layers for every path but one.
Checked<facts::ModelConfig> resolve(const std::string& path) {
  if (path == "models/missing/config.json")
    return as_problems({.at = {path}, .expected = "a readable file", .found = "No such file"});
  facts::ModelConfig c;
  c.file = path;
  const auto number = [&](int n) { return facts::Seen<int>{n, {.at = {path, 1, 1}, .line = {}}}; };
  c.family = facts::Seen<std::string>{"llama", {}};
  c.layers = number(2);
  c.hidden = number(256);
  c.heads = number(4);
  c.ffn = number(1024);
  c.vocab = number(32000);
  return c;
}

Checked<Job> parse(std::string yaml) {
  auto doc = yaml::Document::parse("jobs/j.yaml", std::move(yaml));
  if (!doc) return std::unexpected(doc.error());
  return parse_job(*doc, catalogue(), stacks(), resolve);
}

Job good(std::string yaml) {
  auto job = parse(std::move(yaml));
  if (!job) {
    ADD_FAILURE() << text(job.error());
    return {};
  }
  return *job;
}

// The problems of a file that must have some.
std::string bad(std::string yaml) {
  auto job = parse(std::move(yaml));
  if (job) {
    ADD_FAILURE() << "read without complaint";
    return {};
  }
  return text(job.error());
}

/// Whether the problems say something; shows them when they do not.
testing::AssertionResult says(const std::string& problems, std::string_view what) {
  if (problems.contains(what)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << what << "' is not in\n" << problems;
}

const std::string kHead =
    "job: llama3-70b on 64\n"  // 1
    "model: llama3-70b\n"      // 2
    "sequence: 8192\n"         // 3
    "global_batch: 128\n";     // 4

TEST(JobFile, TheExampleOfTheDocumentationIsRead) {
  const Job job = good(kHead +
                       "precision: bf16\n"
                       "optimizer: adam\n"
                       "stack: megatron-core-0.12\n"
                       "layout:\n"
                       "  tensor_parallel: 4\n"
                       "  pipeline_parallel: 4\n"
                       "  virtual_stages: 5\n"
                       "  data_parallel: 4\n"
                       "  context_parallel: 1\n"
                       "  micro_batch: 1\n"
                       "  sequence_parallel: true\n"
                       "  zero: 1\n"
                       "  recompute: {kind: full, layers: 4}\n"
                       "  offload: {optimizer: host, activations: cxl}\n"
                       "software: {overlap_gradients: false, launch: 5 us}\n"
                       "reliability: {checkpoint_save: 30 s, checkpoint_interval: 30 min,\n"
                       "              restart: 10 min, accelerator_mtbf: 50000 h}\n"
                       "tokens: 300e9\n");
  EXPECT_EQ(job.name, "llama3-70b on 64");
  EXPECT_EQ(job.model.layers, 80);
  EXPECT_EQ(job.layout.tensor, 4);
  EXPECT_EQ(job.layout.data, 4);
  EXPECT_EQ(job.layout.schedule, Schedule::interleaved);
  EXPECT_TRUE(job.layout.sequence_parallel);
  EXPECT_EQ(job.layout.shard, Shard::optimizer);
  EXPECT_EQ(job.layout.recompute, Recompute::full);
  EXPECT_EQ(job.layout.recompute_layers, 4);
  EXPECT_EQ(job.layout.offload_optimizer, Offload::host);
  EXPECT_EQ(job.layout.offload_activations, Offload::cxl);
  EXPECT_EQ(job.software.stack, "megatron-core-0.12");
  EXPECT_FALSE(job.software.overlap_gradients);
  EXPECT_TRUE(job.software.overlap_parameters);
  EXPECT_DOUBLE_EQ(job.software.launch.in(us), 5);
  EXPECT_DOUBLE_EQ(job.reliability.accelerator_mtbf.in(hour), 50000);
  EXPECT_DOUBLE_EQ(job.reliability.checkpoint_interval.si(), 1800);
  EXPECT_DOUBLE_EQ(job.trained_tokens, 300e9);
  EXPECT_EQ(job.accelerators(), 64);
  EXPECT_EQ(job.micro_batches(), 32);
}

TEST(JobFile, ShortestFileLeavesDataParallelismOpen) {
  const Job job = good("model: llama3-8b\nsequence: 4096\nglobal_batch: 64\n");
  EXPECT_EQ(job.name, "j");
  EXPECT_EQ(job.layout.data, 0);
  EXPECT_EQ(job.software.stack, kDefaultStack);
  EXPECT_EQ(job.precision, Precision::bf16);
  const auto fitted = fit_to(job, 16);
  ASSERT_TRUE(fitted) << text(fitted.error());
  EXPECT_EQ(fitted->layout.data, 16);
}

TEST(JobFile, TheBatchMayBeGivenInTokens) {
  EXPECT_EQ(good("model: llama3-8b\nsequence: 8192\nglobal_batch_tokens: 4194304\n").global_batch,
            512);
  EXPECT_EQ(good("model: llama3-8b\nsequence: 1000\nglobal_batch_tokens: 4e6\n").global_batch,
            4000);
  const std::string problems =
      bad("model: llama3-8b\nsequence: 8192\nglobal_batch_tokens: 4000000\n");
  EXPECT_TRUE(
      says(problems,
           "jobs/j.yaml:3:22: expected a multiple of the sequence length 8192, found '4000000'"));
  EXPECT_TRUE(says(problems, "for example 3997696"));
}

TEST(JobFile, ZeroAndFsdpAreTheNamesOfOneThing) {
  EXPECT_EQ(good(kHead + "layout: {zero: 2}\n").layout.shard, Shard::gradients);
  EXPECT_EQ(good(kHead + "layout: {fsdp: true}\n").layout.shard, Shard::full);
  const Job kept = good(kHead + "layout: {fsdp: shard_grad_op}\n");
  EXPECT_EQ(kept.layout.shard, Shard::full);
  EXPECT_FALSE(kept.layout.reshard_after_forward);
  EXPECT_EQ(good(kHead + "layout: {fsdp: hybrid_shard, shard_group: 8}\n").layout.shard_group, 8);
  EXPECT_TRUE(
      says(bad(kHead + "layout: {fsdp: hybrid_shard}\n"), "j.yaml:5:16: expected shard_group"));
  EXPECT_TRUE(says(bad(kHead + "layout: {zero: 1, fsdp: true}\n"),
                   "j.yaml:5:25: expected either zero or fsdp"));
  EXPECT_TRUE(says(bad(kHead + "layout: {zero: 4}\n"),
                   "j.yaml:5:16: expected an integer from 0 to 3, found '4'"));
}

TEST(JobFile, RecomputationIsAWordAListOrAMap) {
  EXPECT_EQ(good(kHead + "layout: {recompute: selective}\n").layout.recompute,
            Recompute::selective);
  const Job listed = good(kHead + "layout: {recompute: [core_attention, mlp]}\n");
  EXPECT_EQ(listed.layout.recompute, Recompute::selective);
  EXPECT_EQ(listed.layout.recompute_modules, recompute_core_attention | recompute_mlp);
  const std::string problems = bad(kHead + "layout: {recompute: [core_atention]}\n");
  EXPECT_TRUE(says(problems, "j.yaml:5:22: expected one of core_attention, norms"));
  EXPECT_TRUE(says(problems, "did you mean 'core_attention'?"));
  EXPECT_TRUE(says(bad(kHead + "layout: {recompute: {kind: selective, layers: 3}}\n"),
                   "layers only with kind: full"));
}

TEST(JobFile, AModelIsDescribedInPlaceOrOverOneOfTheCatalogue) {
  const Job cut = good("model: {like: llama3-70b, layers: 12}\nsequence: 8192\nglobal_batch: 8\n");
  EXPECT_EQ(cut.model.layers, 12);
  EXPECT_EQ(cut.model.hidden, 8192);
  const Job own = good(
      "model: {layers: 24, hidden: 1024, heads: 16, ffn: 4096, vocab: 50304}\n"
      "sequence: 1024\nglobal_batch: 8\n");
  EXPECT_EQ(own.model.kv_heads, 16);
  const std::string problems =
      bad("model: {layers: 24, hidden: 1024, heads: 16, vocab: 50304, fnn: 1}\n"
          "sequence: 1024\nglobal_batch: 8\n");
  EXPECT_TRUE(says(problems, "expected key 'ffn' in a model"));
  EXPECT_TRUE(says(problems, "did you mean 'ffn'?"));
}

TEST(JobFile, AConfigurationIsFoundBesideTheJob) {
  const Job job = good("model: ./small/config.json\nsequence: 128\nglobal_batch: 8\n");
  EXPECT_EQ(job.model.hidden, 256);
  EXPECT_EQ(job.model.from.source, "jobs/./small/config.json");
  EXPECT_EQ(job.model.id, "small");
}

TEST(JobFile, AMissingConfigurationIsAProblemOfTheJob) {
  auto doc = yaml::Document::parse(
      "j.yaml", "model: models/missing/config.json\nsequence: 1\nglobal_batch: 1\n");
  ASSERT_TRUE(doc);
  const auto job = parse_job(*doc, catalogue(), stacks(), resolve);
  ASSERT_FALSE(job);
  EXPECT_TRUE(says(text(job.error()),
                   "j.yaml:1:8: expected a readable file, found No such file at models/missing"));
}

TEST(JobFile, Fp32KeepsNoSecondCopyOfTheWeights) {
  const Job job = good(kHead + "precision: fp32\n");
  EXPECT_EQ(job.software.master_bytes, 0);
  EXPECT_EQ(job.software.parameter_wire_bytes, 4);
  EXPECT_EQ(good(kHead + "precision: bf16\n").software.master_bytes, 4);
}

TEST(JobFile, ConvolutionsHaveNoSequence) {
  const Job job = good("model: resnet-50\nglobal_batch: 1024\nprecision: fp16\n");
  EXPECT_TRUE(job.model.convolutional.has_value());
  EXPECT_TRUE(says(bad("model: resnet-50\nsequence: 224\nglobal_batch: 1024\n"),
                   "j.yaml:2:11: expected no sequence for a convolutional network"));
}

TEST(BrokenJobFile, AMisspeltKeyIsAtItsPlaceWithTheRightOne) {
  const std::string problems = bad(kHead + "layout:\n  tensor_paralel: 4\n");
  EXPECT_TRUE(
      says(problems, "jobs/j.yaml:6:3: expected a key of 'layout', found 'tensor_paralel'"));
  EXPECT_TRUE(says(problems, "did you mean 'tensor_parallel'?"));
  EXPECT_TRUE(says(problems, "  tensor_paralel: 4\n    ^"));
}

TEST(BrokenJobFile, MissingKeysAreNamed) {
  const std::string problems = bad("job: nothing\nbatch: 3\n");
  EXPECT_TRUE(says(problems, "expected key 'model' in a job, found none"));
  EXPECT_TRUE(says(problems, "expected key 'sequence' in a job"));
  EXPECT_TRUE(says(problems, "expected key 'global_batch' in a job"));
  EXPECT_TRUE(says(problems, "j.yaml:2:1: expected a key of a job, found 'batch'"));
}

TEST(BrokenJobFile, UnknownNamesGetTheNearest) {
  EXPECT_TRUE(says(bad("model: llama3-7b\nsequence: 1\nglobal_batch: 1\n"),
                   "j.yaml:1:8: expected a model of the catalogue"));
  EXPECT_TRUE(
      says(bad("model: llama3-7b\nsequence: 1\nglobal_batch: 1\n"), "did you mean 'llama2-7b'?"));
  EXPECT_TRUE(says(bad(kHead + "stack: megatron-core-0.13\n"),
                   "j.yaml:5:8: expected the name of a software stack"));
  EXPECT_TRUE(says(bad(kHead + "stack: megatron-core-0.13\n"), "did you mean 'megatron-core-0.1"));
  EXPECT_TRUE(says(bad(kHead + "precision: bf61\n"), "did you mean 'bf16'?"));
}

TEST(BrokenJobFile, BareNumbersWhereUnitsAreDueAreRefused) {
  const std::string problems = bad(kHead + "reliability: {checkpoint_save: 30}\n");
  EXPECT_TRUE(
      says(problems, "j.yaml:5:32: expected a time such as '1.8 us' or '30 days', found '30'"));
  EXPECT_TRUE(says(problems, "a unit is missing"));
}

TEST(BrokenJobFile, ImpossibleLayoutsPointAtTheFieldThatIsWrong) {
  const std::string problems = bad(kHead +
                                   "layout:\n"
                                   "  tensor_parallel: 3\n"
                                   "  pipeline_parallel: 100\n"
                                   "  data_parallel: 7\n");
  EXPECT_TRUE(
      says(problems,
           "j.yaml:6:20: expected a tensor_parallel that divides 64 attention heads, found 3"));
  EXPECT_TRUE(says(problems, "j.yaml:7:22: expected at most 82 pipeline parts for 80 layers"));
  EXPECT_TRUE(
      says(problems,
           "j.yaml:4:15: expected a multiple of data_parallel 7 x micro_batch 1 = 7, found 128"));
}

TEST(BrokenJobFile, TheClustersSizeIsHeldAgainstTheLayoutsPlace) {
  const Job job = good(kHead + "layout:\n  tensor_parallel: 8\n  pipeline_parallel: 64\n");
  const auto fitted = fit_to(job, 256);
  ASSERT_FALSE(fitted);
  EXPECT_TRUE(
      says(text(fitted.error()),
           "jobs/j.yaml:5:1: expected a layout for at most 256 accelerators, found layout needs "
           "512 accelerators, cluster has 256"));
}

TEST(BrokenJobFile, InterleavingNeedsParts) {
  EXPECT_TRUE(says(bad(kHead + "layout: {pipeline_parallel: 4, schedule: interleaved}\n"),
                   "j.yaml:5:42: expected virtual_stages of at least 2"));
  EXPECT_TRUE(
      says(bad(kHead + "layout: {pipeline_parallel: 4, virtual_stages: 5, schedule: 1f1b}\n"),
           "j.yaml:5:61: expected interleaved for 5 virtual stages"));
}

TEST(BrokenJobFile, DuplicateKeysTabsAndOtherTextAreRefused) {
  EXPECT_TRUE(says(bad(kHead + "sequence: 4096\n"), "j.yaml:5:"));
  EXPECT_TRUE(
      says(bad("model: llama3-8b\nlayout:\n\ttensor_parallel: 2\n"), "YAML indents with spaces"));
  EXPECT_TRUE(says(bad("- model: llama3-8b\n"), "expected a map for a job, found a list"));
  EXPECT_TRUE(says(bad(""), "found an empty file"));
}

TEST(BrokenJobFile, AMissingFileAndADirectoryAreProblems) {
  const auto missing = load_job("no/job.yaml", catalogue(), stacks(), resolve);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error()[0].at.file, "no/job.yaml");
  const auto directory = load_job(test::repository("catalog"), catalogue(), stacks(), resolve);
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error()[0].found, "a directory");
}

TEST(BrokenJobFile, EveryMistakeOfAFileIsReportedInOneGo) {
  auto job = parse(
      "model: lama3-70b\n"
      "sequence: eight\n"
      "global_batch: 0\n"
      "precision: bf17\n"
      "layout: {tensor_parallel: 0, micro_bach: 1}\n"
      "software: {gradient_bytes: 3}\n");
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().size(), 7u) << text(job.error());
}

}  // namespace
}  // namespace railyard::model

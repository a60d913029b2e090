// From other people's files to our model: the readers (intake) and the conversions (model)
// together, as the commands use them.

#include <functional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/text.h"
#include "gtest/gtest.h"
#include "intake/hf_config.h"
#include "intake/megatron_args.h"
#include "model/catalog.h"
#include "model/job_from_facts.h"
#include "model/job_reader.h"
#include "support/support.h"

namespace railyard {
namespace {

using model::Architecture;
using model::Job;

const model::Stacks& stacks() {
  static const Checked<model::Stacks> loaded =
      model::load_stacks(test::repository("catalog/stacks.yaml"));
  if (!loaded) ADD_FAILURE() << text(loaded.error());
  return *loaded;
}

model::ReadArchitecture config(const std::string& name) {
  const auto read =
      intake::load_hf_config(test::repository("tests/intake/data/hf/" + name + ".json"));
  if (!read) {
    ADD_FAILURE() << text(read.error());
    return {};
  }
  auto out = model::architecture_from(*read);
  if (!out) {
    ADD_FAILURE() << text(out.error());
    return {};
  }
  return *out;
}

/// The problems of a config.json that reads well and describes nothing possible.
std::string bad_config(std::string bytes) {
  const auto read = intake::read_hf_config("config.json", std::move(bytes));
  if (!read) return "unreadable: " + text(read.error());
  const auto out = model::architecture_from(*read);
  if (out) {
    ADD_FAILURE() << "converted without complaint";
    return {};
  }
  return text(out.error());
}

Job arguments(const std::string& name, std::string_view stack = model::kDefaultStack) {
  const auto read =
      intake::load_megatron_arguments(test::repository("tests/intake/data/megatron/" + name));
  if (!read) {
    ADD_FAILURE() << text(read.error());
    return {};
  }
  auto job = model::job_from(*read, stacks(), stack);
  if (!job) {
    ADD_FAILURE() << text(job.error());
    return {};
  }
  return *job;
}

const std::string kSmall =
    "python pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length "
    "1024"
    " --max-position-embeddings 1024 --micro-batch-size 2 --tokenizer-type GPT2BPETokenizer";

Job from_text(const std::string& script) {
  const auto read = intake::read_megatron_arguments({.file = "run.sh", .bytes = script});
  if (!read) {
    ADD_FAILURE() << text(read.error());
    return {};
  }
  auto job = model::job_from(*read, stacks());
  if (!job) {
    ADD_FAILURE() << text(job.error());
    return {};
  }
  return *job;
}

std::string bad_text(const std::string& script) {
  const auto read = intake::read_megatron_arguments({.file = "run.sh", .bytes = script});
  if (!read) return "unreadable: " + text(read.error());
  const auto job = model::job_from(*read, stacks());
  if (job) {
    ADD_FAILURE() << "converted without complaint";
    return {};
  }
  return text(job.error());
}

testing::AssertionResult says(const std::string& problems, std::string_view what) {
  if (problems.contains(what)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << what << "' is not in\n" << problems;
}

// The counts of the published checkpoints, to the last weight. BLOOM has a norm behind its
// embedding (2 x 14336) and GPT-OSS a sink for each head (36 x 64) beside what is counted here.
TEST(ModelFromConfig, ParametersAreThoseOfTheCheckpoint) {
  struct Known {
    const char* name;
    double parameters;
  };
  for (const Known& k :
       {Known{"llama3-8b", 8'030'261'248}, Known{"qwen3-30b-a3b", 30'532'122'624},
        Known{"mixtral-8x7b", 46'702'792'704}, Known{"gpt2", 124'439'808},
        Known{"bloom-176b", 176'247'271'424 - 2 * 14336}, Known{"falcon-7b", 6'921'720'704},
        Known{"gemma-2-9b", 9'241'705'984}, Known{"gpt-oss-120b", 116'829'156'672 - 36 * 64},
        Known{"chatglm3-6b", 6'243'584'000}})
    EXPECT_DOUBLE_EQ(model::count_parameters(config(k.name).model).total, k.parameters) << k.name;
}

TEST(ModelFromConfig, TheSameModelStandsInTheCatalogue) {
  const auto catalog = model::load_catalog(test::repository("catalog"));
  ASSERT_TRUE(catalog) << text(catalog.error());
  for (const char* name : {"llama3-8b", "qwen3-30b-a3b", "deepseek-v3", "mixtral-8x7b", "falcon-7b",
                           "gemma-2-9b", "gpt-oss-120b", "bloom-176b"}) {
    const Architecture* known = catalog->architecture(name);
    ASSERT_NE(known, nullptr) << name;
    const Architecture read = config(name).model;
    EXPECT_EQ(read.id, name);
    EXPECT_DOUBLE_EQ(model::count_parameters(read).total, model::count_parameters(*known).total)
        << name;
    EXPECT_DOUBLE_EQ(model::count_parameters(read).active, model::count_parameters(*known).active)
        << name;
    EXPECT_EQ(read.kv_heads, known->kv_heads) << name;
    EXPECT_EQ(read.window, known->window) << name;
    EXPECT_EQ(read.window_every, known->window_every) << name;
    EXPECT_EQ(read.positions, known->positions) << name;
  }
}

TEST(ModelFromConfig, WhatIsLeftOutIsSaid) {
  const auto deepseek = config("deepseek-v3");
  EXPECT_EQ(deepseek.model.experts->dense_layers, 3);
  EXPECT_EQ(deepseek.model.experts->shared_ffn, 2048);
  ASSERT_EQ(deepseek.notes.size(), 1u);
  EXPECT_TRUE(says(deepseek.notes[0], "predict further tokens"));
  const auto gemma = config("gemma-3-27b");
  ASSERT_EQ(gemma.notes.size(), 1u);
  EXPECT_TRUE(says(gemma.notes[0], "only the language part"));
  EXPECT_EQ(gemma.model.window_every, 6);
}

TEST(ModelFromConfig, AHybridIsCountedByItsPattern) {
  const Architecture a = config("nemotron-h-8b").model;
  ASSERT_TRUE(a.state_space);
  EXPECT_EQ(a.state_space->layers, 24);
  EXPECT_EQ(a.state_space->attention_layers, 4);
  EXPECT_EQ(a.state_space->ffn_layers, 24);
  EXPECT_EQ(a.positions, model::Positions::none);
  EXPECT_FALSE(a.gated);
}

TEST(ModelFromConfig, AnUnknownFamilyIsJudgedByItsKeysAndSaysSo) {
  const auto read = intake::read_hf_config(
      "config.json",
      "{\"model_type\": \"newcomer\", \"num_hidden_layers\": 4, \"hidden_size\": 256,"
      " \"num_attention_heads\": 4, \"intermediate_size\": 700, \"vocab_size\": 1000,"
      " \"hidden_act\": \"silu\", \"rms_norm_eps\": 1e-5, \"rope_theta\": 10000}");
  ASSERT_TRUE(read) << text(read.error());
  const auto out = model::architecture_from(*read);
  ASSERT_TRUE(out) << text(out.error());
  EXPECT_TRUE(out->model.gated);
  EXPECT_EQ(out->model.norm, model::Norm::rms_norm);
  EXPECT_EQ(out->model.positions, model::Positions::rotary);
  ASSERT_EQ(out->notes.size(), 1u);
  EXPECT_TRUE(says(out->notes[0], "'newcomer' is not known"));
}

TEST(ModelFromConfig, ImpossibleModelsAreProblemsAtTheirPlaces) {
  EXPECT_TRUE(says(bad_config("{\"model_type\": \"llama\",\n \"num_hidden_layers\": 4,\n"
                              " \"hidden_size\": 250,\n \"num_attention_heads\": 4,\n"
                              " \"intermediate_size\": 700,\n \"vocab_size\": 1000}"),
                   "config.json:4:25: expected a divisor of the hidden size 250, found 4"));
  EXPECT_TRUE(says(bad_config("{\"model_type\": \"llama\",\n \"num_hidden_layers\": 4}"),
                   "expected a hidden size, found none"));
  EXPECT_TRUE(says(bad_config("{\"model_type\": \"llama\", \"num_hidden_layers\": 4,"
                              " \"hidden_size\": 256, \"num_attention_heads\": 4,"
                              " \"vocab_size\": 1000}"),
                   "expected an FFN width, found none"));
  EXPECT_TRUE(says(bad_config("{\"model_type\": \"mixtral\", \"num_hidden_layers\": 4,"
                              " \"hidden_size\": 256, \"num_attention_heads\": 4,"
                              " \"vocab_size\": 1000, \"intermediate_size\": 512,\n"
                              " \"num_local_experts\": 4, \"num_experts_per_tok\": 8}"),
                   "config.json:2:49: expected at most the 4 experts that there are, found 8"));
  EXPECT_TRUE(says(bad_config("{\"model_type\": \"t5\", \"num_layers\": 4,\n"
                              " \"is_encoder_decoder\": true}"),
                   "config.json:2:24: expected a decoder or an encoder alone"));
}

TEST(JobFromArguments, AScriptWithArraysIsTheJobOfItsNodes) {
  const Job job = arguments("gpt3-175b.sh");
  EXPECT_EQ(job.accelerators(), 128);
  EXPECT_EQ(job.layout.tensor, 8);
  EXPECT_EQ(job.layout.pipeline, 16);
  EXPECT_EQ(job.layout.data, 1);
  EXPECT_EQ(job.layout.shard, model::Shard::optimizer);
  EXPECT_TRUE(job.layout.sequence_parallel);
  EXPECT_EQ(job.micro_batches(), 1536);
  EXPECT_EQ(job.model.vocab, 51200);  // 50257, padded to a multiple of 128 x 8
  EXPECT_EQ(job.model.ffn, 4 * 12288);
  EXPECT_EQ(job.model.positions, model::Positions::learned);
  EXPECT_TRUE(job.model.tied_embeddings);
  EXPECT_EQ(job.precision, model::Precision::bf16);
  EXPECT_EQ(job.software.gradient_bytes, 4);
  EXPECT_FALSE(job.software.overlap_gradients);  // the script does not ask for it
  EXPECT_DOUBLE_EQ(job.trained_tokens, 500000.0 * 1536 * 2048);
}

TEST(JobFromArguments, EveryFeatureOfAContinuedCommandIsTaken) {
  const Job job = arguments("llama3-70b-continued-lines.sh");
  EXPECT_EQ(job.layout.virtual_stages, 4);  // 80 layers / 4 stages / 5 layers
  EXPECT_EQ(job.layout.schedule, model::Schedule::interleaved);
  EXPECT_EQ(job.layout.data, 4);  // 64 / (4 x 4)
  EXPECT_EQ(job.layout.recompute, model::Recompute::full);
  EXPECT_EQ(job.layout.recompute_layers, 4);  // one in each of four parts
  EXPECT_EQ(job.precision, model::Precision::fp8);
  EXPECT_EQ(job.model.kv_heads, 8);
  EXPECT_EQ(job.model.vocab, 128512);  // 128256 to a multiple of 512
  EXPECT_TRUE(job.model.gated);
  EXPECT_FALSE(job.model.bias);
  EXPECT_FALSE(job.model.tied_embeddings);
  EXPECT_EQ(job.model.norm, model::Norm::rms_norm);
  EXPECT_TRUE(job.software.overlap_tensor);
  EXPECT_TRUE(job.software.overlap_parameters);
  EXPECT_TRUE(job.software.overlap_pipeline);
  EXPECT_TRUE(job.software.fused_loss);
  EXPECT_DOUBLE_EQ(job.trained_tokens, 1e6 * 8192);
}

TEST(JobFromArguments, BloomsScriptGivesBloomsLayout) {
  const Job job = arguments("bloom-string-arguments.slurm", "megatron-deepspeed-2022");
  EXPECT_EQ(job.accelerators(), 384);
  EXPECT_EQ(job.layout.data, 8);
  EXPECT_EQ(job.micro_batches(), 128);
  EXPECT_EQ(job.layout.recompute, model::Recompute::full);
  EXPECT_EQ(job.model.positions, model::Positions::alibi);
  EXPECT_EQ(job.model.vocab, 250680);
  EXPECT_EQ(job.software.stack, "megatron-deepspeed-2022");
  ASSERT_EQ(job.origin->notes.size(), 2u);
  EXPECT_TRUE(says(job.origin->notes[0], "the batch grows") ||
              says(job.origin->notes[1], "the batch grows"));
  EXPECT_TRUE(says(job.origin->notes[0], "not modelled: ") ||
              says(job.origin->notes[1], "not modelled: "));
}

TEST(JobFromArguments, ALogHasTheWorldAndTheExperts) {
  const Job job = arguments("mixtral.log");
  EXPECT_EQ(job.accelerators(), 64);
  EXPECT_EQ(job.layout.data, 16);
  EXPECT_EQ(job.layout.expert, 8);
  EXPECT_EQ(job.layout.expert_tensor, 1);
  EXPECT_EQ(job.layout.virtual_stages, 1);
  ASSERT_TRUE(job.model.experts);
  EXPECT_EQ(job.model.experts->experts, 8);
  EXPECT_EQ(job.model.experts->top_k, 2);
  EXPECT_DOUBLE_EQ(model::count_parameters(job.model).total, 46'702'792'704.0);
  EXPECT_TRUE(job.origin->notes.empty());
}

TEST(JobFromArguments, ALogOfFp8WithNarrowMomentsIsTakenAtItsWord) {
  const Job job = arguments("gpt3-tagged-restarted.log");
  EXPECT_EQ(job.precision, model::Precision::fp8);
  EXPECT_EQ(job.layout.virtual_stages, 6);
  EXPECT_EQ(job.micro_batches(), 48);  // 1536 / (16 x 2)
  EXPECT_EQ(job.layout.recompute, model::Recompute::selective);
  EXPECT_EQ(job.software.parameter_wire_bytes, 1);
  EXPECT_EQ(job.software.moment_bytes, 2);
  EXPECT_EQ(job.software.gradient_wire_bytes, 4);
  EXPECT_EQ(job.model.vocab, 51200);
}

TEST(JobFromArguments, WithoutAWorldTheClusterIsFilled) {
  const Job job = from_text(kSmall + " --global-batch-size 64 --bf16\n");
  EXPECT_EQ(job.layout.data, 0);
  const auto fitted = model::fit_to(job, 32);
  ASSERT_TRUE(fitted) << text(fitted.error());
  EXPECT_EQ(fitted->layout.data, 32);
  ASSERT_EQ(job.origin->notes.size(), 1u);
}

TEST(JobFromArguments, GradientBytesFollowThePrecisionAndItsSwitches) {
  const auto bytes = [](const std::string& more) {
    return from_text(kSmall + " --global-batch-size 64 " + more + "\n")
        .software.gradient_wire_bytes;
  };
  EXPECT_EQ(bytes("--bf16"), 4);
  EXPECT_EQ(bytes("--bf16 --grad-reduce-in-bf16"), 2);
  EXPECT_EQ(bytes("--fp16"), 2);
  EXPECT_EQ(bytes("--fp16 --accumulate-allreduce-grads-in-fp32"), 4);
  EXPECT_EQ(bytes(""), 4);  // fp32
}

TEST(JobFromArguments, LayersWithExpertsMayBeGivenAsAnExpression) {
  const Job job = from_text(kSmall +
                            " --global-batch-size 64 --num-experts 8 --moe-ffn-hidden-size 256"
                            " --moe-layer-freq '([0]*3+[1]*5)'\n");
  ASSERT_TRUE(job.model.experts);
  EXPECT_EQ(job.model.experts->dense_layers, 3);
}

TEST(JobFromArguments, MistakesPointAtTheArgument) {
  EXPECT_TRUE(says(bad_text(kSmall + "\\\n --global-batch-size 63 --bf16\n"),
                   "run.sh:2:2: expected a multiple of micro_batch 2, found 63"));
  EXPECT_TRUE(
      says(bad_text(kSmall + " \\\n --global-batch-size 64 --tensor-model-parallel-size 3\n"),
           "run.sh:2:25: expected a tensor_parallel that divides 8 attention heads, found 3"));
  EXPECT_TRUE(says(bad_text("python pretrain_gpt.py --num-layers 8 --hidden-size 512\n"),
                   "run.sh: expected the argument --num-attention-heads, found none"));
  const std::string outside = bad_text("NL=$1\n" + kSmall + " --num-layers $NL\n");
  EXPECT_TRUE(says(outside, "expected a whole number for --num-layers, found '$1'"));
  EXPECT_TRUE(says(outside, "put the number in"));
}

TEST(JobFromArguments, ProcessesMustBeDividedByTheLayout) {
  const std::string problems = bad_text(
      "torchrun --nproc_per_node 8 --nnodes 3 " + kSmall.substr(7) +
      " --global-batch-size 64 --tensor-model-parallel-size 4 --pipeline-model-parallel-size 4\n");
  EXPECT_TRUE(says(problems, "tensor x context x pipeline = 16 divides"));
  EXPECT_TRUE(says(problems, "24 processes are started"));
}

TEST(JobFromArguments, AnUnknownVocabularyIsAskedFor) {
  std::string script = kSmall + " --global-batch-size 64\n";
  script.replace(script.find("GPT2BPETokenizer"), 16, "HuggingFaceTokenizer");
  const std::string problems = bad_text(script);
  EXPECT_TRUE(says(problems, "expected the argument --vocab-size, found none"));
  EXPECT_TRUE(says(problems, "its tokenizer decides it"));
}

TEST(JobFromArguments, LayersThatVirtualStagesDoNotDivideAreAProblem) {
  EXPECT_TRUE(
      says(bad_text(kSmall + " --global-batch-size 64 --pipeline-model-parallel-size 2"
                             " --num-layers-per-virtual-pipeline-stage 3\n"),
           "expected a divisor of the 4 layers of a stage (8 layers / 2 stages), found '3'"));
}

// Llama 3.1 405B: 126 layers, and the ends count as two more.
TEST(JobFromArguments, TheEndsMayCountAsLayers) {
  std::string script = kSmall +
                       " --global-batch-size 64 --pipeline-model-parallel-size 2"
                       " --account-for-embedding-in-pipeline-split"
                       " --account-for-loss-in-pipeline-split"
                       " --num-layers-per-virtual-pipeline-stage 2\n";
  script.replace(script.find("--num-layers 8"), 14, "--num-layers 6");
  EXPECT_EQ(from_text(script).layout.virtual_stages, 2);  // (6 + 2) / 2 stages / 2 layers
  EXPECT_EQ(from_text(kSmall +
                      " --global-batch-size 64 --pipeline-model-parallel-size 4"
                      " --decoder-first-pipeline-num-layers 1 --decoder-last-pipeline-num-layers 3"
                      " --num-layers-per-virtual-pipeline-stage 1\n")
                .layout.virtual_stages,
            2);  // (8 - 1 - 3) / 2 stages / 1 layer
}

// A job.yaml may name a config.json: readers and resolver together.
TEST(JobFile, NamesAConfigurationOfHuggingFace) {
  const auto catalog = model::load_catalog(test::repository("catalog"));
  ASSERT_TRUE(catalog);
  auto doc = yaml::Document::parse("job.yaml",
                                   "model: tests/intake/data/hf/llama3-8b.json\nsequence: 8192\n"
                                   "global_batch: 64\nlayout: {tensor_parallel: 2, zero: 1}\n");
  ASSERT_TRUE(doc);
  const auto job = model::parse_job(*doc, *catalog, stacks(), intake::load_hf_config);
  ASSERT_TRUE(job) << text(job.error());
  EXPECT_DOUBLE_EQ(model::count_parameters(job->model).total, 8'030'261'248.0);
}

// Whatever stands in a file that reads, the conversion answers.
TEST(JobFromArguments, NoChangeOfBytesMakesTheConversionCrash) {
  const auto log = read_file(test::repository("tests/intake/data/megatron/mixtral.log"));
  const auto json = read_file(test::repository("tests/intake/data/hf/deepseek-v3.json"));
  ASSERT_TRUE(log && json);
  Random random = Random(2).stream("conversion");
  int jobs = 0, models = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = i % 2 == 0 ? *log : *json;
    // Digits are what reaches the conversion: change those.
    for (int k = 0; k < 4; ++k) {
      std::size_t at = random.below(bytes.size());
      at = bytes.find_first_of("0123456789", at);
      if (at == std::string::npos) continue;
      bytes.replace(at, 1, random.below(3) == 0 ? "-9" : std::to_string(random.below(1000)));
    }
    if (i % 2 == 0) {
      const auto read = intake::read_megatron_arguments({.file = "x", .bytes = bytes});
      if (read && model::job_from(*read, stacks())) ++jobs;
    } else {
      const auto read = intake::read_hf_config("x", bytes);
      if (read && model::architecture_from(*read)) ++models;
    }
  }
  EXPECT_GT(jobs, 100);
  EXPECT_GT(models, 100);
}

}  // namespace
}  // namespace railyard

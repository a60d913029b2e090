#include "intake/megatron_args.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/text.h"
#include "gtest/gtest.h"
#include "support/support.h"

namespace railyard::intake {
namespace {

using facts::TrainingArguments;

std::string path(const std::string& name) {
  return test::repository("tests/intake/data/megatron/" + name);
}

TrainingArguments good(const std::string& name) {
  auto seen = load_megatron_arguments(path(name));
  if (!seen) {
    ADD_FAILURE() << text(seen.error());
    return {};
  }
  return *seen;
}

TrainingArguments read(std::string_view bytes) {
  auto seen = read_megatron_arguments({.file = "run.sh", .bytes = bytes});
  if (!seen) {
    ADD_FAILURE() << text(seen.error());
    return {};
  }
  return *seen;
}

/// The words of an argument joined by blanks; "-" when it is absent.
std::string word(const TrainingArguments& a, std::string_view name) {
  const facts::Argument* found = a.find(name);
  if (!found) return "-";
  std::string out;
  for (const std::string& v : found->values) out += (out.empty() ? "" : " ") + v;
  return out;
}
std::string launched(const TrainingArguments& a, std::string_view name) {
  const facts::Argument* found = a.find_launcher(name);
  return found && !found->values.empty() ? found->values[0] : "-";
}

const facts::Skipped* skipped(const TrainingArguments& a, std::string_view what) {
  const auto it = std::ranges::find(a.skipped, what, &facts::Skipped::what);
  return it == a.skipped.end() ? nullptr : &*it;
}

TEST(MegatronScript, ArgumentsComeOutOfArrays) {
  const auto a = good("gpt3-175b.sh");
  EXPECT_EQ(a.origin, TrainingArguments::Origin::script);
  EXPECT_EQ(word(a, "num_layers"), "96");
  EXPECT_EQ(word(a, "tensor_model_parallel_size"), "8");
  EXPECT_EQ(word(a, "global_batch_size"), "1536");
  EXPECT_EQ(word(a, "sequence_parallel"), "");      // there, without a value
  EXPECT_EQ(word(a, "attention_backend"), "auto");  // the comment behind it is none of it
  EXPECT_EQ(word(a, "nproc_per_node"), "-");        // of torchrun, not of Megatron
  EXPECT_EQ(launched(a, "nproc_per_node"), "8");
  EXPECT_EQ(launched(a, "nnodes"), "16");
}

TEST(MegatronScript, AnArgumentPointsIntoTheArrayThatItCameFrom) {
  const auto a = good("gpt3-175b.sh");
  const facts::Argument* heads = a.find("num_attention_heads");
  ASSERT_NE(heads, nullptr);
  EXPECT_EQ(heads->where.at.line, 24);
  EXPECT_EQ(heads->where.at.column, 5);
  EXPECT_EQ(heads->where.line, "    --num-attention-heads 96");
}

TEST(MegatronScript, ValuesFromOutsideAreCounted) {
  const auto a = good("gpt3-175b.sh");
  const facts::Skipped* s = skipped(a, "values that come from outside the script");
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(s->count, 2);  // --data-path $2 and --save $1
  EXPECT_EQ(word(a, "data_path"), "$2");
}

TEST(MegatronScript, ArgumentsComeOutOfContinuedLinesWithEqualsAndVariables) {
  const auto a = good("llama3-70b-continued-lines.sh");
  EXPECT_EQ(word(a, "tensor_model_parallel_size"), "4");
  EXPECT_EQ(word(a, "pipeline_model_parallel_size"), "4");
  EXPECT_EQ(word(a, "num_layers_per_virtual_pipeline_stage"), "5");
  EXPECT_EQ(word(a, "tokenizer_model"), "meta-llama/Meta-Llama-3-70B");
  EXPECT_EQ(word(a, "save"), "runs/llama3 70b");  // the redirection behind it is gone
  EXPECT_EQ(word(a, "fp8_format"), "hybrid");
  EXPECT_EQ(launched(a, "nproc_per_node"), "8");
  EXPECT_EQ(launched(a, "nnodes"), "8");  // of #SBATCH: $SLURM_NNODES is not known
}

TEST(MegatronScript, ArgumentsComeOutOfNestedStrings) {
  const auto a = good("bloom-string-arguments.slurm");
  EXPECT_EQ(word(a, "num_layers"), "70");
  EXPECT_EQ(word(a, "hidden_size"), "14336");
  EXPECT_EQ(word(a, "position_embedding_type"), "alibi");
  EXPECT_EQ(word(a, "tensor_model_parallel_size"), "4");
  EXPECT_EQ(word(a, "optimizer"), "adam");
  EXPECT_EQ(word(a, "rampup_batch_size"), "192 16 9_765_625");
  EXPECT_EQ(word(a, "deepspeed_activation_checkpointing"), "");
  EXPECT_EQ(launched(a, "nproc_per_node"), "8");
  EXPECT_EQ(launched(a, "nnodes"), "48");
}

TEST(MegatronScript, PastedArgumentsNeedNoCommand) {
  const auto a = read("--num-layers 32\n--hidden-size 4096\n--num-attention-heads 32\n--bf16\n");
  EXPECT_EQ(word(a, "num_layers"), "32");
  EXPECT_EQ(word(a, "num_attention_heads"), "32");
  EXPECT_EQ(word(a, "bf16"), "");
}

TEST(MegatronScript, TheLastOfRepeatedArgumentsCounts) {
  const auto a = read("python pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-layers 4\n");
  EXPECT_EQ(word(a, "num_layers"), "4");
  EXPECT_EQ(a.arguments.size(), 2u);
}

TEST(MegatronScript, TheTrainingCommandIsFoundAmongOthers) {
  const auto a = read(
      "python tools/preprocess_data.py --input a.json --workers 8\n"
      "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 512 --lr -1\n"
      "python plot.py --width 3\n");
  EXPECT_EQ(word(a, "num_layers"), "8");
  EXPECT_EQ(word(a, "lr"), "-1");
  EXPECT_EQ(word(a, "workers"), "-");
}

TEST(MegatronLog, ArgumentsStandBetweenTheDashes) {
  const auto a = good("mixtral.log");
  EXPECT_EQ(a.origin, TrainingArguments::Origin::log);
  EXPECT_EQ(word(a, "world_size"), "64");
  EXPECT_EQ(word(a, "num_experts"), "8");
  EXPECT_EQ(word(a, "use_distributed_optimizer"), "True");
  EXPECT_EQ(word(a, "cp_comm_type"), "p2p");
  EXPECT_EQ(word(a, "split"), "99990,8,2");
  EXPECT_EQ(word(a, "fp8"), "-");  // None
  EXPECT_TRUE(a.skipped.empty());
  const facts::Argument* heads = a.find("num_attention_heads");
  ASSERT_NE(heads, nullptr);
  EXPECT_EQ(heads->where.line, "  num_attention_heads ............................. 32");
  EXPECT_EQ(heads->where.at.column, 3);
}

TEST(MegatronLog, ANameTooLongForDotsIsReadAllTheSame) {
  EXPECT_EQ(word(good("mixtral.log"), "inference_max_batch_size_of_requests_in_one_step_"), "8");
}

TEST(MegatronLog, ALongNameWithoutAValueIsCountedAsTorn) {
  const std::string name(50, 'x');
  const auto a = read(
      "------------------------ arguments ------------------------\n"
      "  hidden_size ..................................... 512\n"
      "  " +
      name + "   \n  " + name + "\n" +
      "-------------------- end of arguments ---------------------\n");
  EXPECT_EQ(word(a, "hidden_size"), "512");
  const facts::Skipped* s = skipped(a, "lines among the arguments that are none");
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(s->count, 2);
}

TEST(MegatronLog, ThePaddedVocabularyStandsBehindTheBlock) {
  const auto a = good("mixtral.log");
  EXPECT_EQ(word(a, "padded_vocab_size"), "32000");
}

TEST(MegatronLog, RankTagsAreNoPartOfTheNamesAndTheLastBlockCounts) {
  const auto a = good("gpt3-tagged-restarted.log");
  EXPECT_EQ(word(a, "micro_batch_size"), "2");  // 1 before the restart
  EXPECT_EQ(word(a, "recompute_modules"), "core_attn");
  EXPECT_EQ(word(a, "padded_vocab_size"), "51200");
  const facts::Skipped* s = skipped(a, "lines among the arguments that are none");
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(s->count, 2);
  EXPECT_EQ(s->first[0].line, 81);
}

TEST(MegatronLog, ATruncatedBlockGivesWhatItHasAndSaysSo) {
  auto bytes = read_file(path("mixtral.log"));
  ASSERT_TRUE(bytes);
  const std::size_t cut = bytes->find("  num_layers ");
  ASSERT_NE(cut, std::string::npos);
  const auto a = read(bytes->substr(0, cut));
  EXPECT_EQ(word(a, "micro_batch_size"), "1");
  EXPECT_EQ(word(a, "num_layers"), "-");
  ASSERT_NE(skipped(a, "end of the arguments"), nullptr);
}

TEST(MegatronLog, CarriageReturnsAreNoPartOfTheValues) {
  const auto a = read(
      "------------------------ arguments ------------------------\r\n"
      "  hidden_size ..................................... 512\r\n"
      "-------------------- end of arguments ---------------------\r\n");
  EXPECT_EQ(word(a, "hidden_size"), "512");
}

TEST(MegatronArguments, EmptyAndOtherFilesAreProblems) {
  const auto empty = read_megatron_arguments({.file = "a.log", .bytes = " \n\n"});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error()[0].found, "an empty file");
  EXPECT_EQ(empty.error()[0].at.line, 1);
  const auto other = read_megatron_arguments(
      {.file = "topo.txt", .bytes = "\tGPU0\tGPU1\nGPU0\tX\tNV18\nGPU1\tNV18\tX\n"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error()[0].expected, "a Megatron-LM log or launch script");
  EXPECT_FALSE(other.error()[0].hint.empty());
  const auto json = read_megatron_arguments({.file = "c.json", .bytes = "{\"num_layers\": 4}\n"});
  EXPECT_FALSE(json);
}

TEST(MegatronArguments, SniffingTellsThemFromOtherText) {
  EXPECT_EQ(
      sniff_megatron_arguments("x\n------------------------ arguments ------------------------\n"),
      100);
  EXPECT_GE(sniff_megatron_arguments("--num-layers 9 --hidden-size 8 --seq-length 7"), 90);
  EXPECT_EQ(sniff_megatron_arguments("{\"model_type\": \"llama\"}"), 0);
}

TEST(MegatronArguments, NoChangeOfBytesMakesTheReaderCrash) {
  std::vector<std::string> seeds;
  for (const char* name : {"gpt3-175b.sh", "llama3-70b-continued-lines.sh",
                           "bloom-string-arguments.slurm", "mixtral.log"}) {
    auto bytes = read_file(path(name));
    ASSERT_TRUE(bytes);
    seeds.push_back(*bytes);
  }
  // Characters that mean something to a shell are tried more often than others.
  constexpr std::string_view kSharp = "\"'`$(){}[]\\#=<>|&;-.\n";
  Random random = Random(1).stream("megatron-arguments");
  int read_something = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = seeds[random.below(seeds.size())];
    const std::uint64_t changes = 1 + random.below(8);
    for (std::uint64_t k = 0; k < changes && !bytes.empty(); ++k) {
      const std::size_t at = random.below(bytes.size());
      switch (random.below(5)) {
        case 0: bytes[at] = static_cast<char>(random.below(256)); break;
        case 1: bytes[at] = kSharp[random.below(kSharp.size())]; break;
        case 2: bytes.erase(at, 1 + random.below(30)); break;
        case 3: bytes.insert(at, bytes.substr(at, random.below(30))); break;
        default: bytes.resize(at); break;
      }
    }
    const auto seen = read_megatron_arguments({.file = "x", .bytes = bytes});
    if (seen) {
      ++read_something;
      EXPECT_FALSE(seen->arguments.empty());
    } else {
      ASSERT_FALSE(seen.error().empty());
    }
  }
  EXPECT_GT(read_something, 1000);
}

}  // namespace
}  // namespace railyard::intake

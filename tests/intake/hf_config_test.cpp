#include "intake/hf_config.h"

#include <string>
#include <vector>

#include "base/random.h"
#include "base/text.h"
#include "gtest/gtest.h"
#include "support/support.h"

namespace railyard::intake {
namespace {

std::string path(const std::string& name) {
  return test::repository("tests/intake/data/hf/" + name + ".json");
}

facts::ModelConfig good(const std::string& name) {
  auto config = load_hf_config(path(name));
  if (!config) {
    ADD_FAILURE() << text(config.error());
    return {};
  }
  return *config;
}

// The problems of a text that must have some.
std::string bad(std::string bytes) {
  const auto config = read_hf_config("config.json", std::move(bytes));
  if (config) {
    ADD_FAILURE() << "read without complaint";
    return {};
  }
  return text(config.error());
}

int value(const facts::ModelConfig::Integer& seen) { return seen ? seen->value : -1; }

TEST(HfConfig, Llama3SaysItsSizesWithTheirPlaces) {
  const auto c = good("llama3-8b");
  EXPECT_EQ(c.family->value, "llama");
  EXPECT_EQ(c.class_name->value, "LlamaForCausalLM");
  EXPECT_EQ(value(c.layers), 32);
  EXPECT_EQ(value(c.hidden), 4096);
  EXPECT_EQ(value(c.kv_heads), 8);
  EXPECT_EQ(value(c.ffn), 14336);
  EXPECT_EQ(value(c.vocab), 128256);
  EXPECT_EQ(value(c.max_positions), 8192);
  EXPECT_FALSE(c.tied_embeddings->value);
  EXPECT_EQ(c.hidden->where.at.line, 8);
  EXPECT_EQ(c.hidden->where.at.column, 18);
  EXPECT_EQ(c.hidden->where.line, "  \"hidden_size\": 4096,");
  EXPECT_TRUE(c.skipped.empty());
}

TEST(HfConfig, OneMeaningHasManySpellings) {
  struct Case {
    const char* name;
    int layers, hidden, heads;
  };
  for (const Case& x :
       {Case{"gpt2", 12, 768, 12}, Case{"bloom-176b", 70, 14336, 112}, Case{"mpt-7b", 32, 4096, 32},
        Case{"chatglm3-6b", 28, 4096, 32}, Case{"falcon-7b", 32, 4544, 71}}) {
    const auto c = good(x.name);
    EXPECT_EQ(value(c.layers), x.layers) << x.name;
    EXPECT_EQ(value(c.hidden), x.hidden) << x.name;
    EXPECT_EQ(value(c.heads), x.heads) << x.name;
  }
  EXPECT_EQ(value(good("chatglm3-6b").kv_heads), 2);
  EXPECT_EQ(value(good("chatglm3-6b").vocab), 65024);
  EXPECT_DOUBLE_EQ(good("mpt-7b").ffn_ratio->value, 4);
  EXPECT_TRUE(good("mpt-7b").alibi->value);
  EXPECT_TRUE(good("falcon-7b").multi_query->value);
}

TEST(HfConfig, NullMeansNotGiven) {
  EXPECT_FALSE(good("gpt2").ffn);
  EXPECT_FALSE(good("mixtral-8x7b").window);
}

TEST(HfConfig, ExpertsAreReadUnderEachFamilysKeys) {
  const auto deepseek = good("deepseek-v3");
  EXPECT_EQ(value(deepseek.experts), 256);
  EXPECT_EQ(value(deepseek.experts_per_token), 8);
  EXPECT_EQ(value(deepseek.expert_ffn), 2048);
  EXPECT_EQ(value(deepseek.shared_experts), 1);
  EXPECT_EQ(value(deepseek.dense_layers), 3);
  EXPECT_EQ(value(deepseek.kv_rank), 512);
  EXPECT_EQ(value(deepseek.prediction_layers), 1);
  const auto qwen = good("qwen3-30b-a3b");
  EXPECT_EQ(value(qwen.experts), 128);
  EXPECT_EQ(value(qwen.expert_every), 1);
  EXPECT_FALSE(qwen.uses_window->value);
  EXPECT_EQ(value(good("mixtral-8x7b").experts), 8);
}

TEST(HfConfig, LayerKindsAreKeptOneByOne) {
  const auto c = good("gpt-oss-120b");
  ASSERT_EQ(c.layer_kinds.size(), 36u);
  EXPECT_EQ(c.layer_kinds[0], "sliding_attention");
  EXPECT_EQ(c.layer_kinds[1], "full_attention");
}

TEST(HfConfig, TheLanguagePartOfAMultimodalModelIsRead) {
  const auto c = good("gemma-3-27b");
  EXPECT_TRUE(c.nested_text_part);
  EXPECT_EQ(value(c.layers), 62);
  EXPECT_EQ(value(c.hidden), 5376);
  EXPECT_EQ(c.family->value, "gemma3_text");
  EXPECT_EQ(c.class_name->value, "Gemma3ForConditionalGeneration");
}

TEST(HfConfig, ASizeUnderAnUnknownKeyIsCountedWithItsPlace) {
  const auto c = read_hf_config("config.json",
                                "{\"num_hidden_layers\": 2,\n \"memory_slot_size\": 64,\n"
                                " \"num_beams\": 4}\n");
  ASSERT_TRUE(c) << text(c.error());
  ASSERT_EQ(c->skipped.size(), 1u);
  EXPECT_EQ(c->skipped[0].count, 1);
  EXPECT_EQ(c->skipped[0].first[0].line, 2);
  EXPECT_EQ(c->skipped[0].first[0].column, 2);
}

TEST(HfConfig, AListWhereOneSizeIsDueIsAProblemAtTheList) {
  const std::string says = bad("{\"num_hidden_layers\": 2,\n \"num_attention_heads\": [12, 16]}\n");
  EXPECT_TRUE(
      says.starts_with("config.json:2:25: expected a whole number for num_attention_heads, "
                       "found a list"))
      << says;
  EXPECT_NE(says.find("layers of different sizes"), std::string::npos) << says;
}

TEST(HfConfig, AQuotedNumberIsAProblem) {
  const std::string says = bad("{\"n_layer\": \"12\"}");
  EXPECT_TRUE(says.starts_with("config.json:1:13: expected a whole number for n_layer, found '12'"))
      << says;
  EXPECT_NE(says.find("without quotes"), std::string::npos) << says;
}

TEST(HfConfig, NegativeAndFractionalSizesAreProblemsBothShown) {
  const std::string says = bad("{\"n_layer\": -3,\n\"n_embd\": 76.5}");
  EXPECT_NE(says.find("config.json:1:13"), std::string::npos) << says;
  EXPECT_NE(says.find("config.json:2:11"), std::string::npos) << says;
}

TEST(HfConfig, OtherFilesOfAModelDirectoryAreCalledByTheirName) {
  const auto tokenizer = load_hf_config(path("tokenizer_config"));
  ASSERT_FALSE(tokenizer);
  EXPECT_EQ(tokenizer.error()[0].found, "a tokenizer_config.json");
  EXPECT_NE(bad("{\"train_batch_size\": 32, \"zero_optimization\": {\"stage\": 3}}")
                .find("a DeepSpeed configuration"),
            std::string::npos);
  EXPECT_NE(bad("[1, 2]").find("which is a map, found a list"), std::string::npos);
}

TEST(HfConfig, AnEmptyFileIsSaidToBeEmpty) {
  EXPECT_NE(
      bad("").find("config.json:1:1: expected the config.json of a model, found an empty file"),
      std::string::npos);
  EXPECT_NE(bad(" \n\n").find("found an empty file"), std::string::npos);
}

TEST(HfConfig, ATruncatedFileIsAProblemInIt) {
  auto bytes = read_file(path("llama3-8b"));
  ASSERT_TRUE(bytes);
  for (const std::size_t length : {1u, 40u, 200u, 500u}) {
    const auto config = read_hf_config("config.json", bytes->substr(0, length));
    ASSERT_FALSE(config) << length;
    EXPECT_EQ(config.error()[0].at.file, "config.json");
    EXPECT_GE(config.error()[0].at.line, 1);
  }
}

TEST(HfConfig, AMissingFileAndADirectoryAreProblems) {
  const auto missing = load_hf_config("no/such/config.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error()[0].at.file, "no/such/config.json");
  const auto directory = load_hf_config(test::repository("tests/intake/data"));
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error()[0].found, "a directory");
}

TEST(HfConfig, SniffingTellsAConfigFromOtherText) {
  for (const char* name : {"llama3-8b", "gpt2", "bloom-176b", "gemma-3-27b"}) {
    auto bytes = read_file(path(name));
    ASSERT_TRUE(bytes);
    EXPECT_GE(sniff_hf_config(*bytes), 80) << name;
  }
  EXPECT_EQ(sniff_hf_config("--num-layers 96 --hidden-size 12288"), 0);
  EXPECT_EQ(sniff_hf_config("{\"traceEvents\": []}"), 0);
  EXPECT_EQ(sniff_hf_config(""), 0);
}

// Bytes are changed, dropped and doubled at random: the reader answers, whatever comes.
TEST(HfConfig, NoChangeOfBytesMakesTheReaderCrash) {
  std::vector<std::string> seeds;
  for (const char* name : {"deepseek-v3", "gpt-oss-120b", "gemma-3-27b", "mpt-7b"}) {
    auto bytes = read_file(path(name));
    ASSERT_TRUE(bytes);
    seeds.push_back(*bytes);
  }
  Random random = Random(1).stream("hf-config");
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = seeds[random.below(seeds.size())];
    const std::uint64_t changes = 1 + random.below(6);
    for (std::uint64_t k = 0; k < changes && !bytes.empty(); ++k) {
      const std::size_t at = random.below(bytes.size());
      switch (random.below(4)) {
        case 0: bytes[at] = static_cast<char>(random.below(256)); break;
        case 1: bytes.erase(at, 1 + random.below(20)); break;
        case 2: bytes.insert(at, bytes.substr(at, random.below(20))); break;
        default: bytes.resize(at); break;
      }
    }
    const auto config = read_hf_config("config.json", bytes);
    if (config) continue;
    ++refused;
    ASSERT_FALSE(config.error().empty());
    EXPECT_FALSE(config.error()[0].text().empty());
  }
  EXPECT_GT(refused, 1000);  // most changes break JSON
  EXPECT_LT(refused, 4000);  // and some do not
}

}  // namespace
}  // namespace railyard::intake

// Parameter counts: by hand on small shapes, and to the unit on published checkpoints.

#include "model/architecture.h"

#include <gtest/gtest.h>

#include "model/catalog.h"
#include "support/support.h"

namespace railyard::model {
namespace {

const Architecture& model(const char* id) {
  static const Checked<Catalog> catalog = load_catalog(test::repository("catalog"));
  static const Architecture none;
  const Architecture* found = catalog ? catalog->architecture(id) : nullptr;
  if (!found) ADD_FAILURE() << "no model " << id;
  return found ? *found : none;
}

Architecture small() {
  return {.layers = 2, .hidden = 8, .heads = 2, .kv_heads = 2, .ffn = 16, .vocab = 10};
}

TEST(CountParameters, APlainBlockByHand) {
  const ParameterCount c = count_parameters(small());
  EXPECT_EQ(c.attention, 4 * 8 * 8);
  EXPECT_EQ(c.dense_ffn, 2 * 8 * 16);
  EXPECT_EQ(c.norms, 2 * 8);
  EXPECT_EQ(c.embedding, 80);
  EXPECT_EQ(c.head, 80);
  EXPECT_EQ(c.total, 2 * (256 + 256 + 16) + 8 + 80 + 80);  // 8: the norm after the last layer
  EXPECT_EQ(c.active, c.total - 80);                       // a token reads one row of the embedding
}

TEST(CountParameters, BiasesLayerNormLearnedPositionsAndATiedHead) {
  Architecture a = small();
  a.bias = true;
  a.norm = Norm::layer_norm;
  a.positions = Positions::learned;
  a.max_positions = 4;
  a.tied_embeddings = true;
  const ParameterCount c = count_parameters(a);
  EXPECT_EQ(c.attention, 256 + 4 * 8);
  EXPECT_EQ(c.dense_ffn, 256 + 16 + 8);
  EXPECT_EQ(c.norms, 2 * 16);
  EXPECT_EQ(c.embedding, 80 + 4 * 8);
  EXPECT_EQ(c.head, 0);
  EXPECT_EQ(c.total, 2 * (288 + 280 + 32) + 16 + 112);
}

TEST(CountParameters, GroupedKeysGatesAndNormsOfHeads) {
  Architecture a = small();
  a.kv_heads = 1;
  a.gated = true;
  a.qk_norm = true;
  a.qkv_bias = true;
  const ParameterCount c = count_parameters(a);
  EXPECT_EQ(c.attention, 8 * (8 + 2 * 4) + 8 * 8 + 8 + 2 * 4);
  EXPECT_EQ(c.dense_ffn, 3 * 8 * 16);
  EXPECT_EQ(c.norms, 2 * 8 + 2 * 4);
}

TEST(CountParameters, ExpertsOfWhichSomeAreChosenAndSomeAreShared) {
  Architecture a = small();
  a.layers = 3;
  a.experts = Experts{.experts = 4, .top_k = 2, .ffn = 6, .shared_ffn = 5, .dense_layers = 1};
  const ParameterCount c = count_parameters(a);
  EXPECT_EQ(c.expert, 2 * 8 * 6);
  EXPECT_EQ(c.shared_experts, 2 * 8 * 5);
  EXPECT_EQ(c.moe_router, 8 * 4);
  const double dense = 256, always = 3 * (256 + 16) + dense + 2 * (32 + 80) + 8;
  EXPECT_EQ(c.total, always + 2 * 4 * 96 + 160);
  EXPECT_EQ(c.active, always + 2 * 2 * 96 + 80);
}

TEST(CountParameters, ExpertsInALatentSpaceAreNarrowAndNeedAWayIn) {
  Architecture a = small();
  a.experts = Experts{.experts = 4, .top_k = 2, .ffn = 6, .latent = 3};
  const ParameterCount c = count_parameters(a);
  EXPECT_EQ(c.expert, 2 * 3 * 6);
  EXPECT_EQ(c.moe_router, 8 * 4 + 2 * 8 * 3);
}

TEST(CountParameters, LatentAttentionOfDeepSeekV3ByHand) {
  // query 7168 x 1536, 1536 x 128 x 192; keys and values 7168 x 576, 512 x 128 x 256; out 128 x 128
  // x 7168.
  const ParameterCount c = count_parameters(model("deepseek-v3"));
  EXPECT_EQ(c.attention, 11010048.0 + 37748736 + 4128768 + 16777216 + 117440512);
  EXPECT_EQ(c.norms, 2 * 7168 + 1536 + 512);
}

TEST(CountParameters, AStateSpaceMixerByHand) {
  Architecture a = small();
  a.layers = 3;
  a.norms_per_layer = 1;
  a.state_space = StateSpace{.layers = 1,
                             .attention_layers = 1,
                             .ffn_layers = 1,
                             .heads = 4,
                             .head_dim = 4,
                             .state = 2,
                             .groups = 1,
                             .conv = 4};
  const ParameterCount c = count_parameters(a);
  // inner 16: in 8 x (16 + 16 + 4 + 4), convolution of 20 channels over 4 with bias, A, D and step
  // bias of 4 heads, gated norm 16, out 16 x 8.
  EXPECT_EQ(c.state_space, 320 + 100 + 12 + 16 + 128);
  EXPECT_EQ(c.total, 576 + 256 + 256 + 3 * 8 + 8 + 160);
}

TEST(CountParameters, PublishedCheckpointsToTheUnit) {
  const std::pair<const char*, double> checkpoints[] = {
      {"llama2-7b", 6738415616},         {"llama2-13b", 13015864320},
      {"llama2-70b", 68976648192},       {"llama3-8b", 8030261248},
      {"llama3-70b", 70553706496},       {"llama3.2-1b", 1235814400},
      {"llama3.2-3b", 3212749824},       {"mistral-7b", 7241732096},
      {"mixtral-8x7b", 46702792704},     {"qwen2.5-7b", 7615616512},
      {"qwen3-8b", 8190735360},          {"qwen3-32b", 32762123264},
      {"falcon-7b", 6921720704},         {"gemma2-9b", 9241705984},
      {"gemma2-27b", 27227128320},       {"qwen3-30b-a3b", 30532122624},
      {"qwen3-235b-a22b", 235093634560}, {"deepseek-v2", 235741434880},
      {"deepseek-v2-lite", 15706484224}};
  for (const auto& [id, count] : checkpoints)
    EXPECT_EQ(count_parameters(model(id)).total, count) << id;
}

TEST(CountParameters, TotalsWithinAPercentOfWhatAuthorsPrint) {
  const std::pair<const char*, double> stated[] = {
      {"gpt3-175b", 175e9},     {"llama3-405b", 405.85e9},  {"bloom-176b", 176.25e9},
      {"deepseek-v3", 671e9},   {"gpt-oss-120b", 116.83e9}, {"gpt-oss-20b", 20.91e9},
      {"kimi-k2", 1026e9},      {"mixtral-8x22b", 140.6e9}, {"megatron-1t", 1008e9},
      {"mt-nlg-530b", 530e9},   {"nemotron-4-340b", 341e9}, {"nemotron-3-nano", 31.6e9},
      {"falcon-180b", 178.6e9}, {"gemma3-27b", 27.0e9},     {"nanotron-80b", 80e9},
      {"mpt-30b", 29.975e9},    {"resnet-50", 25.6e6}};
  for (const auto& [id, count] : stated)
    EXPECT_NEAR(count_parameters(model(id)).total / count, 1, 0.01) << id;
}

TEST(CountParameters, ActiveParametersAsAuthorsPrintThem) {
  // Mixtral's 12.9 counts the embedding table (0.13), of which a token reads one row.
  const std::pair<const char*, double> stated[] = {
      {"deepseek-v3", 37e9},   {"mixtral-8x7b", 12.9e9 - 0.131e9},
      {"deepseek-v2", 21e9},   {"gpt-oss-120b", 5.13e9},
      {"gpt-oss-20b", 3.61e9}, {"kimi-k2", 32e9},
      {"mixtral-8x22b", 39e9}, {"nemotron-3-nano", 3.2e9}};
  for (const auto& [id, count] : stated)
    EXPECT_NEAR(count_parameters(model(id)).active / count, 1, 0.0125) << id;
}

TEST(MoeLayers, LeadingDenseLayersAndEveryOtherOne) {
  const Architecture& v3 = model("deepseek-v3");
  EXPECT_EQ(moe_layers(v3), 58);
  EXPECT_FALSE(is_moe_layer(v3, 2));
  EXPECT_TRUE(is_moe_layer(v3, 3));
  EXPECT_TRUE(is_moe_layer(v3, 60));
  EXPECT_FALSE(is_moe_layer(v3, 61));
  Architecture a = small();
  a.layers = 6;
  a.experts = Experts{.experts = 4, .top_k = 1, .ffn = 6, .dense_layers = 1, .every = 2};
  EXPECT_EQ(moe_layers(a), 2);
  EXPECT_FALSE(is_moe_layer(a, 1));
  EXPECT_TRUE(is_moe_layer(a, 2));
  EXPECT_TRUE(is_moe_layer(a, 4));
  EXPECT_EQ(moe_layers(model("llama3-8b")), 0);
}

TEST(MoeLayers, TheSumOverLayersIsTheNumberForEveryModel) {
  const auto catalog = load_catalog(test::repository("catalog"));
  ASSERT_TRUE(catalog);
  for (const Architecture& a : catalog->architectures) {
    int sum = 0;
    for (int i = 0; i < a.layers; ++i) sum += is_moe_layer(a, i) ? 1 : 0;
    EXPECT_EQ(sum, moe_layers(a)) << a.id;
  }
}

}  // namespace
}  // namespace railyard::model

#pragma once
// What the name of a model's family implies and its config.json does not say: whether the FFN has a
// gate, which norm, which kind of positions, what a missing key stands for. Source of each line:
// the model and configuration classes of transformers for that model_type; where a family lives
// outside transformers (mpt, chatglm, qwen, baichuan, internlm), the code beside its weights.
// Private to the model room.

#include <algorithm>
#include <iterator>
#include <string_view>

#include "model/architecture.h"

namespace railyard::model {

/// Defaults are those of llama, which most families followed.
struct FamilyTraits {
  std::string_view family = {};
  bool gated = true;
  Norm norm = Norm::rms_norm;
  Positions positions = Positions::rotary;
  bool bias = false, qkv_bias = false, qk_norm = false;
  bool tied = false;      ///< when tie_word_embeddings is missing
  bool parallel = false;  ///< attention and FFN side by side
  bool causal = true;
  int norms = 2;         ///< per layer
  int window_every = 1;  ///< one full-attention layer in so many, when the file names a window only
  int ffn_per_hidden = 0;  ///< FFN width over hidden size when it is missing; 0: it must be given
  int ffn_divisor = 1;     ///< Qwen (first): intermediate_size counts both halves of the gate
  bool one_shared_expert = false;  ///< llama4: of the width of a routed one
  int head_dim = 0;                ///< when it is missing; 0: hidden / heads
};

inline constexpr FamilyTraits kFamilies[] = {
    {.family = "llama"},
    {.family = "mistral"},
    {.family = "mixtral"},
    {.family = "yi"},
    {.family = "aquila"},
    {.family = "deepseek"},
    {.family = "deepseek_v2"},
    {.family = "deepseek_v3"},
    {.family = "deepseek_v32"},
    {.family = "kimi_k2"},
    {.family = "internlm"},
    {.family = "internlm2"},
    {.family = "internlm3"},
    {.family = "baichuan"},
    {.family = "phi3"},
    {.family = "granite"},
    {.family = "granitemoe"},
    {.family = "minicpm"},
    {.family = "ernie4_5"},
    {.family = "ernie4_5_moe", .tied = true},
    {.family = "smollm3", .tied = true},
    {.family = "exaone"},
    {.family = "minimax"},
    {.family = "olmo2", .qk_norm = true},
    {.family = "olmo3", .qk_norm = true, .window_every = 4},
    {.family = "olmoe", .qk_norm = true},
    {.family = "llama4", .one_shared_expert = true},
    {.family = "llama4_text", .one_shared_expert = true},
    {.family = "qwen", .qkv_bias = true, .ffn_divisor = 2},
    {.family = "qwen2", .qkv_bias = true},
    {.family = "qwen2_moe", .qkv_bias = true},
    {.family = "qwen2_vl", .qkv_bias = true},
    {.family = "qwen2_5_vl", .qkv_bias = true},
    {.family = "qwen3", .qk_norm = true, .head_dim = 128},
    {.family = "qwen3_moe", .qk_norm = true},
    {.family = "qwen3_vl_text", .qk_norm = true, .head_dim = 128},
    {.family = "qwen3_vl_moe_text", .qk_norm = true, .head_dim = 128},
    {.family = "hunyuan_v1_moe", .qk_norm = true, .tied = true},
    {.family = "chatglm", .qkv_bias = true},
    {.family = "glm", .qkv_bias = true},
    {.family = "glm4", .norms = 4},
    {.family = "glm4_moe", .qkv_bias = true},
    {.family = "gpt_oss", .bias = true, .window_every = 2, .head_dim = 64},
    {.family = "phimoe", .norm = Norm::layer_norm, .bias = true},
    {.family = "dbrx", .norm = Norm::layer_norm},
    {.family = "olmo", .norm = Norm::layer_norm, .norms = 0},
    {.family = "stablelm", .norm = Norm::layer_norm},
    {.family = "cohere", .norm = Norm::layer_norm, .tied = true, .parallel = true, .norms = 1},
    {.family = "cohere2",
     .norm = Norm::layer_norm,
     .tied = true,
     .parallel = true,
     .norms = 1,
     .window_every = 4},
    {.family = "gemma", .tied = true, .head_dim = 256},
    {.family = "gemma2", .tied = true, .norms = 4, .window_every = 2, .head_dim = 256},
    {.family = "gemma3",
     .qk_norm = true,
     .tied = true,
     .norms = 4,
     .window_every = 6,
     .head_dim = 256},
    {.family = "gemma3_text",
     .qk_norm = true,
     .tied = true,
     .norms = 4,
     .window_every = 6,
     .head_dim = 256},
    {.family = "nemotron", .gated = false, .norm = Norm::layer_norm},
    {.family = "nemotron_h", .gated = false, .positions = Positions::none, .norms = 1},
    {.family = "starcoder2", .gated = false, .norm = Norm::layer_norm, .bias = true, .tied = true},
    {.family = "gpt2",
     .gated = false,
     .norm = Norm::layer_norm,
     .positions = Positions::learned,
     .bias = true,
     .tied = true,
     .ffn_per_hidden = 4},
    {.family = "gpt_bigcode",
     .gated = false,
     .norm = Norm::layer_norm,
     .positions = Positions::learned,
     .bias = true,
     .tied = true,
     .ffn_per_hidden = 4},
    {.family = "gpt_neo",
     .gated = false,
     .norm = Norm::layer_norm,
     .positions = Positions::learned,
     .bias = true,
     .tied = true,
     .window_every = 2,
     .ffn_per_hidden = 4},
    {.family = "opt",
     .gated = false,
     .norm = Norm::layer_norm,
     .positions = Positions::learned,
     .bias = true,
     .tied = true},
    {.family = "gpt_neox",
     .gated = false,
     .norm = Norm::layer_norm,
     .bias = true,
     .parallel = true},
    {.family = "gptj",
     .gated = false,
     .norm = Norm::layer_norm,
     .bias = true,
     .parallel = true,
     .norms = 1,
     .ffn_per_hidden = 4},
    {.family = "phi",
     .gated = false,
     .norm = Norm::layer_norm,
     .bias = true,
     .parallel = true,
     .norms = 1},
    {.family = "bloom",
     .gated = false,
     .norm = Norm::layer_norm,
     .positions = Positions::alibi,
     .bias = true,
     .tied = true,
     .ffn_per_hidden = 4},
    {.family = "falcon",
     .gated = false,
     .norm = Norm::layer_norm,
     .tied = true,
     .parallel = true,
     .norms = 1,
     .ffn_per_hidden = 4},
    {.family = "mpt",
     .gated = false,
     .norm = Norm::layer_norm,
     .positions = Positions::learned,
     .tied = true,
     .ffn_per_hidden = 4},
    {.family = "bert",
     .gated = false,
     .norm = Norm::layer_norm,
     .positions = Positions::learned,
     .bias = true,
     .tied = true,
     .causal = false},
    {.family = "roberta",
     .gated = false,
     .norm = Norm::layer_norm,
     .positions = Positions::learned,
     .bias = true,
     .tied = true,
     .causal = false},
};

/// The line of a family, or nullptr.
inline const FamilyTraits* family_traits(std::string_view family) {
  const auto* const it = std::ranges::find(kFamilies, family, &FamilyTraits::family);
  return it == std::end(kFamilies) ? nullptr : it;
}

}  // namespace railyard::model

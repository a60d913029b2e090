#pragma once
// How the architectures of Hugging Face spell the same thing in config.json. A dot leads into a
// nested map. Where a file has two spellings of one meaning, the one that stands higher here
// counts. Sources: the configuration classes of transformers by model_type, and the config.json of
// the models named in the third column.

#include <optional>
#include <string_view>

#include "facts/model_config.h"

namespace railyard::intake {

using facts::ModelConfig;

struct IntegerSpelling {
  std::string_view key;
  ModelConfig::Integer ModelConfig::* field;
  std::string_view seen_in;
};
inline constexpr IntegerSpelling kIntegerSpellings[] = {
    {"num_hidden_layers", &ModelConfig::layers, "llama, qwen, gemma, falcon, opt, deepseek"},
    {"n_layer", &ModelConfig::layers, "gpt2, bloom, gpt-j"},
    {"n_layers", &ModelConfig::layers, "mpt, dbrx"},
    {"num_layers", &ModelConfig::layers, "chatglm, gpt-neo, exaone"},
    {"hidden_size", &ModelConfig::hidden, "llama and most"},
    {"n_embd", &ModelConfig::hidden, "gpt2, gpt-j"},
    {"n_embed", &ModelConfig::hidden, "bloom"},
    {"d_model", &ModelConfig::hidden, "mpt, dbrx"},
    {"num_attention_heads", &ModelConfig::heads, "llama and most"},
    {"n_head", &ModelConfig::heads, "gpt2, bloom"},
    {"n_heads", &ModelConfig::heads, "mpt, dbrx"},
    {"num_heads", &ModelConfig::heads, "gpt-neo"},
    {"num_key_value_heads", &ModelConfig::kv_heads, "llama, qwen2, mixtral, gemma"},
    {"num_kv_heads", &ModelConfig::kv_heads, "falcon"},
    {"n_head_kv", &ModelConfig::kv_heads, "falcon 40B, early"},
    {"multi_query_group_num", &ModelConfig::kv_heads, "chatglm"},
    {"attn_config.kv_n_heads", &ModelConfig::kv_heads, "mpt, dbrx"},
    {"head_dim", &ModelConfig::head_dim, "llama, qwen3, gemma, gpt-oss"},
    {"kv_channels", &ModelConfig::head_dim, "chatglm, qwen"},
    {"attention_head_dim", &ModelConfig::head_dim, "nemotron-h"},
    {"intermediate_size_mlp", &ModelConfig::dense_ffn, "llama4: FFN of layers without experts"},
    {"intermediate_size", &ModelConfig::ffn, "llama and most"},
    {"ffn_hidden_size", &ModelConfig::ffn, "chatglm, falcon2"},
    {"ffn_dim", &ModelConfig::ffn, "opt"},
    {"n_inner", &ModelConfig::ffn, "gpt2"},
    {"d_ff", &ModelConfig::ffn, "t5-shaped"},
    {"ffn_config.ffn_hidden_size", &ModelConfig::ffn, "dbrx, mpt"},
    {"padded_vocab_size", &ModelConfig::vocab, "chatglm"},
    {"vocab_size", &ModelConfig::vocab, "all others"},
    {"max_position_embeddings", &ModelConfig::max_positions, "llama and most"},
    {"n_positions", &ModelConfig::max_positions, "gpt2"},
    {"max_seq_len", &ModelConfig::max_positions, "mpt, dbrx"},
    {"seq_length", &ModelConfig::max_positions, "chatglm, bloom, qwen"},
    {"max_sequence_length", &ModelConfig::max_positions, "opt derivatives"},
    {"n_ctx", &ModelConfig::max_positions, "gpt2, early"},
    {"model_max_length", &ModelConfig::max_positions, "baichuan2"},
    {"num_local_experts", &ModelConfig::experts, "mixtral, gpt-oss, llama4, minimax"},
    {"n_routed_experts", &ModelConfig::experts, "deepseek, kimi, glm4-moe"},
    {"num_experts", &ModelConfig::experts, "qwen-moe, olmoe, jamba"},
    {"moe_num_experts", &ModelConfig::experts, "ernie4.5"},
    {"ffn_config.moe_num_experts", &ModelConfig::experts, "dbrx"},
    {"num_experts_per_tok", &ModelConfig::experts_per_token, "mixtral, deepseek, qwen-moe"},
    {"experts_per_token", &ModelConfig::experts_per_token, "gpt-oss, early"},
    {"num_experts_per_token", &ModelConfig::experts_per_token, "step, hunyuan"},
    {"moe_topk", &ModelConfig::experts_per_token, "hunyuan, ling"},
    {"moe_k", &ModelConfig::experts_per_token, "ernie4.5"},
    {"ffn_config.moe_top_k", &ModelConfig::experts_per_token, "dbrx"},
    {"moe_intermediate_size", &ModelConfig::expert_ffn, "deepseek, qwen-moe, kimi"},
    {"expert_ffn_hidden_size", &ModelConfig::expert_ffn, "longcat"},
    {"n_shared_experts", &ModelConfig::shared_experts, "deepseek, kimi, glm4-moe"},
    {"num_shared_experts", &ModelConfig::shared_experts, "ling, hunyuan"},
    {"moe_num_shared_experts", &ModelConfig::shared_experts, "ernie4.5"},
    {"shared_expert_intermediate_size", &ModelConfig::shared_ffn, "qwen2-moe"},
    {"moe_shared_expert_intermediate_size", &ModelConfig::shared_ffn, "nemotron-h with experts"},
    {"shared_intermediate_size", &ModelConfig::shared_ffn, "granite-moe-shared"},
    {"moe_latent_size", &ModelConfig::expert_latent, "nemotron-h with experts"},
    {"first_k_dense_replace", &ModelConfig::dense_layers, "deepseek, kimi, glm4-moe"},
    {"moe_layer_start_index", &ModelConfig::dense_layers, "ernie4.5"},
    {"decoder_sparse_step", &ModelConfig::expert_every, "qwen-moe"},
    {"interleave_moe_layer_step", &ModelConfig::expert_every, "llama4"},
    {"moe_layer_interval", &ModelConfig::expert_every, "ernie4.5"},
    {"expert_layer_period", &ModelConfig::expert_every, "jamba"},
    {"moe_layer_freq", &ModelConfig::expert_every, "deepseek"},
    {"num_nextn_predict_layers", &ModelConfig::prediction_layers, "deepseek-v3, glm4-moe"},
    {"q_lora_rank", &ModelConfig::query_rank, "deepseek, kimi"},
    {"kv_lora_rank", &ModelConfig::kv_rank, "deepseek, kimi"},
    {"qk_nope_head_dim", &ModelConfig::nope_dim, "deepseek, kimi"},
    {"qk_rope_head_dim", &ModelConfig::rope_dim, "deepseek, kimi"},
    {"v_head_dim", &ModelConfig::value_dim, "deepseek, kimi"},
    {"sliding_window", &ModelConfig::window, "mistral, gemma2, gpt-oss, qwen2"},
    {"window_size", &ModelConfig::window, "gpt-neo"},
    {"sliding_window_pattern", &ModelConfig::window_every, "gemma3, cohere2"},
    {"mamba_num_heads", &ModelConfig::state_heads, "nemotron-h"},
    {"mamba_n_heads", &ModelConfig::state_heads, "bamba, granite-hybrid"},
    {"mamba_head_dim", &ModelConfig::state_head_dim, "nemotron-h"},
    {"mamba_d_head", &ModelConfig::state_head_dim, "bamba, granite-hybrid"},
    {"ssm_state_size", &ModelConfig::state_size, "nemotron-h"},
    {"mamba_d_state", &ModelConfig::state_size, "bamba, jamba"},
    {"n_groups", &ModelConfig::state_groups, "nemotron-h"},
    {"mamba_n_groups", &ModelConfig::state_groups, "bamba"},
    {"conv_kernel", &ModelConfig::state_conv, "nemotron-h"},
    {"mamba_d_conv", &ModelConfig::state_conv, "bamba, jamba"},
};

struct FlagSpelling {
  std::string_view key;
  ModelConfig::Flag ModelConfig::* field;
};
inline constexpr FlagSpelling kFlagSpellings[] = {
    {"multi_query", &ModelConfig::multi_query},            // falcon, gpt-bigcode
    {"multi_query_attention", &ModelConfig::multi_query},  // chatglm
    {"new_decoder_architecture", &ModelConfig::grouped_decoder},
    {"tie_word_embeddings", &ModelConfig::tied_embeddings},
    {"tie_embeddings", &ModelConfig::tied_embeddings},
    {"attention_bias", &ModelConfig::attention_bias},  // llama, gpt-oss, glm4-moe
    {"use_bias", &ModelConfig::bias},                  // starcoder2, cohere, nemotron-h
    {"add_bias_linear", &ModelConfig::bias},           // chatglm
    {"enable_bias", &ModelConfig::bias},               // opt
    {"bias", &ModelConfig::bias},                      // falcon, internlm2
    {"no_bias", &ModelConfig::no_bias},                // mpt, qwen
    {"add_qkv_bias", &ModelConfig::qkv_bias},          // chatglm
    {"qkv_bias", &ModelConfig::qkv_bias},
    {"use_qk_norm", &ModelConfig::qk_norm},                    // llama4, glm4-moe, hunyuan
    {"qk_layernorm", &ModelConfig::qk_norm},                   // stablelm, phi
    {"parallel_attn", &ModelConfig::parallel_blocks},          // falcon
    {"use_parallel_residual", &ModelConfig::parallel_blocks},  // gpt-neox, stablelm
    {"alibi", &ModelConfig::alibi},                            // falcon
    {"attn_config.alibi", &ModelConfig::alibi},                // mpt
    {"use_sliding_window", &ModelConfig::uses_window},         // qwen2, qwen3
    {"is_encoder_decoder", &ModelConfig::encoder_decoder},
};

struct WordSpelling {
  std::string_view key;
  ModelConfig::Word ModelConfig::* field;
};
inline constexpr WordSpelling kWordSpellings[] = {
    {"model_type", &ModelConfig::family},
    {"_name_or_path", &ModelConfig::given_name},
    {"hidden_act", &ModelConfig::activation},
    {"hidden_activation", &ModelConfig::activation},           // gemma
    {"activation_function", &ModelConfig::activation},         // gpt2, opt
    {"mlp_hidden_act", &ModelConfig::activation},              // nemotron-h
    {"ffn_config.ffn_act_fn.name", &ModelConfig::activation},  // dbrx
    {"torch_dtype", &ModelConfig::number_format},
    {"dtype", &ModelConfig::number_format},
    {"position_embedding_type", &ModelConfig::position_kind},  // bert, granite
    {"hybrid_override_pattern", &ModelConfig::hybrid_pattern},
};

struct NumberSpelling {
  std::string_view key;
  ModelConfig::Number ModelConfig::* field;
};
inline constexpr NumberSpelling kNumberSpellings[] = {
    {"expansion_ratio", &ModelConfig::ffn_ratio},  // mpt
    {"mlp_ratio", &ModelConfig::ffn_ratio},        // olmo checkpoints, internlm
};

/// Where a multimodal model keeps its language part.
inline constexpr std::string_view kTextParts[] = {"text_config", "llm_config", "language_config",
                                                  "thinker_config.text_config"};

}  // namespace railyard::intake

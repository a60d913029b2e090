#pragma once
// What a Hugging Face config.json says about a network, under one name per meaning whatever the
// spelling was. Nothing is concluded here: a missing key stays missing, and what the family of the
// model implies (gated FFN, kind of norm, tied embeddings) is added by model/job_from_facts.

#include <optional>
#include <string>
#include <vector>

#include "facts/seen.h"

namespace railyard::facts {

struct ModelConfig {
  using Integer = std::optional<Seen<int>>;
  using Number = std::optional<Seen<double>>;
  using Flag = std::optional<Seen<bool>>;
  using Word = std::optional<Seen<std::string>>;

  std::string file = {};
  Where top = {};                 ///< of the map that was read: the whole file, or its text_config
  Word family = {};               ///< "model_type"
  Word class_name = {};           ///< first of "architectures"
  Word given_name = {};           ///< "_name_or_path"
  bool nested_text_part = false;  ///< a multimodal model: its language part was read

  Integer layers = {}, hidden = {}, heads = {}, kv_heads = {}, head_dim = {};
  Integer ffn = {}, dense_ffn = {}, vocab = {}, max_positions = {};
  Number ffn_ratio = {};  ///< FFN width over hidden size

  Integer experts = {}, experts_per_token = {}, expert_ffn = {};
  Integer shared_experts = {}, shared_ffn = {};
  Integer expert_latent = {};  ///< width that routed experts work in, where it is not `hidden`
  Integer dense_layers = {};   ///< leading layers without experts
  Integer expert_every = {};   ///< one layer with experts in so many
  std::vector<int> expert_layers = {};  ///< "moe_layer_freq" as a list: 1 for a layer with experts
  std::vector<int> layers_without_experts = {};  ///< "mlp_only_layers": indices

  Integer prediction_layers = {};  ///< further layers that predict further tokens (MTP)

  Integer query_rank = {}, kv_rank = {}, nope_dim = {}, rope_dim = {}, value_dim = {};

  Integer window = {}, window_every = {};
  Flag uses_window = {};
  std::vector<std::string> layer_kinds = {};  ///< "layer_types", one word a layer

  Integer state_heads = {}, state_head_dim = {}, state_size = {}, state_groups = {},
          state_conv = {};
  Word hybrid_pattern = {};  ///< one letter a layer: M state space, * attention, - FFN, E experts

  Flag multi_query = {};      ///< one key-value head for all
  Flag grouped_decoder = {};  ///< Falcon's "new_decoder_architecture": kv_heads counts
  Flag attention_bias = {}, qkv_bias = {}, qk_norm = {};
  Flag tied_embeddings = {}, bias = {}, no_bias = {}, parallel_blocks = {}, alibi = {};
  Flag encoder_decoder = {};
  Word activation = {}, number_format = {}, position_kind = {};
  bool has_rms_epsilon = false, has_rotary_base = false;  ///< the key is there

  std::vector<Skipped> skipped = {};
};

}  // namespace railyard::facts

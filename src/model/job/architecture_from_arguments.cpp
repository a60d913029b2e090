// The network inside the arguments of a Megatron-LM run. Defaults are those of its argument parser
// (megatron/training/arguments.py) where a script leaves an argument out.

#include <algorithm>
#include <charconv>
#include <utility>

#include "model/job/arguments.h"

namespace railyard::model {

namespace {

/// Vocabularies that a tokenizer's name fixes. Others come with a file of the user's.
int known_vocabulary(std::string_view tokenizer) {
  static constexpr std::pair<std::string_view, int> kKnown[] = {
      {"gpt2bpetokenizer", 50257},        // GPT-2
      {"bertwordpiecelowercase", 30522},  // BERT uncased
      {"bertwordpiececase", 28996},       // BERT cased
      {"llama2tokenizer", 32000}};        // Llama 2
  const auto* const it =
      std::ranges::find(kKnown, tokenizer, &std::pair<std::string_view, int>::first);
  return it == std::end(kKnown) ? 0 : it->second;
}

/// Megatron pads the vocabulary to a multiple of make_vocab_size_divisible_by x tensor.
int vocabulary(Arguments& args, int tensor) {
  if (const int padded = args.integer("padded_vocab_size", 0); padded > 0) return padded;
  int size = args.integer("vocab_size", 0);
  if (size == 0) size = known_vocabulary(args.word("tokenizer_type"));
  if (size == 0) {
    args.missing("vocab_size", "its tokenizer decides it; the job's output prints 'padded vocab'");
    return 0;
  }
  const int multiple = std::max(1, args.integer("make_vocab_size_divisible_by", 128)) * tensor;
  return (size + multiple - 1) / multiple * multiple;
}

Positions positions(Arguments& args) {
  const std::string kind = args.word("position_embedding_type");
  if (args.flag("use_rotary_position_embeddings") || kind == "rope" || kind == "rotary" ||
      kind == "yarn" || kind == "mrope")
    return Positions::rotary;
  if (kind == "alibi") return Positions::alibi;
  if (kind == "none") return Positions::none;
  return Positions::learned;
}

/// Layers that have experts, from `--moe-layer-freq`: a number, or a list of ones and zeros.
void expert_layers(Arguments& args, Experts& e) {
  const std::vector<std::string> words = args.words("moe_layer_freq");
  std::vector<int> pattern;
  for (const std::string& w : words) {
    int n = 0;
    if (std::from_chars(w.data(), w.data() + w.size(), n).ec == std::errc{}) pattern.push_back(n);
  }
  if (words.size() == 1 && words.front().contains('[')) pattern = list_expression(words.front());
  if (pattern.size() == 1 && !words.front().contains('[')) {
    e.every = std::max(1, pattern.front());
    return;
  }
  const auto first = std::ranges::find_if(pattern, [](int x) { return x != 0; });
  e.dense_layers = static_cast<int>(first - pattern.begin());
  if (std::find(first, pattern.end(), 0) != pattern.end())
    args.note("dense layers between layers with experts are counted as if they had experts");
}

void experts(Arguments& args, Architecture& a) {
  // Megatron-DeepSpeed gives one number per group of layers; the last is taken.
  const std::vector<std::string> words = args.words("num_experts");
  const int n = words.size() > 1 ? 0 : args.integer("num_experts", 0);
  if (words.size() > 1) args.wrong("num_experts", "one number of experts for all layers");
  if (n <= 1) return;
  Experts e;
  e.experts = n;
  e.top_k = args.integer("moe_router_topk", 2);
  e.ffn = args.integer("moe_ffn_hidden_size", a.ffn);
  e.shared_ffn = args.integer("moe_shared_expert_intermediate_size", 0);
  e.latent = args.integer("moe_latent_size", 0);
  expert_layers(args, e);
  if (e.top_k < 1 || e.top_k > n)
    args.wrong("moe_router_topk", "from 1 to " + std::to_string(n) + " experts per token");
  if (e.ffn < 1) args.wrong("moe_ffn_hidden_size", "an expert width of at least 1");
  e.dense_layers = std::min(e.dense_layers, a.layers);
  a.experts = e;
}

void latent(Arguments& args, Architecture& a) {
  if (!args.flag("multi_latent_attention")) return;
  a.latent = LatentAttention{.query_rank = args.integer("q_lora_rank", 0),
                             .kv_rank = args.integer("kv_lora_rank", 32),
                             .nope_dim = args.integer("qk_head_dim", 128),
                             .rope_dim = args.integer("qk_pos_emb_head_dim", 64),
                             .value_dim = args.integer("v_head_dim", 128)};
  a.kv_heads = a.heads;
  a.head_dim = 0;
}

void hybrid(Arguments& args, Architecture& a) {
  const std::vector<std::string> words = args.words("hybrid_override_pattern");
  if (words.empty() || words.front().find('M') == std::string::npos) return;
  StateSpace s;
  s.layers = static_cast<int>(std::ranges::count(words.front(), 'M'));
  s.attention_layers = static_cast<int>(std::ranges::count(words.front(), '*'));
  s.ffn_layers = static_cast<int>(std::ranges::count(words.front(), '-') +
                                  std::ranges::count(words.front(), 'E'));
  if (s.layers + s.attention_layers + s.ffn_layers != a.layers)
    args.wrong("hybrid_override_pattern", "a pattern for " + std::to_string(a.layers) + " layers");
  s.head_dim = std::max(1, args.integer("mamba_head_dim", 64));
  s.heads = args.integer("mamba_num_heads", 2 * a.hidden / s.head_dim);
  s.state = args.integer("mamba_state_dim", 128);
  s.groups = args.integer("mamba_num_groups", 8);
  a.state_space = s;
  a.norms_per_layer = 1;
}

}  // namespace

Architecture architecture_from(Arguments& args, int tensor) {
  Architecture a;
  a.family = "megatron";
  a.layers = args.need("num_layers", "model.layers");
  a.hidden = args.need("hidden_size", "model.hidden");
  a.heads = args.need("num_attention_heads", "model.heads");
  a.gated = args.flag("swiglu") || args.word("glu_activation").contains("glu");
  // A gate brings a third matrix: Megatron narrows all three by 2/3, to a multiple of 64.
  const int wide = a.gated ? static_cast<int>(4LL * a.hidden * 2 / 3 / 64 * 64) : 4 * a.hidden;
  a.ffn = args.integer("ffn_hidden_size", wide, "model.ffn");
  a.kv_heads = args.flag("group_query_attention") ? args.integer("num_query_groups", 1) : a.heads;
  if (!args.has("group_query_attention") && args.has("num_key_value_heads"))  // Megatron-DeepSpeed
    a.kv_heads = args.integer("num_key_value_heads", a.heads);
  const int width = args.integer("kv_channels", 0);
  if (width > 0 && 1LL * width * a.heads != a.hidden) a.head_dim = width;
  a.vocab = vocabulary(args, tensor);
  a.max_positions = args.integer("max_position_embeddings", args.integer("seq_length", 0));
  a.positions = positions(args);
  a.norm = args.word("normalization") == "rmsnorm" ? Norm::rms_norm : Norm::layer_norm;
  a.bias = args.from_log() && args.has("add_bias_linear") ? args.flag("add_bias_linear")
                                                          : !args.flag("disable_bias_linear");
  a.qkv_bias = args.flag("add_qkv_bias");
  a.qk_norm = args.flag("qk_layernorm");
  a.tied_embeddings = !args.flag("untie_embeddings_and_output_weights");
  if (const std::vector<std::string> window = args.words("window_size"); !window.empty()) {
    const std::string digits = window.front().substr(
        std::min(window.front().find_first_of("0123456789"), window.front().size()));
    int size = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), size);
    a.window = std::clamp(size, 0, 1 << 28);
    a.window_every = std::max(
        1, args.has("window_attn_skip_freq") && args.words("window_attn_skip_freq").size() == 1
               ? args.integer("window_attn_skip_freq", 1)
               : 1);
  }
  if (a.heads > 0 && a.layers > 0) {
    if (a.head_dim == 0 && a.hidden % a.heads != 0)
      args.wrong("num_attention_heads", "a divisor of the hidden size " + std::to_string(a.hidden));
    if (a.kv_heads < 1 || a.heads % a.kv_heads != 0)
      args.wrong("num_query_groups", "a divisor of the " + std::to_string(a.heads) + " heads");
    experts(args, a);
    latent(args, a);
    hybrid(args, a);
  }
  if (args.integer("mtp_num_layers", 0) > 0)
    args.note("layers that predict further tokens (--mtp-num-layers) are not counted");
  return a;
}

}  // namespace railyard::model

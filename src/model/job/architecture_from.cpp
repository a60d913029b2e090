// A Hugging Face config.json as an Architecture.

#include <algorithm>
#include <optional>
#include <utility>

#include "model/job/hf_families.h"
#include "model/job_from_facts.h"

namespace railyard::model {

namespace {

using facts::ModelConfig;

int value_or(const ModelConfig::Integer& seen, int otherwise) {
  return seen ? seen->value : otherwise;
}
bool value_or(const ModelConfig::Flag& seen, bool otherwise) {
  return seen ? seen->value : otherwise;
}

class Conversion {
 public:
  explicit Conversion(const ModelConfig& config) : c_(config) {}

  Checked<ReadArchitecture> run() {
    if (value_or(c_.encoder_decoder, false))
      return as_problems(facts::problem_at(
          c_.encoder_decoder->where, "a decoder or an encoder alone", "an encoder-decoder model",
          "describe its larger part as a model of its own"));
    a_.family = c_.family ? c_.family->value : "";
    a_.id = name();
    traits();
    sizes();
    if (!problems_.empty()) return std::unexpected(std::move(problems_));
    heads();
    experts();
    latent();
    hybrid();
    feed_forward();
    windows();
    if (c_.prediction_layers && c_.prediction_layers->value > 0)
      note("the " + std::to_string(c_.prediction_layers->value) +
           " layer(s) that predict further tokens (MTP) are not counted");
    if (c_.nested_text_part) note("only the language part of the multimodal model is modelled");
    if (!problems_.empty()) return std::unexpected(std::move(problems_));
    a_.from = {.source = c_.file, .confidence = Confidence::single, .note = {}};
    return ReadArchitecture{std::move(a_), std::move(notes_)};
  }

 private:
  void note(std::string sentence) { notes_.push_back(std::move(sentence)); }
  void wrong(const facts::Where& where, std::string expected, std::string found,
             std::string hint = {}) {
    problems_.push_back(
        facts::problem_at(where, std::move(expected), std::move(found), std::move(hint)));
  }

  /// A size that every network has.
  int need(const ModelConfig::Integer& seen, std::string_view what, std::string_view spellings) {
    if (seen && seen->value > 0) return seen->value;
    wrong(seen ? seen->where : c_.top, std::string(what),
          seen ? std::to_string(seen->value) : "none", "spelt " + std::string(spellings));
    return 0;
  }

  std::string name() const {
    if (c_.given_name && !c_.given_name->value.empty()) {
      const std::string& full = c_.given_name->value;
      return full.substr(full.find_last_of('/') + 1);
    }
    // models/Llama-3-8B/config.json: the folder is the name; llama3-8b.json: the file is.
    std::string_view path = c_.file;
    constexpr std::string_view kUsual = "config.json";
    if (path.ends_with(kUsual) && path.size() > kUsual.size() + 1) {
      path.remove_suffix(kUsual.size() + 1);
    } else if (path.ends_with(".json") && path != kUsual) {
      path.remove_suffix(std::string_view(".json").size());
    } else {
      return a_.family.empty() ? "a model from " + c_.file : a_.family;
    }
    return std::string(path.substr(path.find_last_of('/') + 1));
  }

  void traits() {
    if (const FamilyTraits* known = family_traits(a_.family)) {
      t_ = *known;
    } else {
      const std::string act = c_.activation ? c_.activation->value : "silu";
      t_.gated = act.contains("silu") || act.contains("swi") || act.contains("glu");
      t_.norm = c_.has_rms_epsilon ? Norm::rms_norm : Norm::layer_norm;
      t_.positions = c_.has_rotary_base ? Positions::rotary : Positions::learned;
      note("the family " +
           (a_.family.empty() ? std::string("is not named") : "'" + a_.family + "' is not known") +
           ": gate, norm and positions were judged from the keys that are there");
    }
    a_.gated = t_.gated;
    a_.norm = t_.norm;
    a_.positions = t_.positions;
    a_.causal = t_.causal;
    a_.norms_per_layer = t_.norms;
    a_.tied_embeddings = value_or(c_.tied_embeddings, t_.tied);
    a_.parallel_blocks = value_or(c_.parallel_blocks, t_.parallel);
    a_.bias = value_or(c_.bias, t_.bias);
    if (c_.no_bias) a_.bias = !c_.no_bias->value;
    a_.qkv_bias = value_or(c_.qkv_bias, t_.qkv_bias) || value_or(c_.attention_bias, false);
    a_.qk_norm = value_or(c_.qk_norm, t_.qk_norm);
    if (value_or(c_.alibi, false)) a_.positions = Positions::alibi;
    if (c_.position_kind && c_.position_kind->value == "rope") a_.positions = Positions::rotary;
    if (c_.position_kind && c_.position_kind->value == "alibi") a_.positions = Positions::alibi;
    // Falcon's newer decoder has a norm for each of its two blocks.
    if (a_.family == "falcon" && value_or(c_.grouped_decoder, false)) a_.norms_per_layer = 2;
  }

  void sizes() {
    a_.layers = need(c_.layers, "a number of layers", "num_hidden_layers, n_layer or num_layers");
    a_.hidden = need(c_.hidden, "a hidden size", "hidden_size, n_embd or d_model");
    a_.heads =
        need(c_.heads, "a number of attention heads", "num_attention_heads, n_head or n_heads");
    a_.vocab = need(c_.vocab, "a vocabulary size", "vocab_size");
    a_.max_positions = value_or(c_.max_positions, 0);
    if (a_.positions == Positions::learned && a_.max_positions == 0)
      need(c_.max_positions, "a number of positions", "n_positions or max_position_embeddings");
  }

  void heads() {
    a_.head_dim = value_or(c_.head_dim, t_.head_dim);
    a_.kv_heads = value_or(c_.kv_heads, a_.heads);
    if (c_.multi_query) {
      // Falcon and StarCoder share one head; ChatGLM's switch turns its group number on.
      if (a_.family == "chatglm") {
        if (!c_.multi_query->value) a_.kv_heads = a_.heads;
      } else if (c_.multi_query->value && !value_or(c_.grouped_decoder, false)) {
        a_.kv_heads = 1;
      }
    }
    if (a_.head_dim == 0 && !c_.kv_rank && a_.hidden % a_.heads != 0)
      wrong(c_.heads->where, "a divisor of the hidden size " + std::to_string(a_.hidden),
            std::to_string(a_.heads), "or the file gives head_dim");
    if (a_.kv_heads < 1 || a_.heads % a_.kv_heads != 0)
      wrong(c_.kv_heads ? c_.kv_heads->where : c_.heads->where,
            "a number of key-value heads that divides " + std::to_string(a_.heads),
            std::to_string(a_.kv_heads));
    if (a_.head_dim > 0 && a_.head_dim * static_cast<double>(a_.heads) == a_.hidden)
      a_.head_dim = 0;
  }

  /// Width of the FFN, or of one routed expert where layers have those.
  int given_ffn() {
    if (c_.ffn && c_.ffn->value > 0) return c_.ffn->value / t_.ffn_divisor;
    if (c_.ffn_ratio) return static_cast<int>(c_.ffn_ratio->value * a_.hidden);
    return t_.ffn_per_hidden * a_.hidden;
  }

  void feed_forward() {
    a_.ffn = value_or(c_.dense_ffn, given_ffn());
    const bool none_dense = a_.experts && a_.experts->dense_layers == 0 && a_.experts->every == 1;
    const bool none_at_all = a_.state_space && a_.state_space->ffn_layers == 0;
    if (a_.ffn <= 0 && !none_dense && !none_at_all)
      need(c_.ffn, "an FFN width", "intermediate_size, ffn_dim or n_inner");
  }

  void experts() {
    const int n = value_or(c_.experts, 0);
    if (n <= 1) return;
    Experts e;
    e.experts = n;
    e.top_k = need(c_.experts_per_token, "a number of experts per token",
                   "num_experts_per_tok, experts_per_token or moe_topk");
    e.ffn = value_or(c_.expert_ffn, given_ffn());
    if (e.ffn <= 0) need(c_.expert_ffn, "the width of an expert", "moe_intermediate_size");
    if (e.top_k > n)
      wrong(c_.experts_per_token->where,
            "at most the " + std::to_string(n) + " experts that there are",
            std::to_string(e.top_k));
    const int shared = value_or(c_.shared_experts, t_.one_shared_expert ? 1 : 0);
    e.shared_ffn = value_or(c_.shared_ffn, shared * e.ffn);
    e.latent = value_or(c_.expert_latent, 0);
    e.every = std::max(1, value_or(c_.expert_every, 1));
    e.dense_layers = std::min(value_or(c_.dense_layers, 0), a_.layers);
    leading_dense_layers(e);
    a_.experts = e;
  }

  /// Lists that say layer by layer which have experts: only leading dense layers can be modelled.
  void leading_dense_layers(Experts& e) {
    if (!c_.expert_layers.empty()) {
      const auto first = std::ranges::find_if(c_.expert_layers, [](int x) { return x != 0; });
      e.dense_layers = static_cast<int>(first - c_.expert_layers.begin());
      if (std::find(first, c_.expert_layers.end(), 0) != c_.expert_layers.end())
        note("dense layers between layers with experts are counted as if they had experts");
    }
    std::vector<int> without = c_.layers_without_experts;
    std::ranges::sort(without);
    int leading = 0;
    for (const int layer : without)
      if (layer == leading) ++leading;
    if (leading > e.dense_layers) e.dense_layers = std::min(leading, a_.layers);
    if (static_cast<std::size_t>(leading) < without.size())
      note("dense layers that do not lead are counted as if they had experts");
  }

  void latent() {
    if (!c_.kv_rank || c_.kv_rank->value == 0) return;
    LatentAttention l;
    l.kv_rank = c_.kv_rank->value;
    l.query_rank = value_or(c_.query_rank, 0);
    l.nope_dim = need(c_.nope_dim, "the width of a head without rotation", "qk_nope_head_dim");
    l.rope_dim = value_or(c_.rope_dim, 0);
    l.value_dim = need(c_.value_dim, "the width of a head's value", "v_head_dim");
    a_.latent = l;
    a_.head_dim = 0;
    a_.kv_heads = a_.heads;
  }

  void hybrid() {
    if (!c_.hybrid_pattern) return;
    const std::string& pattern = c_.hybrid_pattern->value;
    StateSpace s;
    for (const char kind : pattern) {
      if (kind == 'M') ++s.layers;
      if (kind == '*') ++s.attention_layers;
      if (kind == '-' || kind == 'E') ++s.ffn_layers;
    }
    if (s.layers + s.attention_layers + s.ffn_layers != a_.layers) {
      wrong(c_.hybrid_pattern->where,
            "a pattern of M, *, - and E for " + std::to_string(a_.layers) + " layers",
            "one for " + std::to_string(s.layers + s.attention_layers + s.ffn_layers));
      return;
    }
    if (s.layers == 0) return;
    s.heads = need(c_.state_heads, "a number of state-space heads", "mamba_num_heads");
    s.head_dim = need(c_.state_head_dim, "the width of a state-space head", "mamba_head_dim");
    s.state = need(c_.state_size, "a state size", "ssm_state_size");
    s.groups = std::max(1, value_or(c_.state_groups, 1));
    s.conv = value_or(c_.state_conv, 4);
    a_.state_space = s;
    if (pattern.find('E') == std::string::npos) a_.experts.reset();
    if (a_.experts) a_.experts->dense_layers = 0;
  }

  void windows() {
    if (c_.uses_window && !c_.uses_window->value) return;
    const int window = value_or(c_.window, 0);
    if (window == 0) return;
    if (!c_.layer_kinds.empty()) {
      std::ptrdiff_t full = 0, windowed = 0;
      for (const std::string& kind : c_.layer_kinds) {
        if (kind == "full_attention") ++full;
        if (kind == "sliding_attention" || kind == "chunked_attention") ++windowed;
      }
      const auto all = static_cast<std::ptrdiff_t>(c_.layer_kinds.size());
      if (full + windowed != all)
        note("layers that are neither full nor sliding attention are counted as full attention");
      if (windowed == 0) return;
      a_.window = window;
      a_.window_every = all == windowed ? 1 : static_cast<int>(all / (all - windowed));
      return;
    }
    a_.window = window;
    a_.window_every = std::max(1, value_or(c_.window_every, t_.window_every));
  }

  const ModelConfig& c_;
  FamilyTraits t_ = {};
  Architecture a_;
  std::vector<std::string> notes_;
  Problems problems_;
};

}  // namespace

Checked<ReadArchitecture> architecture_from(const ModelConfig& config) {
  return Conversion(config).run();
}

}  // namespace railyard::model

// catalog/models*.yaml: one architecture.

#include "model/catalog/readers.h"

namespace railyard::model {

namespace {

using catalog::read_map;

/// Zero says that neither this map nor a base architecture gave the value.
void need(yaml::Fields& fields, std::string_view key, int value) {
  if (value == 0) fields.need(key);
}

void read_experts(yaml::Fields& f, Experts& out) {
  f.integer("experts", out.experts, 1, 65536);
  f.integer("top_k", out.top_k, 1, 65536);
  f.integer("ffn", out.ffn, 1);
  f.integer("shared_ffn", out.shared_ffn);
  f.integer("dense_layers", out.dense_layers);
  f.integer("every", out.every, 1);
  f.integer("latent", out.latent);
  need(f, "experts", out.experts);
  need(f, "top_k", out.top_k);
  need(f, "ffn", out.ffn);
  if (out.top_k > out.experts && out.experts > 0)
    f.report(f.get("top_k") ? *f.get("top_k") : f.node(),
             "a top_k of at most the number of experts (" + std::to_string(out.experts) + ")");
}

void read_latent(yaml::Fields& f, LatentAttention& out) {
  f.integer("query_rank", out.query_rank);
  f.integer("kv_rank", out.kv_rank, 1);
  f.integer("nope_dim", out.nope_dim, 1);
  f.integer("rope_dim", out.rope_dim);
  f.integer("value_dim", out.value_dim, 1);
  need(f, "kv_rank", out.kv_rank);
  need(f, "nope_dim", out.nope_dim);
  need(f, "value_dim", out.value_dim);
}

void read_state_space(yaml::Fields& f, StateSpace& out) {
  f.integer("layers", out.layers);
  f.integer("attention_layers", out.attention_layers);
  f.integer("ffn_layers", out.ffn_layers);
  f.integer("heads", out.heads, 1);
  f.integer("head_dim", out.head_dim, 1);
  f.integer("state", out.state, 1);
  f.integer("groups", out.groups, 1);
  f.integer("conv", out.conv, 1, 16);
}

void read_convolutional(yaml::Fields& f, Convolutional& out) {
  f.number("parameters", out.parameters);
  std::string work;
  if (f.text("forward_per_sample", work)) {
    // "8.2 GFLOP" is what a rate of "8.2 GFLOP/s" does in a second.
    if (const auto rate = parse_flop_rate(work + "/s")) {
      out.forward_per_sample = *rate * second;
    } else {
      f.report(*f.get("forward_per_sample"), "an amount of work such as '8.2 GFLOP'");
    }
  }
  f.bytes("activations_per_sample", out.activations_per_sample);
  f.integer("kernels", out.kernels, 1);
}

template <class T>
void read_optional(yaml::Fields& fields, std::string_view key, std::optional<T>& out,
                   void (*read)(yaml::Fields&, T&)) {
  read_map(fields, key, [&](yaml::Fields& f) {
    if (!out) out.emplace();
    read(f, *out);
  });
}

/// What cannot be left out, unless a base architecture brought it.
void need_dimensions(yaml::Fields& fields, const Architecture& a) {
  if (a.convolutional) return;
  need(fields, "layers", a.layers);
  need(fields, "hidden", a.hidden);
  need(fields, "vocab", a.vocab);
  if (!a.state_space || a.state_space->attention_layers > 0) need(fields, "heads", a.heads);
  if (!a.experts || a.experts->dense_layers > 0) need(fields, "ffn", a.ffn);
  if (a.positions == Positions::learned) need(fields, "max_positions", a.max_positions);
}

/// Dimensions that contradict each other.
void check_dimensions(yaml::Fields& fields, const Architecture& a) {
  const auto place = [&](std::string_view key) -> const yaml::Node& {
    const yaml::Node* node = fields.get(key);
    return node ? *node : fields.node();
  };
  if (a.heads > 0 && a.head_dim == 0 && !a.latent && a.hidden % a.heads != 0)
    fields.report(place("heads"), "a divisor of hidden (" + std::to_string(a.hidden) + ")",
                  "or give head_dim");
  if (a.kv_heads > 0 && a.heads % a.kv_heads != 0)
    fields.report(place("kv_heads"), "a divisor of heads (" + std::to_string(a.heads) + ")");
  const auto& s = a.state_space;
  if (s && s->layers + s->attention_layers + s->ffn_layers != a.layers)
    fields.report(place("state_space"), "layers, attention_layers and ffn_layers that sum to " +
                                            std::to_string(a.layers));
}

}  // namespace

void read_architecture(yaml::Fields& fields, Architecture& out) {
  static const std::vector<std::pair<std::string, Norm>> norms{{"layer_norm", Norm::layer_norm},
                                                               {"rms_norm", Norm::rms_norm}};
  static const std::vector<std::pair<std::string, Positions>> positions{
      {"learned", Positions::learned},
      {"rotary", Positions::rotary},
      {"alibi", Positions::alibi},
      {"none", Positions::none}};
  fields.text("id", out.id);
  fields.text("family", out.family);
  fields.integer("layers", out.layers, 1, 100000);
  fields.integer("hidden", out.hidden, 1);
  const bool one_each =
      out.kv_heads == out.heads;  // key and value per query head, unless it is said
  fields.integer("heads", out.heads, 1);
  if (!fields.integer("kv_heads", out.kv_heads, 1) && one_each) out.kv_heads = out.heads;
  fields.integer("head_dim", out.head_dim, 1);
  fields.integer("ffn", out.ffn, 1);
  fields.integer("vocab", out.vocab, 1);
  fields.integer("max_positions", out.max_positions, 1);
  fields.flag("gated", out.gated);
  fields.flag("tied_embeddings", out.tied_embeddings);
  fields.flag("bias", out.bias);
  fields.flag("qkv_bias", out.qkv_bias);
  fields.flag("qk_norm", out.qk_norm);
  fields.integer("norms_per_layer", out.norms_per_layer, 0, 8);
  fields.flag("parallel_blocks", out.parallel_blocks);
  fields.flag("causal", out.causal);
  fields.flag("attention_sinks", out.attention_sinks);
  fields.choice("norm", norms, out.norm);
  fields.choice("positions", positions, out.positions);
  fields.integer("window", out.window);
  fields.integer("window_every", out.window_every, 1);
  read_optional(fields, "experts", out.experts, read_experts);
  read_optional(fields, "latent_attention", out.latent, read_latent);
  read_optional(fields, "state_space", out.state_space, read_state_space);
  read_optional(fields, "convolutional", out.convolutional, read_convolutional);
  fields.number("stated_parameters", out.stated_parameters);
  catalog::read_aliases(fields, out.aliases);
  catalog::read_provenance(fields, out.from);
  const std::size_t before = fields.problems().size();
  need_dimensions(fields, out);
  if (fields.problems().size() == before) check_dimensions(fields, out);
}

}  // namespace railyard::model

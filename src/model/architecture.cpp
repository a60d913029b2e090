#include "model/architecture.h"

// Parameter counts. Every term is the number of weights of one matrix, bias or norm, so that the
// sum can be held against what a model's authors print; tests do that to the last unit where a
// checkpoint's exact count is known.

namespace railyard::model {

namespace {

double attention(const Architecture& a) {
  const double h = a.hidden, heads = a.heads;
  if (const auto& l = a.latent) {  // [DeepSeek-V2, arXiv 2405.04434, section 2.1]
    const double key = l->nope_dim + l->rope_dim;
    const double query = l->query_rank > 0 ? l->query_rank * (h + heads * key) : h * heads * key;
    const double down = h * (l->kv_rank + l->rope_dim);
    const double up = l->kv_rank * heads * (l->nope_dim + l->value_dim);
    return query + down + up + heads * l->value_dim * h;
  }
  const double width = a.head_width();
  const double query = heads * width, key_value = 2.0 * a.kv_heads * width;
  double count = h * (query + key_value) + query * h;
  if (a.bias || a.qkv_bias) count += query + key_value;
  if (a.bias) count += h;
  return count;
}

/// A feed-forward block from `in` to `width` and back; gated ones have two matrices on the way up.
double feed_forward(const Architecture& a, double in, double width) {
  const double up = a.gated ? 2 : 1;
  return (up + 1) * in * width + (a.bias ? up * width + in : 0);
}

/// Norms of one layer; those inside latent attention are counted with them.
double norms(const Architecture& a) {
  const double one = a.norm == Norm::layer_norm ? 2.0 * a.hidden : a.hidden;
  double count = a.norms_per_layer * one;
  if (a.qk_norm) count += 2.0 * a.head_width();
  if (a.latent) count += a.latent->query_rank + a.latent->kv_rank;
  return count;
}

/// A Mamba-2 mixer: one projection in (gate, value, B, C, step), a short convolution, per-head
/// scalars (A, D, step bias), a gated norm, one projection out.  [Dao & Gu, arXiv 2405.21060,
/// section 8]
double state_space_mixer(const Architecture& a) {
  const StateSpace& s = *a.state_space;
  const double inner = double(s.heads) * s.head_dim, groups = 2.0 * s.groups * s.state;
  const double in = a.hidden * (2 * inner + groups + s.heads);
  const double convolution = (inner + groups) * (s.conv + 1);
  return in + convolution + 3.0 * s.heads + inner + inner * a.hidden;
}

}  // namespace

int moe_layers(const Architecture& a) {
  if (!a.experts) return 0;
  if (a.state_space) return a.state_space->ffn_layers;
  const int after = a.layers - a.experts->dense_layers;
  return after > 0 && a.experts->every > 0 ? after / a.experts->every : 0;
}

bool is_moe_layer(const Architecture& a, int index) {
  if (!a.experts || index < 0 || index >= a.layers) return false;
  if (a.state_space) {  // the order of a hybrid is not kept: spread its MoE layers evenly
    const std::int64_t moe = a.state_space->ffn_layers, all = a.layers;
    return (index + 1) * moe / all > index * moe / all;
  }
  const int after = index - a.experts->dense_layers, every = a.experts->every;
  return after >= 0 && after % every == every - 1;
}

ParameterCount count_parameters(const Architecture& a) {
  ParameterCount c;
  if (a.convolutional) {
    c.total = c.active = a.convolutional->parameters;
    return c;
  }
  const double h = a.hidden;
  c.attention = attention(a);
  c.dense_ffn = feed_forward(a, h, a.ffn);
  c.norms = norms(a);
  if (a.state_space) c.state_space = state_space_mixer(a);
  if (const auto& e = a.experts) {
    const double in = e->latent > 0 ? e->latent : h;
    c.expert = feed_forward(a, in, e->ffn);
    c.shared_experts = e->shared_ffn > 0 ? feed_forward(a, h, e->shared_ffn) : 0;
    c.moe_router = h * e->experts + (a.bias ? e->experts : 0) + 2 * h * e->latent;
  }
  c.embedding = double(a.vocab) * h;
  if (a.positions == Positions::learned) c.embedding += double(a.max_positions) * h;
  c.head = a.tied_embeddings ? 0 : double(a.vocab) * h;

  const int moe = moe_layers(a);
  const int attends = a.state_space ? a.state_space->attention_layers : a.layers;
  const int dense = (a.state_space ? a.state_space->ffn_layers : a.layers) - moe;
  const double mixers = a.state_space ? a.state_space->layers * c.state_space : 0;
  const double final_norm = a.norm == Norm::layer_norm ? 2 * h : h;
  const double always = attends * c.attention + mixers + dense * c.dense_ffn +
                        moe * (c.moe_router + c.shared_experts) + a.layers * c.norms + final_norm;
  const double experts = a.experts ? a.experts->experts : 0,
               chosen = a.experts ? a.experts->top_k : 0;
  c.total = always + moe * experts * c.expert + c.embedding + c.head;
  c.active = always + moe * chosen * c.expert + (a.tied_embeddings ? double(a.vocab) * h : c.head);
  return c;
}

}  // namespace railyard::model

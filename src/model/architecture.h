#pragma once
// The shape of a neural network, as far as time and memory depend on it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "model/provenance.h"

namespace railyard::model {

enum class Norm : std::uint8_t { layer_norm, rms_norm };
enum class Positions : std::uint8_t { learned, rotary, alibi, none };

/// Mixture of experts. A token goes to `top_k` of `experts`, and to all shared experts.
struct Experts {
  int experts = 0;
  int top_k = 0;
  int ffn = 0;           ///< width of one routed expert
  int shared_ffn = 0;    ///< summed width of the shared experts; 0: none
  int dense_layers = 0;  ///< leading layers with an ordinary FFN of width Architecture::ffn
  int every = 1;         ///< one MoE layer in `every` layers after those
  int latent = 0;        ///< width in which routed experts work (Nemotron 3 Super); 0: hidden
};

/// Multi-head latent attention (DeepSeek-V2): keys and values come from a narrow latent.
struct LatentAttention {
  int query_rank = 0;  ///< 0: queries are projected directly
  int kv_rank = 0;
  int nope_dim = 0, rope_dim = 0, value_dim = 0;  ///< per head
};

/// A state-space mixer layer (Mamba-2), for hybrids such as Nemotron-H.
struct StateSpace {
  int layers = 0;            ///< of the total, how many are state-space mixers
  int attention_layers = 0;  ///< how many are attention only
  int ffn_layers = 0;  ///< how many are FFN or MoE only; the three sum to Architecture::layers
  int heads = 0, head_dim = 0, state = 0, groups = 0, conv = 4;
};

/// A convolutional network, summed: the small cases (ResNet-50) need no more.
struct Convolutional {
  double parameters = 0;
  Flops forward_per_sample = {};      ///< multiply and add counted as two
  Bytes activations_per_sample = {};  ///< kept for backward at 16 bit
  int kernels = 0;                    ///< launches of one forward pass
};

struct Architecture {
  std::string id = {}, family = {};
  int layers = 0, hidden = 0, heads = 0, kv_heads = 0;
  int head_dim = 0;  ///< 0: hidden / heads
  int ffn = 0, vocab = 0, max_positions = 0;
  bool gated = false;            ///< SwiGLU or GeGLU: three FFN matrices
  bool tied_embeddings = false;  ///< logits use the embedding matrix
  bool bias = false;
  bool qkv_bias = false;         ///< biases on query, key and value alone (Qwen2)
  bool qk_norm = false;          ///< a norm over every head's query and key (Qwen3, Gemma 3)
  int norms_per_layer = 2;       ///< Gemma: 4; layers of one mixer only (hybrids, Falcon-7B): 1
  bool parallel_blocks = false;  ///< attention and FFN side by side (Falcon, GPT-J)
  bool causal = true;
  bool attention_sinks = false;  ///< a learned extra logit per head in the softmax (GPT-OSS)
  Norm norm = Norm::rms_norm;
  Positions positions = Positions::rotary;
  int window = 0;  ///< sliding-window attention; 0: none
  int window_every =
      1;  ///< one full-attention layer in `window_every` (Gemma, GPT-OSS); 1: all windowed
  std::optional<Experts> experts = {};
  std::optional<LatentAttention> latent = {};
  std::optional<StateSpace> state_space = {};
  std::optional<Convolutional> convolutional = {};
  double stated_parameters = 0;  ///< what the source prints, for `catalog check`; 0: nothing
  std::vector<std::string> aliases = {};
  Provenance from = {};

  int head_width() const { return head_dim > 0 ? head_dim : (heads > 0 ? hidden / heads : 0); }
};

/// Parameter counts of an architecture; matrices only where `matmul` says so.
struct ParameterCount {
  double attention = 0;  ///< per attention layer
  double dense_ffn = 0;  ///< per dense FFN layer
  double moe_router = 0, expert = 0,
         shared_experts = 0;  ///< per MoE layer; `expert`: one of them.
                              ///< The router includes the way into and out of Experts::latent
  double norms = 0;           ///< per layer
  double state_space = 0;     ///< per state-space layer
  double embedding = 0;       ///< word and position embeddings
  double head = 0;            ///< output matrix; 0 when tied
  double total = 0;           ///< of the model
  double active = 0;          ///< that a token passes: top_k of the experts, and no embedding
                              ///< table (a token reads one row) unless it is the head too
};
/// Counts every weight that is trained: matrices, biases, norms, embeddings.
ParameterCount count_parameters(const Architecture& a);

/// Number of layers that have routed experts.
int moe_layers(const Architecture& a);
/// Whether layer `index` (from 0) has routed experts.
bool is_moe_layer(const Architecture& a, int index);

}  // namespace railyard::model

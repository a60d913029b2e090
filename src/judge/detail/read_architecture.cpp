// Published tables print a model's name and some of its dimensions; the rest is the family's.

#include <algorithm>
#include <cstdlib>

#include "judge/detail/run_parts.h"

namespace railyard::judge::detail {

namespace {

using facts::TrainingRun;
using model::Architecture;

/// A plain GPT-2 block: what "GPT-39.1B" and its like mean in these tables.
Architecture plain_gpt() {
  Architecture a;
  a.norm = model::Norm::layer_norm;
  a.positions = model::Positions::learned;
  a.tied_embeddings = true;
  a.bias = true;
  return a;
}

/// The number of heads next to the model's own that divides the hidden size and that the tensor
/// ranks divide; 0 where that leaves no head 16 wide.
int heads_that_divide(const Architecture& a, int tensor) {
  int best = 0;
  for (int heads = tensor; heads <= a.hidden / 16; heads += tensor)
    if (a.hidden % heads == 0 &&
        (best == 0 || std::abs(heads - a.heads) < std::abs(best - a.heads)))
      best = heads;
  return best;
}

void read_hidden(const TrainingRun& run, const Architecture* base, Architecture& a) {
  if (!run.hidden) return;
  if (base && *run.hidden != base->hidden && !a.gated) a.ffn = 4 * *run.hidden;
  a.hidden = *run.hidden;
}

void read_heads(const TrainingRun& run, const Architecture* base, Architecture& a) {
  if (run.heads) {
    if (!base || *run.heads != base->heads) {
      a.kv_heads = *run.heads;
      a.head_dim = 0;
    }
    a.heads = *run.heads;
  } else if (a.hidden % std::max(a.heads, 1) != 0) {
    // not printed, and the family's number does not divide this width
    const int heads = heads_that_divide(a, run.tensor.value_or(1));
    if (heads > 0) {
      a.heads = a.kv_heads = heads;
      a.head_dim = 0;
    }
  }
  if (run.kv_heads && !a.latent) a.kv_heads = *run.kv_heads;
  if (a.kv_heads == 0) a.kv_heads = a.heads;
}

void read_ffn(const TrainingRun& run, Architecture& a) {
  if (run.ffn) {
    // expert tables print the width of one expert (Qwen3, GPT-OSS) or of the dense layers
    // (DeepSeek)
    const bool of_expert = a.experts && a.experts->dense_layers == 0;
    (of_expert ? a.experts->ffn : a.ffn) = *run.ffn;
  }
  // A reduced model keeps the kinds of layers: of the leading dense ones, one.
  if (a.experts && has(run.model, " cut to "))
    a.experts->dense_layers = std::min(a.experts->dense_layers, 1);
  if (a.ffn == 0) a.ffn = 4 * a.hidden;
}

}  // namespace

Read<Architecture> read_architecture(const TrainingRun& run, const model::Catalog& catalog,
                                     const Convention& convention) {
  const Architecture* base = model::find_base(catalog, run.model);
  if (!base && (!run.layers || !run.hidden || !run.heads))
    return Why("unknown model '" + run.model + "' without printed layers, hidden size and heads");
  Architecture a = base ? *base : plain_gpt();
  // A hybrid's printed layers are blocks of several kinds; the catalogue knows them apart.
  if (!a.state_space && run.layers) a.layers = *run.layers;
  read_hidden(run, base, a);
  read_heads(run, base, a);
  read_ffn(run, a);
  a.vocab = run.vocab.value_or(a.vocab);
  if (a.vocab == 0) a.vocab = convention.vocab;
  if (a.vocab == 0)
    return Why("no vocabulary size: not printed, and the model is not in the catalogue");
  if (a.layers == 0 || a.hidden == 0 || a.heads == 0)
    return Why("model dimensions are not complete");
  return a;
}

}  // namespace railyard::judge::detail

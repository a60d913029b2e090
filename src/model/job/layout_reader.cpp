#include "model/job/layout_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "base/suggest.h"
#include "model/catalog/readers.h"

namespace railyard::model {

namespace {

template <class E>
using Words = std::vector<std::pair<std::string, E>>;

// Nobody has a million accelerators; the limit keeps products of degrees small.
constexpr int kMost = 1 << 20;

void degree(yaml::Fields& f, std::string_view key, int& out) { f.integer(key, out, 1, kMost); }

void schedule(yaml::Fields& f, Layout& l) {
  static const Words<Schedule> words{{"1f1b", Schedule::one_f_one_b},
                                     {"interleaved", Schedule::interleaved},
                                     {"gpipe", Schedule::gpipe},
                                     {"zb-h1", Schedule::zero_bubble_h1},
                                     {"zb-h2", Schedule::zero_bubble_h2}};
  const bool said = f.choice("schedule", words, l.schedule);
  if (!said && l.virtual_stages > 1) l.schedule = Schedule::interleaved;
  if (said && l.schedule == Schedule::interleaved && l.virtual_stages < 2)
    f.report(*f.get("schedule"), "virtual_stages of at least 2 with schedule: interleaved",
             "virtual_stages says into how many parts each stage is cut");
}

/// `zero: 1` or `fsdp: true`; FSDP is ZeRO-3 by the names of PyTorch.
void shards(yaml::Fields& f, Layout& l) {
  int zero = 0;
  const bool has_zero = f.integer("zero", zero, 0, 3);
  if (has_zero) l.shard = static_cast<Shard>(zero);
  if (const yaml::Node* node = f.get("fsdp")) {
    if (has_zero && f.has("zero"))
      f.report(*node, "either zero or fsdp, not both", "fsdp: true is zero: 3");
    const std::string& word = node->scalar;
    if (word == "true" || word == "full_shard") {
      l.shard = Shard::full;
    } else if (word == "shard_grad_op") {
      // Gathers once a step: weights stay whole from forward to backward.
      l.shard = Shard::full;
      l.reshard_after_forward = false;
    } else if (word == "hybrid_shard") {
      l.shard = Shard::full;
      if (!f.has("shard_group"))
        f.report(*node, "shard_group with fsdp: hybrid_shard",
                 "the ranks that share one copy, for example the accelerators of a server");
    } else if (word != "false") {
      f.report(*node, "one of true, false, full_shard, shard_grad_op, hybrid_shard",
               did_you_mean(word, std::vector<std::string>{"true", "false", "full_shard",
                                                           "shard_grad_op", "hybrid_shard"}));
    }
  }
  f.integer("shard_group", l.shard_group, 1, kMost);
  f.flag("reshard_after_forward", l.reshard_after_forward);
}

const Words<RecomputeModule>& modules() {
  static const Words<RecomputeModule> words{{"core_attention", recompute_core_attention},
                                            {"norms", recompute_norms},
                                            {"activation_function", recompute_activation_function},
                                            {"mlp", recompute_mlp},
                                            {"moe", recompute_moe},
                                            {"latent_projection", recompute_latent_projection}};
  return words;
}

void add_module(yaml::Fields& f, const yaml::Node& item, Layout& l) {
  std::string all = "one of";
  std::vector<std::string> known;
  for (const auto& [word, bit] : modules()) {
    if (item.kind == yaml::Kind::scalar && item.scalar == word) {
      l.recompute_modules |= bit;
      if (bit == recompute_core_attention) l.recompute = Recompute::selective;
      return;
    }
    all += (known.empty() ? " " : ", ") + word;
    known.push_back(word);
  }
  f.report(item, std::move(all), did_you_mean(item.scalar, known));
}

/// A word, a list of modules, or {kind: full, layers: 4}.
void recompute(yaml::Fields& f, Layout& l) {
  static const Words<Recompute> words{
      {"none", Recompute::none}, {"selective", Recompute::selective}, {"full", Recompute::full}};
  const yaml::Node* node = f.get("recompute");
  if (!node) return;
  if (node->kind == yaml::Kind::list) {
    for (const yaml::Node& item : node->items) add_module(f, item, l);
  } else if (node->kind == yaml::Kind::map) {
    yaml::Fields inner(f.document(), *node, f.problems(), "'recompute'");
    inner.need("kind");
    inner.choice("kind", words, l.recompute);
    inner.integer("layers", l.recompute_layers, 1, kMost);
    inner.list("modules", [&](const yaml::Node& item) { add_module(inner, item, l); });
    if (const yaml::Node* layers = inner.get("layers"); layers && l.recompute != Recompute::full)
      inner.report(*layers, "layers only with kind: full");
    inner.done();
  } else {
    f.choice("recompute", words, l.recompute);
  }
}

void offload(yaml::Fields& f, Layout& l) {
  static const Words<Offload> words{
      {"none", Offload::none}, {"host", Offload::host}, {"cxl", Offload::cxl}};
  catalog::read_map(f, "offload", [&](yaml::Fields& inner) {
    inner.choice("optimizer", words, l.offload_optimizer);
    inner.choice("activations", words, l.offload_activations);
  });
}

}  // namespace

void read_layout(yaml::Fields& f, Job& job) {
  static const Words<ContextKind> kinds{{"ring", ContextKind::ring},
                                        {"all_to_all", ContextKind::all_to_all}};
  Layout& l = job.layout;
  degree(f, "tensor_parallel", l.tensor);
  degree(f, "pipeline_parallel", l.pipeline);
  degree(f, "virtual_stages", l.virtual_stages);
  degree(f, "data_parallel", l.data);
  degree(f, "context_parallel", l.context);
  degree(f, "expert_parallel", l.expert);
  degree(f, "expert_tensor_parallel", l.expert_tensor);
  degree(f, "micro_batch", l.micro_batch);
  f.flag("sequence_parallel", l.sequence_parallel);
  f.choice("context_kind", kinds, l.context_kind);
  schedule(f, l);
  shards(f, l);
  recompute(f, l);
  offload(f, l);
}

}  // namespace railyard::model

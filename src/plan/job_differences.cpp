// What can differ between two jobs.

#include <tuple>

#include "base/measure.h"
#include "plan/detail/respect.h"
#include "predict/words.h"

namespace railyard::plan::detail {

namespace {

using model::Job;

std::string text(int n) { return std::to_string(n); }

auto layout_values(const model::Layout& l) {
  return std::tuple(std::tuple(l.tensor, l.pipeline, l.virtual_stages, l.data, l.context, l.expert,
                               l.expert_tensor, l.micro_batch),
                    std::tuple(l.sequence_parallel, l.schedule, l.context_kind, l.shard,
                               l.shard_group, l.reshard_after_forward),
                    std::tuple(l.recompute, l.recompute_layers, l.recompute_modules,
                               l.offload_optimizer, l.offload_activations));
}
auto software_values(const model::Software& s) {
  return std::tuple(
      std::tuple(s.stack, s.year, s.month, s.attention, s.fused_kernels, s.attention_dropout,
                 s.compiled, s.cuda_graphs, s.fused_loss, s.scatter_gather,
                 s.reduce_scatter_gradients),
      std::tuple(s.overlap_tensor, s.overlap_pipeline, s.overlap_gradients, s.overlap_parameters,
                 s.overlap_expert, s.overlap_context, s.deduplicate_dispatch, s.expert_imbalance),
      std::tuple(s.gradient_bytes, s.gradient_wire_bytes, s.parameter_wire_bytes,
                 s.quantised_weights_kept, s.bucket_bytes, s.master_bytes, s.moment_bytes,
                 s.launch));
}
auto model_values(const model::Architecture& a) {
  const model::ParameterCount n = model::count_parameters(a);
  return std::tuple(a.id, a.layers, a.hidden, a.heads, a.kv_heads, a.ffn, a.vocab, n.total,
                    n.active);
}
auto reliability_values(const model::Reliability& r) {
  return std::tuple(r.checkpoint_save, r.checkpoint_interval, r.restart, r.accelerator_mtbf);
}
std::string batch_in_words(const Job& j) { return text(j.global_batch) + " x " + text(j.sequence); }
std::string software_in_words(const model::Software& s) {
  return s.stack + " of " + text(s.year) + (s.month < 10 ? "-0" : "-") + text(s.month);
}

}  // namespace

const Respect kModel = {"model",
                        [](const Workload& a, const Workload& b) {
                          return model_values(a.job.model) == model_values(b.job.model);
                        },
                        [](const Workload& s) { return s.job.model.id; },
                        [](Workload& to, const Workload& from) { to.job.model = from.job.model; }};

const Respect kBatch = {"batch",
                        [](const Workload& a, const Workload& b) {
                          return std::tuple(a.job.global_batch, a.job.sequence) ==
                                 std::tuple(b.job.global_batch, b.job.sequence);
                        },
                        [](const Workload& s) { return batch_in_words(s.job); },
                        [](Workload& to, const Workload& from) {
                          to.job.global_batch = from.job.global_batch;
                          to.job.sequence = from.job.sequence;
                        }};

const Respect kPrecision = {
    "precision",
    [](const Workload& a, const Workload& b) {
      return std::tuple(a.job.precision, a.job.optimizer, a.job.adapters_only) ==
             std::tuple(b.job.precision, b.job.optimizer, b.job.adapters_only);
    },
    [](const Workload& s) { return std::string(model::name(s.job.precision)); },
    [](Workload& to, const Workload& from) {
      to.job.precision = from.job.precision;
      to.job.optimizer = from.job.optimizer;
      to.job.adapters_only = from.job.adapters_only;
    }};

const Respect kLayout = {
    "layout",
    [](const Workload& a, const Workload& b) {
      return layout_values(a.job.layout) == layout_values(b.job.layout);
    },
    [](const Workload& s) { return predict::layout_in_words(s.job); },
    [](Workload& to, const Workload& from) { to.job.layout = from.job.layout; }};

const Respect kSoftware = {
    "software",
    [](const Workload& a, const Workload& b) {
      return software_values(a.job.software) == software_values(b.job.software);
    },
    [](const Workload& s) { return software_in_words(s.job.software); },
    [](Workload& to, const Workload& from) { to.job.software = from.job.software; }};

const Respect kReliability = {
    "reliability",
    [](const Workload& a, const Workload& b) {
      return reliability_values(a.job.reliability) == reliability_values(b.job.reliability);
    },
    [](const Workload& s) {
      return s.job.reliability.accelerator_mtbf > Seconds{}
                 ? "a failure an accelerator every " + show(s.job.reliability.accelerator_mtbf)
                 : std::string("no failures given");
    },
    [](Workload& to, const Workload& from) { to.job.reliability = from.job.reliability; }};

}  // namespace railyard::plan::detail

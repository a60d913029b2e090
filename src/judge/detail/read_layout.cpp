// How the run was spread over its accelerators, and the batch that it worked on.

#include <algorithm>
#include <charconv>

#include "judge/detail/run_parts.h"

namespace railyard::judge::detail {

namespace {

using facts::TrainingRun;
using model::Job;
using model::Layout;

int trailing_number(std::string_view text, std::string_view after, int otherwise) {
  const std::size_t at = text.find(after);
  if (at == std::string_view::npos) return otherwise;
  const std::string_view rest = text.substr(at + after.size());
  int n = otherwise;
  std::from_chars(rest.data(), rest.data() + rest.size(), n);
  return n;
}

void read_sharding(const TrainingRun& run, Job& job) {
  const std::string_view z = run.sharding;
  Layout& l = job.layout;
  if (z.starts_with("ZeRO-1")) l.shard = model::Shard::optimizer;
  if (z.starts_with("ZeRO-2")) l.shard = model::Shard::gradients;
  if (z.starts_with("ZeRO-3") || z.starts_with("FSDP")) l.shard = model::Shard::full;
  if (has(z, "SHARD_GRAD_OP") || has(z, "shard optimizer+grads")) {
    // gathers once, keeps the weights until the step: ZeRO-2 in memory, FSDP's overlap in time
    l.shard = model::Shard::full;
    l.reshard_after_forward = false;
  }
  if (has(z, "group=")) l.shard_group = trailing_number(z, "group=", 0);
  if (z.starts_with("FSDP") && z.size() > 4 && z[4] >= '3' && z[4] <= '9')
    l.shard_group = trailing_number(z, "FSDP", 0);
}

void read_recompute(const TrainingRun& run, const Convention& convention, Job& job) {
  const std::string_view r = run.recompute;
  Layout& l = job.layout;
  if (r.empty()) {
    l.recompute = convention.recompute;
    l.recompute_modules = static_cast<std::uint8_t>(convention.recompute_modules);
  } else if (r.starts_with("full")) {
    l.recompute = model::Recompute::full;
  } else if (r.starts_with("selective(op)")) {
    l.recompute_modules = model::recompute_norms | model::recompute_activation_function;
  } else if (r.starts_with("selective")) {
    l.recompute = model::Recompute::selective;
    if (has(r, "+SP")) l.sequence_parallel = true;
  } else if (r.starts_with("partial")) {
    l.recompute_modules = model::recompute_norms | model::recompute_activation_function |
                          model::recompute_latent_projection;
  }
}

/// Why the line's parallelism is impossible, or nothing.
std::string read_ways(const TrainingRun& run, const Convention& convention, Layout& l) {
  l.tensor = *run.tensor;
  l.pipeline = *run.pipeline;
  l.context = run.context.value_or(1);
  l.expert = run.expert.value_or(1);
  const int model_ways = l.tensor * l.pipeline * l.context;
  if (*run.gpus % model_ways != 0)
    return "layout tensor x pipeline x context = " + std::to_string(model_ways) +
           " does not divide " + std::to_string(*run.gpus) + " accelerators";
  l.data = *run.gpus / model_ways;
  l.virtual_stages = run.virtual_stages.value_or(convention.virtual_stages);
  if (run.interleaved) l.virtual_stages = 2;
  if (l.virtual_stages > 1 && l.pipeline > 1) l.schedule = model::Schedule::interleaved;
  l.sequence_parallel = convention.sequence_parallel && l.tensor > 1;
  l.micro_batch = convention.local_batch && l.pipeline > 1 ? 1 : run.micro_batch.value_or(1);
  return {};
}

std::string read_batch(const TrainingRun& run, Job& job) {
  const Layout& l = job.layout;
  if (run.global_batch) {
    job.global_batch = *run.global_batch;
  } else if (run.micro_batch) {
    job.global_batch = l.data * *run.micro_batch * run.accumulation.value_or(1);
  } else {
    return "neither micro-batch nor global batch is printed";
  }
  if (job.global_batch % (l.data * l.micro_batch) == 0) return {};
  const std::string batch = "global batch " + std::to_string(job.global_batch);
  if (!run.micro_batch && job.global_batch % l.data != 0)
    return batch + " is not a multiple of data parallel " + std::to_string(l.data);
  if (job.micro_batches() < 1) return batch + " is below data x micro-batch";
  return {};
}

/// Fewer layers than virtual stages: as many as there are layers for.
std::string settle_stages(Job& job) {
  Layout& l = job.layout;
  const int layers = job.model.layers;
  if (l.pipeline * l.virtual_stages > layers && l.schedule == model::Schedule::interleaved) {
    l.virtual_stages = std::max(1, layers / l.pipeline);
    if (l.virtual_stages == 1) l.schedule = model::Schedule::one_f_one_b;
  }
  if (l.pipeline > layers) return "more pipeline stages than layers";
  if (l.expert > l.tensor * l.data * l.context)
    return "expert parallel is larger than tensor x data x context";
  return {};
}

}  // namespace

Read<Job> read_layout(const TrainingRun& run, const Convention& convention, Job job) {
  Layout& l = job.layout;
  if (std::string why = read_ways(run, convention, l); !why.empty()) return Why(std::move(why));
  read_sharding(run, job);
  if (convention.fsdp && run.sharding.empty()) l.shard = model::Shard::full;
  if (l.shard == model::Shard::full && l.pipeline > 1) l.reshard_after_forward = false;
  read_recompute(run, convention, job);
  if (std::string why = read_batch(run, job); !why.empty()) return Why(std::move(why));
  if (std::string why = settle_stages(job); !why.empty()) return Why(std::move(why));
  return job;
}

}  // namespace railyard::judge::detail

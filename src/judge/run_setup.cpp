#include "judge/run_setup.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "predict/step.h"

namespace railyard::judge {

namespace {

using facts::RunMetric;
using facts::TrainingRun;
using model::Architecture;
using model::Job;
using model::Layout;
using Why = std::unexpected<std::string>;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The architecture: what the line prints over what the family is known for.
std::expected<Architecture, std::string> architecture(const TrainingRun& run,
                                                      const model::Catalog& catalog,
                                                      const Convention& convention) {
  const Architecture* base = model::find_base(catalog, run.model);
  Architecture a;
  if (base) {
    a = *base;
  } else {
    // A plain GPT-2 block: what "GPT-39.1B" and its like mean in these tables.
    a.norm = model::Norm::layer_norm;
    a.positions = model::Positions::learned;
    a.tied_embeddings = true;
    a.bias = true;
  }
  if (!base && (!run.layers || !run.hidden || !run.heads))
    return Why("unknown model '" + run.model + "' without printed layers, hidden size and heads");
  // A hybrid's printed layers are blocks of several kinds; the catalogue knows them apart.
  if (!a.state_space && run.layers) a.layers = *run.layers;
  if (run.hidden) {
    if (base && *run.hidden != base->hidden) a.ffn = a.gated ? a.ffn : 4 * *run.hidden;
    a.hidden = *run.hidden;
  }
  if (run.heads) {
    if (!base || *run.heads != base->heads) {
      a.kv_heads = *run.heads;
      a.head_dim = 0;
    }
    a.heads = *run.heads;
  }
  if (!run.heads && a.hidden % std::max(a.heads, 1) != 0) {
    // not printed, and the family's number does not divide this width: the nearest one that does
    const int tensor = run.tensor.value_or(1), wanted = a.heads;
    int best = 0;
    for (int heads = tensor; heads <= a.hidden / 16; heads += tensor)
      if (a.hidden % heads == 0 &&
          (best == 0 || std::abs(heads - wanted) < std::abs(best - wanted)))
        best = heads;
    if (best > 0) {
      a.heads = a.kv_heads = best;
      a.head_dim = 0;
    }
  }
  if (run.kv_heads && !a.latent) a.kv_heads = *run.kv_heads;
  if (a.kv_heads == 0) a.kv_heads = a.heads;
  if (run.ffn) {
    // expert tables print the width of one expert (Qwen3, GPT-OSS) or of the dense layers
    // (DeepSeek)
    if (a.experts && a.experts->dense_layers == 0)
      a.experts->ffn = *run.ffn;
    else
      a.ffn = *run.ffn;
  }
  // A reduced model keeps the kinds of layers: of the leading dense ones, one.
  if (a.experts && has(run.model, " cut to "))
    a.experts->dense_layers = std::min(a.experts->dense_layers, 1);
  if (a.ffn == 0) a.ffn = 4 * a.hidden;
  if (run.vocab) a.vocab = *run.vocab;
  if (a.vocab == 0) a.vocab = convention.vocab;
  if (a.vocab == 0)
    return Why("no vocabulary size: not printed, and the model is not in the catalogue");
  if (a.layers == 0 || a.hidden == 0 || a.heads == 0)
    return Why("model dimensions are not complete");
  return a;
}

std::expected<model::Precision, std::string> precision(std::string_view text) {
  using model::Precision;
  if (has(text, "NVFP4") || has(text, "FP4")) return Precision::nvfp4;
  if (has(text, "MXFP8")) return Precision::mxfp8;
  if (has(text, "FP8") || has(text, "fp8")) return Precision::fp8;
  if (has(text, "BF16") || has(text, "bf16")) return Precision::bf16;
  if (has(text, "FP16") || has(text, "fp16")) return Precision::fp16;
  return Why("unknown precision '" + std::string(text) + "'");
}

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

std::expected<model::Cluster, std::string> cluster(const TrainingRun& run,
                                                   const model::Catalog& catalog,
                                                   const Conventions& conventions,
                                                   const Layout& layout) {
  const model::Accelerator* part = catalog.accelerator(run.gpu);
  if (!part) return Why("unknown accelerator '" + run.gpu + "'");
  model::ClusterSpec spec;
  for (const MachinePhrase& m : conventions.machines)
    if (m.accelerator == part->id) spec.server = m.server;
  if (spec.server.empty()) return Why("no server is known for accelerator '" + part->id + "'");
  spec.accelerator = part->id;
  for (const NetworkPhrase& n : conventions.networks)
    if (has(run.inter_node, n.text)) {
      spec.nics = n.nics;
      spec.port_rate = n.port_rate;
      spec.transport = n.transport;
      break;
    }
  const auto server = model::build_server(catalog, spec.server);
  if (!server) return Why(server.error().front().expected + " (server " + spec.server + ")");
  const int per_server = server->accelerators;
  const int gpus = *run.gpus;
  if (gpus < per_server) {
    spec.servers = 1;
    spec.accelerators = gpus;
  } else {
    spec.servers = (gpus + per_server - 1) / per_server;
  }
  (void)layout;
  auto built = model::build_cluster(catalog, spec);
  if (!built) return Why(built.error().front().text());
  return *std::move(built);
}

/// Step time from the printed metric.
std::expected<Seconds, std::string> measured(const TrainingRun& run, const RunSetup& setup,
                                             const Convention& convention) {
  const Job& job = setup.job;
  const double gpus = *run.gpus;
  const bool whole = convention.attention_flops == AttentionFlops::whole;
  const Flops model = predict::model_flops(job, whole) / gpus;
  const model::Precision precision = job.precision;
  const FlopRate peak = max(setup.cluster.server.accelerator.peak_of(precision), FlopRate::si(1));
  // Hardware FLOPs repeat the forward of every recomputed layer: 8 instead of 6 per parameter.
  const double again = job.layout.recompute == model::Recompute::full ? 4.0 / 3.0 : 1.0;
  switch (run.metric) {
    case RunMetric::step_time: return Seconds::si(run.value);
    case RunMetric::tokens_per_s_per_gpu:
      return Seconds::si(static_cast<double>(job.global_batch) * job.sequence / gpus / run.value);
    case RunMetric::model_tflops_per_gpu:
    case RunMetric::tflops_per_gpu: return model / (run.value * TFLOPS);
    case RunMetric::hw_tflops_per_gpu: return again * model / (run.value * TFLOPS);
    case RunMetric::mfu: return model / (run.value / 100 * peak);
    case RunMetric::hfu: {
      // selective recomputation repeats attention alone
      const Flops attention = predict::model_flops(job, true) - predict::model_flops(job, false);
      const Flops extra = job.layout.recompute == model::Recompute::selective
                              ? attention * (2.0 / 3.0) / gpus
                              : Flops{};
      return (again * model + extra) / (run.value / 100 * peak);
    }
    case RunMetric::pct_peak: return again * model / (run.value / 100 * peak);
    case RunMetric::peak_alloc_mem: return Seconds{};
    case RunMetric::failed: return Seconds{};
  }
  return Why("unknown metric");
}

}  // namespace

std::expected<RunSetup, std::string> set_up(const TrainingRun& run, const model::Catalog& catalog,
                                            const model::Stacks& stacks,
                                            const Conventions& conventions) {
  const Convention* convention = conventions.of(run);
  if (!convention) return Why("no convention is known for this source");
  const model::Stack* stack = stacks.find(convention->stack);
  if (!stack) return Why("unknown software stack '" + convention->stack + "'");
  if (!run.gpus) return Why("the number of accelerators is not printed");
  if (!run.sequence) return Why("the sequence length is not printed");
  if (!run.tensor || !run.pipeline) return Why("the parallel layout is not printed");

  RunSetup out;
  Job& job = out.job;
  job.name = run.model;
  job.model = RY_TRY(architecture(run, catalog, *convention));
  job.sequence = *run.sequence;
  job.precision = RY_TRY(precision(run.precision));
  job.software = stack->software;
  if (has(run.other, "compiled") || has(run.other, "torch.compile") || has(run.other, " compile"))
    job.software.compiled = true;
  if (has(run.other, "TP comm overlap") || has(run.other, "AsyncTP"))
    job.software.overlap_tensor = true;
  if (has(run.other, "LoRA")) job.adapters_only = true;
  if (has(run.model, "LoRA")) job.adapters_only = true;
  if (has(run.other, "cross-entropy fusion")) job.software.fused_loss = true;
  if (has(run.other, "scatter/gather")) job.software.scatter_gather = true;

  Layout& l = job.layout;
  l.tensor = *run.tensor;
  l.pipeline = *run.pipeline;
  l.context = run.context.value_or(1);
  l.expert = run.expert.value_or(1);
  const int model_ways = l.tensor * l.pipeline * l.context;
  if (*run.gpus % model_ways != 0)
    return Why("layout tensor x pipeline x context = " + std::to_string(model_ways) +
               " does not divide " + std::to_string(*run.gpus) + " accelerators");
  l.data = *run.gpus / model_ways;
  l.virtual_stages = run.virtual_stages.value_or(convention->virtual_stages);
  if (run.interleaved) l.virtual_stages = 2;
  if (l.virtual_stages > 1 && l.pipeline > 1) l.schedule = model::Schedule::interleaved;
  l.sequence_parallel = convention->sequence_parallel && l.tensor > 1;
  read_sharding(run, job);
  if (convention->fsdp && run.sharding.empty()) l.shard = model::Shard::full;
  read_recompute(run, *convention, job);

  out.open_recompute = run.recompute.empty() && convention->recompute == model::Recompute::none;
  out.open_micro_batch = !run.micro_batch;
  out.open_virtual_stages = !run.virtual_stages && l.pipeline > 1 &&
                            convention->virtual_stages == 1 && convention->interleaves;
  out.full = run.layers && run.hidden && run.heads && run.micro_batch && run.global_batch &&
             !run.interleaved && !has(run.other, "not resolved") &&
             !has(run.other, "several config");
  l.micro_batch = convention->local_batch && l.pipeline > 1 ? 1 : run.micro_batch.value_or(1);
  if (l.shard == model::Shard::full && l.pipeline > 1) l.reshard_after_forward = false;
  if (run.global_batch) {
    job.global_batch = *run.global_batch;
  } else if (run.micro_batch) {
    job.global_batch = l.data * *run.micro_batch * run.accumulation.value_or(1);
  } else {
    return Why("neither micro-batch nor global batch is printed");
  }
  if (job.global_batch % (l.data * l.micro_batch) != 0) {
    if (!run.micro_batch && job.global_batch % l.data != 0)
      return Why("global batch " + std::to_string(job.global_batch) +
                 " is not a multiple of data parallel " + std::to_string(l.data));
    if (job.micro_batches() < 1)
      return Why("global batch " + std::to_string(job.global_batch) +
                 " is below data x micro-batch");
  }
  if (l.pipeline * l.virtual_stages > job.model.layers &&
      l.schedule == model::Schedule::interleaved) {
    l.virtual_stages = std::max(1, job.model.layers / l.pipeline);
    if (l.virtual_stages == 1) l.schedule = model::Schedule::one_f_one_b;
  }
  if (l.pipeline > job.model.layers) return Why("more pipeline stages than layers");
  if (l.expert > l.tensor * l.data * l.context)
    return Why("expert parallel is larger than tensor x data x context");

  out.cluster = RY_TRY(cluster(run, catalog, conventions, l));
  out.measured = RY_TRY(measured(run, out, *convention));
  return out;
}

}  // namespace railyard::judge

// The arguments of a Megatron-LM run as a Job.

#include <algorithm>
#include <memory>
#include <utility>

#include "base/suggest.h"
#include "model/job/arguments.h"
#include "model/job_from_facts.h"

namespace railyard::model {

namespace {

/// Bytes of a number format by Megatron's names: fp32, bf16, fp16, fp8, torch.float32.
int bytes_of(std::string_view format, int otherwise) {
  if (format.contains("8")) return 1;
  if (format.contains("16")) return 2;
  if (format.contains("32")) return 4;
  return otherwise;
}

class Conversion {
 public:
  Conversion(const facts::TrainingArguments& seen, const Software& software)
      : seen_(seen), args_(seen, origin_, problems_) {
    job_.software = software;
    origin_.file = seen.file;
  }

  Checked<Job> run() {
    args_.tell_unread();
    parallel();
    job_.model = architecture_from(args_, std::max(1, job_.layout.tensor));
    batch();
    precision();
    if (!problems_.empty()) return std::unexpected(std::move(problems_));
    virtual_stages();
    data_parallel();
    shards();
    recompute();
    offload();
    software();
    widths();
    job_.name = seen_.file.substr(seen_.file.find_last_of('/') + 1);
    job_.model.id = job_.name;
    job_.model.from = {.source = seen_.file, .confidence = Confidence::single, .note = {}};
    job_.origin = std::make_shared<const JobOrigin>(std::move(origin_));
    if (problems_.empty()) problems_ = problems_of(job_, check(job_));
    if (!problems_.empty()) return std::unexpected(std::move(problems_));
    return std::move(job_);
  }

 private:
  int degree(std::string_view name, std::string_view field) {
    const int n = args_.integer(name, 1, field);
    if (n < 1 || n > (1 << 20)) args_.wrong(name, "a degree of at least 1");
    return std::clamp(n, 1, 1 << 20);
  }

  void parallel() {
    Layout& l = job_.layout;
    l.tensor = degree(args_.has("tensor_model_parallel_size") ? "tensor_model_parallel_size"
                                                              : "model_parallel_size",
                      "layout.tensor_parallel");
    l.pipeline = degree("pipeline_model_parallel_size", "layout.pipeline_parallel");
    l.context = degree("context_parallel_size", "layout.context_parallel");
    const std::string cp = args_.word("cp_comm_type");
    if (cp.starts_with("a2a")) l.context_kind = ContextKind::all_to_all;
    if (args_.has("ds_sequence_parallel_size") && l.context == 1) {  // DeepSpeed-Ulysses
      l.context = degree("ds_sequence_parallel_size", "layout.context_parallel");
      l.context_kind = ContextKind::all_to_all;
    }
    l.expert = degree("expert_model_parallel_size", "layout.expert_parallel");
    l.sequence_parallel =
        args_.flag("sequence_parallel", "layout.sequence_parallel") && l.tensor > 1;
  }

  void batch() {
    job_.sequence = args_.need("seq_length", "sequence");
    job_.layout.micro_batch = args_.need("micro_batch_size", "layout.micro_batch");
    job_.global_batch = args_.integer("global_batch_size", 0, "global_batch");
    if (args_.has("rampup_batch_size"))
      args_.note("the batch grows at the start of the run; the final batch is modelled");
    const double tokens = static_cast<double>(job_.sequence);
    if (args_.has("train_samples")) {
      job_.trained_tokens = args_.number("train_samples", 0) * tokens;
    } else {
      job_.trained_tokens = args_.number("train_iters", 0) * tokens * job_.global_batch;
    }
  }

  void precision() {
    job_.optimizer =
        args_.word("optimizer") == "sgd" ? OptimizerKind::sgd_momentum : OptimizerKind::adam;
    job_.precision = Precision::fp32;
    if (args_.flag("fp16")) job_.precision = Precision::fp16;
    if (args_.flag("bf16")) job_.precision = Precision::bf16;
    const bool fp8 = !args_.word("fp8").empty() || !args_.word("fp8_format").empty();
    if (fp8)
      job_.precision =
          args_.word("fp8_recipe").contains("mxfp8") ? Precision::mxfp8 : Precision::fp8;
    if (!args_.word("fp4").empty() || !args_.word("fp4_format").empty())
      job_.precision = Precision::nvfp4;
  }

  void virtual_stages() {
    Layout& l = job_.layout;
    const char* field = "layout.virtual_stages";
    if (args_.has("virtual_pipeline_model_parallel_size")) {
      l.virtual_stages = degree("virtual_pipeline_model_parallel_size", field);
    } else if (args_.has("num_virtual_stages_per_pipeline_rank")) {
      l.virtual_stages = degree("num_virtual_stages_per_pipeline_rank", field);
    } else if (args_.has("num_layers_per_virtual_pipeline_stage")) {
      const int each = degree("num_layers_per_virtual_pipeline_stage", field);
      // The embedding and the loss may count as a layer each; end stages may have their own number.
      int layers = job_.model.layers +
                   (args_.flag("account_for_embedding_in_pipeline_split") ? 1 : 0) +
                   (args_.flag("account_for_loss_in_pipeline_split") ? 1 : 0);
      int stages = l.pipeline;
      for (const char* end :
           {"decoder_first_pipeline_num_layers", "decoder_last_pipeline_num_layers"})
        if (args_.has(end) && stages > 1) {
          layers -= args_.integer(end, 0);
          --stages;
        }
      const int stage = layers / stages;
      if (layers < 1 || layers % stages != 0 || stage % each != 0) {
        args_.wrong("num_layers_per_virtual_pipeline_stage",
                    "a divisor of the " + std::to_string(stage) + " layers of a stage (" +
                        std::to_string(layers) + " layers / " + std::to_string(stages) +
                        " stages)");
        return;
      }
      l.virtual_stages = stage / each;
    }
    if (!args_.word("pipeline_model_parallel_layout").empty() && l.virtual_stages == 1)
      args_.note("--pipeline-model-parallel-layout is not read: one part a stage is assumed");
    if (l.pipeline == 1) l.virtual_stages = 1;  // Megatron ignores it then
    if (l.virtual_stages > 1) l.schedule = Schedule::interleaved;
  }

  /// data = world / (tensor x context x pipeline), where the world is known.
  void data_parallel() {
    Layout& l = job_.layout;
    const int ways =
        static_cast<int>(std::min(1e9, static_cast<double>(l.tensor) * l.context * l.pipeline));
    const bool logged = args_.has("world_size");
    const int world = logged ? args_.integer("world_size", 0) : args_.launched_processes();
    if (world > 0) {
      args_.place(
          {.field = "layout", .argument = logged ? "world_size" : "tensor_model_parallel_size"});
      if (world % ways != 0 || world < ways) {
        args_.wrong(logged ? "world_size" : "tensor_model_parallel_size",
                    "a number of processes that tensor x context x pipeline = " +
                        std::to_string(ways) + " divides",
                    std::to_string(world) + " processes are started");
        return;
      }
      l.data = world / ways;
    } else {
      l.data = args_.integer("data_parallel_size", 0, "layout.data_parallel");
      if (l.data == 0)
        args_.note(
            "the number of processes is not in the file: data parallelism fills the cluster");
    }
    if (job_.global_batch == 0) {
      job_.global_batch = job_.layout.micro_batch * std::max(1, l.data);
      args_.note(
          "no --global-batch-size: one micro-batch per data-parallel rank, as Megatron does");
    }
  }

  void shards() {
    Layout& l = job_.layout;
    if (args_.flag("use_distributed_optimizer")) l.shard = Shard::optimizer;
    const int zero = args_.integer("zero_stage", 0);  // Megatron-DeepSpeed
    if (zero > 0)
      l.shard = zero == 1 ? Shard::optimizer : zero == 2 ? Shard::gradients : Shard::full;
    if (args_.flag("use_torch_fsdp2")) l.shard = Shard::full;
    if (args_.flag("use_megatron_fsdp") || args_.flag("use_custom_fsdp")) {
      const std::string what = args_.word("data_parallel_sharding_strategy");
      if (what == "optim") l.shard = Shard::optimizer;
      if (what == "optim_grads") l.shard = Shard::gradients;
      if (what == "optim_grads_params") l.shard = Shard::full;
    }
    const int copies = args_.integer("num_distributed_optimizer_instances", 1);
    if (copies > 1 && l.data > 0 && l.shard != Shard::none) {
      args_.place(
          {.field = "layout.shard_group", .argument = "num_distributed_optimizer_instances"});
      if (l.data * l.context % copies != 0)
        args_.wrong(
            "num_distributed_optimizer_instances",
            "a divisor of the " + std::to_string(l.data * l.context) + " data-parallel ranks");
      else
        l.shard_group = l.data * l.context / copies;
    }
    if (job_.model.experts)
      l.expert_tensor = args_.has("expert_tensor_parallel_size")
                            ? degree("expert_tensor_parallel_size", "layout.expert_tensor_parallel")
                            : l.tensor;
  }

  void recompute() {
    Layout& l = job_.layout;
    const std::string what = args_.word("recompute_granularity", "layout.recompute");
    if (what == "full") {
      l.recompute = Recompute::full;
      const int n = args_.integer("recompute_num_layers", 0);
      // `block` recomputes the first n layers of each part; `uniform` all, n at a time.
      if (args_.word("recompute_method") == "block") {
        const int stage = (job_.model.layers + l.pipeline - 1) / l.pipeline;
        l.recompute_layers = static_cast<int>(std::min(1LL * n * l.virtual_stages, 1LL * stage));
        if (n == 0) l.recompute = Recompute::none;
      } else if (n > 1) {
        args_.note("one checkpoint for " + std::to_string(n) +
                   " layers (--recompute-num-layers): modelled as one for each layer");
      }
    } else if (what == "selective" || args_.flag("recompute_activations")) {
      modules();
    }
    if (args_.flag("checkpoint_activations") || args_.flag("deepspeed_activation_checkpointing") ||
        args_.has("activations_checkpoint_method"))
      l.recompute = Recompute::full;
  }

  void modules() {
    static constexpr std::pair<std::string_view, RecomputeModule> kModules[] = {
        {"core_attn", recompute_core_attention},
        {"layernorm", recompute_norms},
        {"moe_act", recompute_activation_function},
        {"mlp", recompute_mlp},
        {"moe", recompute_moe},
        {"shared_experts", recompute_moe},
        {"mla_up_proj", recompute_latent_projection}};
    std::vector<std::string> names = args_.words("recompute_modules");
    if (names.empty()) names.emplace_back("core_attn");
    for (const std::string& name : names) {
      const auto* const it =
          std::ranges::find(kModules, name, &std::pair<std::string_view, RecomputeModule>::first);
      if (it == std::end(kModules)) {
        std::vector<std::string> known;
        for (const auto& m : kModules) known.emplace_back(m.first);
        args_.wrong("recompute_modules", "modules such as core_attn or mlp",
                    did_you_mean(name, known));
        continue;
      }
      job_.layout.recompute_modules |= it->second;
      if (it->second == recompute_core_attention) job_.layout.recompute = Recompute::selective;
    }
  }

  void offload() {
    if (args_.flag("optimizer_cpu_offload") || args_.flag("cpu_optimizer")) {
      job_.layout.offload_optimizer = Offload::host;
      const double share = args_.number("optimizer_offload_fraction", 1);
      if (share < 1)
        args_.note(
            "a part of the optimizer is offloaded (--optimizer-offload-fraction): modelled as all");
    }
    if (args_.flag("cpu_offloading") || args_.flag("fine_grained_activation_offloading"))
      job_.layout.offload_activations = Offload::host;
  }

  /// A switch that a script does not set is off, whatever the stack could do.
  void software() {
    Software& s = job_.software;
    s.overlap_gradients = args_.flag("overlap_grad_reduce");
    s.overlap_parameters = args_.flag("overlap_param_gather");
    s.overlap_tensor = args_.flag("tp_comm_overlap") && job_.layout.sequence_parallel;
    s.overlap_expert = args_.flag("overlap_moe_expert_parallel_comm");
    // On by default in interleaved schedules; the log has the switch itself.
    s.overlap_pipeline =
        args_.has("overlap_p2p_comm")
            ? args_.flag("overlap_p2p_comm")
            : job_.layout.virtual_stages > 1 && !args_.flag("no_overlap_p2p_communication");
    s.fused_loss = args_.flag("cross_entropy_loss_fusion");
    const std::string graphs = args_.word("cuda_graph_impl");
    s.cuda_graphs = args_.flag("enable_cuda_graph") || args_.flag("external_cuda_graph") ||
                    (!graphs.empty() && graphs != "none");
    if (args_.flag("moe_router_force_load_balancing")) s.expert_imbalance = 1;
    attention();
  }

  void attention() {
    Software& s = job_.software;
    const std::string backend = args_.word("attention_backend");
    const bool local = args_.word("transformer_impl") == "local";
    if (args_.flag("use_flash_attn_v1")) {
      s.attention = AttentionKernel::flash1;
    } else if (args_.flag("use_flash_attn") || args_.flag("use_flash_attn_v2") ||
               args_.flag("use_flash_attn_triton")) {
      s.attention = std::max(s.attention, AttentionKernel::flash2);
    } else if (backend.contains("unfused") || backend.contains("local") || local) {
      s.attention = AttentionKernel::unfused;
    }
  }

  /// Gradients are kept and sent in fp32 under bf16 unless told otherwise, in fp16 under fp16.
  /// [Megatron-LM validate_args: accumulate_allreduce_grads_in_fp32]
  void widths() {
    Software& s = job_.software;
    const bool half = job_.precision == Precision::fp16;
    const bool narrow = half ? !args_.flag("accumulate_allreduce_grads_in_fp32")
                             : args_.flag("grad_reduce_in_bf16");
    if (job_.precision == Precision::fp32) {
      s.gradient_bytes = s.gradient_wire_bytes = s.parameter_wire_bytes = 4;
      s.master_bytes = 0;  // the weights are fp32 themselves
      return;
    }
    s.gradient_bytes = s.gradient_wire_bytes = narrow ? 2 : 4;
    const bool eight = args_.flag("fp8_param_gather") || args_.flag("fp8_param");
    s.parameter_wire_bytes = eight ? 1 : 2;
    s.master_bytes = 4;
    if (!args_.flag("use_precision_aware_optimizer")) return;
    s.master_bytes = bytes_of(args_.word("main_params_dtype"), 4);
    s.moment_bytes = bytes_of(args_.word("exp_avg_dtype"), 4);
  }

  const facts::TrainingArguments& seen_;
  Job job_;
  JobOrigin origin_;
  Problems problems_;
  Arguments args_;
};

}  // namespace

Checked<Job> job_from(const facts::TrainingArguments& arguments, const Stacks& stacks,
                      std::string_view stack) {
  const Stack* known = stacks.find(stack);
  if (!known)
    return as_problems({.at = {arguments.file, 0, 0},
                        .expected = "the name of a software stack",
                        .found = "'" + std::string(stack) + "'",
                        .hint = "catalog/stacks.yaml lists them"});
  return Conversion(arguments, known->software).run();
}

}  // namespace railyard::model

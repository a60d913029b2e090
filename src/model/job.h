#pragma once
// The training job: what is trained, on how much data a step, in which precision, laid out how.
// Names are the field's own (Megatron-LM, DeepSpeed, torchtitan).

#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.h"
#include "base/quantity.h"
#include "model/architecture.h"
#include "model/parts.h"

namespace railyard::model {

enum class Schedule : std::uint8_t { one_f_one_b, gpipe, interleaved, zero_bubble_h1, zero_bubble_h2 };
enum class Recompute : std::uint8_t { none, selective, full };
enum class ContextKind : std::uint8_t { ring, all_to_all };
/// What the data-parallel group shards. `full` is ZeRO-3, which FSDP does layer by layer.
enum class Shard : std::uint8_t { none, optimizer, gradients, full };
enum class AttentionKernel : std::uint8_t { flash, unfused };
enum class Offload : std::uint8_t { none, host, cxl };
enum class OptimizerKind : std::uint8_t { adam, sgd_momentum };

/// Where the work goes. tensor x context x pipeline x data = accelerators used; the expert group lies
/// inside tensor x context x data.
struct Layout {
  int tensor = 1, pipeline = 1, virtual_stages = 1, data = 1, context = 1, expert = 1;
  int expert_tensor = 1;  ///< tensor parallelism inside an expert
  int micro_batch = 1;    ///< sequences per data-parallel rank and micro-step
  bool sequence_parallel = false;
  Schedule schedule = Schedule::one_f_one_b;
  ContextKind context_kind = ContextKind::ring;
  Shard shard = Shard::none;
  int shard_group = 0;    ///< ranks that share one copy (HSDP, ZeRO within a node); 0: all
  bool reshard_after_forward = true;  ///< ZeRO-3: free the gathered weights between passes
  Recompute recompute = Recompute::none;
  int recompute_layers = 0;   ///< of each stage, for full recompute; 0: all
  std::uint8_t recompute_modules = 0;  ///< bits of RecomputeModule, on top of `recompute`
  Offload offload_optimizer = Offload::none;
  Offload offload_activations = Offload::none;
};

/// Parts of a layer that may be recomputed on their own (Megatron-Core --recompute-modules).
enum RecomputeModule : std::uint8_t {
  recompute_core_attention = 1,
  recompute_norms = 2,
  recompute_activation_function = 4,
  recompute_mlp = 8,
  recompute_moe = 16,
  recompute_latent_projection = 32,
};

/// What the training software does. Defaults are those of a stack by name (catalog/stacks.yaml); each
/// can be set in the job file.
struct Software {
  std::string stack = {};
  int year = 2025, month = 1;  ///< release date of the stack, for the era factor
  AttentionKernel attention = AttentionKernel::flash;
  bool fused_kernels = true;   ///< bias, activation, dropout, residual and norm in few kernels
  bool compiled = false;       ///< torch.compile or the like: element-wise chains become one kernel
  bool cuda_graphs = false;    ///< launches cost the host nothing
  bool fused_loss = false;     ///< cross entropy without a separate fp32 copy of the logits
  bool overlap_tensor = false;
  bool overlap_pipeline = false;
  bool overlap_gradients = false;  ///< reduce while backward still runs
  bool overlap_parameters = false; ///< gather while forward already runs
  bool overlap_expert = false;
  bool overlap_context = true;
  double expert_imbalance = 1.0;   ///< busiest expert rank over the mean
  int gradient_bytes = 4;      ///< kept per parameter
  int gradient_wire_bytes = 4; ///< sent per parameter
  int parameter_wire_bytes = 2;
  int master_bytes = 4;        ///< fp32 copy of the weights; 0: none
  int moment_bytes = 4;        ///< of each of Adam's two moments
  Seconds launch = {};         ///< host time per kernel; zero: the default of the predictor
};

/// Time that is not steps (goodput). All optional.
struct Reliability {
  Seconds checkpoint_save = {};      ///< stall of one save
  Seconds checkpoint_interval = {};  ///< zero: Young-Daly from the failure rate
  Seconds restart = {};              ///< from failure to the first new step
  Seconds accelerator_mtbf = {};     ///< mean time between failures of one accelerator; zero: none given
};

struct Job {
  std::string name = {};
  Architecture model = {};
  int global_batch = 1;  ///< sequences (samples) per optimizer step
  int sequence = 2048;
  Precision precision = Precision::bf16;
  OptimizerKind optimizer = OptimizerKind::adam;
  Layout layout = {};
  Software software = {};
  Reliability reliability = {};
  bool adapters_only = false;  ///< LoRA: the base weights are frozen
  double trained_tokens = 0;   ///< of the whole run, for days; 0: not asked

  int accelerators() const {
    return layout.tensor * layout.context * layout.pipeline * layout.data;
  }
  int micro_batches() const { return global_batch / (layout.data * layout.micro_batch); }
};

/// What is impossible about a job whatever the cluster: heads not divided by tensor, layers by
/// stages, batch by data x micro_batch. `says` names a field of the job file.
struct Impossible {
  std::string field, expected, found, hint;
};
std::vector<Impossible> check(const Job& job);

}  // namespace railyard::model

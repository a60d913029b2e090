#pragma once
// The training job: what is trained, on how much data a step, in which precision, laid out how.
// Names are the field's own (Megatron-LM, DeepSpeed, torchtitan).

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "base/quantity.h"
#include "model/architecture.h"
#include "model/parts.h"

namespace railyard::model {

enum class Schedule : std::uint8_t {
  one_f_one_b,
  gpipe,
  interleaved,
  zero_bubble_h1,
  zero_bubble_h2
};
enum class Recompute : std::uint8_t { none, selective, full };
enum class ContextKind : std::uint8_t { ring, all_to_all };
/// What the data-parallel group shards. `full` is ZeRO-3, which FSDP does layer by layer.
enum class Shard : std::uint8_t { none, optimizer, gradients, full };
/// Which attention kernel runs: three GEMM-like kernels over a stored score matrix, or one of the
/// generations that keep scores on chip (FlashAttention 1, 2; 3 stands for FA3, cuDNN and TE).
enum class AttentionKernel : std::uint8_t { unfused, flash1, flash2, flash3 };
enum class Offload : std::uint8_t { none, host, cxl };
enum class OptimizerKind : std::uint8_t { adam, sgd_momentum };

/// Where the work goes. tensor x context x pipeline x data = accelerators used; the expert group
/// lies inside tensor x context x data.
struct Layout {
  /// `data` 0: as many as the cluster has room for; fit_to() settles it before anything is
  /// predicted.
  int tensor = 1, pipeline = 1, virtual_stages = 1, data = 1, context = 1, expert = 1;
  int expert_tensor = 1;  ///< tensor parallelism inside an expert
  int micro_batch = 1;    ///< sequences per data-parallel rank and micro-step
  bool sequence_parallel = false;
  Schedule schedule = Schedule::one_f_one_b;
  ContextKind context_kind = ContextKind::ring;
  Shard shard = Shard::none;
  int shard_group = 0;  ///< ranks that share one copy (HSDP, ZeRO within a node); 0: all
  bool reshard_after_forward = true;  ///< ZeRO-3: free the gathered weights between passes
  Recompute recompute = Recompute::none;
  int recompute_layers = 0;            ///< of each stage, for full recompute; 0: all
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

/// What the training software does. Defaults are those of a stack by name (catalog/stacks.yaml);
/// each can be set in the job file.
struct Software {
  std::string stack = {};
  int year = 2025, month = 1;  ///< release date of the stack, for the era factor
  AttentionKernel attention = AttentionKernel::flash2;
  bool fused_sinks =
      false;  ///< the attention kernel knows learned sinks; else models with them run unfused
  bool fused_kernels = true;       ///< bias, activation, dropout, residual and norm in few kernels
  bool attention_dropout = false;  ///< dropout in attention and after each sub-layer (GPT-2, GPT-3)
  bool compiled = false;     ///< torch.compile or the like: element-wise chains become one kernel
  bool cuda_graphs = false;  ///< launches cost the host nothing
  bool fused_accumulation =
      false;                ///< weight gradients are added into the step's buffer by the GEMM
  bool fused_loss = false;  ///< cross entropy without a separate fp32 copy of the logits
  bool scatter_gather =
      false;  ///< pipeline sends are split over the tensor ranks (Megatron-LM 2021)
  bool reduce_scatter_gradients =
      true;                     ///< ZeRO-1/2 reduces only what a rank owns; else all-reduce
  bool owner_by_owner = false;  ///< ZeRO-1: one owner after the other broadcasts its weights
  bool overlap_tensor = false;
  bool overlap_pipeline = false;
  bool overlap_gradients = false;   ///< reduce while backward still runs
  bool overlap_parameters = false;  ///< gather while forward already runs
  bool overlap_expert = false;
  bool overlap_context = true;
  bool deduplicate_dispatch =
      false;                      ///< a token crosses the network once per domain, not per expert
  double expert_imbalance = 1.0;  ///< busiest expert rank over the mean
  int gradient_bytes = 4;         ///< kept per parameter
  int gradient_wire_bytes = 4;    ///< sent per parameter
  int parameter_wire_bytes = 2;
  bool quantised_weights_kept = false;  ///< fp8 copies of the weights live beside the 16-bit ones
  double bucket_bytes = 0;  ///< communication buffers of data parallelism, beside the gradients
  double bucket_share = 0;  ///< the same over the size of the gradients (DDP copies them all)
  int master_bytes = 4;     ///< fp32 copy of the weights; 0: none
  int moment_bytes = 4;     ///< of each of Adam's two moments
  Seconds launch = {};      ///< host time per kernel; zero: the default of the predictor
};

/// Time that is not steps (goodput). All optional.
struct Reliability {
  Seconds checkpoint_save = {};      ///< stall of one save
  Seconds checkpoint_interval = {};  ///< zero: Young-Daly from the failure rate
  Seconds restart = {};              ///< from failure to the first new step
  Seconds accelerator_mtbf =
      {};  ///< mean time between failures of one accelerator; zero: none given
};

/// Where the fields of a job stand in the user's file, so that what is found wrong later can point
/// there, and what a reader had to assume.
struct JobOrigin {
  struct Field {
    std::string name = {};  ///< as in the job file: "layout.tensor_parallel"
    Place at = {};
    std::string source_line = {};
  };
  std::string file = {};
  std::vector<Field> fields = {};
  std::vector<std::string> notes = {};  ///< sentences for people

  /// The field, or the nearest one around it ("layout" for "layout.data_parallel"); nullptr: none.
  const Field* find(std::string_view name) const;
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
  bool adapters_only = false;                    ///< LoRA: the base weights are frozen
  double trained_tokens = 0;                     ///< of the whole run, for days; 0: not asked
  std::shared_ptr<const JobOrigin> origin = {};  ///< empty for jobs that no file describes

  int accelerators() const {
    return layout.tensor * layout.context * layout.pipeline * layout.data;
  }
  /// Per data-parallel rank and step; 0 while `layout.data` is not settled.
  int micro_batches() const {
    const int at_once = layout.data * layout.micro_batch;
    return at_once > 0 ? global_batch / at_once : 0;
  }
};

/// Whether attention runs as separate GEMMs around a stored score matrix: by choice, or because the
/// fused kernel of the stack does not know the model's softmax.
inline bool unfused_attention(const Job& job) {
  return job.software.attention == AttentionKernel::unfused ||
         (job.model.attention_sinks && !job.software.fused_sinks);
}

/// What is impossible about a job whatever the cluster: heads not divided by tensor, more pipeline
/// parts than layers, batch not divided by data x micro_batch. `field` names a field of the job
/// file. Stages need not be equal: published runs put fewer layers on the ends.
struct Impossible {
  std::string field, expected, found, hint;
};
std::vector<Impossible> check(const Job& job);

/// The same as problems at the places that the job's file has for the fields.
Problems problems_of(const Job& job, const std::vector<Impossible>& impossible);

/// Settles `layout.data` for a cluster of so many accelerators and checks the job. A layout that
/// needs more than there are, or does not divide them, is a problem at the place of the layout.
Checked<Job> fit_to(Job job, int accelerators);

}  // namespace railyard::model

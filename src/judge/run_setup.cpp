#include "judge/run_setup.h"

#include "judge/detail/run_parts.h"

namespace railyard::judge {

namespace {

using detail::has;
using detail::Read;
using detail::Why;
using facts::TrainingRun;
using model::Job;

Read<model::Precision> read_precision(std::string_view text) {
  using model::Precision;
  if (has(text, "NVFP4") || has(text, "FP4")) return Precision::nvfp4;
  if (has(text, "MXFP8")) return Precision::mxfp8;
  if (has(text, "FP8") || has(text, "fp8")) return Precision::fp8;
  if (has(text, "BF16") || has(text, "bf16")) return Precision::bf16;
  if (has(text, "FP16") || has(text, "fp16")) return Precision::fp16;
  return Why("unknown precision '" + std::string(text) + "'");
}

/// What the free text of a line says about its software.
void read_remarks(const TrainingRun& run, Job& job) {
  model::Software& s = job.software;
  if (has(run.other, "compiled") || has(run.other, "torch.compile") || has(run.other, " compile"))
    s.compiled = true;
  if (has(run.other, "TP comm overlap") || has(run.other, "AsyncTP")) s.overlap_tensor = true;
  if (has(run.other, "cross-entropy fusion")) s.fused_loss = true;
  if (has(run.other, "scatter/gather")) s.scatter_gather = true;
  job.adapters_only = has(run.other, "LoRA") || has(run.model, "LoRA");
}

/// What no prediction can do without.
std::string missing(const TrainingRun& run) {
  if (!run.gpus) return "the number of accelerators is not printed";
  if (!run.sequence) return "the sequence length is not printed";
  if (!run.tensor || !run.pipeline) return "the parallel layout is not printed";
  return {};
}

/// What the line leaves open, and whether it leaves nothing open.
void note_what_is_open(const TrainingRun& run, const Convention& convention, RunSetup& out) {
  out.open_recompute = run.recompute.empty() && convention.recompute == model::Recompute::none;
  out.open_micro_batch = !run.micro_batch;
  out.open_virtual_stages = !run.virtual_stages && *run.pipeline > 1 &&
                            convention.virtual_stages == 1 && convention.interleaves;
  out.full = run.layers && run.hidden && run.heads && run.micro_batch && run.global_batch &&
             !run.interleaved && !has(run.other, "not resolved") &&
             !has(run.other, "several config");
}

}  // namespace

std::expected<RunSetup, std::string> set_up(const TrainingRun& run, const model::Catalog& catalog,
                                            const model::Stacks& stacks,
                                            const Conventions& conventions) {
  const Convention* convention = conventions.of(run);
  if (!convention) return Why("no convention is known for this source");
  const model::Stack* stack = stacks.find(convention->stack);
  if (!stack) return Why("unknown software stack '" + convention->stack + "'");
  if (std::string why = missing(run); !why.empty()) return Why(std::move(why));

  Job job;
  job.name = run.model;
  job.model = RY_TRY(detail::read_architecture(run, catalog, *convention));
  job.sequence = *run.sequence;
  job.precision = RY_TRY(read_precision(run.precision));
  job.software = stack->software;
  read_remarks(run, job);

  RunSetup out;
  out.job = RY_TRY(detail::read_layout(run, *convention, std::move(job)));
  note_what_is_open(run, *convention, out);
  out.cluster = RY_TRY(detail::read_cluster(run, catalog, conventions));
  out.measured = RY_TRY(detail::read_metric(run, out, *convention));
  return out;
}

}  // namespace railyard::judge

#include "predict/step.h"

#include <algorithm>
#include <cmath>

#include "predict/activations.h"
#include "predict/data_parallel.h"
#include "predict/pricing.h"

namespace railyard::predict {

namespace {

using model::Job;
using model::Layout;
using model::Recompute;
using model::Shard;

constexpr LayerKind kKinds[] = {LayerKind::dense,       LayerKind::experts,
                                LayerKind::state_space, LayerKind::attention_only,
                                LayerKind::ffn_only,    LayerKind::experts_only};

/// One kind of layer in this job: a micro-batch forward, backward, and again for recomputation.
struct KindPrice {
  Priced forward = {}, backward = {}, again = {};
  Seconds weights = {};                               ///< of backward: the weights' gradients
  Seconds gather_forward = {}, gather_backward = {};  ///< ZeRO-3, exposed
  Exchange alone = {};                                ///< ZeRO-3, without overlap
};

/// A stage's work on one micro-batch.
struct StageSum {
  Seconds forward = {}, backward = {}, sync = {};
  StepTime split = {};
};

/// Builds one prediction; the steps are called in the order in which they stand.
class Assembly {
 public:
  Assembly(const StepModel& model, const CollectiveModel& collectives, const Job& job,
           StepModel::Pieces& pieces)
      : machine_(model.machine()),
        calibration_(model.calibration()),
        c_(calibration_.constants),
        collectives_(collectives),
        job_(job),
        pieces_(pieces),
        micro_batches_(std::max(job.micro_batches(), 1)),
        chunks_(job.layout.schedule == model::Schedule::interleaved
                    ? std::max(job.layout.virtual_stages, 1)
                    : 1),
        device_(make_device(machine_.gpu, calibration_, job.precision, job.software.attention,
                            machine_.power_share)),
        context_(make_context(job, device_, calibration_, collectives, machine_)),
        price_(job, calibration_, device_),
        groups_(make_data_groups(job, machine_)) {}

  /// Every kind of layer that the model has, priced once; which part holds how many.
  void price_blocks();
  /// Forward and backward of one micro-batch on every part, with ZeRO-3's gathers beside them.
  void price_parts();
  void run_pipeline();
  /// Gradients and parameters of data parallelism.
  void sync_data();
  void run_optimizer();
  /// The pacing stage's work times the micro-batches, and what a step adds to it.
  Prediction finish();

 private:
  KindPrice price_kind(const Block& block) const;
  void add_part(StageSum& sum, int stage, int chunk);
  void sync_blocks();
  void sync_step();
  double again_share(const LayerCounts& counts) const;
  Bandwidth tier(model::Offload where) const;
  Seconds moved_activations(LayerKind kind, double again) const;

  const fabric::Machine& machine_;
  const Calibration& calibration_;
  const Constants& c_;
  const CollectiveModel& collectives_;
  const Job& job_;
  StepModel::Pieces& pieces_;
  int micro_batches_, chunks_;
  Device device_;
  BlockContext context_;
  Pricer price_;
  DataGroups groups_;

  LayerCounts layers_ = {};
  std::array<KindPrice, 6> kinds_ = {};
  Priced embed_forward_ = {}, embed_backward_ = {}, head_forward_ = {}, head_backward_ = {};
  StageSum pace_ = {};
  RankParameters rank_ = {};
  Seconds optimizer_ = {}, offload_ = {};
  Prediction out_ = {};
};

/// Frozen weights need no gradient of their own: of the kernels of backward a quarter goes.
void freeze(Block& b) {
  b.backward.matmul -= b.weight_gradients;
  b.backward.kernels *= 0.75;
  b.weight_gradients = {};
}

void Assembly::price_blocks() {
  pieces_.device = device_;
  pieces_.tensor = context_.tensor;
  pieces_.context = context_.context;
  pieces_.expert = context_.expert;
  pieces_.data = groups_.all;
  pieces_.stages = make_group(machine_, job_.layout.pipeline, job_.layout.tensor * groups_.ways);
  ModelBlocks& blocks = pieces_.blocks;
  blocks = {};
  const model::Architecture& a = job_.model;
  if (a.convolutional) {
    layers_[LayerKind::dense] = 1;
    blocks.layers[0] = convolutional_block(context_);
    blocks.kept[0] =
        static_cast<double>(job_.layout.micro_batch) * a.convolutional->activations_per_sample;
    pieces_.parts.assign(1, layers_);
    return;
  }
  layers_ = count_layers(a);
  for (const LayerKind k : kKinds)
    if (layers_[k] > 0) {
      blocks.layers[static_cast<std::size_t>(k)] = layer_block(context_, k);
      blocks.kept[static_cast<std::size_t>(k)] = layer_activations(job_, k);
    }
  blocks.embedding = embedding_block(context_);
  blocks.head = head_block(context_);
  if (job_.adapters_only) {
    for (Block& b : blocks.layers) freeze(b);
    freeze(blocks.embedding);
    freeze(blocks.head);
  }
  pieces_.parts = split_layers(a, job_.layout.pipeline, chunks_);
}

KindPrice Assembly::price_kind(const Block& b) const {
  const model::Software& sw = job_.software;
  KindPrice out;
  out.forward = price_(b.forward);
  out.backward = price_(b.backward);
  out.again = price_(repeated(job_, b));
  out.weights = price_.era() * b.weight_gradients;
  if (!groups_.sharded_weights) return out;

  out.alone = exchange_block(job_, groups_, device_, collectives_,
                             {b.parameters - b.expert_parameters, b.expert_parameters});
  const Seconds forward_window = sw.overlap_parameters ? out.forward.compute() : Seconds{};
  const Seconds backward_window =
      sw.overlap_gradients ? out.backward.compute() + out.again.compute() : Seconds{};
  // Without resharding the weights are gathered by the first micro-batch and the gradients reduced
  // by the last one: a share of each micro-batch here.
  const bool reshard = job_.layout.reshard_after_forward;
  const double often = reshard ? 1.0 : 1.0 / micro_batches_;
  out.gather_forward = often * price_.exposed_behind(out.alone.gather, forward_window);
  out.gather_backward =
      often * price_.exposed_behind((reshard ? out.alone.gather : Seconds{}) + out.alone.reduce,
                                    backward_window);
  return out;
}

/// Full recomputation may cover some layers of a stage only.
double Assembly::again_share(const LayerCounts& counts) const {
  const Layout& l = job_.layout;
  if (l.recompute != Recompute::full || l.recompute_layers == 0) return 1;
  return std::min(1.0,
                  static_cast<double>(l.recompute_layers) / std::max(1, counts.total() * chunks_));
}

/// Of a tier beside the accelerators, for each of them. Hosts stream 0.8 of their theoretical
/// bandwidth.
Bandwidth Assembly::tier(model::Offload where) const {
  const bool cxl = where == model::Offload::cxl && machine_.cxl > Bandwidth{};
  const Bandwidth all = cxl ? machine_.cxl : 0.8 * machine_.host_memory;
  return all / std::max(machine_.gpus_per_server, 1);
}

/// Time in which a layer's activations leave in forward, and come back in backward. A copy engine
/// moves them, so that they cost nothing while kernels run; `again`: share of layers that keep
/// their input alone.
Seconds Assembly::moved_activations(LayerKind kind, double again) const {
  const Layout& l = job_.layout;
  if (l.offload_activations == model::Offload::none) return {};
  const double inputs = l.recompute == Recompute::full ? again : 0;
  const Bytes kept = (1 - inputs) * pieces_.blocks.kept[static_cast<std::size_t>(kind)] +
                     inputs * layer_input(job_);
  Bandwidth path = machine_.host_link_shared;
  if (const Bandwidth beyond = tier(l.offload_activations); beyond > Bandwidth{})
    path = min(path, beyond);
  return kept / path;
}

void Assembly::add_part(StageSum& sum, int stage, int chunk) {
  const auto index = static_cast<std::size_t>(chunk * job_.layout.pipeline + stage);
  const LayerCounts& counts = pieces_.parts[index];
  // The host runs ahead of the device across a whole part, so their times compare there.
  Priced forward, backward;
  Seconds weights = {}, sync_forward = {}, sync_backward = {}, moved = {};
  const auto add = [&](Priced& to, const Priced& p, double n) {
    to.device += n * p.device;
    to.host += n * p.host;
    to.tensor += n * p.tensor;
    to.context += n * p.context;
    to.expert += n * p.expert;
  };
  const double again = again_share(counts), era = price_.era();
  for (const LayerKind k : kKinds) {
    const double n = counts[k];
    if (n == 0) continue;
    const KindPrice& kind = kinds_[static_cast<std::size_t>(k)];
    const Block& b = pieces_.blocks.of(k);
    add(forward, kind.forward, n);
    add(backward, kind.backward, n);
    add(backward, kind.again, n * again);
    if (groups_.sharded_weights) {
      forward.host += Seconds::si(n * c_.fsdp_host);
      backward.host += Seconds::si(n * 2 * c_.fsdp_host);
    }
    weights += n * kind.weights;
    sync_forward += n * kind.gather_forward;
    sync_backward += n * kind.gather_backward;
    moved += n * moved_activations(k, again);
    sum.split.matmul += n * era * (b.forward.matmul + b.backward.matmul);
    sum.split.attention += n * era * (b.forward.attention + b.backward.attention);
    sum.split.recompute += n * again * kind.again.device;
  }
  if (index == 0 && !job_.model.convolutional) {
    add(forward, embed_forward_, 1);
    add(backward, embed_backward_, 1);
  }
  if (index + 1 == pieces_.parts.size() && !job_.model.convolutional) {
    const Block& head = pieces_.blocks.head;
    add(forward, head_forward_, 1);
    add(backward, head_backward_, 1);
    sum.split.matmul += era * (head.forward.matmul + head.backward.matmul);
    weights += era * head.weight_gradients;
  }
  sum.split.tensor += forward.tensor + backward.tensor;
  sum.split.context += forward.context + backward.context;
  sum.split.expert += forward.expert + backward.expert;
  sum.split.overhead += forward.compute() - forward.device + backward.compute() - backward.device;
  sum.split.memory_bound += forward.device + backward.device;
  sum.sync += sync_forward + sync_backward;

  const Seconds leave = max(moved - forward.compute(), Seconds{});
  const Seconds fetch = max(moved - backward.compute(), Seconds{});
  sum.split.offload += leave + fetch;
  const Seconds back = backward.compute() + backward.exposed() + sync_backward + fetch;
  PartCost& cost = pieces_.costs[index];
  cost.forward = forward.compute() + forward.exposed() + sync_forward + leave;
  cost.backward_weight = weights;
  cost.backward_input = back - weights;
  sum.forward += cost.forward;
  sum.backward += back;
}

void Assembly::price_parts() {
  for (const LayerKind k : kKinds)
    if (layers_[k] > 0) kinds_[static_cast<std::size_t>(k)] = price_kind(pieces_.blocks.of(k));
  embed_forward_ = price_(pieces_.blocks.embedding.forward);
  embed_backward_ = price_(pieces_.blocks.embedding.backward);
  head_forward_ = price_(pieces_.blocks.head.forward);
  head_backward_ = price_(pieces_.blocks.head.backward);

  pieces_.costs.assign(pieces_.parts.size(), {});
  for (int stage = 0; stage < job_.layout.pipeline; ++stage) {
    StageSum sum;
    for (int chunk = 0; chunk < chunks_; ++chunk) add_part(sum, stage, chunk);
    sum.split.memory_bound -= sum.split.matmul + sum.split.attention + sum.split.recompute;
    if (stage == 0 || sum.forward + sum.backward > pace_.forward + pace_.backward) {
      pace_ = sum;
      pieces_.pacing_stage = stage;
    }
  }
}

void Assembly::run_pipeline() {
  const Layout& l = job_.layout;
  pieces_.send = {};
  if (l.pipeline == 1 && chunks_ == 1) {
    pieces_.pipeline = {};
    pieces_.pipeline.busy = static_cast<double>(micro_batches_) * (pace_.forward + pace_.backward);
    pieces_.pipeline.total = pieces_.pipeline.makespan = pieces_.pipeline.busy;
    return;
  }
  if (l.pipeline > 1) {
    const double pieces = l.sequence_parallel || job_.software.scatter_gather ? l.tensor : 1;
    const Bytes message =
        Bytes::si(2.0 * l.micro_batch * job_.sequence / l.context * job_.model.hidden / pieces);
    pieces_.send = collectives_.time(Collective::send, message, pieces_.stages).time;
    if (pieces > 1 && !l.sequence_parallel)  // the receiver gathers them over its scale-up links
      pieces_.send +=
          collectives_.time(Collective::all_gather, message * pieces, context_.tensor).time;
  }
  pieces_.pipeline = pipeline_closed_form({.stages = l.pipeline,
                                           .chunks = chunks_,
                                           .micro_batches = micro_batches_,
                                           .schedule = l.schedule,
                                           .parts = pieces_.costs,
                                           .send = pieces_.send,
                                           .overlap_send = job_.software.overlap_pipeline});
}

/// ZeRO-3: the layers' gathers stand in the parts; embedding and head are blocks of their own.
void Assembly::sync_blocks() {
  const ModelBlocks& blocks = pieces_.blocks;
  const double ends =
      blocks.embedding.parameters + (job_.model.tied_embeddings ? 0 : blocks.head.parameters);
  const double wire = job_.software.parameter_wire_bytes;
  const CollectiveTime gather =
      collectives_.time(Collective::all_gather, Bytes::si(ends * wire), groups_.shards);
  const Seconds reduce =
      collectives_
          .time(Collective::reduce_scatter,
                Bytes::si(trained_share(job_) * ends * job_.software.gradient_wire_bytes),
                groups_.shards)
          .time;
  const Seconds window = job_.software.overlap_gradients
                             ? head_forward_.compute() + head_backward_.compute()
                             : Seconds{};
  const bool reshard = job_.layout.reshard_after_forward;
  const double times = reshard ? micro_batches_ : 1;
  pieces_.data_exposed = times * price_.exposed_behind(gather.time + reduce, window);
  out_.data_communication = times * (gather.time + reduce);
  for (const LayerKind k : kKinds) {
    const Exchange& alone = kinds_[static_cast<std::size_t>(k)].alone;
    out_.data_communication += (times / job_.layout.pipeline) * layers_[k] *
                               ((reshard ? 2.0 : 1.0) * alone.gather + alone.reduce);
  }
  out_.data_binding = gather.binding;
}

/// ZeRO-0 to 2: parameters are gathered once a step. Gradients are reduced once too, but for
/// ZeRO-2: its ranks have no room to add up other ranks' shares, so every micro-batch reduces.
void Assembly::sync_step() {
  const model::Software& sw = job_.software;
  const Exchange sync = exchange_step(job_, groups_, collectives_, rank_);
  const double times = job_.layout.shard == Shard::gradients ? micro_batches_ : 1;
  pieces_.gradient_sync = times * sync.reduce;
  pieces_.parameter_sync = sync.gather;
  // Gradients are ready layer by layer in the backward of the last micro-batch; the first layers'
  // are not ready before its end.
  const double ready = 1 - 1.0 / std::max(2, job_.model.layers / job_.layout.pipeline);
  pieces_.data_exposed =
      times * price_.exposed_behind(sync.reduce,
                                    sw.overlap_gradients ? ready * pace_.backward : Seconds{}) +
      price_.exposed_behind(sync.gather, sw.overlap_parameters ? ready * pace_.forward : Seconds{});
  out_.data_communication = times * sync.reduce + sync.gather;
  out_.data_binding =
      collectives_
          .time(Collective::all_reduce,
                Bytes::si(trained_share(job_) * rank_.plain * sw.gradient_wire_bytes), groups_.all)
          .binding;
}

void Assembly::sync_data() {
  pieces_.gradient_sync = pieces_.parameter_sync = pieces_.data_exposed = {};
  rank_ = most_parameters(job_, pieces_.parts, pieces_.blocks);
  pieces_.gradient_bytes = Bytes::si(trained_share(job_) * (rank_.plain + rank_.experts) *
                                     job_.software.gradient_wire_bytes);
  if (groups_.sharded_weights)
    sync_blocks();
  else if (groups_.ways > 1)
    sync_step();
  // First and last stage hold the same embedding and add its gradients.
  const Layout& l = job_.layout;
  if (l.pipeline > 1 && job_.model.tied_embeddings) {
    const Group ends = make_group(machine_, 2, l.tensor * groups_.ways * (l.pipeline - 1));
    pieces_.data_exposed += collectives_
                                .time(Collective::all_reduce,
                                      Bytes::si(pieces_.blocks.embedding.parameters *
                                                job_.software.gradient_wire_bytes),
                                      ends)
                                .time;
  }
}

void Assembly::run_optimizer() {
  const Layout& l = job_.layout;
  const model::Software& sw = job_.software;
  const bool owned = l.shard >= Shard::optimizer;
  const double local = trained_share(job_) * (rank_.plain / (owned ? groups_.shard : 1) +
                                              rank_.experts / (owned ? groups_.expert_ways : 1));
  if (l.offload_optimizer == model::Offload::none) {
    // state is read and written, gradients are read, weights written
    const double moments = job_.optimizer == model::OptimizerKind::adam ? 2 : 1;
    const double bytes = 2 * (sw.master_bytes + moments * sw.moment_bytes) + sw.gradient_bytes + 2;
    optimizer_ = c_.optimizer_passes * elementwise(Bytes::si(bytes * local), device_);
    return;
  }
  // Gradients go down, the host streams its state (fp32 p, m, v read and written, 16 bit in and
  // out: 28 bytes a parameter), weights come back.
  offload_ = max(Bytes::si(28 * local) / tier(l.offload_optimizer),
                 Bytes::si((sw.gradient_wire_bytes + 2.0) * local) / machine_.host_link_shared);
}

Prediction Assembly::finish() {
  const double n = micro_batches_, gpus = job_.accelerators();
  const Seconds fixed = Seconds::si(c_.step_fixed);
  const Seconds steady =
      pieces_.pipeline.total + pieces_.data_exposed + optimizer_ + offload_ + fixed;
  pieces_.lateness = 1 + c_.imbalance * std::log2(std::max(gpus, 1.0)) +
                     machine_.straggler * std::sqrt(2 * std::log(std::max(gpus, 1.0)));

  StepTime& t = out_.time;
  t.matmul = n * pace_.split.matmul;
  t.attention = n * pace_.split.attention;
  t.recompute = n * pace_.split.recompute;
  t.memory_bound = n * pace_.split.memory_bound;
  t.tensor = n * pace_.split.tensor;
  t.context = n * pace_.split.context;
  t.expert = n * pace_.split.expert;
  t.data = n * pace_.sync + pieces_.data_exposed;
  t.pipeline = pieces_.pipeline.exposed_send;
  t.optimizer = optimizer_;
  t.offload = n * pace_.split.offload + offload_;
  t.overhead = n * pace_.split.overhead + fixed + (pieces_.lateness - 1) * steady;
  t.total = pieces_.lateness * steady;
  // What of the pipeline is neither the pacing stage's work nor sends is its bubble.
  t.bubble = t.total - (t.compute() + t.tensor + t.context + t.expert + t.pipeline + t.data +
                        t.optimizer + t.offload + t.overhead);

  out_.memory = memory(job_, machine_, pieces_.parts, pieces_.blocks);
  const double units =
      static_cast<double>(job_.global_batch) * (job_.model.convolutional ? 1 : job_.sequence);
  out_.tokens_per_second = units / t.total.si();
  out_.tokens_per_second_per_gpu = out_.tokens_per_second / gpus;
  out_.model_flops = model_flops(job_, false) / gpus;
  out_.utilisation.mfu = out_.model_flops / (device_.peak * t.total);
  out_.utilisation.compute = (t.compute() + t.optimizer) / t.total;
  out_.utilisation.busy = 1 - t.overhead / t.total;
  out_.stage_forward = pace_.forward;
  out_.stage_backward = pace_.backward;
  const Band band = calibration_.band(band_kind(job_, machine_.servers));
  out_.low = band.low;
  out_.high = band.high;
  return out_;
}

}  // namespace

StepModel::StepModel(const fabric::Machine& machine, const Calibration& calibration)
    : machine_(machine),
      calibration_(calibration),
      own_(machine, calibration),
      collectives_(own_) {}

StepModel::StepModel(const fabric::Machine& machine, const Calibration& calibration,
                     const CollectiveModel& collectives)
    : machine_(machine),
      calibration_(calibration),
      own_(machine, calibration),
      collectives_(collectives) {}

Prediction StepModel::predict(const Job& job) const {
  Pieces pieces;
  return predict(job, pieces);
}

Prediction StepModel::predict(const Job& job, Pieces& pieces) const {
  Assembly step(*this, collectives_, job, pieces);
  step.price_blocks();
  step.price_parts();  // from here on every part of the pipeline has its cost
  step.run_pipeline();
  step.sync_data();
  step.run_optimizer();
  return step.finish();
}

Flops model_flops(const Job& job, bool whole_square) {
  const model::Architecture& a = job.model;
  if (a.convolutional) return 3.0 * job.global_batch * a.convolutional->forward_per_sample;
  const model::ParameterCount n = model::count_parameters(a);
  const double tokens = static_cast<double>(job.global_batch) * job.sequence;
  const int attention_layers = a.state_space ? a.state_space->attention_layers : a.layers;
  const double width =
      a.latent ? a.heads * 0.5 * (a.latent->nope_dim + a.latent->rope_dim + a.latent->value_dim)
               : static_cast<double>(a.heads) * a.head_width();
  const double matmul =
      n.active - n.embedding + (a.tied_embeddings ? static_cast<double>(a.vocab) * a.hidden : 0);
  const double square =
      (a.causal && !whole_square ? 6.0 : 12.0) * attention_layers * job.sequence * width;
  return Flops::si(tokens * (6 * matmul + square));
}

}  // namespace railyard::predict

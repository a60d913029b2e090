#include "predict/step.h"

#include <algorithm>
#include <cmath>

namespace railyard::predict {

namespace {

using model::Job;
using model::Layout;
using model::Recompute;
using model::Shard;

constexpr LayerKind kKinds[] = {LayerKind::dense,       LayerKind::experts,
                                LayerKind::state_space, LayerKind::attention_only,
                                LayerKind::ffn_only,    LayerKind::experts_only};

/// Host time per kernel. A recorded graph cannot hold experts whose token counts are known only
/// when the router has run, so models with experts launch kernel by kernel.
Seconds launch_time(const Job& job, const Constants& c) {
  const model::Software& s = job.software;
  if (s.launch > Seconds{}) return s.launch;
  if (s.cuda_graphs && !job.model.experts) return Seconds::si(c.launch_graph);
  return Seconds::si(s.compiled ? c.launch_compiled : c.launch);
}

/// The price of a pass: what the device does, what the host needs to launch it, what is exposed.
struct Priced {
  Seconds device = {}, host = {};
  Seconds tensor = {}, context = {}, expert = {};

  Seconds compute() const { return max(device, host); }
  Seconds total() const { return compute() + tensor + context + expert; }
};

class Pricer {
 public:
  Pricer(const Job& job, const Calibration& calibration, bool quantised)
      : job_(job),
        c_(calibration.constants),
        era_(quantised ? era_factor(c_, job.software.year, job.software.month) : 1),
        launch_(launch_time(job, c_)) {}

  Priced operator()(const Pass& p) const {
    const model::Software& s = job_.software;
    Priced out;
    out.device = era_ * p.device() + Seconds::si(c_.kernel_gap * p.kernels);
    out.host = launch_ * p.kernels;
    out.tensor = exposed(p.tensor, out.device, s.overlap_tensor ? c_.overlap_tensor_hidden : 0);
    out.expert = exposed(p.expert, out.device, s.overlap_expert ? c_.overlap_expert_hidden : 0);
    // ring attention: the next block of keys travels while this one is worked on
    const Seconds window = s.overlap_context ? era_ * p.attention : Seconds{};
    out.context = exposed_behind(p.context, window);
    return out;
  }

  /// What remains of `comm` when it runs beside `window` of compute; both slow each other.
  Seconds exposed_behind(Seconds comm, Seconds window) const {
    const Seconds hidden = min(comm, window);
    return comm - hidden + (c_.overlap_slowdown - 1) * hidden;
  }

  double era() const { return era_; }

 private:
  Seconds exposed(Seconds comm, Seconds beside, double share) const {
    const Seconds hidden = min(share * comm, beside);
    return comm - hidden + (c_.overlap_slowdown - 1) * hidden;
  }

  const Job& job_;
  const Constants& c_;
  double era_;
  Seconds launch_;
};

/// What full and selective recomputation repeat of a block in backward.
Pass repeated(const Job& job, const Block& b) {
  switch (job.layout.recompute) {
    case Recompute::none: break;
    case Recompute::full: return b.forward;
    case Recompute::selective: return b.selective;
  }
  Pass out;
  const auto has = [&](std::uint8_t m) { return (job.layout.recompute_modules & m) != 0; };
  if (has(model::recompute_core_attention)) out = out + b.selective;
  if (has(model::recompute_norms)) out.memory += 0.3 * b.forward.memory;
  if (has(model::recompute_activation_function)) out.memory += 0.3 * b.forward.memory;
  if (has(model::recompute_mlp) || has(model::recompute_moe)) {
    out.matmul += 0.6 * b.forward.matmul;
    out.memory += 0.4 * b.forward.memory;
    out.kernels += 0.4 * b.forward.kernels;
  }
  return out;
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
  const Layout& l = job.layout;
  const model::Software& sw = job.software;
  const model::Architecture& a = job.model;
  const Constants& c = calibration_.constants;
  const int p = l.pipeline;
  const int v = l.schedule == model::Schedule::interleaved ? std::max(l.virtual_stages, 1) : 1;
  const int m = std::max(job.micro_batches(), 1);

  pieces.device =
      make_device(machine_.gpu, calibration_, job.precision, sw.attention, machine_.power_share);
  const BlockContext context =
      make_context(job, pieces.device, calibration_, collectives_, machine_);
  const Pricer price(job, calibration_, pieces.device.quantised);

  // Blocks: every kind of layer that the model has, priced once.
  ModelBlocks& blocks = pieces.blocks;
  LayerCounts all = count_layers(a);
  if (a.convolutional) {
    all = {};
    all[LayerKind::dense] = 1;
    blocks.layers[0] = convolutional_block(context);
    blocks.kept[0] = static_cast<double>(l.micro_batch) * a.convolutional->activations_per_sample;
    pieces.parts.assign(1, all);
  } else {
    for (const LayerKind k : kKinds)
      if (all[k] > 0) {
        blocks.layers[static_cast<std::size_t>(k)] = layer_block(context, k);
        blocks.kept[static_cast<std::size_t>(k)] = layer_activations(job, k);
      }
    blocks.embedding = embedding_block(context);
    blocks.head = head_block(context);
    pieces.parts = split_layers(a, p, v);
  }

  // Data parallelism: the group, and what one rank exchanges.
  const int ways = l.data * l.context;
  const int shard = l.shard_group > 0 ? std::min(l.shard_group, ways) : ways;
  const Group data = make_group(machine_, ways, l.tensor);
  const Group shards = make_group(machine_, shard, l.tensor);
  const Group copies = make_group(machine_, ways / std::max(shard, 1), l.tensor * shard);
  const int expert_ways = std::max(1, ways * l.tensor / std::max(l.expert * l.expert_tensor, 1));
  const Group expert_data = make_group(machine_, expert_ways, l.expert * l.expert_tensor);
  pieces.data = data;
  pieces.tensor = context.tensor;
  pieces.context = context.context;
  pieces.expert = context.expert;
  pieces.stages = make_group(machine_, p, l.tensor * ways);
  const bool sharded_weights = l.shard == Shard::full && ways > 1;

  // Forward and backward of one micro-batch on every part, with ZeRO-3's gathers beside them.
  struct KindPrice {
    Priced forward, backward, again;
    Seconds weights;
    Seconds gather_forward, gather_backward;  // exposed, ZeRO-3
    Seconds gather_alone, reduce_alone;
  };
  std::array<KindPrice, 6> kinds{};
  const auto wire = [&](double parameters, double bytes) { return Bytes::si(parameters * bytes); };
  const double trained = job.adapters_only ? 0.01 : 1.0;
  for (const LayerKind k : kKinds) {
    if (all[k] == 0) continue;
    const Block& b = blocks.of(k);
    KindPrice& out = kinds[static_cast<std::size_t>(k)];
    out.forward = price(b.forward);
    Pass backward = b.backward;
    if (job.adapters_only) {  // frozen weights need no gradient of their own
      backward.matmul -= b.weight_gradients;
      backward.kernels *= 0.75;
    }
    out.backward = price(backward);
    out.again = price(repeated(job, b));
    out.weights = price.era() * b.weight_gradients;
    if (sharded_weights) {
      const double plain = b.parameters - b.expert_parameters;
      Seconds gather =
          collectives_.time(Collective::all_gather, wire(plain, sw.parameter_wire_bytes), shards)
              .time;
      Seconds reduce = collectives_
                           .time(Collective::reduce_scatter,
                                 wire(trained * plain, sw.gradient_wire_bytes), shards)
                           .time;
      if (b.expert_parameters > 0) {
        gather += collectives_
                      .time(Collective::all_gather,
                            wire(b.expert_parameters, sw.parameter_wire_bytes), expert_data)
                      .time;
        reduce +=
            collectives_
                .time(Collective::reduce_scatter,
                      wire(trained * b.expert_parameters, sw.gradient_wire_bytes), expert_data)
                .time;
      }
      if (shard < ways)
        reduce += collectives_
                      .time(Collective::all_reduce,
                            wire(trained * plain / shard, sw.gradient_wire_bytes), copies)
                      .time;
      // pieces are copied out of the gathered buffer, gradients into the one that is reduced
      const Seconds copy = elementwise(
          wire(plain + b.expert_parameters, 2.0 * sw.parameter_wire_bytes), pieces.device);
      gather += copy;
      reduce += copy;
      out.gather_alone = gather;
      out.reduce_alone = reduce;
      const Seconds forward_window = sw.overlap_parameters ? out.forward.compute() : Seconds{};
      const Seconds backward_window =
          sw.overlap_gradients ? (out.backward.compute() + out.again.compute()) : Seconds{};
      // Without resharding the weights are gathered by the first micro-batch and the gradients
      // reduced by the last one: a share of each micro-batch here.
      const double often = l.reshard_after_forward ? 1.0 : 1.0 / m;
      out.gather_forward = often * price.exposed_behind(gather, forward_window);
      out.gather_backward =
          often * price.exposed_behind((l.reshard_after_forward ? gather : Seconds{}) + reduce,
                                       backward_window);
    }
  }
  const Priced embed_f = price(blocks.embedding.forward),
               embed_b = price(blocks.embedding.backward);
  const Priced head_f = price(blocks.head.forward), head_b = price(blocks.head.backward);

  StepTime t;
  pieces.costs.assign(pieces.parts.size(), {});
  struct StageSum {
    Seconds forward, backward, sync;
    StepTime split;
  };
  // Per stage sums (for the split of the pacing stage), per part costs (for the schedule).
  Seconds worst_stage{};
  StageSum pace{};
  for (int stage = 0; stage < p; ++stage) {
    StageSum sum;
    for (int chunk = 0; chunk < v; ++chunk) {
      const std::size_t index = static_cast<std::size_t>(chunk * p + stage);
      PartCost& cost = pieces.costs[index];
      // The host runs ahead of the device across a whole part, so host and device times compare
      // there.
      Seconds device_f{}, host_f{}, device_b{}, host_b{}, exposed_f{}, exposed_b{}, weights{};
      const auto add = [&](const Priced& f, const Priced& b, double n) {
        device_f += n * f.device;
        host_f += n * f.host;
        device_b += n * b.device;
        host_b += n * b.host;
        exposed_f += n * (f.tensor + f.context + f.expert);
        exposed_b += n * (b.tensor + b.context + b.expert);
        sum.split.tensor += n * (f.tensor + b.tensor);
        sum.split.context += n * (f.context + b.context);
        sum.split.expert += n * (f.expert + b.expert);
      };
      int layers = pieces.parts[index].total();
      double again_left =
          l.recompute == Recompute::full && l.recompute_layers > 0
              ? std::min(1.0, static_cast<double>(l.recompute_layers) / std::max(1, layers * v))
              : 1.0;
      for (const LayerKind k : kKinds) {
        const double n = pieces.parts[index][k];
        if (n == 0) continue;
        const KindPrice& kp = kinds[static_cast<std::size_t>(k)];
        const Block& b = blocks.of(k);
        add(kp.forward, kp.backward, n);
        add({}, kp.again, n * again_left);
        if (sharded_weights) {
          host_f += Seconds::si(n * c.fsdp_host);
          host_b += Seconds::si(n * 2 * c.fsdp_host);
        }
        weights += n * kp.weights;
        exposed_f += n * kp.gather_forward;
        exposed_b += n * kp.gather_backward;
        sum.sync += n * (kp.gather_forward + kp.gather_backward);
        sum.split.matmul += n * price.era() * (b.forward.matmul + b.backward.matmul);
        sum.split.attention += n * price.era() * (b.forward.attention + b.backward.attention);
        sum.split.recompute += n * again_left * kp.again.device;
      }
      if (index == 0 && !a.convolutional) add(embed_f, embed_b, 1);
      if (index + 1 == pieces.parts.size() && !a.convolutional) {
        add(head_f, head_b, 1);
        sum.split.matmul +=
            price.era() * (blocks.head.forward.matmul + blocks.head.backward.matmul);
        weights += price.era() * blocks.head.weight_gradients;
      }
      const Seconds forward = max(device_f, host_f), backward = max(device_b, host_b);
      sum.split.overhead += forward - device_f + backward - device_b;
      sum.split.memory_bound += device_f + device_b;
      cost.forward = forward + exposed_f;
      cost.backward_weight = weights;
      cost.backward_input = backward + exposed_b - weights;
      sum.forward += cost.forward;
      sum.backward += backward + exposed_b;
    }
    sum.split.memory_bound -= sum.split.matmul + sum.split.attention + sum.split.recompute;
    if (stage == 0 || sum.forward + sum.backward > worst_stage) {
      worst_stage = sum.forward + sum.backward;
      pace = sum;
      pieces.pacing_stage = stage;
    }
  }

  // The pipeline.
  if (p > 1) {
    const double scattered = l.sequence_parallel || sw.scatter_gather ? l.tensor : 1;
    const Bytes message =
        Bytes::si(2.0 * l.micro_batch * job.sequence / l.context * a.hidden / scattered);
    pieces.send = collectives_.time(Collective::send, message, pieces.stages).time;
    if (scattered > 1 &&
        !l.sequence_parallel)  // the receiver gathers the pieces over its scale-up links
      pieces.send +=
          collectives_.time(Collective::all_gather, message * scattered, context.tensor).time;
  }
  const PipelineView view{.stages = p,
                          .chunks = v,
                          .micro_batches = m,
                          .schedule = l.schedule,
                          .parts = pieces.costs,
                          .send = pieces.send,
                          .overlap_send = sw.overlap_pipeline};
  if (p == 1 && v == 1) {
    pieces.pipeline = {};
    pieces.pipeline.busy = static_cast<double>(m) * worst_stage;
    pieces.pipeline.total = pieces.pipeline.makespan = pieces.pipeline.busy;
  } else {
    pieces.pipeline = pipeline_closed_form(view);
  }

  // Gradients and parameters of data parallelism, once per step.
  double plain = 0, experts = 0;
  {
    // the stage with most parameters
    for (int stage = 0; stage < p; ++stage) {
      double sp = 0, se = 0;
      for (int chunk = 0; chunk < v; ++chunk) {
        const LayerCounts& counts = pieces.parts[static_cast<std::size_t>(chunk * p + stage)];
        for (const LayerKind k : kKinds) {
          const Block& b = blocks.of(k);
          sp += counts[k] * (b.parameters - b.expert_parameters);
          se += counts[k] * b.expert_parameters;
        }
      }
      if (stage == 0) sp += blocks.embedding.parameters;
      if (stage == p - 1)
        sp += a.tied_embeddings && p > 1 ? blocks.embedding.parameters : blocks.head.parameters;
      if (sp + se > plain + experts) {
        plain = sp;
        experts = se;
      }
    }
  }
  const double reduced = trained * plain, reduced_experts = trained * experts;
  pieces.gradient_bytes = wire(reduced + reduced_experts, sw.gradient_wire_bytes);
  Prediction out;
  Seconds data_exposed{}, data_alone{};
  if (ways > 1 && !sharded_weights) {
    const bool scatter = l.shard >= Shard::optimizer;
    const auto sync = [&](double parameters, const Group& g) {
      if (parameters <= 0 || g.ranks <= 1) return;
      if (scatter && shard == ways) {
        pieces.gradient_sync += collectives_
                                    .time(sw.reduce_scatter_gradients ? Collective::reduce_scatter
                                                                      : Collective::all_reduce,
                                          wire(parameters, sw.gradient_wire_bytes), g)
                                    .time;
        pieces.parameter_sync +=
            collectives_.time(Collective::all_gather, wire(parameters, sw.parameter_wire_bytes), g)
                .time;
      } else {
        const CollectiveTime reduce =
            collectives_.time(Collective::all_reduce, wire(parameters, sw.gradient_wire_bytes), g);
        pieces.gradient_sync += reduce.time;
        if (scatter)
          pieces.parameter_sync +=
              collectives_
                  .time(Collective::all_gather, wire(parameters, sw.parameter_wire_bytes), shards)
                  .time;
      }
    };
    sync(reduced, data);
    sync(reduced_experts, expert_data);
    out.data_binding =
        collectives_.time(Collective::all_reduce, wire(reduced, sw.gradient_wire_bytes), data)
            .binding;
    // Gradients are ready layer by layer in the backward of the last micro-batch; the first layers'
    // are not ready before its end. Interleaved chunks finish earlier.
    const double ready = 1 - 1.0 / std::max(2, a.layers / p);
    const Seconds backward_window = sw.overlap_gradients ? ready * pace.backward : Seconds{};
    const Seconds forward_window = sw.overlap_parameters ? ready * pace.forward : Seconds{};
    data_exposed = price.exposed_behind(pieces.gradient_sync, backward_window) +
                   price.exposed_behind(pieces.parameter_sync, forward_window);
    data_alone = pieces.gradient_sync + pieces.parameter_sync;
  } else if (sharded_weights) {
    // The first gather and the last reduction have nothing beside them; embedding and head are
    // blocks of their own, gathered once per micro-batch.
    const Block& ends_e = blocks.embedding;
    const double ends = ends_e.parameters + (a.tied_embeddings ? 0 : blocks.head.parameters);
    const Seconds gather_ends =
        collectives_.time(Collective::all_gather, wire(ends, sw.parameter_wire_bytes), shards).time;
    const Seconds reduce_ends =
        collectives_
            .time(Collective::reduce_scatter, wire(trained * ends, sw.gradient_wire_bytes), shards)
            .time;
    const Seconds window = sw.overlap_gradients ? head_f.compute() + head_b.compute() : Seconds{};
    const Seconds per_micro = price.exposed_behind(gather_ends + reduce_ends, window);
    const double times = l.reshard_after_forward ? m : 1;
    data_exposed = times * per_micro;
    for (const LayerKind k : kKinds) {
      const KindPrice& kp = kinds[static_cast<std::size_t>(k)];
      data_alone += (times / p) * all[k] *
                    ((l.reshard_after_forward ? 2.0 : 1.0) * kp.gather_alone + kp.reduce_alone);
    }
    data_alone += times * (gather_ends + reduce_ends);
    out.data_binding =
        collectives_.time(Collective::all_gather, wire(ends, sw.parameter_wire_bytes), shards)
            .binding;
  }
  if (p > 1 && a.tied_embeddings && !a.convolutional)
    data_exposed +=
        collectives_
            .time(Collective::all_reduce, wire(blocks.embedding.parameters, sw.gradient_wire_bytes),
                  make_group(machine_, 2, l.tensor * ways * (p - 1)))
            .time;

  // The optimizer reads and writes its state once, the gradients once or twice (norm, clip).
  const double moments = job.optimizer == model::OptimizerKind::adam ? 2 : 1;
  const double state_bytes =
      2 * (sw.master_bytes + moments * sw.moment_bytes) + sw.gradient_bytes + 2;
  const double owners = l.shard >= Shard::optimizer ? shard : 1;
  const double expert_owners = l.shard >= Shard::optimizer ? expert_ways : 1;
  const Bytes optimizer_bytes =
      Bytes::si(trained * state_bytes * (plain / owners + experts / expert_owners));
  if (l.offload_optimizer == model::Offload::none) {
    t.optimizer = c.optimizer_passes * elementwise(optimizer_bytes, pieces.device);
  } else {
    // gradients go down, the host streams its state, weights come back
    const double local = trained * (plain / owners + experts / expert_owners);
    const Bandwidth tier = l.offload_optimizer == model::Offload::cxl && machine_.cxl > Bandwidth{}
                               ? machine_.cxl
                               : 0.8 * machine_.host_memory;
    const Bandwidth per_rank = tier / std::max(machine_.gpus_per_server, 1);
    t.offload += max(Bytes::si(28 * local) /
                         per_rank,  // [know: fp32 p, m, v read and written, 16-bit in and out]
                     Bytes::si((sw.gradient_wire_bytes + 2.0) * local) / machine_.host_link_shared);
  }

  // Put the split together: the pacing stage's work times the micro-batches.
  const double n = m;
  t.matmul = n * pace.split.matmul;
  t.attention = n * pace.split.attention;
  t.recompute = n * pace.split.recompute;
  t.memory_bound = n * pace.split.memory_bound;
  t.tensor = n * pace.split.tensor;
  t.context = n * pace.split.context;
  t.expert = n * pace.split.expert;
  t.data = n * pace.sync + data_exposed;
  t.pipeline = pieces.pipeline.exposed_send;
  t.bubble = pieces.pipeline.bubble;
  t.overhead = n * pace.split.overhead + Seconds::si(c.step_fixed);
  const Seconds steady =
      pieces.pipeline.total + data_exposed + t.optimizer + t.offload + Seconds::si(c.step_fixed);
  const double gpus = job.accelerators();
  const double late = 1 + c.imbalance * std::log2(std::max(gpus, 1.0)) +
                      machine_.straggler * std::sqrt(2 * std::log(std::max(gpus, 1.0)));
  t.overhead += (late - 1) * steady;
  pieces.lateness = late;
  pieces.data_exposed = data_exposed;
  t.total = late * steady;
  // busy of the closed form is the slowest stage's compute; keep the sum exact
  const Seconds named = t.compute() + t.tensor + t.context + t.expert + t.pipeline + t.bubble +
                        t.data + t.optimizer + t.offload + t.overhead;
  t.bubble += t.total - named;

  out.time = t;
  out.memory = memory(job, machine_, pieces.parts, blocks);
  out.data_communication = data_alone;
  const double units = static_cast<double>(job.global_batch) * (a.convolutional ? 1 : job.sequence);
  out.tokens_per_second = units / t.total.si();
  out.tokens_per_second_per_gpu = out.tokens_per_second / gpus;
  out.model_flops = model_flops(job, false) / gpus;
  const FlopRate peak = max(machine_.gpu.peak_of(job.precision), pieces.device.peak_16);
  out.utilisation.mfu = out.model_flops / (peak * t.total);
  out.utilisation.compute = (t.compute() + t.optimizer) / t.total;
  out.utilisation.busy = 1 - (t.overhead / t.total);
  out.stage_forward = pace.forward;
  out.stage_backward = pace.backward;
  const Band band = calibration_.band(band_kind(job, machine_.servers));
  out.low = band.low;
  out.high = band.high;
  return out;
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

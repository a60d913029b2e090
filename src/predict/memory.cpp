#include "predict/memory.h"

#include <algorithm>

#include "predict/pipeline.h"

namespace railyard::predict {

namespace {

using model::Job;
using model::Layout;
using model::Offload;
using model::Shard;

/// What one stage holds on this rank, over all of its chunks.
struct Holding {
  int stage = 0;
  bool first = false, last = false;
  int layers = 0;
  double plain = 0, expert = 0;  ///< parameters; experts have copies on fewer ranks
  double largest_block = 0;      ///< parameters of the largest layer
  Bytes kept = {};               ///< activations of one micro-batch, of all layers
  Bytes largest_kept = {};       ///< of the layer that keeps most

  double parameters() const { return plain + expert; }
};

void add_layers(const LayerCounts& counts, const ModelBlocks& blocks, Holding& h) {
  for (std::size_t kind = 0; kind < counts.of.size(); ++kind) {
    const int n = counts.of[kind];
    if (n == 0) continue;
    const Block& block = blocks.layers[kind];
    h.plain += n * (block.parameters - block.expert_parameters);
    h.expert += n * block.expert_parameters;
    h.largest_block = std::max(h.largest_block, block.parameters);
    h.kept += n * blocks.kept[kind];
    h.largest_kept = max(h.largest_kept, blocks.kept[kind]);
    h.layers += n;
  }
}

Holding holding(const Job& job, const std::vector<LayerCounts>& parts, const ModelBlocks& blocks,
                int stage) {
  const int stages = job.layout.pipeline;
  Holding h{.stage = stage, .first = stage == 0, .last = stage == stages - 1};
  for (auto part = static_cast<std::size_t>(stage); part < parts.size();
       part += static_cast<std::size_t>(stages))
    add_layers(parts[part], blocks, h);
  if (h.first) h.plain += blocks.embedding.parameters;
  // The last stage of a pipeline has a table of its own, also when it is tied to the first one's.
  const bool copy = stages > 1 && job.model.tied_embeddings;
  if (h.last) h.plain += (copy ? blocks.embedding : blocks.head).parameters;
  return h;
}

/// Bytes of a parameter that matrices multiply with.
double weight_bytes(const Job& job) {
  const bool single =
      job.precision == model::Precision::fp32 || job.precision == model::Precision::tf32;
  return single ? 4 : 2;
}

/// The share of the parameters that has gradients and optimizer state.
double trained(const Job& job) {
  return job.adapters_only ? 0.01 : 1;  // rank-16 adapters on all linear layers
}

/// Parameters of each sort that a rank keeps state for when ZeRO shards that state, or does not.
double kept_here(const Job& job, const Holding& h, bool sharded) {
  if (!sharded) return h.parameters();
  const Layout& l = job.layout;
  const double data = static_cast<double>(l.data) * l.context;
  const double plain_ways = l.shard_group > 0 ? std::min<double>(l.shard_group, data) : data;
  const double expert_ways = std::max(1.0, data * l.tensor / (l.expert * l.expert_tensor));
  return h.plain / plain_ways + h.expert / expert_ways;
}

/// Weights, gradients, optimizer: bytes a parameter, each cut by its stage of ZeRO.
/// [Rajbhandari et al., SC'20]
void add_model_state(const Job& job, const Holding& h, MemoryTerms& m) {
  const model::Software& s = job.software;
  const Shard shard = job.layout.shard;
  // both orientations of the cast weights
  const double casts = s.quantised_weights_kept ? 2 * saved_element(job) : 0;
  const double moments = job.optimizer == model::OptimizerKind::adam ? 2 : 1;
  m.weights = Bytes::si((weight_bytes(job) + casts) * kept_here(job, h, shard >= Shard::full));
  m.gradients =
      Bytes::si(trained(job) * s.gradient_bytes * kept_here(job, h, shard >= Shard::gradients));
  m.optimizer = Bytes::si(trained(job) * (s.master_bytes + moments * s.moment_bytes) *
                          kept_here(job, h, shard >= Shard::optimizer));
  if (job.layout.offload_optimizer != Offload::none) {
    m.host = m.optimizer;
    m.optimizer = {};
  }
}

/// ZeRO-3 works on whole blocks; what data parallelism without it has instead is buckets.
void add_data_parallel_buffers(const Job& job, const Holding& h, MemoryTerms& m) {
  const model::Software& s = job.software;
  if (job.layout.shard != Shard::full) {
    if (job.layout.data > 1) m.buckets = Bytes::si(s.bucket_bytes) + s.bucket_share * m.gradients;
    return;
  }
  if (!job.layout.reshard_after_forward) {
    // gathered once and kept; gradients stay whole until the last micro-batch
    m.gathered += Bytes::si(weight_bytes(job) * h.parameters());
    if (job.micro_batches() > 1)
      m.gathered += Bytes::si(trained(job) * s.gradient_bytes * h.parameters());
  }
  m.gathered += Bytes::si(2 * weight_bytes(job) * h.largest_block);  // that runs, and the next
  m.gathered += Bytes::si(s.gradient_bytes * h.largest_block);
}

/// Layers of the stage that keep their input alone.
double fully_recomputed(const Job& job, const Holding& h) {
  const Layout& l = job.layout;
  if (l.recompute != model::Recompute::full) return 0;
  return l.recompute_layers > 0 ? std::min(l.recompute_layers, h.layers) : h.layers;
}

/// Of all micro-batches that are between their forward and their backward on this stage.
void add_activations(const Job& job, const Holding& h, int chunks, MemoryTerms& m) {
  const Layout& l = job.layout;
  const PipelineView pipeline{.stages = l.pipeline,
                              .chunks = chunks,
                              .micro_batches = std::max(job.micro_batches(), 1),
                              .schedule = l.schedule};
  const double flight = in_flight(pipeline, h.stage) / static_cast<double>(chunks);
  const double inputs_only = fully_recomputed(job, h);
  const double share = h.layers > 0 ? inputs_only / h.layers : 0;
  m.activations = flight * ((1 - share) * h.kept + inputs_only * layer_input(job));
  // token numbers, int64
  if (h.first) m.activations += flight * Bytes::si(8.0 * tokens_per_rank(job));
  if (l.offload_activations != Offload::none) {
    m.host += m.activations;
    m.activations = Bytes::si(m.activations.si() / std::max(h.layers, 1) * 2);  // two layers' worth
  }
}

/// Logits at 16 bit and, unless the loss is fused, an fp32 copy and its softmax; their input.
void add_loss(const Job& job, MemoryTerms& m) {
  const double logits = tokens_per_rank(job) * job.model.vocab / job.layout.tensor;
  m.loss = Bytes::si((job.software.fused_loss ? 4.0 : 2.0 + 4.0 + 4.0) * logits) +
           layer_input(job) * 2.0;
}

void add_temporaries(const Job& job, const Holding& h, MemoryTerms& m) {
  const model::Architecture& a = job.model;
  // a layer that is recomputed keeps everything while its backward runs
  if (fully_recomputed(job, h) > 0) m.temporaries += h.largest_kept;
  // in backward, the gradients of the widest tensors of one layer
  const double widest =
      std::max<double>(a.gated ? 2.0 * a.ffn : a.ffn, 3.0 * a.hidden) / job.layout.tensor;
  m.temporaries += Bytes::si(2.0 * tokens_per_rank(job) * (widest + 2.0 * a.hidden));
  // the gradient of one weight matrix, 16 bit and as fp32, before it is added to the others
  m.temporaries += Bytes::si(6.0 * a.hidden * a.ffn * (a.gated ? 2 : 1) / job.layout.tensor);
}

/// Allowances for what is there whatever the job.  [docs/model.md, memory]
void add_runtime(MemoryTerms& m) {
  m.communication = Bytes::si(1.0e9);
  m.context = Bytes::si(0.6e9);
  m.reserve = 0.03 * m.allocated();
}

}  // namespace

MemoryTerms memory(const Job& job, const fabric::Machine& machine,
                   const std::vector<LayerCounts>& parts, const ModelBlocks& blocks) {
  const int chunks = static_cast<int>(parts.size()) / job.layout.pipeline;
  MemoryTerms worst;
  for (int stage = 0; stage < job.layout.pipeline; ++stage) {
    const Holding h = holding(job, parts, blocks, stage);
    MemoryTerms m;
    m.stage = stage;
    m.capacity = machine.gpu.memory_usable;
    add_model_state(job, h, m);
    add_data_parallel_buffers(job, h, m);
    add_activations(job, h, chunks, m);
    if (h.last && job.model.vocab > 0) add_loss(job, m);
    add_temporaries(job, h, m);
    add_runtime(m);
    if (stage == 0 || m.total() > worst.total()) worst = m;
  }
  return worst;
}

}  // namespace railyard::predict

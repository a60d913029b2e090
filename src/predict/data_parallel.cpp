#include "predict/data_parallel.h"

#include <algorithm>

namespace railyard::predict {

namespace {

using model::Job;
using model::Layout;
using model::Shard;

/// A collective over so many parameters.
class Wire {
 public:
  Wire(const CollectiveModel& collectives, double bytes)
      : collectives_(collectives), bytes_(bytes) {}

  Seconds time(Collective what, double parameters, const Group& group) const {
    if (parameters <= 0) return {};
    return collectives_.time(what, Bytes::si(parameters * bytes_), group).time;
  }

 private:
  const CollectiveModel& collectives_;
  double bytes_;
};

}  // namespace

double trained_share(const Job& job) { return job.adapters_only ? 0.01 : 1.0; }

DataGroups make_data_groups(const Job& job, const fabric::Machine& machine) {
  const Layout& l = job.layout;
  DataGroups g;
  g.ways = l.data * l.context;
  g.shard = std::max(1, l.shard_group > 0 ? std::min(l.shard_group, g.ways) : g.ways);
  g.expert_ways = std::max(1, g.ways * l.tensor / std::max(l.expert * l.expert_tensor, 1));
  g.all = make_group(machine, g.ways, l.tensor);
  g.shards = make_group(machine, g.shard, l.tensor);
  g.copies = make_group(machine, g.ways / g.shard, l.tensor * g.shard);
  g.experts = make_group(machine, g.expert_ways, l.expert * l.expert_tensor);
  g.sharded_weights = l.shard == Shard::full && g.ways > 1;
  return g;
}

RankParameters most_parameters(const Job& job, const std::vector<LayerCounts>& parts,
                               const ModelBlocks& blocks) {
  const int stages = job.layout.pipeline, chunks = static_cast<int>(parts.size()) / stages;
  RankParameters most;
  for (int stage = 0; stage < stages; ++stage) {
    RankParameters sum;
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const LayerCounts& counts = parts[static_cast<std::size_t>(chunk * stages + stage)];
      for (std::size_t k = 0; k < counts.of.size(); ++k) {
        const Block& b = blocks.layers[k];
        sum.plain += counts.of[k] * (b.parameters - b.expert_parameters);
        sum.experts += counts.of[k] * b.expert_parameters;
      }
    }
    if (stage == 0) sum.plain += blocks.embedding.parameters;
    if (stage == stages - 1)
      sum.plain += job.model.tied_embeddings && stages > 1 ? blocks.embedding.parameters
                                                           : blocks.head.parameters;
    if (sum.plain + sum.experts > most.plain + most.experts) most = sum;
  }
  return most;
}

Exchange exchange_block(const Job& job, const DataGroups& g, const Device& device,
                        const CollectiveModel& collectives, const RankParameters& block) {
  const model::Software& sw = job.software;
  const Wire weights(collectives, sw.parameter_wire_bytes),
      gradients(collectives, sw.gradient_wire_bytes);
  const double trained = trained_share(job);
  Exchange out;
  out.gather = weights.time(Collective::all_gather, block.plain, g.shards) +
               weights.time(Collective::all_gather, block.experts, g.experts);
  out.reduce = gradients.time(Collective::reduce_scatter, trained * block.plain, g.shards) +
               gradients.time(Collective::reduce_scatter, trained * block.experts, g.experts);
  if (g.shard < g.ways)
    out.reduce += gradients.time(Collective::all_reduce, trained * block.plain / g.shard, g.copies);
  // pieces are copied out of the gathered buffer, gradients into the one that is reduced
  const Seconds copy =
      elementwise(Bytes::si(2.0 * sw.parameter_wire_bytes * (block.plain + block.experts)), device);
  out.gather += copy;
  out.reduce += copy;
  return out;
}

Exchange exchange_step(const Job& job, const DataGroups& g, const CollectiveModel& collectives,
                       const RankParameters& rank) {
  const model::Software& sw = job.software;
  const Wire weights(collectives, sw.parameter_wire_bytes),
      gradients(collectives, sw.gradient_wire_bytes);
  const bool owned = job.layout.shard >= Shard::optimizer;
  Exchange out;
  if (owned && sw.owner_by_owner) {
    // Buckets are reduced whole; every owner then sends its weights to all, one after the other.
    out.reduce = gradients.time(Collective::reduce_scatter, rank.plain, g.shards);
    if (g.shard < g.ways)
      out.reduce += gradients.time(Collective::all_reduce, rank.plain / g.shard, g.copies);
    out.gather = static_cast<double>(g.shard) *
                 weights.time(Collective::broadcast, rank.plain / g.shard, g.shards);
    return out;
  }
  const auto add = [&](double parameters, const Group& group) {
    const bool scatter = owned && g.shard == g.ways && sw.reduce_scatter_gradients;
    out.reduce += gradients.time(scatter ? Collective::reduce_scatter : Collective::all_reduce,
                                 parameters, group);
    if (owned)
      out.gather +=
          weights.time(Collective::all_gather, parameters, g.shard == g.ways ? group : g.shards);
  };
  const double trained = trained_share(job);
  add(trained * rank.plain, g.all);
  add(trained * rank.experts, g.experts);
  return out;
}

}  // namespace railyard::predict

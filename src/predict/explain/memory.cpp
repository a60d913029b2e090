// Terms of accelerator memory on the stage that needs most.

#include "base/measure.h"
#include "predict/explain/terms.h"
#include "predict/step_parts.h"

namespace railyard::predict::explained {

namespace {

constexpr const char* kKindNames[] = {"dense layer",     "layer with experts", "state-space layer",
                                      "attention layer", "FFN layer",          "expert layer"};

/// "1.75e9 parameters x 6.00 B": what a kind of model state comes to, sharding included.
std::string per_parameter(Bytes b, double parameters, const std::string& split) {
  if (parameters <= 0) return {};
  return big(parameters) + " parameters on the rank x " + show_number(b.si() / parameters) + " B" +
         split;
}

std::string split_over(const Outlook& o, model::Shard from) {
  const model::Layout& l = o.job.layout;
  const int ways = l.shard_group > 0 ? l.shard_group : l.data * l.context;
  return l.shard >= from && ways > 1 ? ", cut over " + std::to_string(ways) + " ranks" : "";
}

Term activations(const Outlook& o) {
  const MemoryTerms& m = o.prediction.memory;
  const model::Layout& l = o.job.layout;
  const int v = static_cast<int>(o.pieces.parts.size()) / l.pipeline;
  const PipelineView view{.stages = l.pipeline,
                          .chunks = v,
                          .micro_batches = std::max(o.job.micro_batches(), 1),
                          .schedule = l.schedule};
  const double flight = in_flight(view, m.stage) / static_cast<double>(v);
  Term out = term(
      "activations", m.activations,
      count(flight) + " micro-batches of the stage in flight" +
          (l.recompute == model::Recompute::full ? ", of recomputed layers the input alone" : ""));
  if (o.job.model.convolutional) return out;
  const double unit =
      static_cast<double>(l.micro_batch) * o.job.sequence / l.context * o.job.model.hidden;
  for (std::size_t k = 0; k < std::size(kKindNames); ++k) {
    int layers = 0;
    for (std::size_t part = static_cast<std::size_t>(m.stage); part < o.pieces.parts.size();
         part += static_cast<std::size_t>(l.pipeline))
      layers += o.pieces.parts[part].of[k];
    if (layers == 0) continue;
    const Bytes kept = o.pieces.blocks.kept[k];
    out.children.push_back(term(std::string("one ") + kKindNames[k], kept,
                                show_number(kept.si() / unit) + " s b h; " +
                                    std::to_string(layers) +
                                    " on the stage; what backward reads again"));
  }
  return out;
}

std::string formula_of(const Outlook& o, std::string_view kind) {
  const MemoryTerms& m = o.prediction.memory;
  const double n = stage_parameters(o, m.stage).all();
  using model::Shard;
  if (kind == "weights") return per_parameter(m.weights, n, split_over(o, Shard::full));
  if (kind == "gradients") return per_parameter(m.gradients, n, split_over(o, Shard::gradients));
  if (kind == "optimizer")
    return per_parameter(m.optimizer, n, split_over(o, Shard::optimizer)) +
           ": master weights and moments";
  if (kind == "loss") return "logits of a micro-batch and what the loss makes of them";
  if (kind == "gathered") return "the largest block whole, twice: the one that runs and the next";
  if (kind == "buckets") return "communication buckets of data parallelism";
  if (kind == "temporaries") return "working set of the layer that runs";
  if (kind == "communication") return "buffers of NCCL's channels";
  if (kind == "context") return "CUDA context and modules";
  return "share of the above that the allocator holds and cannot use";
}

}  // namespace

Term memory_term(const Facts& f) {
  const Outlook& o = f.outlook;
  const MemoryTerms& m = o.prediction.memory;
  Term out = term("memory", m.total(),
                  "of stage " + std::to_string(m.stage) + ", which needs most; " +
                      show(m.capacity) + " are there",
                  "docs/model.md");
  for (const MemoryPart& part : memory_parts()) {
    const Bytes b = m.*part.member;
    if (b <= Bytes{}) continue;
    out.children.push_back(part.key == "activations"
                               ? activations(o)
                               : term(std::string(part.title), b, formula_of(o, part.key)));
  }
  return out;
}

}  // namespace railyard::predict::explained

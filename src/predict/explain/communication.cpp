// Terms of communication: which group exchanges how much, how long that takes alone, what of it
// hides, and which link of the machine it meets.

#include <algorithm>

#include "base/measure.h"
#include "predict/explain/terms.h"
#include "predict/words.h"

namespace railyard::predict::explained {

namespace {

bool same(const Group& a, const Group& b) { return a.ranks == b.ranks && a.stride == b.stride; }

/// Bytes over the busiest link of a rank, as nccl-tests count bus bandwidth.
double traffic(Collective what, double n) {
  if (what == Collective::all_reduce) return 2 * (n - 1) / n;
  return what == Collective::send ? 1 : (n - 1) / n;
}

std::string limit_in_words(const Facts& f, Binding binding) {
  const fabric::Limit* limit = limit_of(f.outlook.machine, binding);
  return limit ? limit->name + ": " + limit->why : std::string();
}

Term call_term(const Facts& f, const Call& c) {
  const Bandwidth bus = traffic(c.what, c.group.ranks) * c.size / c.each.time;
  return term("each " + std::string(collective_name(c.what)), c.each.time,
              show(c.size) + ", " + group_in_words(c.group) + "; bus bandwidth " + show(bus) +
                  ", bound by " + predict::name(c.each.binding),
              limit_in_words(f, c.each.binding));
}

/// Whose call it is, where groups may coincide: experts exchange, tensor ranks gather and reduce.
std::string_view part_of(const Facts& f, const Call& c) {
  const StepModel::Pieces& pieces = f.outlook.pieces;
  const model::Layout& l = f.outlook.job.layout;
  if (l.context > 1 && same(c.group, pieces.context)) return "context_communication";
  if (c.what == Collective::all_to_all) return "expert_communication";
  return "tensor_communication";
}

/// Where a pass keeps the time of a part's collectives.
Seconds Pass::* member_of(std::string_view part) {
  return part == "tensor_communication"    ? &Pass::tensor
         : part == "context_communication" ? &Pass::context
                                           : &Pass::expert;
}

/// Collectives inside the blocks, as if nothing ran beside them; then what overlap makes of it.
std::vector<Term> block_terms(const Facts& f, std::string_view part) {
  const bool again = f.outlook.job.layout.recompute == model::Recompute::full;
  std::vector<Term> out;
  for (const BlockView& b : f.blocks) {
    const Seconds forward = b.block.forward.*member_of(part);
    const Seconds backward = b.block.backward.*member_of(part);
    const Seconds repeated = again && b.repeats ? forward : Seconds{};
    if (forward + backward <= Seconds{}) continue;
    Term block = term(b.name, f.micro_batches * b.count * (forward + backward + repeated),
                      micro_batches(f) + " x " + count(b.count) + " x (forward " + show(forward) +
                          ", backward " + show(backward) +
                          (repeated > Seconds{} ? ", recomputed forward " + show(repeated) : "") +
                          "), alone");
    for (const Call& c : b.calls)
      if (part_of(f, c) == part) block.children.push_back(call_term(f, c));
    out.push_back(std::move(block));
  }
  return out;
}

std::vector<Term> data_terms(const Facts& f) {
  const Outlook& o = f.outlook;
  const StepModel::Pieces& pieces = o.pieces;
  const model::Software& sw = o.job.software;
  std::vector<Term> out;
  const std::string where = group_in_words(pieces.data);
  const std::string limit = limit_in_words(f, o.prediction.data_binding);
  const bool each_layer = o.job.layout.shard == model::Shard::full;
  if (each_layer) {
    out.push_back(
        term("layer by layer", o.prediction.data_communication,
             "weights gathered" +
                 std::string(o.job.layout.reshard_after_forward ? " for forward and backward"
                                                                : " once") +
                 ", gradients reduced, every micro-batch; " + where,
             limit));
  } else {
    const bool scatter = o.job.layout.shard >= model::Shard::optimizer;
    const bool reduces = scatter && sw.reduce_scatter_gradients;
    out.push_back(term("gradients", pieces.gradient_sync,
                       std::string(reduces ? "reduce-scatter" : "all-reduce") + " of " +
                           show(pieces.gradient_bytes) + " (" +
                           std::to_string(sw.gradient_wire_bytes) + " B a parameter), " + where,
                       limit));
    if (pieces.parameter_sync > Seconds{})
      out.push_back(term(
          "parameters", pieces.parameter_sync,
          "all-gather, " + std::to_string(sw.parameter_wire_bytes) + " B a parameter, " + where,
          limit));
  }
  settle(out, o.prediction.time.data,
         {"beside compute",
          "what runs behind forward and backward costs only the slowdown of both; the "
          "first gather and the last reduction have nothing beside them"});
  return out;
}

std::vector<Term> send_terms(const Facts& f) {
  const StepModel::Pieces& pieces = f.outlook.pieces;
  const bool network = pieces.stages.servers > 1 && pieces.stages.domains > 1;
  Term each =
      term("each send", pieces.send,
           "activations of a micro-batch to the next stage; " + group_in_words(pieces.stages),
           limit_in_words(f, network ? Binding::network : Binding::scale_up));
  Term all = term("sends", f.outlook.prediction.time.pipeline,
                  f.outlook.job.software.overlap_pipeline
                      ? "they run beside compute; only their latency lengthens the schedule"
                      : "each holds both stages");
  all.children.push_back(std::move(each));
  return {all};
}

}  // namespace

std::vector<Term> communication_terms(const Facts& f, const TimePart& part) {
  if (part.key == "data_communication") return data_terms(f);
  if (part.key == "pipeline_communication") return send_terms(f);
  std::vector<Term> out = block_terms(f, part.key);
  settle(out, f.outlook.prediction.time.*part.member,
         {"beside compute", "overlap hides a part and slows both"});
  return out;
}

}  // namespace railyard::predict::explained

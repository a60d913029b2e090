// The blocks of the stage that sets the pace, built once more with somebody listening: which matrix
// multiplications they consist of, and which collectives they call.

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/measure.h"
#include "predict/explain/terms.h"

namespace railyard::predict::explained {

namespace {

bool same(const Group& a, const Group& b) { return a.ranks == b.ranks && a.stride == b.stride; }

/// Passes every question on and notes it down.
class Listener final : public CollectiveModel {
 public:
  explicit Listener(const CollectiveModel& inner) : inner_(inner) {}

  CollectiveTime time(Collective what, Bytes size, const Group& group) const override {
    const CollectiveTime out = inner_.time(what, size, group);
    if (out.time <= Seconds{}) return out;
    const bool known = std::ranges::any_of(calls_, [&](const Call& c) {
      return c.what == what && c.size == size && same(c.group, group);
    });
    if (!known) calls_.push_back({what, size, group, out});
    return out;
  }

  std::vector<Call> take() const { return std::exchange(calls_, {}); }

 private:
  const CollectiveModel& inner_;
  mutable std::vector<Call> calls_;
};

struct NamedKind {
  LayerKind kind;
  const char* name;
};
constexpr NamedKind kKinds[] = {{LayerKind::dense, "dense layer"},
                                {LayerKind::experts, "layer with experts"},
                                {LayerKind::state_space, "state-space layer"},
                                {LayerKind::attention_only, "attention layer"},
                                {LayerKind::ffn_only, "FFN layer"},
                                {LayerKind::experts_only, "expert layer"}};

class Gatherer {
 public:
  Gatherer(const Outlook& o, const Calibration& calibration)
      : o_(o),
        law_(o.machine, calibration),
        listener_(law_),
        context_(make_context(o.job, o.pieces.device, calibration, listener_, o.machine)) {}

  std::vector<BlockView> blocks() {
    const int p = o_.job.layout.pipeline;
    const int stage = o_.pieces.pacing_stage;
    const std::vector<LayerCounts>& parts = o_.pieces.parts;
    std::vector<BlockView> out;
    if (o_.job.model.convolutional) {
      out.push_back(view("network", 1, convolutional_block));
      return out;
    }
    if (stage == 0) out.push_back(view("embedding", 1, embedding_block));
    for (const NamedKind& k : kKinds) {
      double n = 0;
      for (std::size_t part = static_cast<std::size_t>(stage); part < parts.size();
           part += static_cast<std::size_t>(p))
        n += parts[part][k.kind];
      if (n > 0)
        out.push_back(
            view(k.name, n, [&](const BlockContext& c) { return layer_block(c, k.kind); }));
    }
    if (stage == p - 1) out.push_back(view("logits and loss", 1, head_block));
    for (BlockView& b : out) b.repeats = b.name != "embedding" && b.name != "logits and loss";
    return out;
  }

 private:
  template <class Make>
  BlockView view(const char* name, double count, const Make& make) {
    BlockView out{.name = name, .count = count};
    context_.log = &out.kernels;
    out.block = make(context_);
    context_.log = nullptr;
    out.calls = listener_.take();
    return out;
  }

  const Outlook& o_;
  nccl::StepCollectives law_;
  Listener listener_;
  BlockContext context_;
};

}  // namespace

Facts gather(const Outlook& o, const model::Cluster& cluster, const Calibration& calibration) {
  return {.outlook = o,
          .cluster = cluster,
          .calibration = calibration,
          .micro_batches = static_cast<double>(std::max(o.job.micro_batches(), 1)),
          .blocks = Gatherer(o, calibration).blocks()};
}

StageParameters stage_parameters(const Outlook& o, int stage) {
  const int p = o.job.layout.pipeline;
  const ModelBlocks& blocks = o.pieces.blocks;
  StageParameters out;
  for (std::size_t part = static_cast<std::size_t>(stage); part < o.pieces.parts.size();
       part += static_cast<std::size_t>(p))
    for (const NamedKind& k : kKinds) {
      const Block& b = blocks.of(k.kind);
      const double n = o.pieces.parts[part][k.kind];
      out.plain += n * (b.parameters - b.expert_parameters);
      out.expert += n * b.expert_parameters;
    }
  if (stage == 0) out.plain += blocks.embedding.parameters;
  if (stage == p - 1)
    out.plain +=
        p > 1 && o.job.model.tied_embeddings ? blocks.embedding.parameters : blocks.head.parameters;
  return out;
}

void settle(std::vector<Term>& terms, Seconds total, const Rest& rest) {
  Seconds sum{};
  for (const Term& t : terms) sum += Seconds::si(t.number);
  const Seconds missing = total - sum;
  if (std::abs(missing.si()) > 1e-9 * std::abs(total.si()))
    terms.push_back(term(rest.name, missing, rest.formula, rest.source));
}

std::string times(double n, Seconds each) { return count(n) + " x " + show(each); }

std::string micro_batches(const Facts& f) {
  return count(f.micro_batches) + (f.micro_batches == 1 ? " micro-batch" : " micro-batches");
}

std::string count(double n) {
  return n == std::floor(n) && n < 1e15 ? std::to_string(static_cast<long long>(n))
                                        : show_number(n);
}

std::string big(double n) {
  if (n >= 1e9) return show_number(n / 1e9) + "e9";
  if (n >= 1e6) return show_number(n / 1e6) + "e6";
  return count(n);
}

}  // namespace railyard::predict::explained

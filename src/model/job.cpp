#include "model/job.h"

#include <algorithm>
#include <utility>

namespace railyard::model {

namespace {

/// "1, 2, 4 and 8": for hints that say what would do.
std::string divisors(int n) {
  constexpr int kShown = 12;
  std::vector<int> all;
  for (int d = 1; d <= n && static_cast<int>(all.size()) < kShown; ++d)
    if (n % d == 0) all.push_back(d);
  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) out += i + 1 == all.size() ? " and " : ", ";
    out += std::to_string(all[i]);
  }
  return out + (all.size() == 1 ? " does" : " do");
}

std::string text(int n) { return std::to_string(n); }

// No product of degrees may leave 32 bits; nobody has a billion accelerators.
constexpr double kMostRanks = 1e9;
double ranks_of(const Layout& l) {
  return static_cast<double>(l.tensor) * l.context * l.pipeline * std::max(l.data, 1) *
         l.micro_batch;
}
double parts_of(const Layout& l) {
  return static_cast<double>(l.pipeline) * l.virtual_stages * l.expert * l.expert_tensor;
}

/// The laws one after the other; each says what would have been possible.
class Laws {
 public:
  explicit Laws(const Job& job) : job_(job), a_(job.model), l_(job.layout) {}

  std::vector<Impossible> run() {
    sizes();
    if (!out_.empty()) return std::move(out_);  // the laws below divide by these
    if (a_.convolutional) {
      data_parallel_only();
    } else {
      tensor();
      pipeline();
      context();
      experts();
    }
    shards();
    batch();
    return std::move(out_);
  }

 private:
  void broken(std::string field, std::string expected, std::string found, std::string hint = {}) {
    out_.push_back({std::move(field), std::move(expected), std::move(found), std::move(hint)});
  }

  void at_least_one(const char* field, int value) {
    if (value < 1) broken(field, "at least 1", text(value));
  }

  void sizes() {
    at_least_one("layout.tensor_parallel", l_.tensor);
    at_least_one("layout.pipeline_parallel", l_.pipeline);
    at_least_one("layout.virtual_stages", l_.virtual_stages);
    at_least_one("layout.context_parallel", l_.context);
    at_least_one("layout.expert_parallel", l_.expert);
    at_least_one("layout.expert_tensor_parallel", l_.expert_tensor);
    at_least_one("layout.micro_batch", l_.micro_batch);
    at_least_one("global_batch", job_.global_batch);
    if (l_.data < 0)
      broken("layout.data_parallel", "at least 1, or nothing to fill the cluster", text(l_.data));
    if (!a_.convolutional) at_least_one("sequence", job_.sequence);
    if (out_.empty() && (ranks_of(l_) > kMostRanks || parts_of(l_) > kMostRanks))
      broken("layout", "at most a billion accelerators and pipeline parts", "more");
  }

  void data_parallel_only() {
    const std::pair<const char*, int> others[] = {{"layout.tensor_parallel", l_.tensor},
                                                  {"layout.pipeline_parallel", l_.pipeline},
                                                  {"layout.virtual_stages", l_.virtual_stages},
                                                  {"layout.context_parallel", l_.context},
                                                  {"layout.expert_parallel", l_.expert}};
    for (const auto& [field, value] : others)
      if (value > 1)
        broken(field, "1 for a convolutional network", text(value),
               "such networks are modelled with data parallelism only");
  }

  /// Heads and FFN columns are cut into `tensor` equal parts. Key-value heads may be fewer than
  /// ranks: then ranks share a copy.  [Shoeybi et al. 2019; Megatron-Core asserts the same]
  void tensor() {
    const int t = l_.tensor;
    const char* field = "layout.tensor_parallel";
    if (t == 1) return;
    if (a_.heads % t != 0) {
      broken(field, "a tensor_parallel that divides " + text(a_.heads) + " attention heads",
             text(t), divisors(a_.heads));
    } else if (!a_.latent && a_.kv_heads > 0 && a_.kv_heads % t != 0 && t % a_.kv_heads != 0) {
      broken(field,
             "a tensor_parallel that divides " + text(a_.kv_heads) +
                 " key-value heads or is a multiple of them",
             text(t));
    }
    const bool has_dense_ffn = !a_.experts || a_.experts->dense_layers > 0;
    if (has_dense_ffn && a_.ffn % t != 0)
      broken(field, "a tensor_parallel that divides the FFN width " + text(a_.ffn), text(t));
    if (a_.state_space && a_.state_space->heads % t != 0)
      broken(field,
             "a tensor_parallel that divides " + text(a_.state_space->heads) + " state-space heads",
             text(t), divisors(a_.state_space->heads));
    const int per_context = job_.sequence / l_.context;
    if (l_.sequence_parallel && per_context % t != 0)
      broken("layout.sequence_parallel",
             "a tensor_parallel that divides the sequence of " + text(per_context) +
                 " (per context rank)",
             text(t), "sequence_parallel cuts the sequence into tensor_parallel parts");
  }

  void pipeline() {
    const int parts = l_.pipeline * l_.virtual_stages;
    // The embedding and the loss can be stages of their own.
    if (parts > a_.layers + 2)
      broken(l_.virtual_stages > 1 ? "layout.virtual_stages" : "layout.pipeline_parallel",
             "at most " + text(a_.layers + 2) + " pipeline parts for " + text(a_.layers) +
                 " layers, embedding and loss",
             l_.virtual_stages > 1 ? text(l_.pipeline) + " stages x " + text(l_.virtual_stages)
                                   : text(parts));
    if (l_.virtual_stages > 1 && l_.pipeline == 1)
      broken("layout.virtual_stages", "1 without a pipeline", text(l_.virtual_stages),
             "virtual stages interleave the parts of a pipeline: set pipeline_parallel");
    if (l_.virtual_stages > 1 && l_.schedule != Schedule::interleaved)
      broken("layout.schedule", "interleaved for " + text(l_.virtual_stages) + " virtual stages",
             "another schedule", "leave schedule out, or set virtual_stages to 1");
    const int stage_layers = (a_.layers + l_.pipeline - 1) / l_.pipeline;
    if (l_.recompute_layers > std::max(stage_layers, 1))
      broken("layout.recompute", "at most the " + text(stage_layers) + " layers of a stage",
             text(l_.recompute_layers));
  }

  /// Causal attention is balanced by giving each rank one early and one late piece, so 2 x context
  /// pieces.  [Megatron-Core context parallelism; Llama 3 herd, section 3.3.2]
  void context() {
    const int c = l_.context;
    if (c == 1) return;
    const bool ring = l_.context_kind == ContextKind::ring;
    const int pieces = ring && a_.causal ? 2 * c : c;
    if (job_.sequence % pieces != 0)
      broken("layout.context_parallel",
             "a context_parallel that cuts " + text(job_.sequence) + " tokens into " +
                 (pieces == c ? "equal parts" : "two equal parts a rank"),
             text(c));
    if (!ring && a_.heads % (c * l_.tensor) != 0)
      broken("layout.context_parallel",
             "all-to-all over a number of ranks that, times tensor_parallel " + text(l_.tensor) +
                 ", divides " + text(a_.heads) + " heads",
             text(c), "context_kind: ring has no such limit");
  }

  void experts() {
    const int e = l_.expert, et = l_.expert_tensor;
    if (!a_.experts) {
      if (e > 1) broken("layout.expert_parallel", "1 for a model without experts", text(e));
      if (et > 1)
        broken("layout.expert_tensor_parallel", "1 for a model without experts", text(et));
      return;
    }
    if (a_.experts->experts % e != 0)
      broken("layout.expert_parallel",
             "an expert_parallel that divides " + text(a_.experts->experts) + " experts", text(e),
             divisors(a_.experts->experts));
    if (a_.experts->ffn % et != 0)
      broken("layout.expert_tensor_parallel",
             "an expert_tensor_parallel that divides the expert width " + text(a_.experts->ffn),
             text(et));
    const int ranks = l_.tensor * l_.context * l_.data;  // of one pipeline stage
    if (l_.data > 0 && ranks % (e * et) != 0)
      broken("layout.expert_parallel",
             "expert groups that fit into tensor x context x data = " + text(ranks) + " ranks",
             et > 1 ? text(e) + " x " + text(et) : text(e));
  }

  void shards() {
    const int group = l_.shard_group, ranks = l_.data * l_.context;
    if (group == 0) return;
    if (l_.shard == Shard::none)
      broken("layout.shard_group", "no shard_group while nothing is sharded", text(group),
             "set zero: 1, 2 or 3, or fsdp: true");
    if (l_.data > 0 && (group < 1 || ranks % group != 0))
      broken("layout.shard_group",
             "a shard_group that divides data x context = " + text(ranks) + " ranks", text(group),
             divisors(ranks));
  }

  void batch() {
    const int at_once = std::max(l_.data, 1) * l_.micro_batch;
    if (job_.global_batch % at_once == 0) return;
    broken(
        "global_batch",
        l_.data > 0 ? "a multiple of data_parallel " + text(l_.data) + " x micro_batch " +
                          text(l_.micro_batch) + " = " + text(at_once)
                    : "a multiple of micro_batch " + text(l_.micro_batch),
        text(job_.global_batch),
        "for example " + text(at_once * std::max(1, (job_.global_batch + at_once / 2) / at_once)));
  }

  const Job& job_;
  const Architecture& a_;
  const Layout& l_;
  std::vector<Impossible> out_;
};

Problem problem_at(const Job& job, std::string_view field, Impossible what) {
  Problem out{.expected = std::move(what.expected),
              .found = std::move(what.found),
              .hint = std::move(what.hint)};
  if (!job.origin) return out;
  out.at.file = job.origin->file;
  if (const JobOrigin::Field* f = job.origin->find(field)) {
    out.at = f->at;
    out.source_line = f->source_line;
  }
  return out;
}

/// "tensor 8 x pipeline 64", the factors above one.
std::string product_of(const Layout& l) {
  const std::pair<const char*, int> factors[] = {
      {"tensor", l.tensor}, {"context", l.context}, {"pipeline", l.pipeline}, {"data", l.data}};
  std::string out;
  for (const auto& [name, n] : factors)
    if (n > 1) out += (out.empty() ? "" : " x ") + std::string(name) + ' ' + text(n);
  return out;
}

}  // namespace

const JobOrigin::Field* JobOrigin::find(std::string_view name) const {
  for (;;) {
    const auto it = std::ranges::find(fields, name, &Field::name);
    if (it != fields.end()) return &*it;
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return nullptr;
    name = name.substr(0, dot);
  }
}

std::vector<Impossible> check(const Job& job) { return Laws(job).run(); }

Problems problems_of(const Job& job, const std::vector<Impossible>& impossible) {
  Problems out;
  for (const Impossible& i : impossible) out.push_back(problem_at(job, i.field, i));
  return out;
}

Checked<Job> fit_to(Job job, int accelerators) {
  Layout& l = job.layout;
  const bool derive = l.data == 0;
  if (ranks_of(l) > kMostRanks) return std::unexpected(problems_of(job, check(job)));
  const int needs = l.tensor * l.context * l.pipeline * std::max(l.data, 1);
  const std::string what = product_of(l);
  if (needs > accelerators)
    return as_problems(problem_at(
        job, "layout",
        {.field = "layout",
         .expected = "a layout for at most " + text(accelerators) + " accelerators",
         .found =
             "layout needs " + text(needs) + " accelerators, cluster has " + text(accelerators),
         .hint = what + " = " + text(needs)}));
  if (derive) {
    if (accelerators % needs != 0)
      return as_problems(problem_at(job, "layout",
                                    {.field = "layout",
                                     .expected = "a layout that divides the cluster's " +
                                                 text(accelerators) + " accelerators",
                                     .found = (what.empty() ? "" : what + " = ") + text(needs),
                                     .hint = "give data_parallel to use a part of the cluster"}));
    l.data = accelerators / needs;
  }
  const std::vector<Impossible> impossible = check(job);
  if (!impossible.empty()) return std::unexpected(problems_of(job, impossible));
  return job;
}

}  // namespace railyard::model

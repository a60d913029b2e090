// Mixture of experts: router, dispatch to the ranks that hold the chosen experts, their FFNs,
// combine; and the shared expert that every token visits.

#include <algorithm>
#include <cmath>

#include "predict/activations.h"
#include "predict/detail/layer_parts.h"

namespace railyard::predict::detail {

namespace {

using model::Architecture;
using model::Experts;
using model::Layout;

/// What experts work on, on one rank.
struct Routed {
  double rows = 0;     ///< tokens before routing: the sequence-sharded ones
  double copies = 0;   ///< tokens that arrive at the busiest rank
  double width = 0;    ///< of a token; latent experts work at a narrower one
  double experts = 0;  ///< on this rank
};

Routed routed(const BlockContext& c) {
  const Layout& l = c.job.layout;
  const Experts& e = *c.job.model.experts;
  Routed r;
  r.rows = tokens_per_rank(c.job) / l.tensor;
  // Each rank sends top_k copies of its tokens and receives as many on average; the busiest rank
  // receives `expert_imbalance` times that.
  r.copies = r.rows * e.top_k * l.expert_tensor * c.job.software.expert_imbalance;
  r.width = e.latent > 0 ? e.latent : c.job.model.hidden;
  r.experts = std::max(1.0, static_cast<double>(e.experts) / l.expert);
  return r;
}

/// The router, and around latent experts a projection down and one up.
void add_router(Block& b, const BlockContext& c, const Routed& r) {
  const Experts& e = *c.job.model.experts;
  const double hidden = c.job.model.hidden;
  Linear linear(b, c);
  linear.add({r.rows, static_cast<double>(e.experts), hidden}, {.operands = Operands::sixteen_bit});
  if (e.latent > 0) {
    linear.add({r.rows, r.width, hidden});
    linear.add({r.rows, hidden, r.width});
  }
}

/// Permutation gathers whole rows at the streaming rate; un-permutation adds rows into each other
/// and is several times slower (index_add on H200: 15 % of the memory rate). Backward swaps the
/// two. Stacks with dispatch kernels of their own (DeepEP) fuse it with the exchange.
void add_permutation(Block& b, const BlockContext& c, const Routed& r) {
  const double moved = r.copies * r.width;
  const double scatter = c.job.software.deduplicate_dispatch ? c.constants.expert_scatter_fused
                                                             : c.constants.expert_scatter;
  const Seconds rows =
      elementwise(Bytes::si(4 * moved), c.device) + reduction(Bytes::si(scatter * moved), c.device);
  b.forward.memory += rows;
  b.backward.memory += rows;
}

/// One dispatch or combine, which are all-to-alls of the same volume.
Seconds exchange(const BlockContext& c, const Routed& r) {
  const int top_k = c.job.model.experts->top_k;
  const double once = 2 * r.rows * c.job.software.expert_imbalance * r.width;
  const Bytes every_copy = Bytes::si(once * top_k);
  const auto over = [&](Bytes size, const Group& group) {
    return c.collectives.time(Collective::all_to_all, size, group).time;
  };
  const Seconds direct = over(every_copy, c.expert);
  if (!c.job.software.deduplicate_dispatch || c.expert.domains <= 1) return direct;
  // Kernels such as DeepEP send a token once to each scale-up domain that wants it and copy it
  // there: of D domains, a token with k random experts wants D (1 - (1 - 1/D)^k).
  const double d = c.expert.domains;
  const double wanted = d * (1 - std::pow(1 - 1 / d, top_k));
  const Group inside{.ranks = c.expert.per_domain,
                     .stride = c.expert.stride,
                     .per_domain = c.expert.per_domain,
                     .per_server = std::min(c.expert.per_domain, c.expert.per_server)};
  return min(direct, over(Bytes::si(once * wanted), c.expert) + over(every_copy, inside));
}

void add_exchanges(Block& b, const BlockContext& c, const Routed& r) {
  if (c.job.layout.expert <= 1) return;
  const Seconds once = exchange(c, r);
  b.forward.expert += 2 * once;
  b.backward.expert += 2 * once;
  b.forward.kernels += 2;
  b.backward.kernels += 2;
}

}  // namespace

void add_experts(Block& b, const BlockContext& c) {
  const Architecture& a = c.job.model;
  const Layout& l = c.job.layout;
  const Experts& e = *a.experts;
  const Routed r = routed(c);
  const Pass before = b.forward;
  add_router(b, c, r);
  add_ffn_matrices(b, c,
                   {r.copies / r.experts, static_cast<double>(e.ffn) / l.expert_tensor, r.width},
                   {.expert = true, .batch = r.experts});
  if (e.shared_ffn > 0)
    add_ffn_matrices(b, c,
                     {tokens_per_rank(c.job), static_cast<double>(e.shared_ffn) / l.tensor,
                      static_cast<double>(a.hidden)},
                     {});
  add_permutation(b, c, r);
  // Grouped linear layers launch one GEMM per local expert, casts included when quantised.
  const double per_expert = c.device.quantised ? 2 : 1;
  b.forward.kernels += 20 + 2 * per_expert * r.experts;
  b.backward.kernels += 30 + 4 * per_expert * r.experts;
  add_exchanges(b, c, r);
  b.ffn = b.forward - before;
  b.parameters += 2.0 * a.hidden;
  add_surroundings(b, c);
  if (l.expert_tensor > 1 || e.shared_ffn > 0) add_tensor_collectives(b, c);
}

}  // namespace railyard::predict::detail

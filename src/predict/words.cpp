#include "predict/words.h"

#include <cctype>

namespace railyard::predict {

namespace {

std::string text(int n) { return std::to_string(n); }

}  // namespace

std::string layout_in_words(const model::Job& job) {
  const model::Layout& l = job.layout;
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
  if (l.tensor > 1) add("tensor " + text(l.tensor) + (l.sequence_parallel ? " (sequence)" : ""));
  if (l.context > 1) add("context " + text(l.context));
  if (l.pipeline > 1)
    add("pipeline " + text(l.pipeline) +
        (l.virtual_stages > 1 ? " x " + text(l.virtual_stages) + " parts" : ""));
  if (l.expert > 1) add("expert " + text(l.expert));
  if (l.expert_tensor > 1) add("expert tensor " + text(l.expert_tensor));
  if (l.data > 0) add("data " + text(l.data));
  add("micro-batch " + text(l.micro_batch));
  if (l.shard != model::Shard::none)
    add("ZeRO-" + text(static_cast<int>(l.shard)) +
        (l.shard_group > 0 ? " over " + text(l.shard_group) : ""));
  if (l.recompute == model::Recompute::full) add("full recompute");
  if (l.recompute == model::Recompute::selective) add("selective recompute");
  if (l.offload_optimizer != model::Offload::none) add("optimizer offloaded");
  if (l.offload_activations != model::Offload::none) add("activations offloaded");
  return out;
}

std::string cluster_in_words(const model::Cluster& c) {
  std::string out = text(c.accelerators()) + " x " + c.server.accelerator.id;
  if (c.servers == 1) return out + " in one server";
  out += " in " + text(c.servers) + " servers";
  if (c.fabric.kind == model::FabricKind::none) return out;
  return out + ", " + std::string(transport_name(c.fabric.transport));
}

std::string group_in_words(const Group& g) {
  std::string out = text(g.ranks) + " ranks";
  if (g.stride > 1) out += ", one in " + text(g.stride) + " accelerators";
  if (g.domains <= 1) return out + ", in one scale-up domain";
  if (g.per_domain > 1) out += ", " + text(g.per_domain) + " a domain";
  return out + (g.servers > 1 ? ", over " + text(g.servers) + " servers" : ", in one server");
}

std::string_view transport_name(model::Transport transport) {
  switch (transport) {
    case model::Transport::infiniband: return "InfiniBand";
    case model::Transport::roce: return "RoCEv2";
    case model::Transport::tcp: return "TCP";
    case model::Transport::efa: return "EFA";
  }
  return "";
}

std::string_view fabric_name(model::FabricKind kind) {
  switch (kind) {
    case model::FabricKind::none: return "no fabric";
    case model::FabricKind::direct: return "direct cables";
    case model::FabricKind::single_switch: return "single switch";
    case model::FabricKind::fat_tree: return "fat-tree";
    case model::FabricKind::rail: return "rail";
    case model::FabricKind::dragonfly: return "dragonfly";
  }
  return "";
}

std::string_view collective_name(Collective what) {
  switch (what) {
    case Collective::all_reduce: return "all-reduce";
    case Collective::all_gather: return "all-gather";
    case Collective::reduce_scatter: return "reduce-scatter";
    case Collective::all_to_all: return "all-to-all";
    case Collective::broadcast: return "broadcast";
    case Collective::send: return "send";
  }
  return "";
}

std::optional<Collective> collective_named(std::string_view text) {
  std::string name;
  for (const char c : text)
    if (c != '_') name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name == "allreduce") return Collective::all_reduce;
  if (name == "allgather") return Collective::all_gather;
  if (name == "reducescatter") return Collective::reduce_scatter;
  if (name == "alltoall") return Collective::all_to_all;
  if (name == "broadcast") return Collective::broadcast;
  if (name == "sendrecv") return Collective::send;
  return std::nullopt;
}

}  // namespace railyard::predict

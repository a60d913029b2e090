#pragma once
// A layout, a cluster, a group of ranks in one line of words: what headings, comparisons and
// explanations say.

#include <optional>
#include <string>
#include <string_view>

#include "model/cluster.h"
#include "model/job.h"
#include "predict/collective.h"

namespace railyard::predict {

/// "tensor 8 (sequence), pipeline 8 x 2 parts, data 4, micro-batch 1, ZeRO-1"
std::string layout_in_words(const model::Job& job);
/// "256 x h100-sxm-80g in 32 servers, RoCEv2"
std::string cluster_in_words(const model::Cluster& cluster);
/// "64 ranks, every 8th accelerator, 1 a domain over 64 domains"
std::string group_in_words(const Group& group);

std::string_view transport_name(model::Transport transport);
std::string_view fabric_name(model::FabricKind kind);
/// "all-reduce"
std::string_view collective_name(Collective what);
/// As nccl-tests and NCCL spell it: "all_reduce", "AllReduce", "alltoall", "sendrecv".
std::optional<Collective> collective_named(std::string_view text);

}  // namespace railyard::predict

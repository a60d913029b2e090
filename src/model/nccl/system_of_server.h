#pragma once
// A server of a cluster file as NCCL would see it.

#include <optional>

#include "model/cluster.h"
#include "model/nccl/system.h"

namespace railyard::model::nccl {

/// Nothing for servers that NCCL does not run on (AMD, Google).
std::optional<System> system_of(const Server& server, const Fabric& fabric);

}  // namespace railyard::model::nccl

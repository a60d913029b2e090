#include "model/nccl/system_of_server.h"

#include "model/nccl/system_builder.h"
#include "model/nccl/topology_of_server.h"

namespace railyard::model::nccl {

std::optional<System> system_of(const Server& server, const Fabric& fabric) {
  if (server.accelerator.compute_capability <= 0) return std::nullopt;
  auto system = build_system(topology_of(server, fabric));
  if (!system) return std::nullopt;
  return *std::move(system);
}

}  // namespace railyard::model::nccl

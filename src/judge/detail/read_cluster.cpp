// The cluster behind a line's accelerator name and network phrase.

#include "judge/detail/run_parts.h"

namespace railyard::judge::detail {

namespace {

void read_network(const facts::TrainingRun& run, const Conventions& conventions,
                  model::ClusterSpec& spec) {
  for (const NetworkPhrase& n : conventions.networks)
    if (has(run.inter_node, n.text)) {
      spec.nics = n.nics;
      spec.port_rate = n.port_rate;
      spec.transport = n.transport;
      return;
    }
}

}  // namespace

Read<model::Cluster> read_cluster(const facts::TrainingRun& run, const model::Catalog& catalog,
                                  const Conventions& conventions) {
  const model::Accelerator* part = catalog.accelerator(run.gpu);
  if (!part) return Why("unknown accelerator '" + run.gpu + "'");
  model::ClusterSpec spec;
  spec.accelerator = part->id;
  for (const MachinePhrase& m : conventions.machines)
    if (m.accelerator == part->id) spec.server = m.server;
  if (spec.server.empty()) return Why("no server is known for accelerator '" + part->id + "'");
  read_network(run, conventions, spec);
  const auto server = model::build_server(catalog, spec.server);
  if (!server) return Why(server.error().front().expected + " (server " + spec.server + ")");
  const int per_server = server->accelerators;
  spec.servers = (*run.gpus + per_server - 1) / per_server;
  if (*run.gpus < per_server) spec.accelerators = *run.gpus;
  auto built = model::build_cluster(catalog, spec);
  if (!built) return Why(built.error().front().text());
  return *std::move(built);
}

}  // namespace railyard::judge::detail

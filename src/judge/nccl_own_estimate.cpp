#include "judge/nccl_own_estimate.h"

#include <fmt/format.h>

#include "model/cluster.h"
#include "model/nccl/system_of_server.h"
#include "predict/nccl/expect.h"

namespace railyard::judge {

namespace {

using predict::nccl::Inside;

/// A server of the catalogue with the NVSwitch of this generation.
std::string server_of(const predict::nccl::Platform& platform) {
  if (platform.inside != Inside::nvswitch && platform.inside != Inside::none) return {};
  if (platform.sm == 80) return "dgx-a100-80g";
  if (platform.sm == 90) return "hgx-h200";
  return platform.sm == 100 ? "hgx-b200" : "";
}

}  // namespace

const predict::nccl::Communicator* NcclOwnEstimate::communicator(const facts::BusbwRow& row,
                                                                 const BusbwSetup& setup) {
  const predict::nccl::Platform& p = setup.platform;
  const std::string server = server_of(p);
  if (server.empty() || p.gpus > 8) return nullptr;
  const auto version = predict::nccl::version_named(row.nccl_version);
  const std::string key =
      fmt::format("{} {} {} {} {} {} {}", server, p.gpus, p.domains, row.nics_per_node.value_or(0),
                  p.ports.si(), p.nvls, row.nccl_version);
  const auto [at, fresh] = known_.try_emplace(key);
  if (fresh) {
    model::ClusterSpec spec{.server = server, .servers = p.domains, .accelerators = p.gpus};
    if (p.domains > 1) {
      spec.nics = row.nics_per_node.value_or(0);
      spec.port_rate = p.ports / std::max(spec.nics, 1);
    }
    const auto cluster = model::build_cluster(catalog_, spec);
    const auto system =
        cluster ? model::nccl::system_of(cluster->server, cluster->fabric) : std::nullopt;
    if (system) {
      predict::nccl::CommunicatorOptions options{.nodes = p.domains};
      if (version && *version >= predict::nccl::kOldest) options.version = *version;
      options.settings.nvls_enable = p.nvls ? 2 : 0;
      at->second = predict::nccl::set_up(*system, options);
    }
  }
  return at->second ? &*at->second : nullptr;
}

std::optional<double> NcclOwnEstimate::us(const facts::BusbwRow& row, const BusbwSetup& setup) {
  const auto function = predict::nccl::function_of(setup.question.what);
  if (!function || row.bytes == 0) return std::nullopt;
  const predict::nccl::Communicator* comm = communicator(row, setup);
  if (!comm || comm->ranks() != setup.platform.ranks()) return std::nullopt;
  const auto choice = predict::nccl::choose(*comm, *function, static_cast<std::int64_t>(row.bytes));
  if (!choice) return std::nullopt;
  return choice->pick.time_us;
}

}  // namespace railyard::judge

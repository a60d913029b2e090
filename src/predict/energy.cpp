#include "predict/energy.h"

namespace railyard::predict {

Energy energy(const model::Cluster& cluster, const Prediction& prediction, int job_accelerators) {
  const model::Server& server = cluster.server;
  const Watts limit =
      cluster.power_limit > Watts{} ? cluster.power_limit : server.accelerator.power;
  const double busy = prediction.utilisation.busy;
  Energy out;
  out.accelerators = (job_accelerators * (kIdlePower + (1 - kIdlePower) * busy)) * limit;
  out.servers_known = server.power_besides > Watts{};
  out.servers =
      (static_cast<double>(job_accelerators) / server.accelerators) * server.power_besides;
  out.step = out.total() * prediction.time.total;
  return out;
}

}  // namespace railyard::predict

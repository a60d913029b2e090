#include "judge/uplinks.h"

namespace railyard::judge {

std::vector<UplinkPoint> vary_uplinks(const CaseRun& run, const predict::Calibration& calibration) {
  std::vector<UplinkPoint> out;
  for (const double oversubscription : {1.0, 2.0, 4.0}) {
    model::Cluster cluster = run.cluster;
    cluster.fabric.oversubscription = oversubscription;
    fabric::Machine machine = fabric::summarise(cluster);
    UplinkPoint point{.oversubscription = oversubscription, .share = machine.uplink_per_server};
    point.in_order = predict::StepModel(machine, calibration).predict(run.outlook.job);
    machine.network_per_server = min(machine.network_per_server, machine.uplink_per_server);
    point.without_order = predict::StepModel(machine, calibration).predict(run.outlook.job);
    out.push_back(std::move(point));
  }
  return out;
}

predict::Prediction with_all_ports(const CaseRun& run, const predict::Calibration& calibration) {
  fabric::Machine machine = run.outlook.machine;
  if (!machine.network_limits.empty())
    machine.network_per_server = machine.network_limits.front().rate;
  return predict::StepModel(machine, calibration).predict(run.outlook.job);
}

}  // namespace railyard::judge

#pragma once
// A text that gives the rate of the leaf's downlinks and not of its uplinks leaves the
// oversubscription open. Each value is predicted twice: for ranks in the order of the racks, where
// a ring crosses each leaf's uplinks once, and for ranks without order, where every hop may cross
// them and a server gets its share of the uplinks and no more.

#include <vector>

#include "judge/claims.h"

namespace railyard::judge {

struct UplinkPoint {
  double oversubscription = 1;
  Bandwidth share = {};  ///< of the uplinks, one server
  predict::Prediction in_order = {}, without_order = {};
};

/// For 1:1, 2:1 and 4:1.
std::vector<UplinkPoint> vary_uplinks(const CaseRun& run, const predict::Calibration& calibration);

/// The run's step if its servers' network carried all that the ports can, whatever chip and slot.
predict::Prediction with_all_ports(const CaseRun& run, const predict::Calibration& calibration);

}  // namespace railyard::judge

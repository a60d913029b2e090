#pragma once
// A respect in which two set-ups can differ: how to tell, what to call the values, how to take it
// over. Private to plan/differences.

#include <string>
#include <string_view>

#include "plan/differences.h"

namespace railyard::plan::detail {

struct Respect {
  std::string_view what = {};
  bool (*same)(const Workload& a, const Workload& b) = nullptr;
  std::string (*words)(const Workload& s) = nullptr;
  void (*apply)(Workload& to, const Workload& from) = nullptr;
};

// device_differences.cpp
extern const Respect kNic, kSlot, kCxl;
// cluster_differences.cpp
extern const Respect kTransport, kFabric, kServers, kLimits, kHost;
// accelerator_differences.cpp
extern const Respect kScaleUp, kAccelerator, kAcceleratorsOfServer;
// job_differences.cpp
extern const Respect kModel, kBatch, kPrecision, kLayout, kSoftware, kReliability;

}  // namespace railyard::plan::detail

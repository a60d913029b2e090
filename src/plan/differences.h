#pragma once
// How two clusters and their jobs differ, as changes that can be applied one by one: the card, its
// slot, the transport, the fabric, links between accelerators, the accelerators themselves, memory,
// and the groups of fields of a job.
//
// A change takes its fields from the other side and leaves the rest, so that a server in between,
// which nobody would build, can be priced. Devices that the tree of a server refers to move with
// the tree.

#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.h"
#include "model/job.h"

namespace railyard::plan {

/// A cluster, and a job that is to run on it; `job.layout.data` may be open.
struct Workload {
  model::Cluster cluster = {};
  model::Job job = {};
};

struct Difference {
  std::string_view what = {};
  std::string from = {}, to = {};  ///< in words
  bool (*same)(const Workload& a, const Workload& b) = nullptr;
  /// Makes `to` like `from` in this respect, where that is possible without the changes before it.
  void (*apply)(Workload& to, const Workload& from) = nullptr;
};

/// What differs, in the fixed order in which changes are applied: NIC with its switch, its PCIe
/// link, transport, fabric, scale-up, accelerator, host, CXL, accelerators a server, servers,
/// limits; then the job: model, batch, precision, layout, software, reliability.
std::vector<Difference> differences(const Workload& a, const Workload& b);

}  // namespace railyard::plan

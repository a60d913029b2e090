#pragma once
// What a collective costs a group of ranks that all call it at once.
//
// Sizes follow nccl-tests: of an all-reduce, the buffer of one rank; of an all-gather and a
// reduce-scatter, the whole (n pieces); of an all-to-all, what one rank sends to all. The interface
// is what the step model sees; the inside may be a latency-bandwidth law (here) or a full engine.

#include <cstdint>

#include "base/quantity.h"
#include "fabric/machine.h"
#include "predict/calibration.h"

namespace railyard::predict {

enum class Collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,  ///< and its mirror, the reduction to one rank
  send
};

/// Where the ranks of a group sit: rank i on accelerator i * stride. All groups of the same kind
/// run at once and share the servers' NICs.
struct Group {
  int ranks = 1;
  int stride = 1;
  int per_domain = 1;  ///< ranks that share a scale-up domain
  int per_server = 1;
  int domains = 1;  ///< domains that the group spans
  int servers = 1;
};
Group make_group(const fabric::Machine& machine, int ranks, int stride);

/// Which part sets the rate, for explanations.
enum class Binding : std::uint8_t { none, latency, scale_up, pcie, network };
const char* name(Binding b);

struct CollectiveTime {
  Seconds time = {};
  double band = 0.15;  ///< relative half width of the 80 % interval
  Binding binding = Binding::none;
};

class CollectiveModel {
 public:
  virtual ~CollectiveModel() = default;
  virtual CollectiveTime time(Collective what, Bytes size, const Group& group) const = 0;
};

/// Latency-bandwidth law with measured efficiencies by class of link:
///   t = base + root sqrt(S S0 / (S + S0)) + factor S / rate
/// The square root is the fill of NCCL's chunk pipeline; it fits the published curves of A100 and
/// H100 nodes from 256 KiB to 8 GiB [nccl_busbw: nccl-tests runs on 1, 2 and 4 nodes].
class LinkLawModel final : public CollectiveModel {
 public:
  LinkLawModel(const fabric::Machine& machine, const Calibration& calibration);
  CollectiveTime time(Collective what, Bytes size, const Group& group) const override;

  /// Payload rate that one accelerator gets of the network when all of its server send.
  Bandwidth network_per_gpu() const { return network_per_gpu_; }

 private:
  double servers_per_leaf_, oversubscription_;
  Bandwidth scale_up_, scale_up_reduce_, peer_, network_per_gpu_;
  Constants c_;
  int mesh_ = 0;  ///< size of a full mesh, in which a pair has one link of many; 0: switched
  Seconds wire_latency_;
};

}  // namespace railyard::predict

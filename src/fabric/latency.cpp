#include "fabric/latency.h"

namespace railyard::fabric {

namespace {

// InfiniBand verbs: 1 to 2 us one way with switches; ConnectX-6's data sheet has "below 0.8 us".
constexpr Seconds kInfiniBand = 1.0 * us;
// ConnectX-5 over Ethernet, one switch: 2.08 us one way for 2 B, 0.5 us of it in the switch.
// [measured by the SimLLM project, pull request 189 of its repository]
constexpr Seconds kRoce = 1.5 * us;
// Kernel TCP: system call, copy, interrupt and wake-up on either side. [half of a netperf TCP_RR
// round trip on server hardware; recalled, 10 to 20 us]
constexpr Seconds kTcp = 15 * us;
// EFA, where the catalogue has no figure: 15.5 us for a small MPI message. [AWS at its launch in
// 2019; recalled]
constexpr Seconds kEfa = 15.5 * us;

}  // namespace

Seconds nic_latency(const model::Cluster& c, const model::Nic& part) {
  switch (c.fabric.transport) {
    case model::Transport::tcp: return kTcp;
    case model::Transport::efa: return part.latency > Seconds{} ? part.latency : kEfa;
    case model::Transport::infiniband: return part.latency > Seconds{} ? part.latency : kInfiniBand;
    case model::Transport::roce: return part.latency > Seconds{} ? max(part.latency, kRoce) : kRoce;
  }
  return kInfiniBand;
}

}  // namespace railyard::fabric

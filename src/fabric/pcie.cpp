// What a PCIe link carries.
//
// A lane's transfer rate shrinks twice before a byte of data counts. The line code: 8 of 10 bits up
// to generation 2, 128 of 130 from 3 to 5; generation 6 sends flits of 256 B of which 236 hold
// packets. Then the packets: every write of at most `mps` bytes carries framing, header and
// checksum, and acks and flow-control credits take the same wire.

#include <algorithm>
#include <array>

#include "fabric/machine.h"

namespace railyard::fabric {

namespace {

constexpr int kGenerations = 6;
struct Generation {
  double gigatransfers;  // per lane and second: bits on the wire
  double code;           // share that is left after line code or flit framing
};
// [PCI-SIG base specifications 1.0 to 6.0]
constexpr std::array<Generation, kGenerations> kGeneration = {{{2.5, 8.0 / 10},
                                                               {5, 8.0 / 10},
                                                               {8, 128.0 / 130},
                                                               {16, 128.0 / 130},
                                                               {32, 128.0 / 130},
                                                               {64, 236.0 / 256}}};

// Bytes per packet besides data, generations 1 to 5: UCX counts framing 4, sequence number 2,
// header 16 (64-bit addresses), checksum 4. From generation 3 the sequence number sits inside the
// framing, which makes 24; UCX's 26 comes nearer to what is measured (56.4 against 55.4 GB/s; 24
// gives 56.8).
constexpr double kPacketBytes = 26;
// One ack and one credit update, 8 B each, for every four packets. [UCX]
constexpr double kControlBytes = 16, kPacketsPerControl = 4;
// Generation 6: the flit brings its own checksum and acks; the header stays.
constexpr double kFlitHeaderBytes = 16;

const Generation& of(model::PcieLink link) {
  return kGeneration[static_cast<std::size_t>(std::clamp(link.generation, 1, kGenerations) - 1)];
}

}  // namespace

Bandwidth pcie_encoded(model::PcieLink link) {
  const Generation& g = of(link);
  return g.gigatransfers * link.lanes * g.code * Gbps;
}

Bandwidth pcie_payload(model::PcieLink link, int mps) {
  const double data = mps;
  if (link.generation >= kGenerations)
    return pcie_encoded(link) * (data / (data + kFlitHeaderBytes));
  const double four = kPacketsPerControl * data;
  return pcie_encoded(link) * (four / (four + kPacketsPerControl * kPacketBytes + kControlBytes));
}

std::string name(model::PcieLink link) {
  return "PCIe " + std::to_string(link.generation) + ".0 x" + std::to_string(link.lanes);
}

}  // namespace railyard::fabric

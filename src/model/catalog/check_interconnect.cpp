// Rules for links: a generation's rates follow from its transfer rate and its framing.

#include "model/catalog/findings.h"

namespace railyard::model::catalog {

namespace {

void check(const ScaleUpGeneration& g, Findings& out) {
  out.equal({g.id, "total", "links x rate is not the total"},
            std::to_string(g.links) + " x " + show(g.per_link), g.links * g.per_link, g.total);
  out.at_most({g.id, "per_link", "payload of a link above its raw rate"}, g.per_link,
              g.raw_per_link);
  out.at_most({g.id, "nccl_per_link", "NCCL assumes more than a link carries"}, g.nccl_per_link,
              g.per_link);
}

/// Line codes: 8b/10b up to generation 2, 128b/130b to 5; in 6 a flit of 256 bytes holds 236 of
/// packets.  [PCI Express Base Specification 6.0, 4.2] A memory write carries 24 bytes besides its
/// data (framing 4, header 16, checksum 4); in a flit the header alone.
void check(const PcieGeneration& g, Findings& out) {
  const double code = g.generation <= 2 ? 8.0 / 10 : g.generation <= 5 ? 128.0 / 130 : 236.0 / 256;
  const Bandwidth encoded = g.gigatransfers * 16 * code * Gbps;
  out.equal({g.id, "encoded", "transfers x lanes x line code is not the encoded rate"},
            show_number(g.gigatransfers) + " GT/s x 16 x " + show_number(code, 4), encoded,
            g.encoded);
  const double besides = g.generation <= 5 ? 24 : 16;
  struct Payload {
    double data;
    Bandwidth stated;
    std::string_view field;
  };
  for (const Payload& p :
       {Payload{256, g.payload_256, "payload_256"}, Payload{512, g.payload_512, "payload_512"}})
    out.equal({g.id, p.field, "the share of data in a packet does not give the payload"},
              show(encoded) + " x " + show_number(p.data) + " / " + show_number(p.data + besides),
              encoded * (p.data / (p.data + besides)), p.stated);
  out.at_most({g.id, "nccl", "NCCL's constant above the encoded rate"}, g.nccl, g.encoded);
  out.at_most({g.id, "measured_to_device", "measured above the encoded rate"}, g.measured_to_device,
              g.encoded);
  out.at_most({g.id, "measured_to_host", "measured above the encoded rate"}, g.measured_to_host,
              g.encoded);
}

}  // namespace

void check_interconnect(const Catalog& catalog, Findings& out) {
  for (const ScaleUpGeneration& g : catalog.scale_up_generations) check(g, out);
  for (const PcieGeneration& g : catalog.pcie_generations) check(g, out);
  for (const CxlMemory& c : catalog.cxl)
    for (const PcieGeneration& g : catalog.pcie_generations)
      if (g.generation == c.pcie_generation)  // reads one way and writes the other
        out.at_most({c.id, "bandwidth", "memory faster than both directions of its link"},
                    c.bandwidth, 2 * (c.pcie_lanes / 16.0) * g.encoded);
}

}  // namespace railyard::model::catalog

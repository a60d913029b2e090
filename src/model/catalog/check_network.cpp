// Rules for adapters and switches. The trap that costs the most money: a card whose ports promise
// more than its chip, or the slot that it sits in, can move.

#include <algorithm>

#include "model/catalog/findings.h"

namespace railyard::model::catalog {

namespace {

/// Share of the line rate that carries RDMA payload in RoCEv2 frames of 4096 B: preamble 8, gap 12,
/// Ethernet 14 + 4, IPv4 20, UDP 8, InfiniBand transport 12 + 4.  [IEEE 802.3; IBTA annex A17]
constexpr double kRocePayload = 4096.0 / (4096 + 82);

/// Payload of the slot at 256 B a packet, from the catalogue's table; zero: not known.
Bandwidth slot_payload(const Nic& n, const Catalog& catalog) {
  for (const PcieGeneration& g : catalog.pcie_generations)
    if (g.generation == n.pcie_generation) return g.payload_256 * (n.pcie_lanes / 16.0);
  return {};
}

void check(const Nic& n, const Catalog& catalog, Findings& out) {
  const std::string ports =
      std::to_string(n.ports) + " x " + show_bits(n.port_rate) + " = " + show_bits(n.ports_rate());
  const bool chip_known = n.chip_limit > Bandwidth{};
  if (chip_known) {
    out.count();
    if (n.ports_rate() > n.chip_limit)
      out.note(n.id, "the chip moves less than its ports together",
               ports + ", chip " + show_bits(n.chip_limit));
  }
  const Bandwidth slot = slot_payload(n, catalog);
  if (slot == Bandwidth{}) return;
  out.count();
  const Bandwidth rate = chip_known ? min(n.ports_rate(), n.chip_limit) : n.ports_rate();
  const Bandwidth wanted = rate * kRocePayload;
  if (wanted <= slot) return;
  out.note(n.id,
           n.ports > 1 ? "the slot is the limit: a further port is redundancy, not bandwidth"
                       : "the slot is the limit",
           ports + " on the wire, " + show_bits(wanted) + " of payload; PCIe " +
               std::to_string(n.pcie_generation) + ".0 x" + std::to_string(n.pcie_lanes) +
               " carries " + show_bits(slot) + " of payload, " + show_percent(slot / wanted));
}

}  // namespace

void check_network(const Catalog& catalog, Findings& out) {
  for (const Nic& n : catalog.nics) check(n, catalog, out);
  for (const NetworkSwitch& s : catalog.switches) {
    out.count();
    const Bandwidth product = s.ports * s.port_rate;
    if (std::max(product / s.total, s.total / product) < 1 + kRounding) continue;
    out.add({s.id, "total", "ports x port rate is not the total"},
            {.sum = std::to_string(s.ports) + " x " + show_bits(s.port_rate) + " = " +
                    show_bits(product) + ", stated " + show_bits(s.total),
             .expected = show_bits(product),
             .found = show_bits(s.total)});
  }
}

}  // namespace railyard::model::catalog

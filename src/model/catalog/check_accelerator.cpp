// Rules for accelerators.
//
// A tensor unit that halves the width of its operands doubles its rate; vendors who deviate say so,
// and then the value in the catalogue carries a note. The other rules catch the usual slips: sparse
// peaks, both directions added, GiB for GB.

#include "model/catalog/findings.h"

namespace railyard::model::catalog {

namespace {

// Vendors round to two or three digits: 82 and 165, 9200 and 10100.
constexpr double kPrintedDigits = 0.03;

void peaks(const Accelerator& a, Findings& out) {
  struct Doubling {
    Precision narrow, wide;
    double factor;
    std::string_view field;
  };
  static constexpr Doubling doublings[] = {{Precision::bf16, Precision::tf32, 2, "peak.bf16"},
                                           {Precision::fp16, Precision::bf16, 1, "peak.fp16"},
                                           {Precision::fp8, Precision::bf16, 2, "peak.fp8"},
                                           {Precision::mxfp8, Precision::fp8, 1, "peak.mxfp8"},
                                           {Precision::nvfp4, Precision::fp8, 2, "peak.nvfp4"}};
  for (const Doubling& d : doublings) {
    const std::string narrow(name(d.narrow)), wide(name(d.wide));
    const std::string what =
        narrow + (d.factor == 1 ? " is not the rate of " : " is not twice ") + wide;
    const std::string how = (d.factor == 1 ? "" : "2 x ") + show(a.peak_of(d.wide));
    out.equal(Findings::Rule{a.id, d.field, what, kPrintedDigits}, how,
              d.factor * a.peak_of(d.wide), a.peak_of(d.narrow));
  }
}

/// A label of memory means 1e9 to 2^30 bytes a GB; error correction of GDDR takes up to 7 %.
void memory(const Accelerator& a, Findings& out) {
  if (a.memory_label == Bytes{} || a.memory_usable == Bytes{}) return;
  out.count();
  const Bytes most = a.memory_label * (GiB / GB), least = 0.93 * a.memory_label;
  if (a.memory_usable <= most * 1.0005 && a.memory_usable >= least) return;
  out.add({a.id, "memory.usable", "usable memory does not fit the label"},
          {.sum = show_number(a.memory_usable.in(GB), 4) + "e9 bytes for a label of " +
                  show_number(a.memory_label.in(GB)) + " GB",
           .expected = show(least) + " to " + show(most),
           .found = show(a.memory_usable)});
}

void scale_up(const Accelerator& a, const Catalog& catalog, Findings& out) {
  const ScaleUp& s = a.scale_up;
  out.equal({a.id, "scale_up.total", "links x rate is not the total"},
            std::to_string(s.links) + " x " + show(s.per_link), s.links * s.per_link, s.total);
  for (const ScaleUpGeneration& g : catalog.scale_up_generations) {
    if (g.name != s.name || g.generation != s.generation) continue;
    out.equal({a.id, "scale_up.per_link", "a link is not as fast as its generation's"}, g.id,
              g.per_link, s.per_link);
    out.count();
    if (s.links > g.links)
      out.error(a.id, "more links than its generation has",
                std::to_string(s.links) + " against " + std::to_string(g.links) + " of " + g.id);
  }
}

void pcie(const Accelerator& a, const Catalog& catalog, Findings& out) {
  if (a.pcie_generation == 0) return;
  out.count();
  Bandwidth encoded;
  for (const PcieGeneration& g : catalog.pcie_generations)
    if (g.generation == a.pcie_generation) encoded = g.encoded * (a.pcie_lanes / 16.0);
  if (encoded == Bandwidth{}) {
    out.error(a.id, "a PCIe generation that the table does not have",
              "generation " + std::to_string(a.pcie_generation));
    return;
  }
  const Bandwidth host = max(encoded, a.coherent_host_link);
  out.at_most({a.id, "measured.host_to_device", "copy to the device above its host link"},
              a.measured.host_to_device, host);
  out.at_most({a.id, "measured.device_to_host", "copy to the host above its host link"},
              a.measured.device_to_host, host);
}

}  // namespace

void check_accelerators(const Catalog& catalog, Findings& out) {
  for (const Accelerator& a : catalog.accelerators) {
    peaks(a, out);
    memory(a, out);
    scale_up(a, catalog, out);
    pcie(a, catalog, out);
    out.at_most({a.id, "measured.bf16_gemm", "bf16 GEMM: measured above the peak"},
                a.measured.bf16_gemm, a.peak_of(Precision::bf16));
    out.at_most({a.id, "measured.fp8_gemm", "fp8 GEMM: measured above the peak"},
                a.measured.fp8_gemm, a.peak_of(Precision::fp8));
    out.at_most({a.id, "measured.copy", "memory copy: measured above the peak"}, a.measured.copy,
                a.memory);
  }
}

}  // namespace railyard::model::catalog

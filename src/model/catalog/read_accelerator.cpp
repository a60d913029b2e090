// catalog/accelerators.yaml: one accelerator.

#include "model/catalog/readers.h"

namespace railyard::model {

namespace {

using catalog::read_map;

void read_peaks(yaml::Fields& f, Accelerator& out) {
  for (std::size_t i = 0; i < kPrecisions; ++i)
    f.flop_rate(name(static_cast<Precision>(i)), out.peak[i]);
}

void read_memory(yaml::Fields& f, Accelerator& out) {
  const bool label = f.bytes("label", out.memory_label);
  // Who states a new size and not what the driver shows gets the size as labelled: 1e9 bytes a GB,
  // which is never more than there is.
  if (!f.bytes("usable", out.memory_usable) && label) out.memory_usable = out.memory_label;
  f.bandwidth("bandwidth", out.memory);
}

void read_scale_up(yaml::Fields& f, ScaleUp& out) {
  static const std::vector<std::pair<std::string, ScaleUpKind>> kinds{
      {"none", ScaleUpKind::none},
      {"bridge", ScaleUpKind::bridge},
      {"fabric", ScaleUpKind::fabric},
      {"mesh", ScaleUpKind::mesh}};
  if (f.choice("kind", kinds, out.kind) && out.kind == ScaleUpKind::none) {
    out = {};
    return;
  }
  f.text("name", out.name);
  f.integer("generation", out.generation, 0, 9);
  f.integer("links", out.links, 1, 64);
  f.bandwidth("per_link", out.per_link);
  if (!f.bandwidth("total", out.total) && out.links > 0) out.total = out.links * out.per_link;
  f.integer("domain", out.domain, 1, 4096);
}

void read_measured(yaml::Fields& f, MeasuredRates& out) {
  f.flop_rate("bf16_gemm", out.bf16_gemm);
  f.flop_rate("fp8_gemm", out.fp8_gemm);
  f.bandwidth("copy", out.copy);
  f.bandwidth("host_to_device", out.host_to_device);
  f.bandwidth("device_to_host", out.device_to_host);
  f.bandwidth("all_reduce_bus", out.all_reduce_bus);
  f.bandwidth("all_gather_bus", out.all_gather_bus);
  f.seconds("all_reduce_small", out.all_reduce_small);
}

}  // namespace

void read_accelerator(yaml::Fields& fields, Accelerator& out) {
  fields.text("id", out.id);
  fields.text("vendor", out.vendor);
  fields.text("architecture", out.architecture);
  fields.integer("compute_capability", out.compute_capability, 10, 999);
  fields.integer("multiprocessors", out.multiprocessors, 1, 4096);
  read_map(fields, "peak", [&](yaml::Fields& f) { read_peaks(f, out); });
  read_map(fields, "memory", [&](yaml::Fields& f) { read_memory(f, out); });
  read_map(fields, "scale_up", [&](yaml::Fields& f) { read_scale_up(f, out.scale_up); });
  fields.bandwidth("coherent_host_link", out.coherent_host_link);
  catalog::read_pcie(fields, out.pcie_generation, out.pcie_lanes);
  fields.watts("power", out.power);
  fields.integer("dies", out.dies, 1, 16);
  fields.flag("announced", out.announced);
  read_map(fields, "measured", [&](yaml::Fields& f) { read_measured(f, out.measured); });
  catalog::read_aliases(fields, out.aliases);
  fields.text("pci_id", out.pci_id);
  catalog::read_provenance(fields, out.from);
}

}  // namespace railyard::model

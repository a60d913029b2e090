// Terms of the machine: peaks of the datasheet, the share that training sustains, and every limit
// of the links with its sum.

#include "base/measure.h"
#include "predict/explain/terms.h"
#include "predict/words.h"

namespace railyard::predict::explained {

namespace {

Term limits(std::string name, Bandwidth rate, std::string formula,
            const std::vector<fabric::Limit>& candidates) {
  Term out = term(std::move(name), rate, std::move(formula));
  for (const fabric::Limit& l : candidates) out.children.push_back(term(l.name, l.rate, l.why));
  return out;
}

Term accelerator(const Facts& f) {
  const model::Accelerator& gpu = f.outlook.machine.gpu;
  const Device& d = f.outlook.pieces.device;
  const GpuRates& rates = f.calibration.of(gpu);
  const std::string row =
      "catalog/calibration.yaml, " + (rates.id.empty() ? std::string("standard") : rates.id);
  const std::string sheet = "catalogue, " + gpu.id + ": " + gpu.from.source;
  const model::Precision precision = f.outlook.job.precision;
  Term out = term(gpu.id, d.matmul, "sustained by large matrix multiplications");
  out.children = {
      term(std::string(model::name(precision)) + " peak, dense", d.peak,
           gpu.peak_of(precision) > FlopRate{} ? "" : "it has none: that of what it has instead",
           sheet),
      term("sustained in linear layers", d.matmul, {}, row),
      term("sustained at 16 bit", d.matmul_16, show_percent(rates.gemm) + " of " + show(d.peak_16),
           row),
      term("sustained in attention", d.attention, "forward, head width 128", row),
      term("memory bandwidth", gpu.memory, {}, sheet),
      term("sustained by element-wise kernels", d.memory, show_percent(rates.memory), row),
      term("sustained by norms and losses", d.reduction, show_percent(rates.norm), row),
      term("memory", gpu.memory_usable, "as the driver reports it", sheet)};
  return out;
}

}  // namespace

Term machine_term(const Facts& f) {
  const fabric::Machine& m = f.outlook.machine;
  Term out{.name = "machine", .formula = cluster_in_words(f.cluster)};
  out.children.push_back(accelerator(f));
  if (m.domain > 1)
    out.children.push_back(
        limits("scale-up", m.scale_up,
               std::to_string(m.domain) + " accelerators a domain, one direction, each",
               m.scale_up_limits));
  if (m.gpus_per_server > m.domain)
    out.children.push_back(limits("between accelerators over PCIe", m.peer_shared,
                                  "a ring over the server, all at once", m.peer_limits));
  if (!m.network_limits.empty())
    out.children.push_back(limits(
        "network of a server", m.network_per_server,
        "one direction, the smallest of the limits below = " + show_bits(m.network_per_server),
        m.network_limits));
  if (m.oversubscription > 1)
    out.children.push_back(term("leaf uplinks of a server", m.uplink_per_server,
                                "ports / oversubscription " + show_number(m.oversubscription)));
  out.children.push_back(
      term("host link", m.host_link_shared, "each, when all accelerators use it"));
  return out;
}

}  // namespace railyard::predict::explained

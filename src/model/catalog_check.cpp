#include "model/catalog_check.h"

#include <cmath>
#include <utility>

#include "base/measure.h"
#include "model/cluster.h"

namespace railyard::model {

namespace {

// Sums of rounded numbers may differ in the last printed digit.
constexpr double kRounding = 0.01;
// Labels are marketing numbers, and drivers keep some memory back: an "80 GB" card reports 79.6 GiB,
// which is 7 % more than its label, and an ECC part a few percent less.
constexpr double kLabel = 0.10;
// Authors count differently (with or without embeddings, biases) and print two or three digits.
constexpr double kParameters = 0.03;

class Checker {
 public:
  explicit Checker(const Catalog& catalog) : catalog_(catalog) {}

  CatalogCheck run() && {
    for (const Accelerator& a : catalog_.accelerators) check(a);
    for (const Nic& n : catalog_.nics) check(n);
    for (const NetworkSwitch& s : catalog_.switches) check(s);
    for (const ScaleUpGeneration& g : catalog_.scale_up_generations) check(g);
    for (const PcieGeneration& g : catalog_.pcie_generations) check(g);
    for (const Architecture& a : catalog_.architectures) check(a);
    for (const Catalog::Template& t : catalog_.servers) check(t);
    sources(catalog_.accelerators);
    sources(catalog_.nics);
    sources(catalog_.switches);
    sources(catalog_.pcie_switches);
    sources(catalog_.retimers);
    sources(catalog_.cxl);
    sources(catalog_.host_memory);
    sources(catalog_.nvme);
    sources(catalog_.socket_links);
    sources(catalog_.scale_up_generations);
    sources(catalog_.pcie_generations);
    sources(catalog_.architectures);
    sources(catalog_.servers);
    for (const Catalog::ValueSource& v : catalog_.values) source(v.part, v.field + ": ", v.from);
    return std::move(out_);
  }

 private:
  void add(Severity severity, std::string part, std::string what, std::string sum) {
    out_.found.push_back({severity, std::move(part), std::move(what), std::move(sum)});
  }

  /// count x each against the total, where all three are known.
  void product(const std::string& part, const char* what, int count, Bandwidth each,
               Bandwidth total) {
    if (count == 0 || each == Bandwidth{} || total == Bandwidth{}) return;
    ++out_.rules;
    if (std::abs(count * each / total - 1) > kRounding)
      add(Severity::error, part, std::string(what) + " is not the total",
          std::to_string(count) + " x " + show(each) + " = " + show(count * each) + ", stated " +
              show(total));
  }

  /// A measured rate cannot be above the peak; if it is, the peak counts something else.
  template <class Rate>
  void below_peak(const std::string& part, const char* what, Rate measured, Rate peak) {
    if (measured == Rate{} || peak == Rate{}) return;
    ++out_.rules;
    if (measured > peak)
      add(Severity::error, part, std::string(what) + ": measured above the peak",
          show(measured) + " against " + show(peak));
  }

  void check(const Accelerator& a) {
    product(a.id, "scale-up links x rate", a.scale_up.links, a.scale_up.per_link,
            a.scale_up.total);
    below_peak(a.id, "bf16 GEMM", a.measured.bf16_gemm, a.peak_of(Precision::bf16));
    below_peak(a.id, "fp8 GEMM", a.measured.fp8_gemm, a.peak_of(Precision::fp8));
    below_peak(a.id, "memory copy", a.measured.copy, a.memory);
    if (a.memory_label == Bytes{} || a.memory_usable == Bytes{}) return;
    ++out_.rules;
    if (std::abs(a.memory_usable / a.memory_label - 1) > kLabel)
      add(Severity::error, a.id, "usable memory is far from the label",
          show(a.memory_usable) + " against " + show(a.memory_label));
  }

  void check(const Nic& n) {
    if (n.chip_limit == Bandwidth{}) return;
    ++out_.rules;
    if (n.ports_rate() > n.chip_limit)
      add(Severity::note, n.id, "the chip moves less than its ports together",
          std::to_string(n.ports) + " x " + show_bits(n.port_rate) + " = " +
              show_bits(n.ports_rate()) + ", chip " + show_bits(n.chip_limit));
  }

  void check(const NetworkSwitch& s) {
    product(s.id, "ports x port rate", s.ports, s.port_rate, s.total);
  }

  void check(const ScaleUpGeneration& g) {
    product(g.id, "links x rate", g.links, g.per_link, g.total);
  }

  /// Line codes: 8b/10b up to generation 2, 128b/130b to 5, 242 of 256 bytes of a flit in 6
  /// [PCI Express Base Specification 6.0, sections 4.2.1 to 4.2.3].
  void check(const PcieGeneration& g) {
    if (g.encoded == Bandwidth{} || g.gigatransfers == 0) return;
    ++out_.rules;
    const double code = g.generation <= 2 ? 8.0 / 10 : g.generation <= 5 ? 128.0 / 130 : 242.0 / 256;
    const Bandwidth encoded = g.gigatransfers * 16 * code * Gbps;
    if (std::abs(encoded / g.encoded - 1) > kRounding)
      add(Severity::error, g.id, "transfers x lanes x line code is not the encoded rate",
          show_number(g.gigatransfers) + " GT/s x 16 x " + show_number(code, 4) + " = " +
              show(encoded) + ", stated " + show(g.encoded));
  }

  void check(const Architecture& a) {
    if (a.stated_parameters == 0) return;
    ++out_.rules;
    const double counted = count_parameters(a).total;
    const double off = counted / a.stated_parameters - 1;
    if (std::abs(off) > kParameters)
      add(Severity::error, a.id, "the dimensions do not give the stated parameters",
          show_number(counted / 1e9, 4) + " B counted, " +
              show_number(a.stated_parameters / 1e9, 4) + " B stated, " + show_percent(off) +
              " off");
  }

  void check(const Catalog::Template& t) {
    ++out_.rules;
    const auto server = build_server(catalog_, t.id);
    if (server) return;
    for (const Problem& p : server.error())
      add(Severity::error, t.id, "the server cannot be built", p.text());
  }

  template <class Part>
  void sources(const std::vector<Part>& parts) {
    for (const Part& p : parts) source(p.id, {}, p.from);
  }

  void source(const std::string& part, const std::string& field, const Provenance& from) {
    ++out_.rules;
    if (from.source.empty()) add(Severity::error, part, field + "no source", {});
    if (from.confidence == Confidence::conflict)
      add(Severity::note, part, field + "sources disagree", from.note);
  }

  const Catalog& catalog_;
  CatalogCheck out_;
};

}  // namespace

std::string_view name(Severity s) { return s == Severity::error ? "error" : "note"; }

CatalogCheck check_catalog(const Catalog& catalog) { return Checker(catalog).run(); }

}  // namespace railyard::model

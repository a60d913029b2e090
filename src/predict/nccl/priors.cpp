#include "predict/nccl/priors.h"

#include <array>

#include "base/yaml.h"

namespace railyard::predict::nccl {

namespace {

constexpr std::array<const char*, kParameters> kNames{
    "ring_sm70",   "ring_sm80",    "ring_sm90",  "ring_sm100",  "nvls_sm90",     "nvls_sm100",
    "nvls_rack",   "tree_inside",  "all_to_all", "pcie",        "pcie_sockets",  "pcie_host",
    "infiniband",  "roce",         "efa",        "tcpxo",       "tcpx",          "slingshot",
    "sockets",     "ll_one",       "ll_many",    "host_sm80",   "host_sm90",     "host_sm100",
    "host_pcie",   "host_many",    "hop",        "hop_network", "hop_libfabric", "hop_tcp",
    "fill_nvlink", "fill_network", "fill_pcie",  "fill_span",   "fill_nvls",     "fill_gather",
    "copy",        "host_power",   "post",       "fill_power"};

void read_parameters(yaml::Fields& top, Priors& out) {
  const yaml::Node* node = top.need("parameters");
  if (!node) return;
  yaml::Fields fields(top.document(), *node, top.problems(), "the parameters");
  if (!fields.is_map()) return;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const yaml::Node* one = fields.need(kNames[i]);
    if (!one) continue;
    yaml::Fields parameter(top.document(), *one, top.problems(), kNames[i]);
    if (!parameter.is_map()) continue;
    Prior& prior = out.parameters[i];
    parameter.number("start", prior.start, 1e-6, 1e6);
    parameter.number("spread", prior.spread, 1e-6, 10);
    if (!parameter.number("value", prior.value, 1e-6, 1e6)) prior.value = prior.start;
    std::string why;
    parameter.text("source", why);
    parameter.done();
  }
  fields.done();
}

}  // namespace

const char* name(Parameter parameter) { return kNames[static_cast<std::size_t>(parameter)]; }

const BandClass& Priors::band(std::int64_t bytes) const {
  for (const BandClass& b : bands)
    if (b.up_to == 0 || bytes < b.up_to) return b;
  return bands.back();
}

Checked<Priors> load_priors(const std::string& path) {
  const yaml::Document document = RY_TRY(yaml::Document::load(path));
  Problems problems;
  Priors out;
  yaml::Fields top(document, document.root(), problems, "the priors");
  if (top.is_map()) {
    std::string source;
    top.text("source", source);
    read_parameters(top, out);
    top.list("bands", [&](const yaml::Node& item) {
      yaml::Fields fields(document, item, problems, "a band");
      if (!fields.is_map()) return;
      BandClass band;
      Bytes up_to = {};
      if (fields.bytes("up_to", up_to)) band.up_to = static_cast<std::int64_t>(up_to / B);
      fields.number("low", band.low, -3, 3);
      fields.number("high", band.high, -3, 3);
      fields.number("suspect", band.suspect, 0, 5);
      fields.done();
      out.bands.push_back(band);
    });
    top.number("rack_widening", out.rack_widening, 0, 3);
    top.done();
    if (out.bands.empty()) top.report(document.root(), "bands by size");
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return out;
}

}  // namespace railyard::predict::nccl

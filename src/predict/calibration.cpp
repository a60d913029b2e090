#include "predict/calibration.h"

#include "base/yaml.h"
#include "predict/nccl/graph_memory.h"

namespace railyard::predict {

const std::vector<GpuField>& gpu_fields() {
  static const std::vector<GpuField> fields = {{"gemm", &GpuRates::gemm},
                                               {"gemm_cap", &GpuRates::gemm_cap},
                                               {"partial_lines", &GpuRates::partial_lines},
                                               {"gemm_depth", &GpuRates::gemm_depth},
                                               {"gemm_fp8", &GpuRates::gemm_fp8},
                                               {"gemm_fp4", &GpuRates::gemm_fp4},
                                               {"memory", &GpuRates::memory},
                                               {"norm", &GpuRates::norm},
                                               {"flash1", &GpuRates::flash1},
                                               {"flash2", &GpuRates::flash2},
                                               {"flash3", &GpuRates::flash3},
                                               {"host", &GpuRates::host},
                                               {"scale_up", &GpuRates::scale_up},
                                               {"all_reduce", &GpuRates::all_reduce}};
  return fields;
}

const std::vector<ConstantField>& constant_fields() {
  using C = Constants;
  static const std::vector<ConstantField> fields = {
      {"gemm_wave", &C::gemm_wave},
      {"tile_128", &C::tile_128},
      {"tile_64", &C::tile_64},
      {"tile_64x64", &C::tile_64x64},
      {"attention_backward", &C::attention_backward},
      {"attention_block", &C::attention_block},
      {"attention_waves", &C::attention_waves},
      {"attention_d64", &C::attention_d64},
      {"kernel_gap", &C::kernel_gap},
      {"launch", &C::launch},
      {"launch_graph", &C::launch_graph},
      {"launch_compiled", &C::launch_compiled},
      {"fsdp_host", &C::fsdp_host},
      {"overlap_slowdown", &C::overlap_slowdown},
      {"overlap_tensor_hidden", &C::overlap_tensor_hidden},
      {"overlap_expert_hidden", &C::overlap_expert_hidden},
      {"network_infiniband", &C::network_infiniband},
      {"network_roce", &C::network_roce},
      {"network_tcp", &C::network_tcp},
      {"network_efa", &C::network_efa},
      {"scale_up_base", &C::scale_up_base},
      {"scale_up_root", &C::scale_up_root},
      {"network_base", &C::network_base},
      {"network_root", &C::network_root},
      {"scale_up_hop", &C::scale_up_hop},
      {"network_hop", &C::network_hop},
      {"root_saturates", &C::root_saturates},
      {"pipeline_send", &C::pipeline_send},
      {"pcie_ring", &C::pcie_ring},
      {"expert_scatter_fused", &C::expert_scatter_fused},
      {"expert_scatter", &C::expert_scatter},
      {"eager_traffic", &C::eager_traffic},
      {"compiled_traffic", &C::compiled_traffic},
      {"optimizer_passes", &C::optimizer_passes},
      {"power_exponent", &C::power_exponent},
      {"step_fixed", &C::step_fixed},
      {"imbalance", &C::imbalance},
      {"era_slope", &C::era_slope},
      {"era_year", &C::era_year}};
  return fields;
}

const GpuRates& Calibration::of(const model::Accelerator& part) const {
  for (const GpuRates& r : gpus)
    if (r.id == part.id) return r;
  for (const GpuRates& r : gpus)
    if (r.id == part.architecture) return r;
  return standard;
}

Band Calibration::band(std::string_view kind) const {
  for (const Band& b : bands)
    if (b.kind == kind) return b;
  return {.kind = std::string(kind), .low = 0.7, .high = 1.4};
}

std::string_view band_kind(const model::Job& job, int servers) {
  if (job.model.experts) return "experts";
  if (job.precision >= model::Precision::fp8) return "quantised";
  return servers > 1 ? "16-bit many servers" : "16-bit one server";
}

double era_factor(const Constants& c, int year, int month) {
  const double age = c.era_year - (year + (month - 0.5) / 12.0);
  return age > 0 ? 1 + c.era_slope * age : 1;
}

namespace {

void read_rates(const yaml::Document& doc, const yaml::Node& node, Problems& problems,
                GpuRates& out) {
  yaml::Fields fields(doc, node, problems, "calibrated rates");
  for (const GpuField& f : gpu_fields()) fields.number(f.name, out.*f.member, 0, 1e4);
  fields.ignore("id");
  fields.ignore("source");
  fields.done();
}

}  // namespace

Checked<Calibration> load_calibration(const std::string& path) {
  const yaml::Document doc = RY_TRY(yaml::Document::load(path));
  Problems problems;
  Calibration out;
  yaml::Fields top(doc, doc.root(), problems, "the calibration");
  if (const yaml::Node* standard = top.need("standard"))
    read_rates(doc, *standard, problems, out.standard);
  top.list("accelerators", [&](const yaml::Node& item) {
    GpuRates rates = out.standard;
    const yaml::Node* id = item.find("id");
    if (id) rates.id = id->scalar;
    read_rates(doc, item, problems, rates);
    if (rates.id.empty()) problems.push_back(doc.problem(item, "an id"));
    out.gpus.push_back(std::move(rates));
  });
  if (const yaml::Node* constants = top.need("constants")) {
    yaml::Fields fields(doc, *constants, problems, "the constants");
    for (const ConstantField& f : constant_fields())
      fields.number(f.name, out.constants.*f.member, -1e6, 1e6);
    fields.ignore("source");
    fields.done();
  }
  top.list("bands", [&](const yaml::Node& item) {
    Band band;
    yaml::Fields fields(doc, item, problems, "a band");
    fields.need("kind");
    fields.text("kind", band.kind);
    fields.number("low", band.low, 0.01, 1);
    fields.number("high", band.high, 1, 100);
    fields.integer("rows", band.rows);
    fields.integer("sources", band.sources);
    fields.done();
    out.bands.push_back(std::move(band));
  });
  top.ignore("source");
  top.done();
  if (!problems.empty()) return std::unexpected(std::move(problems));
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  out.graphs = std::make_shared<nccl::GraphMemory>();
  out.collectives = RY_TRY(nccl::load_priors(folder + "nccl_priors.yaml"));
  return out;
}

}  // namespace railyard::predict

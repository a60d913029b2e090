#include "judge/gpu_class.h"

#include <algorithm>
#include <cctype>

namespace railyard::judge {

namespace {

using predict::nccl::Inside;
using predict::nccl::Platform;

// [catalog/accelerators.yaml; NVIDIA's datasheets]
constexpr GpuClass kGpus[] = {
    {"v100", 70, 150},    {"a100", 80, 300},       {"a800", 80, 200},    {"a30", 80, 200},
    {"gh200", 90, 450},   {"h100", 90, 450},       {"h200", 90, 450},    {"h800", 90, 200},
    {"h20", 90, 450},     {"gb200", 100, 900},     {"gb300", 103, 900},  {"b200", 100, 900},
    {"b300", 103, 900},   {"a10", 86, 0},          {"a40", 86, 0},       {"a6000", 86, 0},
    {"rtx a6000", 86, 0}, {"rtx 3090", 86, 0},     {"l40", 89, 0},       {"l4", 89, 0},
    {"rtx 4090", 89, 0},  {"rtx 6000 ada", 89, 0}, {"rtx 5090", 120, 0}, {"rtx pro 6000", 120, 0}};

// [DGX-1, DGX A100, DGX H100, DGX B300 datasheets; AWS p3dn, p4d; GCP A3 High and A3 Mega]
constexpr NicSetup kVolta[] = {{4, 12.5, "DGX-1"}, {1, 12.5, "p3dn"}};
constexpr NicSetup kAmpere[] = {
    {8, 25, "DGX A100"}, {8, 12.5, "100G per GPU"}, {4, 12.5, "p4d: 4 x 100G"}};
constexpr NicSetup kHopper[] = {{8, 50, "DGX H100"}, {8, 25, "A3 Mega"}, {4, 25, "A3 High"}};
constexpr NicSetup kBlackwell[] = {{8, 50, "DGX B200"}, {8, 100, "DGX B300"}};

constexpr int kRackGpus = 72;  // of one NVLink domain (NVL72)

/// One direction of the slot after the line code: generation 3, 4, 5. [PCIe specifications]
double slot_of(int sm) {
  if (sm < 80) return 15.75;
  return sm < 90 ? 31.5 : 63.0;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

const GpuClass* gpu_class(std::string_view name) {
  for (const GpuClass& gpu : kGpus)
    if (name.starts_with(gpu.begins)) return &gpu;
  return nullptr;
}

bool is_amd_gpu(std::string_view name) {
  return name.starts_with("mi1") || name.starts_with("mi2") || name.starts_with("mi3") ||
         name.starts_with("mi5") || name.starts_with("instinct") || name.starts_with("amd");
}

std::string product_of(std::string_view driver_name) {
  std::string out = lower_case(driver_name);
  for (const std::string_view word : {"nvidia ", "tesla ", "geforce ", "quadro "})
    if (out.starts_with(word)) out.erase(0, word.size());
  return out;
}

std::span<const NicSetup> usual_nics(int sm) {
  if (sm >= 70 && sm < 80) return kVolta;
  if (sm == 80) return kAmpere;
  if (sm == 90) return kHopper;
  if (sm >= 100 && sm < 120) return kBlackwell;
  return {};
}

Platform server_of(std::string_view product, int gpus) {
  const GpuClass* known = gpu_class(product);
  Platform out{.sm = known ? known->sm : 90, .gpus = gpus};
  const bool board = product.contains("pcie") || product.contains("h100 nvl") ||
                     product.contains("h200 nvl") || !known || known->nvlink <= 0;
  if (gpus == 1)
    out.inside = Inside::none;
  else if (board)
    out.inside = Inside::pcie;
  else if (product.starts_with("gb"))
    out.inside = Inside::rack;
  else if (out.sm < 80 && !product.contains("sxm3"))
    out.inside = Inside::cube;
  else if (product.starts_with("gh200") || (out.sm == 80 && gpus <= 4))
    out.inside = Inside::mesh;
  else
    out.inside = Inside::nvswitch;
  if (out.inside == Inside::rack) out.gpus = std::min(gpus, kRackGpus);
  out.nvlink = (board || !known ? 0 : known->nvlink) * GBps;
  out.pcie = slot_of(out.sm) * GBps;
  out.sockets = gpus > 4 ? 2 : 1;
  out.peer_to_peer = !product.starts_with("rtx 30") && !product.starts_with("rtx 40") &&
                     !product.starts_with("rtx 50");  // the stock driver has none
  out.nvls = (out.inside == Inside::nvswitch || out.inside == Inside::rack) && out.sm >= 90;
  return out;
}

}  // namespace railyard::judge

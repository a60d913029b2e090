#pragma once
// What the name of a GPU tells of the server around it, as far as it does: compute capability,
// NVLink, slot, and the network that such servers are usually bought with.

#include <span>
#include <string>
#include <string_view>

#include "predict/nccl/platform.h"

namespace railyard::judge {

struct GpuClass {
  std::string_view begins = {};  ///< of the name in lower case; longest first where they overlap
  int sm = 0;
  double nvlink = 0;  ///< GB/s of one GPU, one direction
};

std::string lower_case(std::string_view text);
/// Of a name in lower case without the maker: "h100 80gb hbm3". Null: not known.
const GpuClass* gpu_class(std::string_view name);
/// Of a name in lower case.
bool is_amd_gpu(std::string_view name);
/// As drivers print it, "NVIDIA H100 80GB HBM3" or "Tesla V100-SXM2-32GB", in lower case without
/// maker and brand.
std::string product_of(std::string_view driver_name);

/// The NICs of a server of eight such GPUs, as such servers are sold.
struct NicSetup {
  int count = 0;
  double gb_per_s = 0;  ///< of one, one direction
  std::string_view who = {};

  double sum() const { return count * gb_per_s; }
};
/// The usual one first. Empty: no usual one.
std::span<const NicSetup> usual_nics(int sm);

/// A server from the product name and the number of its GPUs in the job; no network yet.
predict::nccl::Platform server_of(std::string_view product, int gpus);

}  // namespace railyard::judge

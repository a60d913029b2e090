#pragma once
// The numbers and small rules of NCCL's cost model, by release. What a release changed stands as
// one entry in constants.cpp with its version, so that "which rule held in 2.21" has an answer.
// [NCCL: src/graph/tuning.cc of the tags v2.18.3 to v2.30.7]

#include <array>

#include "predict/nccl/terms.h"

namespace railyard::predict::nccl {

/// By protocol: LL, LL128, Simple.
using ByProtocol = std::array<double, kProtocols>;
/// By number of nodes: 1, 2, more.
using ByNodes = std::array<double, 3>;
/// By GPU: below sm80, sm80-89, sm90-99, from sm100.
template <class T>
using ByGpu = std::array<T, 4>;

enum class Wire : std::uint8_t { nvlink, pci, network };

struct Constants {
  std::array<ByProtocol, kAlgorithms> base_latency = {};  ///< us
  /// [wire][algorithm][protocol] us per hop
  std::array<std::array<ByProtocol, kAlgorithms>, 3> hop_latency = {};
  ByGpu<ByNodes> ll_cap = {};              ///< GB/s of all channels
  ByGpu<ByNodes> ring_ll128_channel = {};  ///< GB/s a channel
  ByGpu<ByNodes> tree_ll128_channel = {};
  ByGpu<ByNodes> tree_channel = {};
  ByGpu<ByNodes> nvls_tree_channel = {};
  ByGpu<double> nvls_efficiency = {};
  double ring_ll_share = 0.5;  ///< of bus bandwidth
  double ring_ll128_share = 0.92;
  double tree_share = 0.92;
  double tree_ll_divisor = 3.8;
  double pat_share = 0.75;
  bool pat = true;
  /// Ring steps over the network: 2(N-1) for all-reduce, N-1 for the others; before 2.23 2N and N.
  bool network_steps_less_one = true;
  bool single_gpu_uses_tree_hop = true;  ///< 2.23
  /// NVLS and NVLSTree: efficiency, heads and steps as of 2.28; before, a fixed share of 5/6.
  bool nvls_by_heads = true;
  double nvls_fixed_share = 5.0 / 6.0;
  bool ll128_on_pxn = true;            ///< LL128 up to PXN on sm90 (2.19)
  bool ll128_on_mixed_hopper = false;  ///< GPUs of unequal sm, all from 90 (2.30)
  /// Tree corrections apply to NVLSTree too, on Blackwell with x86 CPUs (2.30).
  bool correct_nvls_tree = false;
  std::array<std::array<double, 24>, kProtocols> tree_correction = {};
  /// Plateau of ring/Simple all-reduce between nodes: latency factor below sm80, and from there.
  double ring_plateau_old = 1.9, ring_plateau = 1.4;
  int most_channels = 64;  ///< 32 before 2.25
  int blackwell_nvls_channels = 24, blackwell_nvls_channels_nodes = 32, nvls_channels = 16;
};

/// The rules of a release; older than 2.18 or newer than 2.30.7 get the nearest we have.
Constants constants_of(const Version& version);

}  // namespace railyard::predict::nccl

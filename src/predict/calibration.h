#pragma once
// What the datasheets do not say: which share of its peaks a part sustains in training.
//
// Two tables, both in catalog/calibration.yaml with their sources: one row per accelerator type,
// and one set of constants for everybody. Nothing here is per publication, per model or per row.
// What was fitted names the rows it was fitted on; `railyard-fit` repeats the fit.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "base/quantity.h"
#include "model/job.h"
#include "model/parts.h"
#include "predict/nccl/priors.h"

namespace railyard::predict {

namespace nccl {
class GraphMemory;
}

/// Shares of one accelerator type's peaks, sustained in a training step (not in a short benchmark:
/// long runs sit at the power limit).
struct GpuRates {
  std::string id = {};  ///< catalogue id, or an architecture ("hopper") that stands for its parts
  double gemm = 0.7;    ///< tiles of a GEMM, over the dense 16-bit peak
  double gemm_depth = 200;   ///< K at which half of a tile's time is prologue and epilogue
  double partial_lines = 1;  ///< rate where rows are no multiple of 64 elements (128 bytes)
  double gemm_cap = 1;       ///< what the power limit leaves of the same peak to long GEMMs
  double gemm_fp8 = 0.65, gemm_fp4 = 0.5;  ///< over the dense fp8, fp4 peak
  double memory = 0.8;                     ///< element-wise chains, over HBM bandwidth
  double norm = 0.45;  ///< LayerNorm, softmax and cross-entropy reductions, over HBM bandwidth
  double flash1 = 0.35, flash2 = 0.5, flash3 = 0.55;  ///< attention forward, over the 16-bit peak
  double host = 1;  ///< host time per kernel in servers of its years, over that of an H200 host
  double scale_up = 0.78;    ///< bus bandwidth of a large ring collective over the link rate
  double all_reduce = 0.78;  ///< of a large all-reduce (NVLS where there is one)
};

/// One set for all accelerators.
struct Constants {
  double gemm_wave = 0.4;  ///< weight of whole waves against fractional ones
  double tile_128 = 0.966, tile_64 = 0.94, tile_64x64 = 0.6;  ///< against the 256x128 tile
  double attention_backward = 0.85;    ///< rate of backward against forward (per flop)
  double attention_block = 256;        ///< tokens of diagonal block that the causal mask wastes
  double attention_waves = 1.2;        ///< waves lost to the uneven causal tail
  double attention_d64 = 0.72;         ///< rate at head width 64 against 128
  double kernel_gap = 1.5e-6;          ///< s between kernels on the device
  double launch = 15e-6;               ///< s of host time per kernel, eager
  double launch_graph = 0.4e-6;        ///< s with CUDA graphs
  double launch_compiled = 13e-6;      ///< s with torch.compile
  double fsdp_host = 0.72e-3;          ///< s of host time per layer pass that FSDP's hooks take
  double overlap_slowdown = 1.15;      ///< of compute while a collective runs beside it
  double overlap_tensor_hidden = 0.7;  ///< share of tensor-parallel time that overlap hides
  double overlap_expert_hidden = 0.5;
  // Share of the NICs' payload that a large ring gets. InfiniBand: A100 on 2 and 4 nodes, 189 to
  // 192 of 200 GB/s; RoCE: H200 on 2 and 8 nodes, 325 to 336 of 392; EFA: 370 of 400 at best, half
  // of it in collectives of training size [nccl_busbw]. TCP: NCCL's sockets move 6 to 8 of 12.4
  // GB/s on 100 GbE [recalled]; the deployment guide prints 0.68 on 10 GbE.
  double network_infiniband = 0.94, network_roce = 0.85, network_tcp = 0.55, network_efa = 0.75;
  double scale_up_base = 20e-6;  ///< s per collective inside a domain
  double scale_up_root = 12e-6;  ///< s per square root of a MiB: pipeline fill of chunked rings
  double network_base = 25e-6;   ///< s more per doubling of domains
  double network_root = 5e-6;    ///< s per square root of a MiB, per doubling of domains
  // Ring steps of the Simple protocol [NCCL src/graph/tuning.cc: NVLink 3.4, network 14 us].
  double scale_up_hop = 3.4e-6, network_hop = 14e-6;  ///< s
  double root_saturates = 128;                        ///< MiB at which the fill stops to grow
  double pipeline_send = 25e-6;  ///< s of synchronisation per send between stages
  double pcie_ring = 0.55;       ///< of the PCIe payload when all ranks of a server ring through it
  double expert_scatter_fused = 18;  ///< as the next, in kernels that exchange and permute at once
  double expert_scatter =
      45;  ///< bytes per routed element that un-permutation costs at the norm rate
  double eager_traffic = 1.6;      ///< element-wise bytes of unfused software over fused
  double compiled_traffic = 0.8;   ///< of compiled software
  double optimizer_passes = 1.25;  ///< bytes moved by the optimizer over the fused minimum
  double power_exponent = 0.7;     ///< arithmetic rate over power, below the part's own limit
  double step_fixed = 8e-3;        ///< s per step: data loader, logging, scalar reductions
  double imbalance = 0.0;          ///< step time lost per log2(accelerators), stragglers and jitter
  double era_slope = 0.0;  ///< compute time added per year of software age before `era_year`
  double era_year = 2025;
};

/// The 80 % interval of measured over predicted step time, for runs of one kind.
struct Band {
  std::string kind = {};
  double low = 0.85, high = 1.15;
  int rows = 0, sources = 0;  ///< that the residuals are from
};

struct Calibration {
  std::vector<GpuRates> gpus = {};
  GpuRates standard = {};  ///< for accelerators that no row names
  Constants constants = {};
  std::vector<Band> bands = {};
  nccl::Priors collectives = {};  ///< catalog/nccl_priors.yaml
  /// Shared by all models that are built with this calibration.
  std::shared_ptr<nccl::GraphMemory> graphs = {};

  /// The interval of a kind; a wide one where nothing is known.
  Band band(std::string_view kind) const;
  /// The row of the part, else of its architecture, else the standard.
  const GpuRates& of(const model::Accelerator& part) const;
};

/// What kind of run this is, as far as errors differ: "experts", "quantised", "16-bit one server",
/// "16-bit many servers".
std::string_view band_kind(const model::Job& job, int servers);

/// Reads calibration.yaml, and nccl_priors.yaml beside it.
Checked<Calibration> load_calibration(const std::string& path);

/// Factor on compute time for software of the given date: 1 from `era_year` on.
double era_factor(const Constants& c, int year, int month);

/// Every number by name, for readers and for the fit.
struct GpuField {
  std::string_view name;
  double GpuRates::* member;
};
struct ConstantField {
  std::string_view name;
  double Constants::* member;
};
const std::vector<GpuField>& gpu_fields();
const std::vector<ConstantField>& constant_fields();

}  // namespace railyard::predict

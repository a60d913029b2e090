#pragma once
// What one kernel costs on one accelerator: matrix multiplications by shape, attention, and
// everything that only moves memory.
//
// GEMM: output tiles are dealt to the multiprocessors in waves; the last wave is not full, and each
// tile pays a prologue and epilogue worth `gemm_depth` of K. The library has several tile shapes
// and splits K when there are too few tiles; the cheapest counts. Long GEMMs run into the power
// limit (H200: 69 % of peak, whatever the shape), and memory bounds from below. Checked against 754
// shapes on one H200: mean 5.8 % [validation/h200_gemm.csv, h200_kernels.csv].

#include "base/quantity.h"
#include "model/parts.h"
#include "predict/calibration.h"

namespace railyard::predict {

/// Rates of one accelerator, flattened: what the formulas need and nothing else.
struct Device {
  FlopRate matmul = {};  ///< sustained, of linear layers in the job's precision
  FlopRate matmul_16 =
      {};  ///< sustained, 16 bit: logits, router, attention projections kept in bf16
  double gemm_depth = 200;  ///< see GpuRates
  double partial_lines = 1;
  FlopRate matmul_cap = {};  ///< power limit, 16 bit
  FlopRate peak_16 = {};     ///< dense 16-bit datasheet peak
  FlopRate peak = {};        ///< dense datasheet peak of the precision that it is priced at
  FlopRate attention = {};   ///< forward, at head width 128, long sequence
  Bandwidth memory = {};     ///< of element-wise chains
  Bandwidth reduction = {};  ///< of norms, softmax, loss
  double multiprocessors = 1;
  double input_bytes = 2;  ///< per element of a linear layer's operands
  bool quantised = false;  ///< fp8 or fp4: inputs are cast first
  Seconds gap = {};        ///< between kernels
  double host = 1;         ///< see GpuRates
};

/// Device for a job's precision and attention kernel.
/// `power_share`: a power limit over the part's own; clocks and with them every arithmetic rate
/// fall.
Device make_device(const model::Accelerator& part, const Calibration& calibration,
                   model::Precision precision, model::AttentionKernel attention,
                   double power_share = 1);

/// C[m,n] += A[m,k] B[k,n], `batch` times.
struct GemmShape {
  double m = 0, n = 0, k = 0, batch = 1;
  Flops flops() const { return Flops::si(2 * m * n * k * batch); }
};
enum class Operands : bool { job_precision, sixteen_bit };

Seconds gemm(const GemmShape& shape, const Device& device, const Constants& c,
             Operands operands = Operands::job_precision);

/// Attention of one micro-batch on one rank.
struct AttentionShape {
  double batch = 1, heads = 1, kv_heads = 1;
  double queries = 0, keys = 0;  ///< tokens
  double head_dim = 128, value_dim = 128;
  bool causal = true;
  double window = 0;  ///< 0: none
};
struct TwoWay {
  Seconds forward = {}, backward = {};
};
/// Scores stay on chip. Flops: 2 s_q s_k (d + d_v) forward, half of it under the causal mask;
/// 2.5 times that backward (scores are recomputed).  [Dao et al., FlashAttention-2, 2023]
TwoWay flash_attention(const AttentionShape& shape, const Device& device, const Constants& c);
/// Two batched GEMMs around a softmax over a stored s x s matrix, with or without dropout on it.
TwoWay unfused_attention(const AttentionShape& shape, const Device& device, const Constants& c,
                         bool dropout);

/// A chain that reads and writes `moved` bytes.
Seconds elementwise(Bytes moved, const Device& device);
/// The same for norms, softmax and losses.
Seconds reduction(Bytes moved, const Device& device);

}  // namespace railyard::predict

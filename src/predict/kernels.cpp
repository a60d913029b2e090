#include "predict/kernels.h"

#include <algorithm>
#include <cmath>

namespace railyard::predict {

namespace {

struct Tile {
  double rows, columns;
  double Constants::* rate;  ///< nullptr: 1
};
// The tile shapes that cuBLAS kernels on sm80..sm100 are named after.
constexpr Tile kTiles[] = {{256, 128, nullptr},
                           {128, 256, nullptr},
                           {128, 128, &Constants::tile_128},
                           {128, 64, &Constants::tile_64},
                           {64, 64, &Constants::tile_64x64}};

}  // namespace

Device make_device(const model::Accelerator& part, const Calibration& calibration,
                   model::Precision precision, model::AttentionKernel attention,
                   double power_share) {
  using model::AttentionKernel;
  using model::Precision;
  const GpuRates& rates = calibration.of(part);
  Device d;
  d.peak_16 = max(part.peak_of(Precision::bf16), part.peak_of(Precision::fp16));
  d.matmul_16 = rates.gemm * d.peak_16;
  d.peak = d.peak_16;
  d.matmul = d.matmul_16;
  d.gemm_depth = rates.gemm_depth;
  d.host = rates.host;
  d.partial_lines = rates.partial_lines;
  d.matmul_cap = rates.gemm_cap * d.peak_16;
  switch (precision) {
    case Precision::fp32:
      d.peak = part.peak_of(Precision::fp32);
      d.matmul = 0.9 * d.peak;
      d.input_bytes = 4;
      break;
    case Precision::tf32:
      d.peak = part.peak_of(Precision::tf32);
      d.matmul = rates.gemm * d.peak;
      d.input_bytes = 4;
      break;
    case Precision::fp16:
    case Precision::bf16: break;
    case Precision::fp8:
    case Precision::mxfp8:
      if (part.peak_of(Precision::fp8) > FlopRate{}) {
        d.peak = part.peak_of(Precision::fp8);
        d.matmul = rates.gemm_fp8 * d.peak;
        d.input_bytes = 1;
        d.quantised = true;
      }
      break;
    case Precision::nvfp4:
      if (part.peak_of(Precision::nvfp4) > FlopRate{}) {
        d.peak = part.peak_of(Precision::nvfp4);
        d.matmul = rates.gemm_fp4 * d.peak;
        d.input_bytes = 0.5625;  // 4 bits and an 8-bit scale per 16 elements
        d.quantised = true;
      }
      break;
  }
  const double share = attention == AttentionKernel::flash1   ? rates.flash1
                       : attention == AttentionKernel::flash3 ? rates.flash3
                                                              : rates.flash2;
  d.attention = share * d.peak_16;
  const double clock = std::pow(power_share, calibration.constants.power_exponent);
  d.matmul *= clock;
  d.matmul_16 *= clock;
  d.matmul_cap *= clock;
  d.attention *= clock;
  d.memory = rates.memory * part.memory;
  d.reduction = rates.norm * part.memory;
  d.multiprocessors = std::max(part.multiprocessors, 1);
  d.gap = Seconds::si(calibration.constants.kernel_gap);
  return d;
}

namespace {

/// Tensor cores load 16 bytes at a time: rows whose length is no multiple of 8 elements take slower
/// kernels. Measured on H200 at 4096 and 8192 cubed: multiples of 4 and 2 run at a third, odd
/// lengths at an eighth of the rate [validation/h200_kernels.csv, align_*]. Before Hopper a row
/// wants whole lines of 128 bytes as well.
double alignment(double length, const Device& device) {
  const auto n = static_cast<long long>(length);
  if (static_cast<double>(n) != length) return 1;  // an average over uneven shards
  if (n % 64 == 0) return 1;
  return n % 8 == 0 ? device.partial_lines : n % 2 == 0 ? 1.0 / 3 : 1.0 / 8;
}

}  // namespace

Seconds gemm(const GemmShape& s, const Device& device, const Constants& c, Operands operands) {
  if (s.m <= 0 || s.n <= 0 || s.k <= 0) return {};
  const FlopRate rate = operands == Operands::job_precision ? device.matmul : device.matmul_16;
  // of A[m,k] B[k,n] the rows of A are k long, those of B and C n long
  // (the batched GEMMs of attention read rows of the whole hidden size, whatever the head width)
  const double aligned = s.batch > 1 ? 1 : std::min(alignment(s.n, device), alignment(s.k, device));
  const double per_sm = aligned * rate.si() / device.multiprocessors;
  double best = 1e300;
  for (const Tile& tile : kTiles) {
    const double tiles = std::ceil(s.m / tile.rows) * std::ceil(s.n / tile.columns) * s.batch;
    const double tile_rate = (tile.rate ? c.*tile.rate : 1.0) * per_sm;
    const double per_k = 2 * tile.rows * tile.columns / tile_rate;
    // Splitting K pays when the tiles do not fill the machine; the pieces are added up in memory.
    for (double split = 1; split <= 4; split *= 2) {
      if (split > 1 && (tiles * split > 2 * device.multiprocessors || s.k < 2048)) break;
      const double waves = tiles * split / device.multiprocessors;
      const double whole =
          std::max(1.0, c.gemm_wave * std::ceil(waves) + (1 - c.gemm_wave) * waves);
      double t = whole * per_k * (s.k / split + device.gemm_depth);
      if (split > 1) t += 4 * s.m * s.n * split * s.batch / device.memory.si();
      best = std::min(best, t);
    }
  }
  const double in = operands == Operands::job_precision ? device.input_bytes : 2;
  const double moved = s.batch * (in * (s.m * s.k + s.k * s.n) + 2 * s.m * s.n);
  const bool full_rate = operands == Operands::sixteen_bit || !device.quantised;
  const double limited =
      full_rate && device.input_bytes <= 2 ? (s.flops() / device.matmul_cap).si() : 0.0;
  return Seconds::si(std::max({best, limited, moved / device.memory.si()}));
}

namespace {

/// Query-key pairs that are worked on, whole blocks of the diagonal included.
double pairs(const AttentionShape& s, double block) {
  if (s.window > 0 && s.window < s.keys) return s.queries * (s.window + block);
  if (!s.causal) return s.queries * s.keys;
  return s.queries * s.keys / 2 * (1 + block / s.keys);
}

}  // namespace

TwoWay flash_attention(const AttentionShape& s, const Device& device, const Constants& c) {
  const double flops =
      2 * s.batch * s.heads * pairs(s, c.attention_block) * (s.head_dim + s.value_dim);
  // Each multiprocessor takes blocks of 128 queries of one head; causal blocks are of unequal
  // length, so the tail costs about `attention_waves` of a wave.
  const double waves = s.batch * s.heads * std::ceil(s.queries / 128) / device.multiprocessors;
  const double tail = 1 + c.attention_waves / std::max(waves, 0.25);
  const double width = s.head_dim >= 96 ? 1.0 : c.attention_d64;
  const Seconds forward = Seconds::si(flops * tail / (device.attention.si() * width));
  return {.forward = forward, .backward = forward * (2.5 / c.attention_backward)};
}

TwoWay unfused_attention(const AttentionShape& s, const Device& device, const Constants& c,
                         bool dropout) {
  const double batch = s.batch * s.heads;
  const GemmShape scores{s.queries, s.keys, s.head_dim, batch};
  const GemmShape values{s.queries, s.value_dim, s.keys, batch};
  const Seconds one_way = gemm(scores, device, c, Operands::sixteen_bit) +
                          gemm(values, device, c, Operands::sixteen_bit);
  const double cells = batch * s.queries * s.keys;
  // Scaled masked softmax reads and writes the scores; dropout reads and writes them and a byte
  // mask.
  const double mask = dropout ? 5 : 0;
  const Seconds softmax = elementwise(Bytes::si((4 + mask) * cells), device);
  const Seconds softmax_back = elementwise(Bytes::si((6 + mask) * cells), device);
  return {.forward = one_way + softmax, .backward = 2 * one_way + softmax_back};
}

Seconds elementwise(Bytes moved, const Device& device) { return moved / device.memory; }
Seconds reduction(Bytes moved, const Device& device) { return moved / device.reduction; }

}  // namespace railyard::predict

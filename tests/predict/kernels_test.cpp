// Laws of the kernel costs: no kernel beats the peak or the memory, and the limits are reached
// where they should be. Constants are those of the header, not the fitted ones.

#include "predict/kernels.h"

#include <gtest/gtest.h>

namespace railyard::predict {
namespace {

/// An accelerator of round numbers: 600 TFLOP/s of GEMM, 2 TB/s, 132 multiprocessors. No power
/// limit.
Device device() {
  Device d;
  d.matmul = d.matmul_16 = d.matmul_cap = 600.0 * TFLOPS;
  d.peak_16 = 1000.0 * TFLOPS;
  d.attention = 400.0 * TFLOPS;
  d.memory = 2.0 * TBps;
  d.reduction = 1.0 * TBps;
  d.multiprocessors = 132;
  return d;
}
const Constants constants;

TEST(Gemm, NoShapeIsFasterThanItsFlopsOrItsBytes) {
  const Device d = device();
  for (const double m : {1.0, 96.0, 2048.0, 65536.0})
    for (const double n : {64.0, 1000.0, 12288.0})
      for (const double k : {64.0, 4096.0, 49152.0})
        for (const double batch : {1.0, 8.0}) {
          const GemmShape shape{m, n, k, batch};
          const Seconds t = gemm(shape, d, constants);
          EXPECT_GE(t.si(), shape.flops().si() / d.matmul.si() * (1 - 1e-12))
              << m << ' ' << n << ' ' << k;
          const double bytes = 2 * batch * (m * k + k * n + m * n);
          EXPECT_GE(t.si(), bytes / d.memory.si() * (1 - 1e-12)) << m << ' ' << n << ' ' << k;
        }
}

TEST(Gemm, ALargeSquareComesWithinTenPercentOfItsRate) {
  const GemmShape shape{16384, 16384, 16384};
  const double ideal = shape.flops().si() / 600e12;  // 2 x 16384^3 / 600e12 = 14.66 ms
  EXPECT_NEAR(ideal, 14.66e-3, 0.01e-3);
  EXPECT_LT(gemm(shape, device(), constants).si(), 1.10 * ideal);
}

TEST(Gemm, AMatrixTimesAVectorStreamsTheMatrix) {
  // 12288 x 49152 of 2 bytes are 1.208 GB; with the vectors, at 2 TB/s: 604 us.
  const Seconds t = gemm({1, 49152, 12288}, device(), constants);
  const double bytes = 2.0 * (12288 + 12288.0 * 49152 + 49152);
  EXPECT_DOUBLE_EQ(t.si(), bytes / 2e12);
  EXPECT_NEAR(t.in(us), 604, 1);
}

TEST(Gemm, TwiceTheRateHalvesWhatIsBoundByIt) {
  Device fast = device();
  fast.matmul = fast.matmul_16 = fast.matmul_cap = 1200.0 * TFLOPS;
  const GemmShape shape{8192, 8192, 8192};
  EXPECT_DOUBLE_EQ(gemm(shape, fast, constants).si(), gemm(shape, device(), constants).si() / 2);
}

TEST(Gemm, OneTileMoreThanAWaveCostsMoreThanTheWave) {
  // 132 tiles of 256 x 128 are one wave; one row of tiles more begins another.
  const Seconds full = gemm({256.0 * 12, 128.0 * 11, 8192}, device(), constants);
  const Seconds more = gemm({256.0 * 12, 128.0 * 12, 8192}, device(), constants);
  EXPECT_GT(more / full, 12.0 / 11);
}

TEST(Gemm, WithoutRowsThereIsNothingToDo) {
  EXPECT_EQ(gemm({0, 128, 128}, device(), constants), Seconds{});
}

TEST(FlashAttention, TheCausalMaskHalvesLongSequences) {
  AttentionShape s{.batch = 1, .heads = 64, .kv_heads = 64, .queries = 131072, .keys = 131072};
  const Seconds causal = flash_attention(s, device(), constants).forward;
  s.causal = false;
  EXPECT_NEAR(causal / flash_attention(s, device(), constants).forward, 0.5, 0.005);
}

TEST(FlashAttention, LongSequencesReachTheRate) {
  // 4 s^2 d flops a head without a mask: 4 x 65536^2 x 128 x 32 = 70.4e12, at 400 TFLOP/s 176 ms.
  const AttentionShape s{
      .batch = 1, .heads = 32, .kv_heads = 32, .queries = 65536, .keys = 65536, .causal = false};
  EXPECT_NEAR(flash_attention(s, device(), constants).forward.in(ms), 176, 2);
}

TEST(FlashAttention, BackwardDoesTwoAndAHalfTimesTheWork) {
  const AttentionShape s{.batch = 2, .heads = 32, .kv_heads = 8, .queries = 4096, .keys = 4096};
  const TwoWay t = flash_attention(s, device(), constants);
  EXPECT_DOUBLE_EQ(t.backward / t.forward, 2.5 / constants.attention_backward);
}

TEST(FlashAttention, AWindowMakesTheCostLinearInTheSequence) {
  AttentionShape s{.batch = 1, .heads = 128, .kv_heads = 128, .queries = 32768, .keys = 32768};
  s.window = 1024;
  const Seconds once = flash_attention(s, device(), constants).forward;
  s.queries = s.keys = 65536;
  EXPECT_NEAR(flash_attention(s, device(), constants).forward / once, 2, 0.02);
}

TEST(UnfusedAttention, MovesEveryScoreThroughMemory) {
  // 96 heads of 2048 x 2048 scores: at least a byte each, however fast the matrix units.
  Device fast = device();
  fast.matmul = fast.matmul_16 = fast.matmul_cap = 1e6 * TFLOPS;
  const AttentionShape s{.batch = 1, .heads = 96, .kv_heads = 96, .queries = 2048, .keys = 2048};
  const double scores = 96.0 * 2048 * 2048;
  EXPECT_GT(unfused_attention(s, fast, constants, false).forward.si(), 4 * scores / 2e12);
}

TEST(MemoryBound, TimeIsBytesOverBandwidth) {
  EXPECT_DOUBLE_EQ(elementwise(4.0 * GB, device()).in(ms), 2);
  EXPECT_DOUBLE_EQ(reduction(4.0 * GB, device()).in(ms), 4);
}

class MakeDevice : public testing::Test {
 protected:
  MakeDevice() {
    part_.peak[static_cast<std::size_t>(model::Precision::fp32)] = 60.0 * TFLOPS;
    part_.peak[static_cast<std::size_t>(model::Precision::bf16)] = 1000.0 * TFLOPS;
    part_.peak[static_cast<std::size_t>(model::Precision::fp8)] = 2000.0 * TFLOPS;
    part_.memory = 3.0 * TBps;
    part_.multiprocessors = 132;
    rates_.standard.gemm = 0.7;
    rates_.standard.gemm_fp8 = 0.6;
    rates_.standard.memory = 0.8;
  }
  Device of(model::Precision p) const {
    return make_device(part_, rates_, p, model::AttentionKernel::flash2);
  }

  model::Accelerator part_;
  Calibration rates_;
};

TEST_F(MakeDevice, RatesAreSharesOfTheDatasheet) {
  const Device d = of(model::Precision::bf16);
  EXPECT_DOUBLE_EQ(d.matmul.in(TFLOPS), 700);
  EXPECT_DOUBLE_EQ(d.memory.in(TBps), 2.4);
  EXPECT_FALSE(d.quantised);
  EXPECT_DOUBLE_EQ(d.input_bytes, 2);
}

TEST_F(MakeDevice, EightBitsDoubleTheRateOfLinearLayersOnly) {
  const Device d = of(model::Precision::fp8);
  EXPECT_DOUBLE_EQ(d.matmul.in(TFLOPS), 1200);
  EXPECT_DOUBLE_EQ(d.matmul_16.in(TFLOPS), 700);
  EXPECT_TRUE(d.quantised);
}

TEST_F(MakeDevice, APartWithoutEightBitUnitsWorksAtSixteen) {
  part_.peak[static_cast<std::size_t>(model::Precision::fp8)] = {};
  const Device d = of(model::Precision::fp8);
  EXPECT_DOUBLE_EQ(d.matmul.in(TFLOPS), 700);
  EXPECT_FALSE(d.quantised);
}

}  // namespace
}  // namespace railyard::predict

// The laws of the sums, by hand.

#include "judge/claim_sums.h"

#include <gtest/gtest.h>

#include "judge/printed.h"
#include "support/support.h"

namespace railyard::judge {
namespace {

TEST(Shares, FixedComputeGainsTheRatioOfWhatIsLeft) {
  // 0.88 / 0.65 = 1.353846
  EXPECT_NEAR(gain_of_shares({0.35, 0.12}), 0.353846, 1e-6);
}

TEST(Shares, CommunicationMustFallWithTheOddsOfItsShare) {
  // (0.35 / 0.65) / (0.12 / 0.88) = 0.538462 / 0.136364 = 3.948718
  EXPECT_NEAR(speedup_for_shares({0.35, 0.12}), 3.948718, 1e-6);
}

TEST(Shares, AFasterAllReduceLeavesASmallerShare) {
  const Scaled s{.share = 0.35, .factor = 3.2 / 8.5};
  // 0.35 x 0.376471 = 0.131765; step 0.65 + 0.131765 = 0.781765
  EXPECT_NEAR(share_after(s), 0.168548, 1e-6);
  EXPECT_NEAR(gain_of_communication(s), 0.279157, 1e-6);
}

TEST(Shares, TheSpeedUpThatAShareNeedsGivesThatShare) {
  const double factor = 1 / speedup_for_shares({0.35, 0.12});
  EXPECT_NEAR(share_after({0.35, factor}), 0.12, 1e-12);
  EXPECT_NEAR(gain_of_communication({0.35, factor}), gain_of_shares({0.35, 0.12}), 1e-12);
}

TEST(Shares, HalfAgainAsMuchNeedsMoreThanAllOfTheStep) {
  // 1 - 1/1.5 = 0.333333; over a quarter: 1.333333, impossible
  EXPECT_NEAR(share_for_gain({.gain = 0.5, .factor = 0.75}), 1.333333, 1e-6);
  // with bandwidth +40 %: factor 0.75 / 1.4 = 0.535714; 0.333333 / 0.464286 = 0.717949
  EXPECT_NEAR(share_for_gain({.gain = 0.5, .factor = 0.75 / 1.4}), 0.717949, 1e-6);
}

TEST(Gains, UtilisationAndDurationAreRatios) {
  EXPECT_NEAR(gain_of_utilisation({0.65, 0.92}), 0.415385, 1e-6);
  EXPECT_NEAR(gain_of_duration({30.0 * day, 21.0 * day}), 0.428571, 1e-6);
}

TEST(Ring, TwentyGigabytesOverThirtyTwoServersTakeASecondAndAHalf) {
  // 2 x 31/32 x 20 GB / 25 GB/s
  EXPECT_NEAR(ring_time(20.0 * GB, {32, 200.0 * Gbps}).si(), 1.55, 1e-9);
}

TEST(Ring, SizeAndTimeAreInverse) {
  // 8.5 ms x 25 GB/s / 1.9375 = 109.677 MB
  const Bytes size = ring_size(8.5 * ms, {32, 200.0 * Gbps});
  EXPECT_NEAR(size.in(MB), 109.677, 0.001);
  EXPECT_NEAR(ring_time(size, {32, 200.0 * Gbps}).in(ms), 8.5, 1e-9);
}

TEST(Ring, TheSameSizeInLessTimeAsksForMoreThanTheSlotHas) {
  // 200 Gb/s x 8.5 / 3.2 = 531.25 Gb/s, whatever the size
  const Bytes size = ring_size(8.5 * ms, {32, 200.0 * Gbps});
  const Bandwidth rate = ring_rate(size, 3.2 * ms, 32);
  EXPECT_NEAR(rate.in(Gbps), 531.25, 1e-6);
  EXPECT_GT(rate, fabric::pcie_encoded({.generation = 5, .lanes = 16}));
}

/// Takes 1 ms and 1 s for every 10 GB: sizes follow by hand.
class StraightLine final : public predict::CollectiveModel {
 public:
  explicit StraightLine(double factor) : factor_(factor) {}
  predict::CollectiveTime time(predict::Collective, Bytes size,
                               const predict::Group&) const override {
    return {.time = factor_ * (1.0 * ms + size / (10.0 * GBps))};
  }

 private:
  double factor_;
};

TEST(AllReduceSize, IsTheSizeWhoseTimeIsGiven) {
  // 8.5 ms = 1 ms + 75 MB / 10 GB/s
  EXPECT_NEAR(all_reduce_size(8.5 * ms, StraightLine(1), {}).in(MB), 75, 1e-6);
}

TEST(AllReduceSize, ATimeBelowTheLatencyHasNone) {
  EXPECT_EQ(all_reduce_size(0.5 * ms, StraightLine(1), {}), Bytes{});
}

TEST(AllReduceCurve, GoesFromOneMegabyteToFiftyGigabytes) {
  const StraightLine before(2), after(1);
  const auto curve = all_reduce_curve({&before, &after}, {});
  ASSERT_EQ(curve.size(), 15U);
  EXPECT_DOUBLE_EQ(curve.front().size.in(MB), 1);
  EXPECT_NEAR(curve.back().size.in(GB), 50, 1e-9);
  EXPECT_NEAR(curve.front().time.before.in(ms), 2 * (1 + 0.1), 1e-9);
  for (const SizePoint& p : curve) EXPECT_NEAR(p.time.before / p.time.after, 2, 1e-12);
}

TEST(Scale, FortyPercentOfTwiceTheAcceleratorsIsALossForEach) {
  EXPECT_NEAR(gain_per_accelerator({.gain = 0.40, .accelerators = 2}), -0.30, 1e-12);
  EXPECT_NEAR(gain_of_cluster({.gain = 0.40, .accelerators = 2}), 1.80, 1e-12);
}

TEST(Rent, NineDaysOfTheOldClusterAreItsHours) {
  EXPECT_DOUBLE_EQ(accelerator_hours(256, 9.0 * day), 55296);
  // more hours for less time: 512 x 21 days against 256 x 30
  EXPECT_NEAR(accelerator_hours(512, 21.0 * day) / accelerator_hours(256, 30.0 * day), 1.4, 1e-12);
}

TEST(Printed, HalfAUnitOfTheLastDigitIsWhatRoundingMayHaveTaken) {
  const auto time = parse_printed_seconds("8.5 ms");
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->least().in(ms), 8.45, 1e-12);
  EXPECT_NEAR(time->most().in(ms), 8.55, 1e-12);
  const auto share = parse_printed_percent("35 %");
  ASSERT_TRUE(share);
  EXPECT_NEAR(share->least(), 0.345, 1e-12);
  EXPECT_NEAR(share->most(), 0.355, 1e-12);
}

TEST(Printed, WordsAndSignsInFrontAreKeptAsText) {
  const auto memory = parse_printed_bytes("over 6 TB");
  ASSERT_TRUE(memory);
  EXPECT_DOUBLE_EQ(memory->value.in(TB), 6);
  EXPECT_EQ(memory->text, "over 6 TB");
  const auto gain = parse_printed_percent("+40 %");
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(gain->value, 0.40);
}

TEST(Printed, MonthsAreATwelfthOfAYear) {
  const auto time = parse_printed_seconds("3 months");
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->value.in(day), 91.3125, 1e-9);
}

TEST(Printed, ABareNumberWhereAUnitIsDueIsRefused) {
  EXPECT_FALSE(parse_printed_seconds("8.5"));
  EXPECT_FALSE(parse_printed_percent("0.35"));
  EXPECT_FALSE(parse_printed_bandwidth("fast"));
  EXPECT_FALSE(parse_printed_number("34 x"));
}

TEST(Derive, TheEndsOfASumLieAtTheEndsOfItsNumbers) {
  const auto before = parse_printed_percent("35 %"), after = parse_printed_percent("12 %");
  ASSERT_TRUE(before && after);
  const Derived gain =
      derive([](double a, double b) { return gain_of_shares({a, b}); }, *before, *after);
  // least 0.875 / 0.655, most 0.885 / 0.645
  EXPECT_NEAR(gain.low, 0.335878, 1e-6);
  EXPECT_NEAR(gain.high, 0.372093, 1e-6);
  EXPECT_NEAR(gain.value, 0.353846, 1e-6);
}

}  // namespace
}  // namespace railyard::judge

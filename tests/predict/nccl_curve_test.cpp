#include "predict/nccl/curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/random.h"
#include "predict/nccl/profile.h"

namespace railyard::predict::nccl {
namespace {

constexpr CurveLaw kLaw{.floor_us = 15,
                        .gb_per_s = 370,
                        .ramp_bytes = 8e6,
                        .ramp_power = 0.6,
                        .fill_us = 6,
                        .channel_gb_per_s = 21,
                        .softness = 2.6};

/// `bend` times what the law says, at each size and channel count.
template <class Bend>
std::vector<CurvePoint> points_with(Bend bend) {
  std::vector<CurvePoint> out;
  for (const int channels : {1, 2, 4, 8, 16, 24, 32})
    for (std::int64_t bytes = 1 << 10; bytes <= 1 << 30; bytes *= 4)
      out.push_back(
          {.channels = channels,
           .bytes = bytes,
           .us = kLaw.time_us(static_cast<double>(bytes), channels) * bend(bytes, channels)});
  return out;
}

void expect_monotone(const Curve& curve) {
  for (int channels = 1; channels <= 70; ++channels) {
    double before = 0;
    for (double bytes = 1; bytes < 1e14; bytes *= 1.13) {
      const double t = curve.time_us(bytes, channels);
      ASSERT_GT(t, 0);
      ASSERT_GE(t, before * (1 - 1e-12)) << bytes << " B, " << channels << " channels";
      if (channels > 1) {
        ASSERT_GE(curve.time_us(bytes, channels - 1), t * (1 - 1e-12))
            << bytes << " B, " << channels << " channels";
      }
      before = t;
    }
  }
}

TEST(NcclCurve, ALongMessageOverOneChannelTakesItsBytesOverTheChannelsRate) {
  const double gib = 1 << 30;
  EXPECT_NEAR(kLaw.time_us(gib, 1), gib / 21e3, 0.001 * gib / 21e3);
  // Many channels: what the machine moves, 1 / (1 + (8 MB / 1 GiB)^0.6) of the rate.
  EXPECT_NEAR(kLaw.time_us(gib, 10000), gib / 370e3 * (1 + std::pow(8e6 / gib, 0.6)) + 6, 1);
  EXPECT_NEAR(kLaw.time_us(1, 32), std::cbrt(15.0 * 15 * 15 + 6 * 6 * 6), 0.1);
}

TEST(NcclCurve, TheLawRisesWithSizeEvenWhereItsRampIsSteep) {
  CurveLaw steep = kLaw;
  steep.ramp_power = 2;
  for (double bytes = 1; bytes < 1e12; bytes *= 2)
    EXPECT_LE(steep.time_us(bytes, 8), steep.time_us(2 * bytes, 8));
}

TEST(NcclCurve, AMeasuredPointIsItsOwnAnswer) {
  // Up to 20 % off the law, wavy where times rise steeply, and rising all the same.
  const auto points = points_with([](std::int64_t bytes, int channels) {
    const double octave = std::log2(static_cast<double>(bytes));
    return 0.9 + 0.005 * octave + 0.1 / (1 + channels / 8.0) +
           (octave >= 24 ? 0.1 * std::sin(octave) : 0);
  });
  const Curve curve(kLaw, points);
  for (const CurvePoint& p : points)
    EXPECT_NEAR(curve.time_us(static_cast<double>(p.bytes), p.channels) / p.us, 1, 1e-9)
        << p.bytes << " B, " << p.channels << " channels";
  expect_monotone(curve);
}

TEST(NcclCurve, BetweenMeasuredPointsItFollowsTheLaw) {
  const Curve curve(kLaw, points_with([](std::int64_t, int) { return 1.05; }));
  for (const int channels : {1, 3, 6, 12, 20, 28, 32})
    for (double bytes = 2048; bytes < 1e9; bytes *= 4)
      EXPECT_NEAR(curve.time_us(bytes, channels) / (1.05 * kLaw.time_us(bytes, channels)), 1, 0.02)
          << bytes << " B, " << channels << " channels";
}

TEST(NcclCurve, TimeNeverFallsWithSizeNorWithFewerChannelsWhateverWasMeasured) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    Random random(seed);
    auto points = points_with([&](std::int64_t, int) { return std::exp(random.unit() - 0.5); });
    expect_monotone(Curve(kLaw, points));
    // Holes: series of different lengths.
    std::erase_if(points, [&](const CurvePoint&) { return random.unit() < 0.4; });
    expect_monotone(Curve(kLaw, points));
  }
}

TEST(NcclCurve, ScatterIsPooledAndLongTransfersWeighMore) {
  CurveLaw law = kLaw;
  law.channel_gb_per_s = 0;
  // Two short sizes that contradict each other meet in the middle of their logarithms.
  const Curve two(law, {{.bytes = 1024, .us = 20}, {.bytes = 4096, .us = 12.8}});
  EXPECT_NEAR(two.time_us(1024), 16, 1e-9);
  EXPECT_NEAR(two.time_us(4096), 16, 1e-9);
  // A short one against one of 1 MiB: that of 1 MiB hardly moves.
  const Curve mixed(law, {{.bytes = 262144, .us = 25}, {.bytes = 1 << 20, .us = 14}});
  EXPECT_NEAR(mixed.time_us(1 << 20), 14, 0.35);
}

TEST(NcclCurve, OnePointIsEnoughAndOneChannelCountAnswersForAll) {
  CurveLaw law = kLaw;
  law.channel_gb_per_s = 0;
  const Curve curve(law, {{.channels = 24, .bytes = 1 << 20, .us = 30}});
  EXPECT_NEAR(curve.time_us(1 << 20, 24), 30, 1e-9);
  EXPECT_EQ(curve.time_us(1 << 20, 8), curve.time_us(1 << 20, 0));
  EXPECT_TRUE(curve.covers(1 << 20, 24));
  EXPECT_FALSE(curve.covers(1 << 20, 8));
  EXPECT_FALSE(curve.covers(1 << 10, 24));
  expect_monotone(curve);
}

TEST(NcclProfile, AnswersByWayAndTellsWhatWasNotMeasured) {
  CurveLaw law = kLaw;
  law.channel_gb_per_s = 0;
  Profile profile{
      .bands = {{.up_to = 1 << 20, .low = -0.2, .high = 0.3}, {.low = -0.1, .high = 0.1}}};
  const Way ring{.algorithm = Algorithm::ring, .protocol = Protocol::ll};
  profile.curves.push_back({.curve = Curve(law, {{.bytes = 1 << 20, .us = 20}})});
  profile.curves.push_back({.way = ring, .curve = Curve(law, {{.bytes = 1 << 20, .us = 30}})});
  profile.curves.push_back(
      {.way = ring, .curve = Curve(law, {{.channels = 8, .bytes = 1 << 20, .us = 40}})});
  const auto free = time_of(profile, {.bytes = 1 << 20});
  ASSERT_TRUE(free);
  EXPECT_NEAR(free->us, 20, 1e-9);
  EXPECT_NEAR(free->low_us, 20 * std::exp(-0.1), 1e-9);
  EXPECT_TRUE(free->measured);
  // NCCL's own number of channels, then a given one.
  EXPECT_NEAR(time_of(profile, {.way = ring, .bytes = 1 << 20})->us, 30, 1e-9);
  const auto eight = time_of(profile, {.way = ring, .channels = 8, .bytes = 1 << 20});
  EXPECT_NEAR(eight->us, 40, 1e-9);
  const auto small = time_of(profile, {.way = ring, .channels = 8, .bytes = 4096});
  EXPECT_FALSE(small->measured);
  EXPECT_NEAR(small->high_us / small->us, std::exp(0.3), 1e-9);
  // In place was not measured, and out of place stands for it; a tree stands for nothing.
  EXPECT_TRUE(time_of(profile, {.way = {.in_place = true}, .bytes = 1 << 20}));
  EXPECT_FALSE(time_of(profile, {.way = {.algorithm = Algorithm::tree}, .bytes = 1 << 20}));
  EXPECT_FALSE(time_of(profile, {.bytes = 0}));
}

TEST(NcclProfile, ABadFileShowsAllItsMistakes) {
  const auto read = read_profile("p.yaml",
                                 "nccl_profile: 1\n"
                                 "ranks: 2\n"
                                 "mode: sometimes\n"
                                 "curves:\n"
                                 "- collective: all_reduse\n"
                                 "  law: {floor: 15, rate: 300 GB/s, ramp: 5 MB, fill: 5 us}\n"
                                 "  points:\n"
                                 "  - {size: 1 MiB, time: 20 us}\n"
                                 "  - {size: 1 MiB, time: 21 us}\n"
                                 "  - {size: 0 B, time: 21 us, colour: red}\n");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().size(), 6u) << text(read.error());
  EXPECT_FALSE(read_profile("p.yaml", ""));
  EXPECT_FALSE(read_profile("p.yaml", "nccl_profile: 2\nranks: 2\ncurves: []\n"));
  EXPECT_FALSE(read_profile("p.yaml", "cluster: pod\nservers: 8\n"));
  EXPECT_FALSE(load_profile("no such file"));
}

}  // namespace
}  // namespace railyard::predict::nccl

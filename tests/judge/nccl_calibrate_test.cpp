#include "judge/nccl_calibrate.h"

#include <gtest/gtest.h>

#include <cmath>

namespace railyard::judge {
namespace {

using predict::nccl::CurveLaw;
using predict::nccl::Mode;

constexpr CurveLaw kTruth{.floor_us = 9,
                          .gb_per_s = 180,
                          .ramp_bytes = 3e6,
                          .ramp_power = 0.5,
                          .fill_us = 4,
                          .channel_gb_per_s = 12,
                          .softness = 3};

facts::BusbwRow row(int channels, std::uint64_t bytes, double us) {
  return {.at = {.file = "s.csv", .line = 2, .column = 1},
          .nodes = 1,
          .ranks = 2,
          .algorithm = "ring",
          .protocol = "Simple",
          .channels = channels,
          .mode = facts::LaunchMode::graph,
          .collective = "all_reduce",
          .bytes = bytes,
          .buffers = facts::Buffers::out_of_place,
          .time_us = us};
}

std::vector<facts::BusbwRow> rows_of_truth() {
  std::vector<facts::BusbwRow> out;
  for (const int channels : {1, 2, 4, 8, 16, 32})
    for (std::int64_t bytes = 1 << 10; bytes <= 1 << 30; bytes *= 2)
      out.push_back(row(channels, static_cast<std::uint64_t>(bytes),
                        kTruth.time_us(static_cast<double>(bytes), channels)));
  return out;
}

TEST(NcclCalibrate, FindsTheLawThatThePointsFollow) {
  const auto made = calibrate_nccl(rows_of_truth(), {});
  ASSERT_TRUE(made) << text(made.error());
  ASSERT_EQ(made->profile.curves.size(), 1u);
  EXPECT_EQ(made->profile.mode, Mode::graph);
  const CurveLaw& law = made->profile.curves[0].curve.law();
  for (double bytes = 1 << 10; bytes <= 1 << 30; bytes *= 3)
    for (const int channels : {1, 3, 12, 32})
      EXPECT_NEAR(law.time_us(bytes, channels) / kTruth.time_us(bytes, channels), 1, 0.02)
          << bytes << " B, " << channels << " channels";
  EXPECT_NEAR(law.channel_gb_per_s, kTruth.channel_gb_per_s, 0.1);
  // Whatever is left out comes back.
  const auto all = made->sum([](const HeldOut&) { return true; });
  EXPECT_EQ(all.within, all.n);
  EXPECT_EQ(all.n, 3 * 6 * 21);
}

TEST(NcclCalibrate, AnOutlierDoesNotMoveTheLaw) {
  auto rows = rows_of_truth();
  *rows[40].time_us *= 3;
  const auto made = calibrate_nccl(rows, {});
  ASSERT_TRUE(made);
  EXPECT_NEAR(
      made->profile.curves[0].curve.law().time_us(1 << 26, 16) / kTruth.time_us(1 << 26, 16), 1,
      0.02);
}

TEST(NcclCalibrate, RepetitionsMeetInTheirMedian) {
  std::vector<facts::BusbwRow> rows;
  for (const double us : {21.0, 20.0, 90.0}) rows.push_back(row(8, 1 << 20, us));
  rows.push_back(row(8, 1 << 24, 120));
  const auto made = calibrate_nccl(rows, {});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->profile.curves[0].curve.points()[0].us, 21);
}

TEST(NcclCalibrate, AProfileIsOfOneMachineAndOneMode) {
  auto rows = rows_of_truth();
  rows[0].ranks = 4;
  rows[1].mode = facts::LaunchMode::eager;
  const auto mixed = calibrate_nccl(rows, {});
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().size(), 2u);
  const auto picked = calibrate_nccl(rows, {.mode = Mode::graph, .ranks = 2});
  ASSERT_TRUE(picked);
  EXPECT_EQ(picked->profile.curves[0].curve.points().size(), rows.size() - 2);
  EXPECT_FALSE(calibrate_nccl(rows, {.mode = Mode::graph, .ranks = 8}));
  EXPECT_FALSE(calibrate_nccl({}, {}));
}

TEST(NcclCalibrate, RowsOfAnotherTransportStandAside) {
  auto rows = rows_of_truth();
  rows[0].transport = "shm";
  const auto made = calibrate_nccl(rows, {});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->profile.curves[0].curve.points().size(), rows.size() - 1);
  ASSERT_EQ(made->remarks.size(), 1u);
}

TEST(NcclCalibrate, EveryRowThatCannotBeUsedIsNamed) {
  auto rows = rows_of_truth();
  rows[0].collective = "gossip";
  rows[1].algorithm = "bus";
  rows[2].protocol = "LL9";
  rows[3].ranks = 1;
  rows[4].channels = 65;
  rows[5].time_us = 0;
  rows[6].bytes = 0;
  const auto made = calibrate_nccl(rows, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().size(), 7u) << text(made.error());
}

TEST(NcclCalibrate, ChannelsThatTheRowsLeaveToNcclCanBeGiven) {
  auto rows = rows_of_truth();
  for (std::uint64_t bytes = 1 << 10; bytes <= 1 << 20; bytes *= 4) {
    rows.push_back(row(0, bytes, 30));
    rows.back().channels.reset();
    rows.push_back(rows.back());
    rows.back().algorithm.clear();
    rows.back().protocol.clear();
  }
  EXPECT_EQ(calibrate_nccl(rows, {})->profile.curves.size(), 3u);
  // Those that NCCL chooses whole stay apart.
  const auto made = calibrate_nccl(rows, {.own_channels = 24});
  EXPECT_EQ(made->profile.curves.size(), 2u);
}

}  // namespace
}  // namespace railyard::judge

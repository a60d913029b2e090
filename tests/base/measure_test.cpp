#include "base/measure.h"

#include <gtest/gtest.h>

namespace railyard {
namespace {

TEST(Measure, ReadsTheUnitsPeopleWrite) {
  EXPECT_DOUBLE_EQ(parse_bandwidth("400 Gb/s")->si(), 50e9);
  EXPECT_DOUBLE_EQ(parse_bandwidth("50GB/s")->si(), 50e9);
  EXPECT_DOUBLE_EQ(parse_bandwidth("3.35 TB/s")->si(), 3.35e12);
  EXPECT_DOUBLE_EQ(parse_bytes("80 GiB")->si(), 80.0 * 1073741824);
  EXPECT_DOUBLE_EQ(parse_bytes("80 GB")->si(), 80e9);
  EXPECT_DOUBLE_EQ(parse_seconds("1.8 us")->si(), 1.8e-6);
  EXPECT_DOUBLE_EQ(parse_seconds("1.8 µs")->si(), 1.8e-6);
  EXPECT_DOUBLE_EQ(parse_seconds("30 days")->si(), 2592000);
  EXPECT_DOUBLE_EQ(parse_flop_rate("989.5 TFLOP/s")->si(), 989.5e12);
  EXPECT_DOUBLE_EQ(parse_watts("10.2 kW")->si(), 10200);
  EXPECT_DOUBLE_EQ(parse_dollars("30000 USD")->si(), 30000);
}

TEST(Measure, ABareNumberIsRefusedWithTheUnitToWrite) {
  const auto rate = parse_bandwidth("400");
  ASSERT_FALSE(rate);
  EXPECT_EQ(rate.error().expected, "a bandwidth such as '400 Gb/s' or '50 GB/s'");
  EXPECT_EQ(rate.error().hint, "a unit is missing: write for example '400 Gb/s'");
  EXPECT_EQ(parse_seconds("2").error().hint, "a unit is missing: write for example '2 us'");
  EXPECT_EQ(parse_watts("700").error().hint, "a unit is missing: write for example '700 W'");
  EXPECT_EQ(parse_bytes("80").error().hint, "a unit is missing: write for example '80 GiB'");
}

TEST(Measure, AUnitOfAnotherKindIsRefused) {
  EXPECT_FALSE(parse_bandwidth("400 GB"));
  EXPECT_FALSE(parse_bytes("400 Gb/s"));
  EXPECT_FALSE(parse_bandwidth("400 gb/s")) << "g is not G";
  EXPECT_FALSE(parse_seconds("3 parsecs"));
  EXPECT_TRUE(parse_bandwidth("400 GB").error().hint.contains("'GB' is no unit of this kind"));
}

TEST(Measure, NothingNegativeAndNothingEndless) {
  EXPECT_FALSE(parse_bytes("-1 GiB"));
  EXPECT_FALSE(parse_bytes("inf GiB"));
  EXPECT_FALSE(parse_bytes("nan GiB"));
  EXPECT_FALSE(parse_bytes(""));
}

TEST(Show, KeepsThreeDigitsAndANumberBetweenOneAndAThousand) {
  EXPECT_EQ(show(79.6 * GiB), "79.6 GiB");
  EXPECT_EQ(show(1536.0 * MiB), "1.50 GiB");
  EXPECT_EQ(show(Bytes::si(100)), "100 B");
  EXPECT_EQ(show(3350.0 * GBps), "3.35 TB/s");
  EXPECT_EQ(show_bits(400.0 * Gbps), "400 Gb/s");
  EXPECT_EQ(show_bits(800.0 * Gbps), "800 Gb/s");
  EXPECT_EQ(show(8.5 * ms), "8.50 ms");
  EXPECT_EQ(show(90.0 * second), "90.0 s");
  EXPECT_EQ(show(30.0 * day), "30.0 days");
  EXPECT_EQ(show(3.0 * hour), "3.00 h");
  EXPECT_EQ(show(1979.0 * TFLOPS), "1.98 PFLOP/s");
  EXPECT_EQ(show_percent(0.352), "35.2 %");
  EXPECT_EQ(show(Seconds{}), "0 ns");
}

TEST(Show, RoundsUpIntoTheNextUnit) { EXPECT_EQ(show(999.96 * us), "1.00 ms") << "not 1000 us"; }

TEST(ShowNumber, ReadsAsPeopleExpect) {
  EXPECT_EQ(show_number(12345), "12345") << "no zeros in place of known digits";
  EXPECT_EQ(show_number(0.000123), "0.000123");
  EXPECT_EQ(show_number(-2.5), "-2.50");
  EXPECT_EQ(show_number(0), "0");
  EXPECT_EQ(show_number(3.14159, 5), "3.1416");
}

}  // namespace
}  // namespace railyard

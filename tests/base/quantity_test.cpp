#include "base/quantity.h"

#include <gtest/gtest.h>

#include <concepts>

namespace railyard {
namespace {

// Laws that hold before the program runs.
static_assert((512.0 * MiB / (50.0 * GBps)).in(ms) > 10.73);
static_assert((512.0 * MiB / (50.0 * GBps)).in(ms) < 10.74);
static_assert(std::same_as<decltype(GBps * second), Bytes>);
static_assert(std::same_as<decltype(GB / second), Bandwidth>);
static_assert(std::same_as<decltype(GB / GBps), Seconds>);
static_assert(std::same_as<decltype(TFLOPS * second), Flops>);
static_assert(std::same_as<decltype(watt * second), Joules>);
static_assert(std::same_as<decltype(GB / GB), double>, "equal dimensions give a plain ratio");
static_assert(std::same_as<decltype(GBps * (second / B)), double>, "and so do opposite ones");
static_assert(8.0 * Gbps == 1.0 * GBps, "bits and bytes differ at the door only");
static_assert(GiB / MiB == 1024.0);
static_assert(1.0 * TiB > 1.0 * TB);
static_assert((2.0 / (4.0 * second)).si() == 0.5);
static_assert(max(3.0 * us, 2.0 * us) == 3.0 * us && min(3.0 * us, 2.0 * us) == 2.0 * us);

template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };
static_assert(Addable<Bytes, Bytes>);
static_assert(!Addable<Bytes, Seconds>, "apples and pears");
static_assert(!Addable<Bytes, double>, "a bare number has no unit");
static_assert(!std::convertible_to<double, Seconds>);
static_assert(!std::convertible_to<Bandwidth, Bytes>);

TEST(Quantity, SumsAndScalesKeepTheirUnit) {
  Seconds t = 1.5 * ms;
  t += 500.0 * us;
  t *= 2;
  t -= 1.0 * ms;
  EXPECT_DOUBLE_EQ(t.in(ms), 3.0);
  EXPECT_DOUBLE_EQ((-t).in(us), -3000.0);
  EXPECT_DOUBLE_EQ((t / 3).in(ms), 1.0);
}

TEST(Quantity, ADayHas86400Seconds) { EXPECT_DOUBLE_EQ(day / second, 86400.0); }

TEST(Quantity, ARingAllReduceReadsLikeItsFormula) {
  // 2 (n-1)/n x message / bandwidth: 32 ranks, 512 MiB, 50 GB/s.
  const double n = 32;
  const Seconds t = 2 * (n - 1) / n * (512.0 * MiB / (50.0 * GBps));
  EXPECT_NEAR(t.in(ms), 20.804, 0.001);  // 1.9375 x 536870912 / 50e9
}

}  // namespace
}  // namespace railyard

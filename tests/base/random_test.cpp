#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace railyard {
namespace {

TEST(Random, GivesThePublishedNumbersOfSplitMix64) {
  // The first outputs for seed 1234567 are the check values that reference implementations print.
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
}

TEST(Random, AStreamDoesNotDependOnHowMuchOthersTook) {
  Random first(7), second(7);
  Random other = first.stream("arrivals");
  for (int i = 0; i < 100; ++i) other.next();
  EXPECT_EQ(first.stream("ecmp").next(), second.stream("ecmp").next());
  EXPECT_NE(first.stream("ecmp").next(), first.stream("arrivals").next());
}

TEST(Random, BelowStaysBelowAndReachesEverything) {
  Random random(1);
  std::array<int, 6> seen{};
  for (int i = 0; i < 6000; ++i) ++seen.at(random.below(6));
  // Binomial with mean 1000 and a standard deviation of 29: six of them are 174.
  for (const int n : seen) EXPECT_NEAR(n, 1000, 174);
}

TEST(Random, UnitIsUniformOnZeroToOne) {
  Random random(2);
  double sum = 0, squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.unit();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
  }
  const double mean = sum / kDraws;
  EXPECT_NEAR(mean, 0.5, 0.005);
  EXPECT_NEAR(squares / kDraws - mean * mean, 1.0 / 12, 0.002);
}

}  // namespace
}  // namespace railyard

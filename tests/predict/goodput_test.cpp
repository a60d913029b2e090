#include "predict/goodput.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace railyard::predict {
namespace {

using model::Reliability;

double sum(const Goodput& g) { return g.useful + g.checkpoint + g.lost + g.restart; }

TEST(Goodput, WithoutFailuresOrSavesThereIsNothingToSay) {
  EXPECT_FALSE(goodput({}, 512));
  EXPECT_FALSE(goodput({.checkpoint_save = 60.0 * second}, 512));  // no interval, no failures
  EXPECT_FALSE(goodput({.restart = 60.0 * second}, 512));
}

TEST(Goodput, WithoutFailuresOnlySavesCost) {
  const auto g =
      goodput({.checkpoint_save = 60.0 * second, .checkpoint_interval = 1140.0 * second}, 8);
  ASSERT_TRUE(g);
  EXPECT_DOUBLE_EQ(g->checkpoint, 0.05);  // 60 of 1200 s
  EXPECT_DOUBLE_EQ(g->useful, 0.95);
}

TEST(Goodput, TheIntervalIsYoungsWhenNoneIsGiven) {
  // One accelerator fails every 50,000 h; of 1000 one every 50 h = 180,000 s. sqrt(2 x 60 x 180000)
  // = 4648 s
  const auto g =
      goodput({.checkpoint_save = 60.0 * second, .accelerator_mtbf = 50000.0 * hour}, 1000);
  ASSERT_TRUE(g);
  EXPECT_TRUE(g->interval_is_chosen);
  EXPECT_NEAR(g->interval.si(), 4647.58, 0.01);
  EXPECT_DOUBLE_EQ(g->between_failures.in(hour), 50);
}

TEST(Goodput, TheSharesAreTheWholeTime) {
  for (const double mtbf : {1e6, 1e8})
    for (const double save : {0.5, 60.0, 600.0})
      for (const double interval : {0.0, 100.0, 10000.0}) {
        const auto g = goodput({.checkpoint_save = Seconds::si(save),
                                .checkpoint_interval = Seconds::si(interval),
                                .restart = 300.0 * second,
                                .accelerator_mtbf = Seconds::si(mtbf)},
                               64);
        ASSERT_TRUE(g);
        EXPECT_NEAR(sum(*g), 1, 1e-12);
        EXPECT_GT(g->lost, 0);
      }
}

TEST(Goodput, RareFailuresFollowTheFirstOrderFormula) {
  // M = 1e6 s, d = 4000 s, w = 20 s, u = 300 s: 1 - w/(d+w) - (u + d/2)/M = 1 - .004975 - .0023
  const auto g = goodput({.checkpoint_save = 20.0 * second,
                          .checkpoint_interval = 4000.0 * second,
                          .restart = 300.0 * second,
                          .accelerator_mtbf = Seconds::si(1e6)},
                         1);
  EXPECT_NEAR(g->useful, 0.99272, 2e-5);
  EXPECT_NEAR(g->restart, 3e-4, 1e-6);
  EXPECT_NEAR(g->lost, 0.0020, 2e-5);
}

TEST(Goodput, FrequentFailuresDoNot) {
  // M of 18 min, u of 10 min, w of 2 s at Young's interval: the first order says 0.402, the truth
  // is 0.540.
  const auto g = goodput({.checkpoint_save = 2.0 * second,
                          .restart = 600.0 * second,
                          .accelerator_mtbf = 1080.0 * second},
                         1);
  const double d = g->interval.si();
  EXPECT_NEAR((1 - (600 + d / 2) / 1080) / (1 + 2 / d), 0.402, 0.001);
  EXPECT_NEAR(g->useful, 0.540, 0.001);
}

/// Interval, save, restart and time between failures, in seconds.
struct Story {
  double d = 0, w = 0, u = 0, m = 1;
};
/// Runs the story step by step: work, save, fail, restart.
double simulate(const Story& story, Random random) {
  const auto [d, w, u, m] = story;
  const auto next_failure = [&] { return -m * std::log(1 - random.unit()); };
  double time = 0, useful = 0, failure = next_failure();
  for (int interval = 0; interval < 200000; ++interval) {
    while (failure < d + w) {  // the attempt is lost, and so may be restarts
      time += failure;
      for (failure = next_failure(); failure < u; failure = next_failure()) time += failure;
      time += u;
      failure -= u;
    }
    failure -= d + w;
    time += d + w;
    useful += d;
  }
  return useful / time;
}

TEST(Goodput, ASimulationOfFailuresAgrees) {
  const auto g = goodput({.checkpoint_save = 30.0 * second,
                          .checkpoint_interval = 600.0 * second,
                          .restart = 400.0 * second,
                          .accelerator_mtbf = 3000.0 * second},
                         1);
  EXPECT_NEAR(g->useful, simulate({.d = 600, .w = 30, .u = 400, .m = 3000}, Random(7)), 0.003);
}

TEST(Goodput, FreeSavesLoseNothing) {
  const auto g = goodput({.restart = 600.0 * second, .accelerator_mtbf = 6000.0 * second}, 1);
  EXPECT_DOUBLE_EQ(g->lost, 0);
  EXPECT_DOUBLE_EQ(g->useful, std::exp(-0.1));
}

TEST(Goodput, YoungsIntervalIsNearTheBestOne) {
  Reliability r{.checkpoint_save = 60.0 * second,
                .restart = 300.0 * second,
                .accelerator_mtbf = 5000.0 * hour};
  const double chosen = goodput(r, 1000)->useful;
  double best = 0;
  for (double d = 60; d < 20000; d *= 1.02) {
    r.checkpoint_interval = Seconds::si(d);
    best = std::max(best, goodput(r, 1000)->useful);
  }
  EXPECT_GT(chosen, best - 0.001);
}

}  // namespace
}  // namespace railyard::predict

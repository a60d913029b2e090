// Laws of the time law: it never beats the hardware, never gets faster by sending more, and answers
// to each part as physics does.

#include "predict/nccl/time_law.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/support.h"

namespace railyard::predict::nccl {
namespace {

const Priors& priors() {
  static const Priors p = load_priors(test::repository("catalog/nccl_priors.yaml")).value();
  return p;
}

Platform hgx(int gpus, int nodes, double nic_gb_per_s = 400) {
  return {.sm = 90,
          .inside = gpus > 1 ? Inside::nvswitch : Inside::none,
          .gpus = gpus,
          .domains = nodes,
          .nvlink = 450.0 * GBps,
          .pcie = 63.0 * GBps,
          .network = nodes > 1 ? Network::infiniband : Network::none,
          .ports = nodes > 1 ? nic_gb_per_s * GBps : Bandwidth{}};
}

Platform pcie_box(int gpus) {
  return {.sm = 89, .inside = Inside::pcie, .gpus = gpus, .pcie = 31.5 * GBps, .nvls = false};
}

double us(const Platform& p, Collective what, double bytes, Mode mode = Mode::eager) {
  return time_of(p, {.what = what, .bytes = bytes, .mode = mode}, priors()).total;
}

constexpr Collective kAll[] = {Collective::all_reduce, Collective::all_gather,
                               Collective::reduce_scatter, Collective::all_to_all,
                               Collective::broadcast};

TEST(NcclTimeLaw, TimeNeverFallsWithSize) {
  for (const Platform& p : {hgx(8, 1), hgx(8, 2), hgx(8, 32), hgx(1, 16), hgx(2, 1), pcie_box(8)})
    for (const Collective what : kAll)
      for (const Mode mode : {Mode::eager, Mode::graph, Mode::kernel}) {
        double last = 0;
        for (double bytes = 8; bytes < 1e11; bytes *= 1.5) {
          const double now = us(p, what, bytes, mode);
          EXPECT_GE(now, last * (1 - 1e-12)) << bytes;
          last = now;
        }
      }
}

TEST(NcclTimeLaw, NothingIsFasterThanTheHardware) {
  for (const Platform& p : {hgx(8, 1), hgx(8, 2), hgx(8, 32), hgx(1, 16), hgx(4, 4), pcie_box(8)})
    for (const Collective what : kAll) {
      const double bound = speed_of_light(p, what).bus_gb_per_s;
      for (double bytes = 1024; bytes < 1e12; bytes *= 4) {
        const double bus = bytes * bus_factor(what, p.ranks()) / us(p, what, bytes) / 1e3;
        EXPECT_LE(bus, bound) << bytes;
      }
    }
}

TEST(NcclTimeLaw, MoreOfAPartIsNeverSlower) {
  for (const Collective what : kAll)
    for (const double bytes : {1e5, 1e7, 1e9}) {
      EXPECT_LE(us(hgx(8, 4, 400), what, bytes), us(hgx(8, 4, 200), what, bytes));
      Platform fast = hgx(8, 1);
      fast.nvlink = 900.0 * GBps;
      EXPECT_LE(us(fast, what, bytes), us(hgx(8, 1), what, bytes));
    }
}

TEST(NcclTimeLaw, NvlsHelpsAllReduceFromFourGpusOn) {
  Platform without = hgx(8, 1);
  without.nvls = false;
  EXPECT_LT(us(hgx(8, 1), Collective::all_reduce, 1e9),
            0.85 * us(without, Collective::all_reduce, 1e9));
  EXPECT_EQ(us(hgx(8, 1), Collective::all_gather, 1e9), us(without, Collective::all_gather, 1e9));
  Platform two = hgx(2, 1), two_without = two;
  two_without.nvls = false;
  EXPECT_EQ(us(two, Collective::all_reduce, 1e9), us(two_without, Collective::all_reduce, 1e9));
}

// On two nodes a tree sends each byte across once, a ring nearly twice; beyond, both do.
TEST(NcclTimeLaw, ATreeCrossesTwoNodesOnce) {
  const Platform p = hgx(8, 2, 50);
  const auto forced = [&](Algorithm a) {
    return time_of(p, {.bytes = 1e9, .algorithm = a}, priors()).total;
  };
  EXPECT_NEAR(forced(Algorithm::ring) / forced(Algorithm::tree), 1.875, 0.1);
}

TEST(NcclTimeLaw, TheHostCountsOnlyWhenItLaunches) {
  const double eager = us(hgx(8, 1), Collective::all_reduce, 1024),
               graph = us(hgx(8, 1), Collective::all_reduce, 1024, Mode::graph),
               kernel = us(hgx(8, 1), Collective::all_reduce, 1024, Mode::kernel);
  EXPECT_GT(eager, graph + 5);
  EXPECT_LT(kernel, graph);
  EXPECT_NEAR(us(hgx(8, 1), Collective::all_reduce, 8e9) /
                  us(hgx(8, 1), Collective::all_reduce, 8e9, Mode::graph),
              1, 1e-3);
}

TEST(NcclTimeLaw, FewChannelsCapTheRate) {
  TimeQuestion few{.bytes = 1e9, .channels = 1};
  EXPECT_GT(time_of(hgx(2, 1), few, priors()).total,
            10 * us(hgx(2, 1), Collective::all_reduce, 1e9));
  EXPECT_TRUE(time_of(hgx(2, 1), few, priors()).channels_bind);
}

TEST(NcclTimeLaw, AWayThatDoesNotExistTakesForever) {
  EXPECT_TRUE(
      std::isinf(time_of(hgx(8, 1), {.bytes = 1e6, .algorithm = Algorithm::pat}, priors()).total));
}

// Published healthy plateaus, GB/s of bus bandwidth. [nccl_busbw: the largest sizes]
TEST(NcclTimeLaw, PlateausOfKnownSystems) {
  const auto plateau = [](const Platform& p, Collective what) {
    return 8e9 * bus_factor(what, p.ranks()) / us(p, what, 8e9) / 1e3;
  };
  EXPECT_NEAR(plateau(hgx(8, 1), Collective::all_reduce), 478, 0.05 * 478);
  EXPECT_NEAR(plateau(hgx(8, 1), Collective::all_gather), 361, 0.05 * 361);
  EXPECT_NEAR(plateau(hgx(8, 2), Collective::all_reduce), 470, 0.10 * 470);
  EXPECT_NEAR(plateau(hgx(8, 12), Collective::all_reduce), 387, 0.05 * 387);
}

}  // namespace
}  // namespace railyard::predict::nccl

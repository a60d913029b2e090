// Closed forms of collectives at sizes where latency has vanished, and laws that hold at every
// size.

#include "predict/collective.h"

#include <gtest/gtest.h>

#include <vector>

namespace railyard::predict {
namespace {

constexpr Bytes kHuge = 16.0 * TiB;  // latency is below a thousandth here

/// Four servers of eight, 400 GB/s scale-up, 80 GB/s of network a server.
fabric::Machine machine() {
  fabric::Machine m;
  m.servers = 4;
  m.gpus_per_server = 8;
  m.domain = 8;
  m.scale_up_kind = model::ScaleUpKind::fabric;
  m.scale_up = 400.0 * GBps;
  m.network_per_server = 80.0 * GBps;
  m.transport = model::Transport::infiniband;
  m.fabric_efficiency = 0.9;
  m.peer_shared = 20.0 * GBps;
  return m;
}
Calibration shares() {
  Calibration c;
  c.standard.scale_up = 0.8;
  c.standard.all_reduce = 0.9;
  return c;
}

class Law : public testing::Test {
 protected:
  double seconds(Collective what, Bytes size, int ranks, int stride) const {
    const LinkLawModel law(machine_, rates_);
    return law.time(what, size, make_group(machine_, ranks, stride)).time.si();
  }
  Binding binding(Collective what, Bytes size, int ranks, int stride) const {
    return LinkLawModel(machine_, rates_)
        .time(what, size, make_group(machine_, ranks, stride))
        .binding;
  }

  fabric::Machine machine_ = machine();
  Calibration rates_ = shares();
};

TEST_F(Law, AllReduceInADomainMovesTwiceTheMessageLessAShare) {
  // 2 x 7/8 x S / (0.9 x 400 GB/s)
  const double expected = 2 * 7.0 / 8 * kHuge.si() / 360e9;
  EXPECT_NEAR(seconds(Collective::all_reduce, kHuge, 8, 1) / expected, 1, 1e-3);
}

TEST_F(Law, GatherAndScatterEachMoveTheMessageOnce) {
  const double expected = 7.0 / 8 * kHuge.si() / 320e9;  // 0.8 x 400
  EXPECT_NEAR(seconds(Collective::all_gather, kHuge, 8, 1) / expected, 1, 1e-3);
  EXPECT_NEAR(seconds(Collective::reduce_scatter, kHuge, 8, 1) / expected, 1, 1e-3);
}

TEST_F(Law, OneRankAServerSharesTheCardsWithSevenGroupsLikeIt) {
  // Stride 8: four ranks on four servers; 0.9 x 80 GB/s / 8 for each of the eight groups.
  const double expected = 2 * 3.0 / 4 * kHuge.si() / 9e9;
  EXPECT_NEAR(seconds(Collective::all_reduce, kHuge, 4, 8) / expected, 1, 1e-3);
  EXPECT_EQ(binding(Collective::all_reduce, kHuge, 4, 8), Binding::network);
}

TEST_F(Law, ARingOverAllAcceleratorsLeavesEachServerThroughAllCards) {
  const double expected = 2 * 31.0 / 32 * kHuge.si() / 72e9;  // 0.9 x 80; scale-up has 360
  EXPECT_NEAR(seconds(Collective::all_reduce, kHuge, 32, 1) / expected, 1, 1e-3);
}

TEST_F(Law, WhereTheNetworkIsFasterScaleUpBinds) {
  machine_.network_per_server = 4000.0 * GBps;
  EXPECT_EQ(binding(Collective::all_reduce, kHuge, 32, 1), Binding::scale_up);
}

TEST_F(Law, AllToAllSendsTheForeignShareThroughTheCards) {
  // 24 of 31 peers sit on other servers; each accelerator has an eighth of the cards.
  const double expected = 24.0 / 32 * kHuge.si() / 9e9;
  EXPECT_NEAR(seconds(Collective::all_to_all, kHuge, 32, 1) / expected, 1, 1e-3);
}

TEST_F(Law, ASendCrossesTheNetworkOnce) {
  EXPECT_NEAR(seconds(Collective::send, kHuge, 4, 8) / (kHuge.si() / 9e9), 1, 1e-3);
}

TEST_F(Law, APairInAMeshOfEightHasOneLinkOfSeven) {
  machine_.scale_up_kind = model::ScaleUpKind::mesh;
  const double expected = 1.0 / 2 * kHuge.si() / (320e9 / 7);
  EXPECT_NEAR(seconds(Collective::all_gather, kHuge, 2, 1) / expected, 1, 1e-3);
}

TEST_F(Law, ASmallMessageIsBoundByLatency) {
  EXPECT_EQ(binding(Collective::all_reduce, 8.0 * KiB, 8, 1), Binding::latency);
  EXPECT_GT(seconds(Collective::all_reduce, 8.0 * KiB, 32, 1),
            seconds(Collective::all_reduce, 8.0 * KiB, 8, 1));
}

TEST_F(Law, ALoneRankAndAnEmptyMessageCostNothing) {
  for (const Collective what : {Collective::all_reduce, Collective::all_to_all, Collective::send}) {
    EXPECT_EQ(seconds(what, kHuge, 1, 1), 0);
    EXPECT_EQ(seconds(what, {}, 8, 1), 0);
  }
}

TEST_F(Law, MoreBytesNeverTakeLessTime) {
  for (const Collective what :
       {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
        Collective::all_to_all, Collective::send})
    for (const int stride : {1, 8}) {
      double before = 0;
      for (double size = 1024; size < 1e12; size *= 2) {
        const double t = seconds(what, Bytes::si(size), 4, stride);
        EXPECT_GT(t, before);
        before = t;
      }
    }
}

TEST_F(Law, AMeasuredEfficiencyReplacesThatOfTheTransport) {
  machine_.transport = model::Transport::tcp;
  const double measured = seconds(Collective::all_reduce, kHuge, 4, 8);
  machine_.fabric_efficiency = 0;
  EXPECT_NEAR(seconds(Collective::all_reduce, kHuge, 4, 8) / measured,
              0.9 / rates_.constants.network_tcp, 1e-3);
}

TEST(Group, RanksAreCountedByDomainAndServer) {
  const fabric::Machine m = machine();
  const Group one_a_server = make_group(m, 4, 8);
  EXPECT_EQ(one_a_server.per_domain, 1);
  EXPECT_EQ(one_a_server.domains, 4);
  EXPECT_EQ(one_a_server.servers, 4);
  const Group pairs = make_group(m, 8, 4);  // accelerators 0, 4 | 8, 12 | ...
  EXPECT_EQ(pairs.per_domain, 2);
  EXPECT_EQ(pairs.servers, 4);
  const Group inside = make_group(m, 4, 2);  // 0, 2, 4, 6
  EXPECT_EQ(inside.per_domain, 4);
  EXPECT_EQ(inside.domains, 1);
}

TEST(Group, ARackThatIsOneDomainHoldsSeveralServers) {
  fabric::Machine m = machine();
  m.gpus_per_server = 4;
  m.servers = 18;
  m.domain = 72;
  const Group all = make_group(m, 72, 1);
  EXPECT_EQ(all.domains, 1);
  EXPECT_EQ(all.per_domain, 72);
}

}  // namespace
}  // namespace railyard::predict

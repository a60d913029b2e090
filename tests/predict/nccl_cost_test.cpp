// The cost table in closed form, and channels by size. Numbers of two H200 are those that
// NCCL 2.28.9 prints there with NVLS off.

#include <gtest/gtest.h>

#include "predict/nccl/communicator.h"

namespace railyard::predict::nccl {
namespace {

Graph graph_of_channels(int channels, float speed, PathType inside, Pattern pattern) {
  Graph g{.pattern = pattern,
          .channels = channels,
          .intra = speed,
          .inter = speed,
          .type_intra = inside};
  return g;
}

/// Two H200: ring 12 x 30, tree 12 x 60.
Communicator two_h200() {
  Communicator comm;
  comm.inputs = {.ranks = 2, .nodes = 1, .nvswitch = true};
  comm.constants = constants_of({2, 28, 9});
  comm.graphs[0] = graph_of_channels(12, 30, PathType::nvl, Pattern::ring);
  comm.graphs[1] = graph_of_channels(12, 60, PathType::nvl, Pattern::balanced_tree);
  comm.channels = 24;
  comm.table = cost_table(comm.inputs, comm.graphs, comm.options.settings, comm.constants);
  for (auto& of : comm.threads) of = {512, 640, 512};
  for (auto& of : comm.thread_thresholds) of = {8, 8, 64};
  comm.thread_thresholds[1][0] = 16;
  return comm;
}

Cell cell(const Communicator& comm, Function f, Algorithm a, Protocol p) {
  return comm
      .table[static_cast<std::size_t>(f)][static_cast<std::size_t>(a)][static_cast<std::size_t>(p)];
}

TEST(NcclCost, TheTableOfTwoH200IsTheOneInTheirLog) {
  const Communicator comm = two_h200();
  struct Printed {
    Function f;
    Algorithm a;
    Protocol p;
    double latency, bandwidth;
  };
  for (const Printed& printed :
       {Printed{Function::all_reduce, Algorithm::tree, Protocol::ll, 8.0, 61.1},
        Printed{Function::all_reduce, Algorithm::tree, Protocol::ll128, 16.5, 180.6},
        Printed{Function::all_reduce, Algorithm::tree, Protocol::simple, 16.4, 232.2},
        Printed{Function::all_reduce, Algorithm::ring, Protocol::ll, 7.8, 141.0},
        Printed{Function::all_reduce, Algorithm::ring, Protocol::ll128, 17.8, 331.2},
        Printed{Function::all_reduce, Algorithm::ring, Protocol::simple, 15.2, 360.0},
        Printed{Function::all_gather, Algorithm::ring, Protocol::simple, 11.8, 720.0},
        Printed{Function::broadcast, Algorithm::ring, Protocol::ll128, 15.9, 331.2}}) {
    EXPECT_NEAR(cell(comm, printed.f, printed.a, printed.p).latency_us, printed.latency, 0.05);
    EXPECT_NEAR(cell(comm, printed.f, printed.a, printed.p).gb_per_s, printed.bandwidth, 0.05);
  }
}

TEST(NcclCost, ChannelsOfTwoH200AreThoseInTheirLog) {
  const Communicator comm = two_h200();
  const auto used = [&](std::int64_t bytes) {
    return choose(comm, Function::all_reduce, bytes)->used;
  };
  EXPECT_EQ(used(1024), 1);
  EXPECT_EQ(used(4096), 1);
  EXPECT_EQ(used(16384), 2);
  EXPECT_EQ(used(65536), 8);
  EXPECT_EQ(used(262144), 22);  // of 24: whole cells of 16 KiB of traffic
  EXPECT_EQ(used(1048576), 24);
}

TEST(NcclCost, NoWayForTwoIsFasterThanTheLink) {
  const Communicator comm = two_h200();
  for (std::int64_t bytes = 1; bytes < std::int64_t{1} << 36; bytes *= 4)
    EXPECT_GE(choose(comm, Function::all_reduce, bytes)->pick.time_us,
              static_cast<double>(bytes) / 360e3);
}

TEST(NcclCost, TheChoiceIsTheCheapestAndTheOthersFollowInOrder) {
  const Communicator comm = two_h200();
  const Choice choice = choose(comm, Function::all_reduce, 4 << 20).value();
  double last = choice.pick.time_us;
  EXPECT_EQ(choice.others.size(), 5u);
  for (const Candidate& other : choice.others) {
    EXPECT_GE(other.time_us, last);
    last = other.time_us;
  }
}

TEST(NcclCost, SwitchedOffCellsAreNotChosen) {
  Communicator comm = two_h200();
  comm.options.settings = read_settings({{.name = "NCCL_ALGO", .value = "allreduce:tree"},
                                         {.name = "NCCL_PROTO", .value = "^LL"}})
                              ->settings;
  comm.table = cost_table(comm.inputs, comm.graphs, comm.options.settings, comm.constants);
  EXPECT_EQ(choose(comm, Function::all_reduce, 1024)->pick.algorithm, Algorithm::tree);
  EXPECT_NE(choose(comm, Function::all_reduce, 1024)->pick.protocol, Protocol::ll);
  EXPECT_EQ(choose(comm, Function::all_gather, 1024)->pick.algorithm, Algorithm::ring);
}

TEST(NcclCost, RingStepsBetweenNodesChangedWith2_23) {
  CostInputs in{.ranks = 24, .nodes = 3};
  std::array<Graph, kGraphs> graphs;
  graphs[0] = graph_of_channels(8, 24, PathType::nvl, Pattern::ring);
  graphs[1] = graphs[0];
  const auto latency = [&](const Version& version) {
    return cost_table(in, graphs, {},
                      constants_of(version))[static_cast<std::size_t>(Function::all_reduce)]
                                            [static_cast<std::size_t>(Algorithm::ring)]
                                            [static_cast<std::size_t>(Protocol::simple)]
                                                .latency_us;
  };
  // Two more crossings at 14 us instead of 3.4 us inside (and 3 us of posting, which is less).
  EXPECT_NEAR(latency({2, 22, 3}) - latency({2, 23, 4}), 2 * (14 - 3.4), 1e-9);
}

TEST(NcclCost, Ll128NeedsNvlinkInsideAndANearNic) {
  CostInputs in{.ranks = 16, .nodes = 2, .lowest_sm = 80, .highest_sm = 80};
  std::array<Graph, kGraphs> graphs;
  graphs[0] = graph_of_channels(8, 24, PathType::nvl, Pattern::ring);
  graphs[1] = graphs[0];
  const auto rate = [&] {
    return cost_table(in, graphs, {}, constants_of({}))[static_cast<std::size_t>(
        Function::all_reduce)][static_cast<std::size_t>(Algorithm::ring)]
                                                       [static_cast<std::size_t>(Protocol::ll128)]
                                                           .gb_per_s;
  };
  EXPECT_GT(rate(), 0);
  graphs[0].type_inter = PathType::pxn;
  EXPECT_EQ(rate(), 0);
  in.lowest_sm = in.highest_sm = 90;
  EXPECT_GT(rate(), 0);
  graphs[0].type_intra = PathType::pxb;
  EXPECT_EQ(rate(), 0);
}

TEST(NcclVersion, IsReadAsPeopleAndLogsWriteIt) {
  EXPECT_EQ(version_named("2.28.9"), (Version{2, 28, 9}));
  EXPECT_EQ(version_named("2.28.9+cuda13.0"), (Version{2, 28, 9}));
  EXPECT_EQ(version_named("v2.30"), (Version{2, 30, 0}));
  for (const char* text : {"", "2", "2.", "two", "2.28.9x", "-2.28"})
    EXPECT_FALSE(version_named(text)) << text;
}

}  // namespace
}  // namespace railyard::predict::nccl

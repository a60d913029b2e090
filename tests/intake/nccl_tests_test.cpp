#include <string>

#include "gtest/gtest.h"
#include "intake/nccl_tests_json.h"
#include "intake/nccl_tests_text.h"
#include "support/support.h"

namespace railyard::intake {
namespace {

using facts::Buffers;

constexpr std::string_view kText =
    R"([1,0]<stdout>:# nccl-tests version 2.17.9 nccl-headers=22903 nccl-library=22903
[1,0]<stdout>:# Collective test starting: all_gather_perf
[1,0]<stdout>:# nThread 1 nGpus 1 minBytes 8 maxBytes 1024 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 3
[1,0]<stdout>:#  Rank  0 Group  0 Pid 204199 on  a device  0 [0009:01:00] NVIDIA GH200 120GB
[1,0]<stdout>:#  Rank  1 Group  0 Pid 204200 on  b device  0 [0019:01:00] NVIDIA GH200 120GB
[1,0]<stdout>:#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
[1,0]<stdout>:           8             2     float    none      -1    17.93    0.50    0.25      0    17.72    0.60    0.30    N/A
[1,0]<stdout>:          16             4     flo
[1,0]<stdout>:# Out of bounds values : 2 FAILED
[1,0]<stdout>:# Avg bus bandwidth    : 52.9753 
)";

constexpr std::string_view kJson = R"({"version":2,"args":["/opt/all_reduce_perf","-J","x"],
"nccl_version":22903,"config":{"nthreads":1,"ngpus":1,"minimum_bytes":8,"maximum_bytes":16,
"step_factor":2,"iterations":20,"graph":0,"devices":[
{"rank":0,"group":0,"pid":5,"hostname":"a","device":0,"device_hex":"0000:1b:00","device_info":"H100"},
{"rank":1,"group":0,"pid":6,"hostname":"a","device":1,"device_hex":"0000:1c:00","device_info":"H100"}]},
"results":[{"size":16,"count":4,"type":"float","redop":"sum","root":"    -1",
"out_of_place":null,"in_place":{"time":10.5,"alg_bw":0.2,"bus_bw":0.3,"nwrong":null}}],
"out_of_bounds":{"count":0,"okay":"true"},"average_bus_bandwidth":{"bandwidth":0.3,"okay":"unchecked"}})";

constexpr std::string_view kInspector =
    R"({"header":{"id":"0x7f","rank":2,"n_ranks":8,"nnodes":1},"metadata":{"hostname":"a"},"coll_perf":{"coll":"AllReduce","coll_sn":1,"coll_msg_size_bytes":1024,"coll_exec_time_us":50,"coll_algobw_gbs":0.02,"coll_busbw_gbs":0.035}}
{"header":{"id":"0x7f","rank":3,"n_ranks":8,"nnodes":1},"coll_perf":{"coll":"AllReduce","coll_sn":1,"coll_msg_size_bytes":1024,"coll_exec_time_us":51,"coll_algobw_gbs":0.02,"coll_busbw_gbs":0.034}}
{"header":{"id":"0x7f","rank":3},"dump_stats":{}}
{"header":{"id":"0x7f"
)";

facts::CollectiveRuns read(std::string_view text) {
  return read_nccl_tests_text({.file = "out", .bytes = text});
}

int skipped(const facts::CollectiveRuns& runs, std::string_view what) {
  for (const auto& s : runs.skipped)
    if (s.what == what) return s.count;
  return 0;
}

TEST(NcclTests, KindsAreToldByContent) {
  EXPECT_TRUE(looks_like_nccl_tests_text(kText));
  EXPECT_TRUE(looks_like_nccl_tests_json(kJson));
  EXPECT_TRUE(looks_like_nccl_inspector(kInspector));
  EXPECT_FALSE(looks_like_nccl_tests_text(kJson) || looks_like_nccl_tests_text(kInspector));
  EXPECT_FALSE(looks_like_nccl_tests_json(kText) || looks_like_nccl_tests_json(kInspector));
  EXPECT_FALSE(looks_like_nccl_inspector(kText) || looks_like_nccl_inspector(kJson));
  for (const std::string_view other : {"", "size,count,algbw,busbw\n", "{\"model_type\":\"x\"}"})
    EXPECT_FALSE(looks_like_nccl_tests_text(other) || looks_like_nccl_tests_json(other) ||
                 looks_like_nccl_inspector(other));
}

TEST(NcclTests, ARunHasItsHeadAndBothWaysOfEachSize) {
  const auto all = read(kText);
  ASSERT_EQ(all.runs.size(), 1u);
  const auto& run = all.runs[0];
  EXPECT_EQ(run.program, "all_gather_perf");
  EXPECT_EQ(run.collective, "all_gather");
  EXPECT_EQ(run.tests_version, "2.17.9");
  EXPECT_EQ(run.nccl_version, "22903");
  EXPECT_EQ(run.max_bytes, 1024u);
  EXPECT_EQ(run.step_factor, 2);
  EXPECT_EQ(run.warmup, 5);
  EXPECT_EQ(run.iterations, 20);
  EXPECT_EQ(run.graph, 3);
  EXPECT_EQ(run.ranks, 2);
  EXPECT_EQ(run.nodes, 2);
  EXPECT_EQ(run.devices.at(1).host, "b");
  EXPECT_EQ(run.devices.at(1).bus_id, "0019:01:00");
  EXPECT_EQ(run.devices.at(1).name, "NVIDIA GH200 120GB");
  ASSERT_EQ(run.points.size(), 2u);
  EXPECT_EQ(run.points[0].line, 7);
  EXPECT_EQ(run.points[0].buffers, Buffers::out_of_place);
  EXPECT_EQ(run.points[0].wrong, 0);
  EXPECT_EQ(run.points[0].root, -1);
  EXPECT_EQ(run.points[1].buffers, Buffers::in_place);
  EXPECT_EQ(run.points[1].time_us, 17.72);
  EXPECT_FALSE(run.points[1].wrong);
  EXPECT_EQ(run.average_busbw_gbs, 52.9753);
  EXPECT_EQ(run.out_of_bounds, 2);
  EXPECT_TRUE(run.failed);
  EXPECT_EQ(skipped(all, "torn result row"), 1);
}

TEST(NcclTests, RunsOneAfterTheOtherStayApart) {
  const auto all = read(std::string(kText) + std::string(kText));
  ASSERT_EQ(all.runs.size(), 2u);
  EXPECT_EQ(all.runs[1].points.size(), 2u);
  EXPECT_EQ(all.runs[1].ranks, 2);
}

TEST(NcclTests, ATextCutAnywhereIsRead) {
  for (std::size_t n = 0; n <= kText.size(); ++n)
    EXPECT_LE(read(kText.substr(0, n)).runs.size(), 1u);
  for (std::size_t n = 0; n < kJson.size(); ++n)
    EXPECT_FALSE(read_nccl_tests_json("x", std::string(kJson.substr(0, n)))) << n;
  for (std::size_t n = 0; n <= kInspector.size(); ++n)
    EXPECT_LE(read_nccl_inspector("x", std::string(kInspector.substr(0, n))).runs.size(), 1u);
}

TEST(NcclTests, EverySharedSampleHasPoints) {
  for (int i = 1; i <= 18; ++i) {
    const std::string path = test::shared("cases/formats/nccl-tests/" + std::to_string(i) + ".txt");
    if (path.empty()) GTEST_SKIP() << "no shared data";
    const std::string bytes = *read_file(path);
    EXPECT_TRUE(looks_like_nccl_tests_text(bytes)) << path;
    const auto all = read_nccl_tests_text({.file = path, .bytes = bytes});
    ASSERT_EQ(all.runs.size(), 1u) << path;
    EXPECT_GE(all.runs[0].points.size(), 2u) << path;
    EXPECT_EQ(skipped(all, "torn result row"), 0) << path;
    for (const auto& p : all.runs[0].points) {
      EXPECT_LT(p.bytes, std::uint64_t{1} << 40) << path;
      EXPECT_GT(p.time_us, 0) << path;
    }
  }
}

TEST(NcclTests, TheReportInJsonSaysTheSame) {
  const auto all = read_nccl_tests_json("x", std::string(kJson));
  ASSERT_TRUE(all) << text(all.error());
  const auto& run = all->runs.at(0);
  EXPECT_EQ(run.collective, "all_reduce");
  EXPECT_EQ(run.ranks, 2);
  EXPECT_EQ(run.nodes, 1);
  EXPECT_EQ(run.nccl_version, "22903");
  EXPECT_EQ(run.devices.at(1).name, "H100");
  ASSERT_EQ(run.points.size(), 1u);
  EXPECT_EQ(run.points[0].buffers, Buffers::in_place);
  EXPECT_EQ(run.points[0].time_us, 10.5);
  EXPECT_EQ(run.points[0].root, -1);
  EXPECT_FALSE(run.points[0].wrong);
  EXPECT_EQ(run.average_busbw_gbs, 0.3);
}

TEST(NcclTests, JsonOfAnotherKindIsRefusedWithItsPlace) {
  const auto all = read_nccl_tests_json("x.json", "{\"model_type\": 1}");
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().at(0).at.line, 1);
  EXPECT_FALSE(read_nccl_tests_json("x.json", ""));
}

TEST(NcclInspector, RanksOfACommunicatorAreOneRun) {
  const auto all = read_nccl_inspector("x", std::string(kInspector));
  ASSERT_EQ(all.runs.size(), 1u);
  EXPECT_EQ(all.runs[0].collective, "AllReduce");
  EXPECT_EQ(all.runs[0].ranks, 8);
  ASSERT_EQ(all.runs[0].points.size(), 2u);
  EXPECT_EQ(all.runs[0].points[1].rank, 3);
  EXPECT_EQ(all.runs[0].points[1].line, 2);
  EXPECT_EQ(all.runs[0].points[1].time_us, 51);
  EXPECT_EQ(skipped(all, "record without a collective"), 1);
  EXPECT_EQ(skipped(all, "line that is no JSON"), 1);
}

}  // namespace
}  // namespace railyard::intake

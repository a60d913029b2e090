#include "intake/nccl_log.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "gtest/gtest.h"
#include "support/support.h"

namespace railyard::intake {
namespace {

// Written for this test in the forms of NCCL 2.28 and, below, of older ones.
constexpr std::string_view kLog = R"(some launcher's banner
0: a:7:7 [0] NCCL INFO NCCL version 2.28.9+cuda13.0
0: a:7:7 [0] NCCL INFO cudaDriverVersion 13000
0: a:7:8 [0] NCCL INFO NCCL_IB_QPS_PER_CONNECTION set by environment to 4.
0: a:7:8 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB/SHARP [1]mlx5_3:1/RoCE [RO]; OOB eth0:10.0.0.1<0>
0: a:7:8 [0] NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'
0: a:7:8 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 0 / HCA a (distance 8 > 5), read 0 mode Default
0: a:7:8 [0] NCCL INFO Using network IB
0: a:7:8 [0] NCCL INFO ncclCommInitRank comm 0xaa rank 0 nranks 16 cudaDev 0 nvmlDev 0 busId 60 commId 0x9 - Init START
0: a:7:8 [0] NCCL INFO === System : maxBw 370.8 totalBw 370.8 ===
0: a:7:8 [0] NCCL INFO CPU/0-1 (1/1/4)
0: a:7:8 [0] NCCL INFO + PCI[48.0] - PCI/0-15 (1000)
0: a:7:8 [0] NCCL INFO               + PCI[48.0] - GPU/0-60 (0)
0: a:7:8 [0] NCCL INFO                             + NVL[370.8] - NVS/0-0
0: a:7:8 [0] NCCL INFO               + PCI[48.0] - NIC/0-70
0: a:7:8 [0] NCCL INFO ==========================================
0: a:7:8 [0] NCCL INFO GPU/0-60 :GPU/0-60 (0/5000.0/LOC) NET/0-0 (3/48.0/PXB) 
0: a:7:8 [0] NCCL INFO Setting affinity for GPU 0 to 0-31
0: a:7:8 [0] NCCL INFO Pattern 4, crossNic 1, nChannels 2, bw 30.000000/24.000000, type NVL/PXB, sameChannels 0
0: a:7:8 [0] NCCL INFO  0 : NET/0-0 GPU/0-60 GPU/0-70 NET/0-1
0: a:7:8 [0] NCCL INFO  1 : NET/0-1 GPU/0-70 GPU/0-60 NET/0-0
0: a:7:8 [0] NCCL INFO comm 0xaa rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0
0: a:7:8 [0] NCCL INFO Channel 00/02 : 0 1 2
0: a:7:8 [0] NCCL INFO   Algorithm   |          Tree          |          Ring          |
0: a:7:8 [0] NCCL INFO   Protocol    |     LL |        Simple |     LL |        Simple |
0: a:7:8 [0] NCCL INFO  Max NThreads |    512 |           640 |    256 |           384 |
0: a:7:8 [0] NCCL INFO     AllReduce |     8.0/  61.1 |    16.4/ 232.2 |     7.8/ 141.0 |    15.2/ 360.0 |
0: a:7:8 [0] NCCL INFO threadThresholds 8/8/64 | 16/8/64 | 512 | 512
0: a:7:8 [0] NCCL INFO 24 coll channels, 12 collnet channels, 0 nvls channels, 32 p2p channels, 2 p2p channels per peer
0: a:7:8 [0] NCCL INFO ncclCommInitRank comm 0xaa rank 0 nranks 16 cudaDev 0 nvmlDev 0 busId 60 commId 0x9 - Init COMPLETE
0: a:7:9 [0] NCCL INFO Channel 01/0 : 15[7] -> 0[0] [receive] via NET/IBext/4(3)/GDRDMA/Shared
0: a:7:9 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] via P2P/CUMEM
0: a:7:9 [0] NCCL INFO Connected all rings, use ring PXN 1 GDR 1
0: a:7:7 [0] NCCL INFO AllReduce: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..3}
0: a:7:7 [0] NCCL INFO AllReduce: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..3}
0: [2026-03-13 22:26:02] a:7:9 [0] ibvwrap.c:262 NCCL WARN NET/IB: Got completion from peer 10.0.0.2<40123> with status=12 opcode=0 len=0 vendor err 129 (Send) localGid fe80::1 remoteGidsfe80::2 hca mlx5_0
0: a:7:9 [0] NCCL INFO transport/net_ib.cc:1530 -> 6
)";

facts::NcclRun read(std::string_view text) { return read_nccl_log({.file = "log", .bytes = text}); }

int skipped(const facts::NcclRun& run, std::string_view what) {
  for (const auto& s : run.skipped)
    if (s.what.starts_with(what)) return s.count;
  return 0;
}

TEST(NcclLog, KindIsToldByContent) {
  EXPECT_TRUE(looks_like_nccl_log(kLog));
  EXPECT_TRUE(looks_like_nccl_log("[1,0]<stdout>:NCCL version 2.19.3+cuda12.3\n"));
  EXPECT_FALSE(looks_like_nccl_log(""));
  EXPECT_FALSE(looks_like_nccl_log("{\"model_type\": \"llama\"}\n"));
  EXPECT_FALSE(looks_like_nccl_log("we saw NCCL INFO lines and NCCL WARN lines\n"));
}

TEST(NcclLog, AnEmptyTextAndAnotherFormatHoldNothing) {
  EXPECT_EQ(read("").lines, 0);
  const auto run = read("size_bytes,time\n1,2\n");
  EXPECT_EQ(run.nccl_lines, 0);
  EXPECT_EQ(skipped(run, "line of another program"), 2);
}

TEST(NcclLog, ACommunicatorGathersWhatItsThreadSays) {
  const auto run = read(kLog);
  EXPECT_EQ(run.versions.at(0).minor, 28);
  EXPECT_EQ(run.versions.at(0).at.line, 2);
  EXPECT_FALSE(run.versions.at(0).rccl);
  EXPECT_EQ(run.cuda_driver->value, 13000);
  EXPECT_EQ(run.environment.at(0).name, "NCCL_IB_QPS_PER_CONNECTION");
  EXPECT_EQ(run.environment.at(0).value, "4");
  ASSERT_EQ(run.communicators.size(), 1u);
  const auto& c = run.communicators[0];
  EXPECT_EQ(c.state, facts::NcclCommState::complete);
  EXPECT_EQ(c.pointer, "0xaa");
  EXPECT_EQ(c.id, "0x9");
  EXPECT_EQ(c.call, "ncclCommInitRank");
  EXPECT_EQ(c.ranks, 16);
  EXPECT_EQ(c.nodes, 2);
  EXPECT_EQ(c.mnnvl, false);
  EXPECT_EQ(c.network, "IB");
  EXPECT_EQ(c.affinity, "0-31");
  EXPECT_EQ(c.collnet_channels, 12);
  EXPECT_EQ(c.p2p_channels_per_peer, 2);
  EXPECT_EQ(c.pxn, true);
  EXPECT_EQ(c.thread_thresholds, (std::vector<int>{8, 8, 64, 16, 8, 64, 512, 512}));
  EXPECT_EQ(c.rings.at(0).ranks, (std::vector<int>{0, 1, 2}));
  ASSERT_EQ(c.tuning.size(), 4u);
  EXPECT_EQ(c.tuning[3].algorithm, "Ring");
  EXPECT_EQ(c.tuning[3].protocol, "Simple");
  EXPECT_EQ(c.tuning[3].max_threads, 384);
  EXPECT_EQ(c.tuning[3].latency_us, 15.2);
  EXPECT_EQ(c.tuning[3].bandwidth_gbs, 360.0);
  EXPECT_EQ(run.processes.at(0).host, "a");
}

TEST(NcclLog, DevicesAndGpuDirectAreTold) {
  const auto run = read(kLog);
  const auto& list = run.devices.at(0);
  EXPECT_TRUE(list.relaxed_ordering);
  EXPECT_EQ(list.out_of_band, "eth0:10.0.0.1<0>");
  ASSERT_EQ(list.devices.size(), 2u);
  EXPECT_EQ(list.devices[0].link, "IB");
  EXPECT_TRUE(list.devices[0].sharp);
  EXPECT_EQ(list.devices[1].name, "mlx5_3");
  EXPECT_EQ(list.devices[1].link, "RoCE");
  ASSERT_EQ(run.gpu_direct.size(), 2u);
  EXPECT_TRUE(run.gpu_direct[0].enabled);
  EXPECT_EQ(run.gpu_direct[0].nic_name, "mlx5_0");
  EXPECT_FALSE(run.gpu_direct[1].enabled);
  EXPECT_EQ(run.gpu_direct[1].nic, 10);
  EXPECT_EQ(run.gpu_direct[1].distance, 8);
  EXPECT_EQ(run.gpu_direct[1].threshold, 5);
}

TEST(NcclLog, TheSystemKeepsItsTreeAndPaths) {
  const auto run = read(kLog);
  const auto& s = run.systems.at(0);
  EXPECT_TRUE(s.complete);
  EXPECT_EQ(s.max_bandwidth, 370.8);
  ASSERT_EQ(s.nodes.size(), 5u);
  const std::vector<int> depths{0, 1, 2, 3, 2};
  for (std::size_t i = 0; i < depths.size(); ++i) EXPECT_EQ(s.nodes[i].depth, depths[i]) << i;
  EXPECT_EQ(s.nodes[2].node, "GPU/0-60");
  EXPECT_EQ(s.nodes[2].detail, "0");
  ASSERT_EQ(s.paths.size(), 2u);
  EXPECT_EQ(s.paths[1].type, "PXB");
  const auto& graph = run.communicators[0].graphs.at(0);
  EXPECT_EQ(graph.id, 0);
  EXPECT_EQ(graph.speed_inter, 24.0);
  EXPECT_EQ(graph.list.at(1).gpus, (std::vector<std::int64_t>{0x70, 0x60}));
  EXPECT_EQ(graph.list.at(1).nets, (std::vector<std::int64_t>{1, 0}));
}

TEST(NcclLog, AConnectionTellsItsTransport) {
  const auto run = read(kLog);
  ASSERT_EQ(run.connections.size(), 2u);
  const auto& net = run.connections[0];
  EXPECT_EQ(net.communicator, 0);
  EXPECT_EQ(net.transport, facts::NcclTransport::net);
  EXPECT_EQ(net.direction, facts::NcclDirection::receive);
  EXPECT_EQ(net.network, "IBext");
  EXPECT_EQ(net.device, 4);
  EXPECT_EQ(net.proxy_rank, 3);
  EXPECT_TRUE(net.gpu_direct && net.shared);
  EXPECT_EQ(run.connections[1].via, "P2P/CUMEM");
  EXPECT_EQ(run.connections[1].transport, facts::NcclTransport::p2p);
}

TEST(NcclLog, CallsOfOneKindAreCounted) {
  auto run = read(kLog);
  ASSERT_EQ(run.calls.size(), 1u);
  EXPECT_EQ(run.calls[0].count, 2);
  EXPECT_EQ(run.calls[0].protocol, "LL");
  EXPECT_EQ(run.calls[0].last_channel, 3);
  run = read("a:1:1 [0] NCCL INFO AllReduce: 4096 Bytes -> Algo 1 proto 2 time 123.400000\n");
  EXPECT_EQ(run.calls.at(0).estimate_us, 123.4);
}

TEST(NcclLog, AWarningKeepsItsTrailAndACompletionErrorIsDecoded) {
  const auto run = read(kLog);
  ASSERT_EQ(run.warnings.size(), 1u);
  EXPECT_EQ(run.warnings[0].timestamp, "2026-03-13 22:26:02");
  EXPECT_EQ(run.warnings[0].source, "ibvwrap.c:262");
  EXPECT_EQ(run.warnings[0].trail.at(0).code, 6);
  const auto& e = run.completion_errors.at(0);
  EXPECT_EQ(e.status, 12);
  EXPECT_EQ(e.vendor_error, 129);
  EXPECT_EQ(e.operation, "Send");
  EXPECT_EQ(e.remote_gid, "fe80::2");
  EXPECT_EQ(e.nic, "mlx5_0");
}

TEST(NcclLog, OlderFormsMeanTheSame) {
  const auto run = read(
      "a:1:2 [0] NCCL INFO Latency/AlgBw |    Tree/    LL |    Ring/Simple |\n"
      "a:1:2 [0] NCCL INFO     AllReduce |    8.0/  61.1 |    7.8/ 141.0 |\n"
      "a:1:2 [0] NCCL INFO Ring 00 : 0 -> 1 [send] via NET/IB/0\n"
      "a:1:2 [0] NCCL INFO Channel 00 : 7[c3000] -> 0[12000] via direct shared memory\n"
      "a:1:2 [0] NCCL INFO comm 0x7f rank 0 nranks 8 cudaDev 0 busId 12000 - Init COMPLETE\n");
  ASSERT_EQ(run.communicators.size(), 1u);
  EXPECT_EQ(run.communicators[0].tuning.at(1).protocol, "Simple");
  EXPECT_EQ(run.connections.at(0).network, "IB");
  EXPECT_EQ(run.connections.at(1).transport, facts::NcclTransport::shm);
  EXPECT_EQ(run.connections.at(1).from_device, "c3000");
}

TEST(NcclLog, ATornLineIsCountedAndItsWholePartRead) {
  const auto run = read(
      "   8  2  float  sum  -1b:18:19 [3] NCCL INFO Channel 02/0 : 3[3] -> 2[2] via P2P/IPC/read\n"
      "b:18:19 [3] NCCL INFO Chanb:20:21 [1] NCCL INFO Channel 02/0 : 1[1] -> 0[0] via P2P/IPC\n"
      "8:19 [3] NCCL INFO cut\n");
  ASSERT_EQ(run.connections.size(), 2u);
  EXPECT_EQ(run.processes.at(0).host, "b");
  EXPECT_EQ(skipped(run, "torn NCCL line"), 2);
}

TEST(NcclLog, ATextCutAnywhereIsRead) {
  for (std::size_t n = 0; n <= kLog.size(); ++n) {
    const auto run = read(kLog.substr(0, n));
    EXPECT_LE(run.communicators.size(), 2u);  // a pointer that is cut names another
  }
}

TEST(NcclLog, EverySharedSampleIsRead) {
  for (int i = 1; i <= 18; ++i) {
    const std::string path =
        test::shared("cases/formats/nccl-debug-info/" + std::to_string(i) + ".txt");
    if (path.empty()) GTEST_SKIP() << "no shared data";
    const std::string bytes = *read_file(path);
    EXPECT_TRUE(looks_like_nccl_log(bytes)) << path;
    const auto run = read_nccl_log({.file = path, .bytes = bytes});
    EXPECT_FALSE(run.versions.empty() && run.warnings.empty()) << path;
    EXPECT_LT(skipped(run, "NCCL line of an unknown kind"), 12) << path;
    EXPECT_LT(skipped(run, "NCCL line that is cut off"), 8) << path;
    if (i <= 14) {
      EXPECT_FALSE(run.communicators.empty()) << path;
      EXPECT_FALSE(run.connections.empty()) << path;
      EXPECT_FALSE(run.devices.empty()) << path;
    }
  }
}

TEST(NcclLog, EightLauncherPrefixesNameOneProcess) {
  const std::string path = test::shared("cases/formats/nccl-debug-info/16.txt");
  if (path.empty()) GTEST_SKIP() << "no shared data";
  const std::string bytes = *read_file(path);
  const auto run = read_nccl_log({.file = path, .bytes = bytes});
  ASSERT_EQ(run.processes.size(), 1u);
  EXPECT_EQ(run.processes[0].host, "node01");
  EXPECT_EQ(run.versions.at(0).count, 8);
  EXPECT_EQ(run.connections.size(), 8u);
}

TEST(NcclLog, TheH200LogIsReadWholeAndFast) {
  const std::string path = test::shared("data/h200/nccl_debug.txt");
  if (path.empty()) GTEST_SKIP() << "no shared data";
  const std::string bytes = *read_file(path);
  const auto before = std::chrono::steady_clock::now();
  const auto run = read_nccl_log({.file = path, .bytes = bytes});
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - before;
  std::printf("591 KB in %.1f ms\n", took.count());
  EXPECT_LT(took.count(), 500);  // far above, for a busy machine and a build for debugging
  EXPECT_EQ(skipped(run, "NCCL line of an unknown kind"), 0);
  EXPECT_EQ(run.communicators.size(), 2u);
  for (const auto& c : run.communicators) {
    EXPECT_EQ(c.ranks, 2);
    EXPECT_EQ(c.network, "Socket");
    EXPECT_EQ(c.system, 0);
  }
  ASSERT_EQ(run.systems.size(), 1u);
  EXPECT_EQ(run.systems[0].paths.size(), 14u);
  const auto& c = run.communicators[0];
  EXPECT_EQ(c.tuning.size(), 105u);
  EXPECT_EQ(c.graphs.at(0).list.size(), 12u);
  EXPECT_EQ(c.rings.size(), 24u);
}

}  // namespace
}  // namespace railyard::intake

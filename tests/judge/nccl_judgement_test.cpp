#include "judge/nccl_judgement.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "judge/gpu_class.h"
#include "judge/nccl_evidence.h"
#include "predict/nccl/priors.h"
#include "support/support.h"

namespace railyard::judge {
namespace {

using facts::Buffers;
using facts::CollectiveRun;
using predict::Collective;
using predict::nccl::Network;
using predict::nccl::Platform;
using predict::nccl::Priors;

const Priors& priors() {
  static const auto loaded =
      predict::nccl::load_priors(test::repository("catalog") + "/nccl_priors.yaml");
  EXPECT_TRUE(loaded);
  return *loaded;
}

Platform hopper(int nodes, Network network = Network::infiniband) {
  Platform out = server_of("h100 80gb hbm3", 8);
  out.domains = nodes;
  if (nodes > 1) {
    out.network = network;
    out.ports = 400.0 * GBps;
  }
  return out;
}

double law(const Platform& platform, double bytes, int channels = 0) {
  return predict::nccl::time_of(platform,
                                {.what = Collective::all_reduce,
                                 .bytes = bytes,
                                 .in_place = true,
                                 .channels = channels},
                                priors())
      .total;
}

/// What nccl-tests would print on eight H100 a node, with the times of a platform.
CollectiveRun run_on(const Platform& platform, int channels = 0) {
  CollectiveRun out{.at = {.file = "run.txt", .line = 1, .column = 1},
                    .program = "all_reduce_perf",
                    .collective = "all_reduce"};
  for (int rank = 0; rank < 8 * platform.domains; ++rank)
    out.devices.push_back({.rank = rank,
                           .device = rank % 8,
                           .host = "node" + std::to_string(rank / 8),
                           .name = "NVIDIA H100 80GB HBM3"});
  out.ranks = 8 * platform.domains;
  const double factor = predict::nccl::bus_factor(Collective::all_reduce, *out.ranks);
  int line = 10;
  for (std::uint64_t bytes = 1024; bytes <= std::uint64_t{1} << 33; bytes *= 2, ++line) {
    const double us = law(platform, static_cast<double>(bytes), channels);
    const double algorithm = static_cast<double>(bytes) / us / 1e3;
    for (const Buffers buffers : {Buffers::out_of_place, Buffers::in_place})
      out.points.push_back({.line = line,
                            .bytes = bytes,
                            .buffers = buffers,
                            .time_us = us,
                            .algbw_gbs = algorithm,
                            .busbw_gbs = algorithm * factor});
  }
  return out;
}

NcclJudgement judged(std::vector<CollectiveRun> runs, std::vector<facts::NcclRun> logs = {}) {
  return judge_nccl({.runs = std::move(runs), .logs = std::move(logs)}, priors());
}

const NcclFinding* find(const NcclJudgement& judgement, std::string_view rule) {
  const auto at = std::ranges::find(judgement.findings, rule, &NcclFinding::rule);
  return at == judgement.findings.end() ? nullptr : &*at;
}

/// A log of two nodes that took RDMA, with or without what the test adds.
facts::NcclRun log_of_two_nodes() {
  facts::NcclRun out;
  out.versions.push_back({.text = "2.28.9+cuda13.0", .major = 2, .minor = 28, .patch = 9});
  out.processes = {{.host = "node0"}, {.host = "node1"}};
  facts::NcclDeviceList list{.at = {.file = "log.txt", .line = 3, .column = 1},
                             .host = "node0",
                             .network = "IB",
                             .relaxed_ordering = true};
  for (int i = 0; i < 8; ++i)
    list.devices.push_back({.index = i, .name = "mlx5_" + std::to_string(i), .link = "IB"});
  out.devices.push_back(list);
  out.communicators.push_back({.at = {.file = "log.txt", .line = 4, .column = 1},
                               .process = 0,
                               .ranks = 16,
                               .nodes = 2,
                               .network = "IB",
                               .nvls_channels = 16});
  out.connections.push_back({.at = {.file = "log.txt", .line = 5, .column = 1},
                             .communicator = 0,
                             .from = 7,
                             .to = 8,
                             .transport = facts::NcclTransport::net,
                             .via = "NET/IB/0/GDRDMA",
                             .network = "IB",
                             .device = 0,
                             .gpu_direct = true});
  return out;
}

TEST(NcclJudgement, CurvesOfTheLawItselfHaveNoFinding) {
  for (const int nodes : {1, 2, 4}) {
    const auto judgement = judged({run_on(hopper(nodes))});
    EXPECT_TRUE(judgement.findings.empty()) << nodes << " nodes: " << judgement.findings[0].cause;
    EXPECT_FALSE(judgement.runs[0].slow);
    EXPECT_FALSE(judgement.runs[0].first_slow);
    for (const NcclJudgedSize& s : judgement.runs[0].sizes)
      EXPECT_EQ(s.verdict, NcclVerdict::ok) << s.bytes;
  }
}

TEST(NcclJudgement, TwoNodesAboveTheirNicsAreExplainedNotBlamed) {
  const auto judgement = judged({run_on(hopper(2))});
  ASSERT_TRUE(judgement.runs[0].plateau);
  EXPECT_GT(judgement.runs[0].plateau->busbw, 400);
  ASSERT_FALSE(judgement.runs[0].remarks.empty());
}

struct Pathology {
  std::string_view id;
  Platform platform;
  int channels = 0;
};

TEST(NcclHypotheses, EachRecognisesItsOwnCurve) {
  std::vector<Pathology> all;
  const auto ports = [&](std::string_view id, double share) {
    Pathology p{.id = id, .platform = hopper(2)};
    p.platform.ports *= share;
    all.push_back(p);
  };
  ports("one-nic", 1.0 / 8);
  ports("half-nics", 0.5);
  ports("gpudirect-off", 0.36);
  ports("acs", 0.41);
  ports("relaxed-ordering-off", 0.47);
  ports("slot-trained-down", 0.63);
  Pathology sockets{.id = "sockets", .platform = hopper(2, Network::sockets)};
  sockets.platform.ports = 12.5 * GBps;
  all.push_back(sockets);
  Pathology fabric{.id = "fabric", .platform = hopper(8)};
  fabric.platform.ports *= 0.7;
  all.push_back(fabric);
  Pathology nvls{.id = "nvls-off", .platform = hopper(1)};
  nvls.platform.nvls = false;
  all.push_back(nvls);
  Pathology peers{.id = "p2p-off", .platform = hopper(1)};
  peers.platform.inside = predict::nccl::Inside::pcie;
  peers.platform.nvls = peers.platform.peer_to_peer = false;
  all.push_back(peers);
  for (const int channels : {1, 2, 4, 8}) {
    all.push_back({.id = "few-channels", .platform = hopper(1), .channels = channels});
    all.back().platform.nvls = false;
  }
  for (const Pathology& p : all) {
    const Platform healthy = hopper(p.platform.domains);
    MeasuredCurve curve;
    for (double bytes = 1 << 20; bytes <= 8e9; bytes *= 2)
      curve.points.push_back(
          {.bytes = bytes, .in_place = true, .us = law(p.platform, bytes, p.channels)});
    const auto ranked = hypotheses_of(curve, healthy, 8, {}, priors());
    ASSERT_FALSE(ranked.empty());
    EXPECT_EQ(ranked.front().id, p.id) << ranked.front().what;
    EXPECT_LT(ranked.front().misfit, misfit(curve, healthy, 0, priors())) << p.id;
  }
}

TEST(NcclHypotheses, ALogRulesOutOrRaises) {
  Platform slow = hopper(2);
  slow.ports *= 0.5;
  MeasuredCurve curve;
  for (double bytes = 1 << 25; bytes <= 8e9; bytes *= 2)
    curve.points.push_back({.bytes = bytes, .in_place = true, .us = law(slow, bytes)});
  NcclWitness witness;
  witness.ruled_out["half-nics"] = "all NICs carry channels";
  witness.shown.insert("gpudirect-off");
  const auto ranked = hypotheses_of(curve, hopper(2), 8, witness, priors());
  EXPECT_EQ(ranked.front().id, "gpudirect-off");
  EXPECT_EQ(ranked.back().id, "half-nics");
  EXPECT_EQ(ranked.back().why, "all NICs carry channels");
}

TEST(NcclJudgement, ADipIsFoundAtItsSize) {
  CollectiveRun run = run_on(hopper(1));
  constexpr std::uint64_t kDip = 4 << 20;
  for (auto& p : run.points)
    if (p.bytes == kDip && p.buffers == Buffers::in_place) {
      p.time_us *= 2;
      p.busbw_gbs /= 2;
    }
  const auto judgement = judged({run});
  const auto* finding = find(judgement, "nccl-dip");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, NcclSeverity::note);
  ASSERT_EQ(judgement.runs[0].dips.size(), 1U);
  EXPECT_EQ(judgement.runs[0].dips[0].bytes, static_cast<std::int64_t>(kDip));
  EXPECT_EQ(judgement.runs[0].dips[0].faster_bytes, static_cast<std::int64_t>(2 * kDip));
}

TEST(NcclJudgement, EvidenceOfALogRanksBeforeTheCurveAlone) {
  Platform slow = hopper(2);
  slow.ports *= 0.36;
  facts::NcclRun log = log_of_two_nodes();
  log.connections[0].gpu_direct = false;
  log.gpu_direct.push_back({.at = {.file = "log.txt", .line = 9, .column = 1},
                            .network = "NET/IB",
                            .nic = 0,
                            .reason = "no module"});
  const auto judgement = judged({run_on(slow)}, {log});
  ASSERT_GE(judgement.findings.size(), 2U);
  EXPECT_EQ(judgement.findings[0].rule, "nccl-gpudirect-off");
  EXPECT_EQ(judgement.findings[0].evidence[0].at.line, 9);
  EXPECT_GT(judgement.findings[0].loss, 1.5);
  EXPECT_EQ(judgement.findings[1].rule, "nccl-slow");
  EXPECT_EQ(judgement.findings[1].topic, "gpudirect-off");
}

TEST(NcclJudgement, ALossThatWasNotMeasuredIsANote) {
  facts::NcclRun log = log_of_two_nodes();
  log.environment.push_back({.at = {.file = "log.txt", .line = 2, .column = 1},
                             .name = "NCCL_ALGO",
                             .value = "NVLSTree"});
  const auto alone = judged({}, {log});
  ASSERT_NE(find(alone, "nccl-algo-left"), nullptr);
  EXPECT_EQ(find(alone, "nccl-algo-left")->severity, NcclSeverity::warning);
  const auto measured = judged({run_on(hopper(2))}, {log});
  ASSERT_NE(find(measured, "nccl-algo-left"), nullptr);
  EXPECT_EQ(find(measured, "nccl-algo-left")->severity, NcclSeverity::note);
}

TEST(NcclJudgement, WrongResultsComeFirst) {
  Platform slow = hopper(2);
  slow.ports *= 0.2;
  CollectiveRun run = run_on(slow);
  run.points[3].wrong = 7;
  run.out_of_bounds = 7;
  const auto judgement = judged({run});
  ASSERT_GE(judgement.findings.size(), 2U);
  EXPECT_EQ(judgement.findings[0].rule, "nccl-wrong-results");
  EXPECT_EQ(judgement.findings[0].severity, NcclSeverity::error);
}

TEST(NcclJudgement, TheHostThatAllSlowPairsShareIsNamed) {
  std::vector<CollectiveRun> runs;
  for (const auto& [a, b, slow] : {std::tuple{"n1", "n2", false},
                                   {"n1", "n3", true},
                                   {"n2", "n3", true},
                                   {"n2", "n4", false}}) {
    Platform p = hopper(2);
    if (slow) p.ports *= 0.5;
    runs.push_back(run_on(p));
    for (auto& d : runs.back().devices) d.host = d.rank < 8 ? a : b;
  }
  const auto judgement = judged(runs);
  ASSERT_NE(find(judgement, "nccl-slow-host"), nullptr);
  EXPECT_NE(find(judgement, "nccl-slow-host")->cause.find("n3"), std::string::npos);
}

TEST(NcclJudgement, EqualRunsOfTwoLevelsAreNotCalledASlowHost) {
  Platform low = hopper(2);
  low.ports *= 0.4;
  const auto judgement = judged({run_on(hopper(2)), run_on(low), run_on(hopper(2))});
  EXPECT_NE(find(judgement, "nccl-two-levels"), nullptr);
  EXPECT_EQ(find(judgement, "nccl-slow-host"), nullptr);
}

TEST(NcclJudgement, NicsThatAreSoldOtherwiseAreANote) {
  Platform mega = hopper(4);
  mega.ports = 200.0 * GBps;
  const auto judgement = judged({run_on(mega)});
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings[0].rule, "nccl-fits-other-nics");
  EXPECT_EQ(judgement.findings[0].severity, NcclSeverity::note);
  EXPECT_FALSE(judgement.runs[0].slow);
}

TEST(NcclJudgement, AnUnknownMachineStillHasItsOwnNumbersChecked) {
  CollectiveRun run = run_on(hopper(2));
  for (auto& d : run.devices) d.name = "NVIDIA Graphics Device";
  run.points.back().time_us *= 2;
  const auto judgement = judged({run});
  EXPECT_FALSE(judgement.runs[0].platform);
  EXPECT_EQ(judgement.runs[0].sizes[0].verdict, NcclVerdict::unknown);
  EXPECT_NE(find(judgement, "nccl-unstable"), nullptr);
}

TEST(NcclEvidence, SocketsOnOneNodeAreHarmless) {
  facts::NcclRun log;
  log.communicators.push_back({.at = {.file = "log.txt", .line = 4, .column = 1},
                               .ranks = 8,
                               .nodes = 1,
                               .network = "Socket"});
  EXPECT_TRUE(evidence_of(log, {}).findings.empty());
  log.communicators[0].nodes = 2;
  const auto two = evidence_of(log, {});
  ASSERT_EQ(two.findings.size(), 1U);
  EXPECT_EQ(two.findings[0].rule, "nccl-sockets");
  EXPECT_TRUE(two.witness.shown.contains("sockets"));
}

TEST(NcclEvidence, AHealthyLogRulesOutWhatItCanSee) {
  const auto evidence = evidence_of(log_of_two_nodes(), {});
  EXPECT_TRUE(evidence.findings.empty());
  for (const char* id : {"sockets", "gpudirect-off", "relaxed-ordering-off", "nvls-off"})
    EXPECT_TRUE(evidence.witness.ruled_out.contains(id)) << id;
}

TEST(NcclEvidence, TheFirstFailureIsTheCause) {
  facts::NcclRun log = log_of_two_nodes();
  log.warnings.push_back({.where = {.at = {.file = "log.txt", .line = 20, .column = 1}},
                          .text = "socketProgress: Connection closed by remote peer 10.0.0.1<1>"});
  log.warnings.push_back({.where = {.at = {.file = "log.txt", .line = 30, .column = 1}},
                          .text = "Cuda failure 'out of memory'"});
  const auto evidence = evidence_of(log, {});
  ASSERT_EQ(evidence.findings.size(), 2U);
  EXPECT_EQ(evidence.findings[0].rule, "nccl-gpu-memory");
  EXPECT_EQ(evidence.findings[1].rule, "nccl-consequence");
}

TEST(NcclFindings, EveryRuleIsNamedOnceAndExplained) {
  std::vector<std::string_view> seen;
  for (const NcclRule& rule : nccl_rules()) {
    EXPECT_TRUE(rule.id.starts_with("nccl-")) << rule.id;
    EXPECT_FALSE(rule.summary.empty()) << rule.id;
    EXPECT_EQ(std::ranges::count(seen, rule.id), 0) << rule.id;
    seen.push_back(rule.id);
  }
}

}  // namespace
}  // namespace railyard::judge

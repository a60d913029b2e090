#include "model/cluster.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "support/support.h"

namespace railyard::model {
namespace {

const Catalog& catalogue() {
  static const Checked<Catalog> loaded = load_catalog(test::repository("catalog"));
  if (!loaded) ADD_FAILURE() << text(loaded.error());
  return *loaded;
}

Checked<Cluster> parse(std::string yaml) {
  auto doc = yaml::Document::parse("c.yaml", std::move(yaml));
  if (!doc) return std::unexpected(doc.error());
  return parse_cluster(*doc, catalogue());
}

Cluster good(std::string yaml) {
  auto cluster = parse(std::move(yaml));
  if (!cluster) {
    ADD_FAILURE() << text(cluster.error());
    return {};
  }
  return *cluster;
}

// The problems of a file that must have some.
std::string bad(std::string yaml) {
  auto cluster = parse(std::move(yaml));
  if (cluster) {
    ADD_FAILURE() << "read without complaint";
    return {};
  }
  return text(cluster.error());
}

int count(const Server& s, PcieKind kind) {
  return static_cast<int>(
      std::ranges::count_if(s.pcie, [&](const PcieNode& n) { return n.kind == kind; }));
}

const char kPod[] =
    "cluster: pod\n"
    "servers: 32\n"
    "server: dgx-h100\n"
    "fabric: {kind: fat-tree, transport: infiniband, switch: quantum2-qm9700}\n";

TEST(Cluster, TakesAServerTemplateByItsName) {
  const Cluster c = good(kPod);
  EXPECT_EQ(c.id, "pod");
  EXPECT_EQ(c.accelerators(), 256);
  EXPECT_EQ(c.server.accelerator.id, "h100-sxm-80g");
  EXPECT_EQ(c.server.nics.size(), 8u);
  EXPECT_EQ(count(c.server, PcieKind::bridge), 8);
  EXPECT_EQ(c.server.host_cores, 112);
  EXPECT_DOUBLE_EQ(c.server.host_memory_per_socket.in(GBps), 307.2);
}

TEST(Cluster, LeafPortsDecideHowManyServersShareALeaf) {
  // 64 ports, half of them down: 32 / 8 NICs = 4 servers; 32 servers need 8 leaves, two tiers.
  const Cluster c = good(kPod);
  EXPECT_EQ(c.fabric.servers_per_leaf, 4);
  EXPECT_EQ(c.fabric.tiers, 2);
  EXPECT_EQ(c.fabric.mtu, 4096);
  EXPECT_DOUBLE_EQ(c.fabric.hop.in(ns), 240);
}

TEST(Cluster, ARailFabricTakesOnePortOfEachServerOnALeaf) {
  const Cluster c = good(
      "cluster: pod\nservers: 64\nserver: dgx-h100\n"
      "fabric: {kind: rail, transport: infiniband, switch: quantum2-qm9700}\n");
  EXPECT_EQ(c.fabric.servers_per_leaf, 32);
}

TEST(Cluster, AWideSwitchPortSplitsForSlowerNics) {
  // 64 x 800G are 128 x 400G, 64 of them down: 8 servers of 8 NICs. Two to one: 85 down, 10
  // servers.
  const std::string head =
      "cluster: pod\nservers: 64\nserver: dgx-h100\nfabric: {kind: fat-tree, transport: roce, "
      "switch: spectrum4-sn5600";
  EXPECT_EQ(good(head + "}\n").fabric.servers_per_leaf, 8);
  EXPECT_EQ(good(head + ", oversubscription: 2}\n").fabric.servers_per_leaf, 10);
}

TEST(Cluster, OverridesATemplateInPlace) {
  const Cluster c = good(
      "cluster: mine\n"
      "servers: 2\n"
      "server:\n"
      "  template: dgx-h100\n"
      "  nics: {part: cx6-200g, count: 4}\n"
      "  host_memory: 1 TB\n"
      "  cxl: {part: micron-cz120-256g, count: 3}\n"
      "  gpu_direct: false\n"
      "  max_payload: 512\n"
      "fabric: {kind: direct, transport: roce}\n"
      "power_limit: 500 W\n"
      "straggler: 0.02\n");
  EXPECT_EQ(c.server.nics.size(), 4u);
  EXPECT_EQ(c.server.nics[3].part.id, "cx6-200g");
  EXPECT_EQ(c.server.pcie[c.server.nics[0].at].link.generation, 4);  // the card's, in a gen5 slot
  EXPECT_EQ(c.server.host_memory, 1.0 * TB);
  EXPECT_EQ(c.server.cxl.size(), 3u);
  EXPECT_FALSE(c.server.gpu_direct);
  EXPECT_EQ(c.server.max_payload, 512);
  EXPECT_EQ(c.server.accelerators, 8);
  EXPECT_EQ(c.power_limit, 500.0 * watt);
  EXPECT_DOUBLE_EQ(c.straggler, 0.02);
}

TEST(Cluster, NumberAndKindOfServersMayStandTogether) {
  const Cluster c = good(
      "cluster: pod\nservers: {count: 4, template: dgx-h100, host_cores: 96}\n"
      "fabric: {kind: rail, transport: roce}\n");
  EXPECT_EQ(c.accelerators(), 32);
  EXPECT_EQ(c.server.host_cores, 96);
  EXPECT_TRUE(
      bad("cluster: pod\nservers: {template: dgx-h100}\n").contains("key 'count' in servers"));
}

TEST(Cluster, FewerNicsStayEvenlyUnderTheSwitches) {
  const Cluster c = good(
      "cluster: mine\nservers: 2\nserver: {template: dgx-h100, nics: {count: 2}}\n"
      "fabric: {kind: direct, transport: infiniband}\n");
  ASSERT_EQ(c.server.nics.size(), 2u);
  for (const NicPlace& nic : c.server.nics)
    EXPECT_EQ(c.server.pcie[c.server.pcie[nic.at].parent].kind, PcieKind::bridge);
  EXPECT_EQ(c.server.pcie[c.server.nics[0].at].socket, 0);
  EXPECT_EQ(c.server.pcie[c.server.nics[1].at].socket, 1);
}

TEST(Cluster, PartsAreDescribedInPlaceFromOneOfTheCatalogue) {
  const Cluster c = good(
      "cluster: mine\n"
      "servers: 1\n"
      "server:\n"
      "  template: hgx-a100-80g\n"
      "  accelerators: {part: {like: a100-sxm-80g, id: a100-cool, power: 300 W}}\n"
      "  nics: {part: {like: cx6-200g, port_rate: 100 Gb/s}, count: 2, attach: socket}\n");
  EXPECT_EQ(c.server.accelerator.id, "a100-cool");
  EXPECT_EQ(c.server.accelerator.power, 300.0 * watt);
  EXPECT_DOUBLE_EQ(c.server.accelerator.scale_up.total.in(GBps), 300);
  EXPECT_DOUBLE_EQ(c.server.nics[1].part.port_rate.in(Gbps), 100);
  EXPECT_EQ(c.server.pcie[c.server.pcie[c.server.nics[1].at].parent].kind, PcieKind::root);
  EXPECT_EQ(c.server.pcie[c.server.nics[1].at].socket, 1);
}

TEST(Cluster, AServerNeedsNoTreeToStandOnItsOwn) {
  const Cluster c = good(
      "cluster: mine\nservers: 1\n"
      "server: {accelerators: {part: rtx-4090, count: 4}, sockets: 2, slot: gen4 x8}\n");
  ASSERT_EQ(c.server.gpu_at.size(), 4u);
  EXPECT_EQ(c.server.pcie[c.server.gpu_at[1]].socket, 0);
  EXPECT_EQ(c.server.pcie[c.server.gpu_at[2]].socket, 1);
  EXPECT_EQ(c.server.pcie[c.server.gpu_at[0]].link.lanes, 8);
  EXPECT_EQ(c.server.islands.front().scale_up.kind, ScaleUpKind::none);
}

TEST(Cluster, BridgesBetweenCardsAreThereOnlyWhenFitted) {
  const std::string head = "cluster: mine\nservers: 1\nserver: {template: h100-pcie-4-balanced";
  EXPECT_EQ(good(head + "}\n").server.islands.front().scale_up.kind, ScaleUpKind::none);
  EXPECT_EQ(good(head + ", bridges: true}\n").server.islands.front().scale_up.kind,
            ScaleUpKind::bridge);
}

TEST(Cluster, FewerAcceleratorsThanTheTemplateAreTheFirstOnes) {
  const Cluster c = good(
      "cluster: half\nservers: 2\n"
      "server: {template: dgx-a100-80g, accelerators: {count: 4}}\n"
      "fabric: {kind: direct, transport: infiniband}\n");
  EXPECT_EQ(c.server.accelerators, 4);
  EXPECT_EQ(c.server.gpu_at.size(), 4u);
  // Two switches of the first socket keep two accelerators and two NICs each.
  EXPECT_EQ(c.server.nics.size(), 4u);
  EXPECT_EQ(c.server.islands.front().count, 4);
}

TEST(Cluster, TheExternalChassisIsAnIslandWithoutScaleUp) {
  auto s = build_server(catalogue(), "case-h100-16");
  ASSERT_TRUE(s.has_value()) << text(s.error());
  ASSERT_EQ(s->islands.size(), 2u);
  EXPECT_EQ(s->islands[0].scale_up.kind, ScaleUpKind::fabric);
  EXPECT_EQ(s->islands[1].first, 8);
  EXPECT_EQ(s->islands[1].count, 8);
  EXPECT_EQ(s->islands[1].scale_up.kind, ScaleUpKind::none);
  // One retimer of 30 ns on the link of a card in the chassis, none inside.
  EXPECT_DOUBLE_EQ(s->pcie[s->gpu_at[8]].latency.in(ns), 30);
  EXPECT_DOUBLE_EQ(s->pcie[s->gpu_at[0]].latency.in(ns), 0);
}

TEST(Cluster, ARackWideDomainSpansItsTrays) {
  auto s = build_server(catalogue(), "gb200-nvl72");
  ASSERT_TRUE(s.has_value()) << text(s.error());
  EXPECT_EQ(s->domain_servers, 18);
  EXPECT_EQ(s->accelerators, 4);
}

TEST(Cluster, TemplatesBuildWithoutProblemsAndSayWhereTheyComeFrom) {
  EXPECT_GE(catalogue().servers.size(), 50u);
  for (const auto& t : catalogue().servers) {
    auto s = build_server(catalogue(), t.id);
    EXPECT_TRUE(s.has_value()) << t.id << '\n' << text(s.error());
    EXPECT_FALSE(t.from.source.empty()) << t.id;
    if (s) {
      EXPECT_EQ(s->id, t.id);
    }
  }
}

TEST(Cluster, ExamplesReadWithoutProblems) {
  for (const char* file :
       {"case-512/before", "case-512/after-256", "case-512/after-512-servers",
        "case-512/after-512-chassis", "ddp-2x4/one-node", "ddp-2x4/two-nodes-10gbe",
        "ddp-2x4/two-nodes-hdr", "pp-dp-100b/cluster"}) {
    const auto c =
        load_cluster(test::repository("examples/" + std::string(file) + ".yaml"), catalogue());
    EXPECT_TRUE(c.has_value()) << text(c.error());
  }
}

TEST(ClusterSpec, BuildsFromATemplateAndWhatDiffers) {
  const auto c = build_cluster(catalogue(), {.server = "dgx-a100-40g",
                                             .servers = 16,
                                             .accelerator = "a100-sxm-80g",
                                             .scale_up = 150.0 * GBps,
                                             .nics = 4,
                                             .port_rate = 100.0 * Gbps,
                                             .transport = Transport::roce,
                                             .oversubscription = 2});
  ASSERT_TRUE(c.has_value()) << text(c.error());
  EXPECT_EQ(c->accelerators(), 128);
  EXPECT_EQ(c->server.accelerator.id, "a100-sxm-80g");
  EXPECT_EQ(c->server.nics.size(), 4u);
  EXPECT_DOUBLE_EQ(c->server.nics[0].part.ports_rate().in(Gbps), 100);
  EXPECT_EQ(c->server.nics[0].part.id, "cx6-200g at 100 Gb/s");
  EXPECT_DOUBLE_EQ(c->server.islands[0].scale_up.total.in(GBps), 150);
  EXPECT_DOUBLE_EQ(c->server.islands[0].scale_up.per_link.in(GBps), 12.5);
  EXPECT_DOUBLE_EQ(c->fabric.oversubscription, 2);
}

TEST(ClusterSpec, NamesWhatItDoesNotKnow) {
  const auto c = build_cluster(catalogue(), {.server = "dgx-h10", .servers = 2, .nic = "cx7-40g"});
  ASSERT_FALSE(c.has_value());
  ASSERT_EQ(c.error().size(), 2u);
  EXPECT_EQ(c.error()[0].hint, "did you mean 'dgx-h100'?");
  EXPECT_EQ(c.error()[1].hint, "did you mean 'cx7-400g'?");
}

// Broken files. Each test pins the place and the hint.

TEST(BrokenCluster, AnUnknownTemplateIsNamedWithTheNearestOne) {
  EXPECT_EQ(bad("cluster: x\nservers: 1\nserver: dgx-h010\n"),
            "c.yaml:3:9: expected the id of a server template, found 'dgx-h010'\n"
            "  server: dgx-h010\n"
            "          ^\n"
            "  hint: did you mean 'dgx-h100'?\n");
}

TEST(BrokenCluster, AnUnknownPartIsNamedWithTheNearestOne) {
  const std::string says = bad(
      "cluster: x\nservers: 1\nserver: {template: dgx-h100, accelerators: {part: h100-sxm-80}}\n");
  EXPECT_TRUE(
      says.starts_with("c.yaml:3:51: expected the id of an accelerator, found 'h100-sxm-80'"))
      << says;
  EXPECT_TRUE(says.contains("did you mean 'h100-sxm-80g'?")) << says;
}

TEST(BrokenCluster, AMisspeltKeyIsNamedWithTheNearestOne) {
  const std::string says =
      bad("cluster: x\nservers: 1\nserver:\n  template: dgx-h100\n  host_memry: 1 TB\n");
  EXPECT_TRUE(says.starts_with("c.yaml:5:3: expected a key of a server, found 'host_memry'"))
      << says;
  EXPECT_TRUE(says.contains("did you mean 'host_memory'?")) << says;
}

TEST(BrokenCluster, AMissingUnitIsAMistake) {
  const std::string says =
      bad("cluster: x\nservers: 1\nserver:\n  template: dgx-h100\n  host_memory: 2048\n");
  EXPECT_TRUE(
      says.starts_with("c.yaml:5:16: expected a size such as '80 GiB' or '512 MB', found '2048'"))
      << says;
  EXPECT_TRUE(says.contains("a unit is missing")) << says;
}

TEST(BrokenCluster, CountAndTreeMustAgree) {
  const std::string says =
      bad("cluster: x\nservers: 1\nserver:\n  accelerators: {part: l40s, count: 3}\n"
          "  pcie:\n  - {accelerators: 4}\n");
  EXPECT_TRUE(
      says.starts_with("c.yaml:4:37: expected 4 accelerators, as in the PCIe tree, found 3"))
      << says;
}

TEST(BrokenCluster, ATemplateCannotGrow) {
  const std::string says =
      bad("cluster: x\nservers: 1\nserver: {template: dgx-h100, accelerators: {count: 16}}\n");
  EXPECT_TRUE(says.contains("c.yaml:3:52: expected 8 accelerators, as in the PCIe tree, found 16"))
      << says;
  EXPECT_TRUE(says.contains("for more, describe the tree under 'pcie:'")) << says;
}

TEST(BrokenCluster, IslandsMustCoverAllAccelerators) {
  const std::string says =
      bad("cluster: x\nservers: 1\nserver:\n  template: dgx-h100\n"
          "  islands: [{accelerators: 4}, {accelerators: 2, scale_up: none}]\n");
  EXPECT_TRUE(says.starts_with("c.yaml:5:")) << says;
  EXPECT_TRUE(says.contains("expected islands of 8 accelerators in all, found 6")) << says;
}

TEST(BrokenCluster, TwoDevicesNeedASwitchBetween) {
  const std::string says =
      bad("cluster: x\nservers: 1\nserver:\n  accelerators: {part: l40s}\n"
          "  pcie:\n  - {accelerators: 1, nic: cx7-400g}\n");
  EXPECT_TRUE(says.starts_with("c.yaml:6:")) << says;
  EXPECT_TRUE(says.contains("devices that share a port need a switch between")) << says;
}

TEST(BrokenCluster, ALinkHasAGenerationAndAWidthThatExist) {
  const std::string says =
      bad("cluster: x\nservers: 1\nserver:\n  accelerators: {part: l40s}\n"
          "  pcie:\n  - {accelerators: 1, link: gen5 x6}\n  - {accelerators: 1, link: x16}\n");
  EXPECT_TRUE(
      says.contains("c.yaml:6:29: expected a PCIe link such as 'gen5 x16', found 'gen5 x6'"))
      << says;
  EXPECT_TRUE(says.contains("c.yaml:7:29: expected a PCIe link such as 'gen5 x16', found 'x16'"))
      << says;
}

TEST(BrokenCluster, ASocketThatIsNotThereIsNoPlace) {
  const std::string says =
      bad("cluster: x\nservers: 1\nserver:\n  sockets: 1\n  accelerators: {part: l40s}\n"
          "  pcie:\n  - {socket: 1, accelerators: 1}\n");
  EXPECT_TRUE(says.contains("expected a socket from 0 to 0, found 1")) << says;
}

TEST(BrokenCluster, ServersNeedAFabricAndNics) {
  EXPECT_TRUE(
      bad("cluster: x\nservers: 4\nserver: dgx-h100\n")
          .starts_with("c.yaml:2:10: expected a fabric, for there are 4 servers, found none"));
  const std::string says =
      bad("cluster: x\nservers: 4\nserver: {template: dgx-h100, nics: none}\n"
          "fabric: {kind: fat-tree, transport: roce}\n");
  EXPECT_TRUE(says.starts_with("c.yaml:4:16: expected servers with at least one NIC, found none"))
      << says;
}

TEST(BrokenCluster, ADirectCableJoinsTwo) {
  const std::string says =
      bad("cluster: x\nservers: 3\nserver: dgx-h100\nfabric: {kind: direct, transport: roce}\n");
  EXPECT_TRUE(says.starts_with("c.yaml:4:16: expected two servers on a direct cable, found 3"))
      << says;
  EXPECT_TRUE(says.contains("use kind: single-switch")) << says;
}

TEST(BrokenCluster, OneSwitchHasOnlySoManyPorts) {
  const std::string says =
      bad("cluster: x\nservers: 9\nserver: dgx-h100\n"
          "fabric: {kind: single-switch, transport: infiniband, switch: quantum2-qm9700}\n");
  EXPECT_TRUE(says.contains(
      "expected a fabric with 72 ports for the servers, found one switch with 64 such ports"))
      << says;
}

TEST(BrokenCluster, InfiniBandSwitchesDoNotSpeakRoce) {
  const std::string says =
      bad("cluster: x\nservers: 4\nserver: dgx-h100\n"
          "fabric: {kind: fat-tree, transport: roce, switch: quantum2-qm9700}\n");
  EXPECT_TRUE(says.starts_with("c.yaml:4:51: expected an Ethernet switch, found 'quantum2-qm9700'"))
      << says;
}

TEST(BrokenCluster, AnEthernetFrameIsNoRdmaMtu) {
  const std::string says =
      bad("cluster: x\nservers: 4\nserver: dgx-h100\nfabric: {kind: fat-tree, transport: roce, "
          "mtu: 9000}\n");
  EXPECT_TRUE(
      says.starts_with("c.yaml:4:48: expected an RDMA MTU of at most 4096 bytes, found 9000"))
      << says;
}

TEST(BrokenCluster, BothDirectionsOfAScaleUpLinkAreNoTotal) {
  const std::string says =
      bad("cluster: x\nservers: 1\nserver:\n  template: dgx-h100\n"
          "  scale_up: {kind: fabric, links: 18, per_link: 25 GB/s, total: 900 GB/s}\n");
  EXPECT_TRUE(says.contains("expected links x per_link = 450 GB/s, found '900 GB/s'")) << says;
  EXPECT_TRUE(says.contains("data sheets often print both directions")) << says;
}

TEST(BrokenCluster, AllMistakesOfAFileComeInOneRun) {
  auto c = parse(
      "cluster: x\n"
      "servers: none\n"
      "server: {template: dgx-h100, gpu_direct: maybe}\n"
      "fabric: {kind: fat-tre, transport: roce}\n"
      "stragler: 0.1\n");
  ASSERT_FALSE(c.has_value());
  EXPECT_EQ(c.error().size(), 4u) << text(c.error());
}

TEST(BrokenCluster, EmptyPlacesAreProblemsAndNeverCrash) {
  EXPECT_FALSE(bad("cluster:\nservers:\nserver:\nfabric:\n").empty());
  EXPECT_FALSE(bad("cluster: x\nservers: 2\nserver: dgx-h100\nfabric: {}\n").empty());
  for (const char* server :
       {"{}", "{accelerators: {count: 8}}", "{accelerators: {part: l40s}}",
        "{accelerators: {part: l40s}, pcie: [~]}", "{accelerators: {part: l40s}, pcie: [{}]}",
        "{accelerators: {part: l40s}, pcie: [{switch: pex89144}]}",
        "{template: dgx-h100, nics: {part: ~}}", "{template: dgx-h100, islands: [~]}"})
    EXPECT_FALSE(bad("cluster: x\nservers: 1\nserver: " + std::string(server) + "\n").empty())
        << server;
}

TEST(BrokenCluster, AFileThatIsNoMapSaysSo) {
  EXPECT_TRUE(bad("- a\n- b\n").contains("expected a map for a cluster, found a list"));
}

}  // namespace
}  // namespace railyard::model

// Numbers by hand. PCIe 5.0 x16: 32 GT/s x 16 x 128/130 = 504.1 Gb/s; four packets of 256 B carry
// 1024 of 4 x (256 + 26) + 16 = 1144 B, 89.5 %: 451.2 Gb/s = 56.4 GB/s.

#include "fabric/machine.h"
#include "gtest/gtest.h"
#include "support/support.h"

namespace railyard::fabric {
namespace {

using model::Transport;

const model::Catalog& catalogue() {
  static const Checked<model::Catalog> loaded = model::load_catalog(test::repository("catalog"));
  if (!loaded) ADD_FAILURE() << text(loaded.error());
  return *loaded;
}

model::Cluster build(const model::ClusterSpec& spec) {
  auto c = model::build_cluster(catalogue(), spec);
  if (!c) {
    ADD_FAILURE() << text(c.error());
    return {};
  }
  return *c;
}

model::Cluster parse(std::string yaml) {
  auto doc = yaml::Document::parse("c.yaml", std::move(yaml));
  auto c = model::parse_cluster(*doc, catalogue());
  if (!c) {
    ADD_FAILURE() << text(c.error());
    return {};
  }
  return *c;
}

double gigabytes(const Path& p) { return p.bandwidth().in(GBps); }

TEST(PciePayload, IsTheLineCodeTimesTheShareOfDataInPackets) {
  EXPECT_NEAR(pcie_encoded({5, 16}).in(Gbps), 504.1, 0.1);
  EXPECT_NEAR(pcie_payload({5, 16}).in(GBps), 56.4, 0.05);
  EXPECT_NEAR(pcie_payload({4, 16}).in(GBps), 28.2, 0.05);
  EXPECT_NEAR(pcie_payload({3, 16}).in(GBps), 14.1, 0.05);
  EXPECT_NEAR(pcie_payload({5, 8}).in(GBps), 28.2, 0.05);
  EXPECT_NEAR(pcie_payload({2, 16}).in(GBps), 8.0 * 1024 / 1144, 1e-9);
  // 512 B: 2048 of 4 x 538 + 16 = 2168.
  EXPECT_NEAR(pcie_payload({5, 16}, 512).in(GBps), 63.015 * 2048 / 2168, 0.01);
}

TEST(PciePayload, GenerationSixSendsFlits) {
  // 128 GB/s x 236/256 = 118; a 16 B header for each 256 B leaves 111.06.
  EXPECT_NEAR(pcie_encoded({6, 16}).in(GBps), 118.0, 1e-9);
  EXPECT_NEAR(pcie_payload({6, 16}).in(GBps), 111.06, 0.01);
}

TEST(PciePayload, StaysWithinFourPercentOfWhatIsMeasured) {
  // 55.4 GB/s into an H200 over PCIe 5.0 x16; the model ignores what memory and the driver add.
  for (const model::PcieGeneration& g : catalogue().pcie_generations)
    if (g.generation == 5) {
      EXPECT_NEAR(pcie_payload({5, 16}) / g.measured_to_device, 1.0, 0.04);
    }
}

TEST(NetworkPayload, CountsTheHeadersOfEachTransport) {
  const Bandwidth port = 400.0 * Gbps;
  EXPECT_NEAR(network_payload(port, Transport::roce, 4096).in(Gbps), 392.1, 0.1);
  EXPECT_NEAR(network_payload(port, Transport::roce, 1024).in(Gbps), 370.3, 0.1);
  EXPECT_NEAR(network_payload(port, Transport::infiniband, 4096).in(Gbps), 397.5, 0.1);
  // 1448 of 1538 B, and 8948 of 9038 B.
  EXPECT_NEAR(network_payload(port, Transport::tcp, 1500).in(Gbps), 376.6, 0.1);
  EXPECT_NEAR(network_payload(port, Transport::tcp, 9000).in(Gbps), 396.0, 0.1);
}

TEST(Path, WithinABoxIsNvlinkAtTheFullRate) {
  const Path p = path(build({.server = "dgx-h100", .servers = 2}), {0, 0}, {0, 5});
  EXPECT_EQ(p.kind, PathClass::scale_up);
  EXPECT_DOUBLE_EQ(gigabytes(p), 450);
  EXPECT_EQ(p.limits[0].why, "18 links x 25.0 GB/s, one direction");
}

TEST(Path, AMeshGivesAPairOneLinkOfSeven) {
  EXPECT_DOUBLE_EQ(gigabytes(path(build({.server = "mi300x-8"}), {0, 0}, {0, 1})), 64);
}

TEST(Path, BridgesJoinPairsAndNobodyElse) {
  const model::Cluster c =
      parse("cluster: x\nservers: 1\nserver: {template: h100-pcie-4-balanced, bridges: true}\n");
  EXPECT_EQ(path(c, {0, 0}, {0, 1}).kind, PathClass::scale_up);
  EXPECT_DOUBLE_EQ(gigabytes(path(c, {0, 0}, {0, 1})), 300);
  EXPECT_EQ(path(c, {0, 1}, {0, 2}).kind, PathClass::socket);
}

TEST(Path, ADomainMaySpanServers) {
  const model::Cluster c = build({.server = "gb200-nvl72", .servers = 36});
  EXPECT_EQ(path(c, {0, 0}, {17, 3}).kind, PathClass::scale_up);
  EXPECT_DOUBLE_EQ(gigabytes(path(c, {0, 0}, {17, 3})), 900);
  EXPECT_EQ(path(c, {17, 0}, {18, 0}).kind, PathClass::network);
}

TEST(Path, BetweenNodesIsTheAdapterBesideTheAccelerator) {
  const Path p = path(build({.server = "dgx-h100", .servers = 2}), {0, 3}, {1, 3});
  EXPECT_EQ(p.kind, PathClass::network);
  EXPECT_NEAR(p.bandwidth().in(Gbps), 397.5, 0.1);
  EXPECT_EQ(p.limits[p.binding].name, "ports of cx7-400g");
}

TEST(Path, ADualPortCardIsHeldByItsSlotAndSaysSo) {
  const model::Cluster c =
      build({.server = "case-h100-8", .servers = 32, .transport = Transport::roce});
  const Path p = path(c, {0, 0}, {1, 0});
  EXPECT_GE(p.bandwidth().in(Gbps), 440);
  EXPECT_LE(p.bandwidth().in(Gbps), 460);
  EXPECT_EQ(p.limits[p.binding].name, "slot of lres1260pf-2qsfp112, PCIe 5.0 x16");
  EXPECT_EQ(p.limits[p.binding].why,
            "504 Gb/s after line code; packet headers at MPS 256, acks and credits leave 451 Gb/s");
  for (const Limit& l : p.limits)
    if (l.name.starts_with("ports")) {
      EXPECT_NEAR(l.rate.in(Gbps), 784.3, 0.2);
    }
}

TEST(Path, AKnownChipHoldsADualPortCardBelowItsSlot) {
  const model::Cluster c = parse(
      "cluster: x\nservers: 2\n"
      "server: {template: case-h100-8, nics: {part: {like: lres1260pf-2qsfp112, chip_limit: 400 "
      "Gb/s}}}\n"
      "fabric: {kind: direct, transport: roce}\n");
  const Path p = path(c, {0, 0}, {1, 0});
  EXPECT_NEAR(p.bandwidth().in(Gbps), 392.1, 0.1);
  EXPECT_EQ(p.limits[p.binding].name, "chip of lres1260pf-2qsfp112");
}

TEST(Path, CardsOfOneSwitchMeetBelowItsUplink) {
  const model::Cluster c = build({.server = "case-h100-16"});
  const Path p = path(c, {0, 8}, {0, 9});
  EXPECT_EQ(p.kind, PathClass::pcie_switch);
  EXPECT_NEAR(gigabytes(p), 56.4, 0.05);
  EXPECT_EQ(p.limits.size(), 2u);  // two slots, no uplink
  // 1 us and: a retimer of 30 ns on either link, a switch of 115 ns.
  EXPECT_NEAR(p.latency.in(ns), 1000 + 2 * 30 + 115, 0.1);
}

TEST(Path, CardsOfTwoSwitchesMeetInTheRootComplex) {
  const Path p = path(build({.server = "case-h100-16"}), {0, 9}, {0, 10});
  EXPECT_EQ(p.kind, PathClass::host_bridge);
  EXPECT_NEAR(gigabytes(p), 56.41 * 0.833, 0.05);  // Intel: 64 B packets
  EXPECT_EQ(p.limits.size(), 4u);                  // slot, uplink, uplink, slot
}

TEST(Path, AcrossSocketsTheirLinkIsTheLimit) {
  const Path p = path(build({.server = "case-h100-16"}), {0, 8}, {0, 15});
  EXPECT_EQ(p.kind, PathClass::socket);
  EXPECT_DOUBLE_EQ(gigabytes(p), 22);
  EXPECT_EQ(p.limits[p.binding].name, "link between sockets");
}

TEST(Path, AcsSendsNeighboursThroughTheRoot) {
  const model::Cluster c =
      parse("cluster: x\nservers: 1\nserver: {template: h100-pcie-4-switch, acs_redirect: true}\n");
  const Path p = path(c, {0, 0}, {0, 1});
  EXPECT_EQ(p.kind, PathClass::host_bridge);
  EXPECT_EQ(p.limits.size(), 4u);  // the uplink twice: up and down
}

TEST(Path, WithoutPeerToPeerDataPassesHostMemory) {
  const model::Cluster c = parse(
      "cluster: x\nservers: 1\n"
      "server: {template: rtx-4090-2-balanced, host_memory_per_socket: 40 GB/s}\n");
  const Path p = path(c, {0, 0}, {0, 1});
  EXPECT_DOUBLE_EQ(gigabytes(p), 20);  // written and read
  EXPECT_EQ(p.limits[p.binding].name, "host memory");
}

TEST(Path, BehindTheChipsetAllDevicesShareItsLink) {
  const model::Cluster c = parse(
      "cluster: x\nservers: 2\n"
      "server:\n"
      "  accelerators: {part: h100-pcie-80g}\n"
      "  pcie:\n"
      "  - {socket: 0, accelerators: 1}\n"
      "  - {socket: 0, pch: true, nic: cx7-400g}\n"
      "fabric: {kind: direct, transport: infiniband}\n");
  const Path p = path(c, {0, 0}, {1, 0});
  EXPECT_EQ(p.limits[p.binding].name, "link of the chipset (PCH), PCIe 3.0 x4");
  EXPECT_NEAR(gigabytes(p), 14.1 / 4, 0.01);
}

TEST(Path, LatencyAddsAdapterSwitchesAndPcie) {
  // Rail fabric of 64 servers: two leaves of 32. ConnectX-7 0.8 us, Quantum-2 0.24 us a hop, two
  // PCIe switches of 115 ns.
  model::Cluster c = build({.server = "dgx-h100",
                            .servers = 64,
                            .fabric = model::FabricKind::rail,
                            .servers_per_leaf = 32});
  c.fabric.hop = 240.0 * ns;
  EXPECT_NEAR(path(c, {0, 0}, {31, 0}).latency.in(ns), 800 + 240 + 2 * 115, 0.5);
  EXPECT_NEAR(path(c, {0, 0}, {32, 0}).latency.in(ns), 800 + 3 * 240 + 2 * 115, 0.5);
  EXPECT_NEAR(path(c, {0, 0}, {1, 1}).latency.in(ns), 800 + 3 * 240 + 2 * 115, 0.5);  // other rail
}

TEST(Path, KernelTcpIsAnOrderSlowerThanRdma) {
  const model::ClusterSpec rdma{
      .server = "case-h100-8", .servers = 2, .transport = Transport::roce};
  model::ClusterSpec tcp = rdma;
  tcp.transport = Transport::tcp;
  EXPECT_LT(path(build(rdma), {0, 0}, {1, 0}).latency.in(us), 3);
  EXPECT_GT(path(build(tcp), {0, 0}, {1, 0}).latency.in(us), 15);
}

TEST(Path, LeafUplinksCanHoldEvenOneStream) {
  // One server on a leaf, four to one: its own 451 Gb/s meet 784 / 4 = 196 Gb/s upward.
  const model::Cluster c = build({.server = "case-h100-8",
                                  .servers = 2,
                                  .transport = Transport::roce,
                                  .oversubscription = 4,
                                  .servers_per_leaf = 1});
  const Path p = path(c, {0, 0}, {1, 0});
  EXPECT_EQ(p.limits[p.binding].name, "leaf uplinks");
  EXPECT_NEAR(p.bandwidth().in(Gbps), 196.1, 0.1);
}

}  // namespace
}  // namespace railyard::fabric

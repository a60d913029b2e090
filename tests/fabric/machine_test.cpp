#include "fabric/machine.h"

#include <algorithm>

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

Machine build(const model::ClusterSpec& spec) {
  auto c = model::build_cluster(catalogue(), spec);
  if (!c) {
    ADD_FAILURE() << text(c.error());
    return {};
  }
  return summarise(*c);
}

Machine parse(std::string yaml) {
  auto doc = yaml::Document::parse("c.yaml", std::move(yaml));
  auto c = model::parse_cluster(*doc, catalogue());
  if (!c) {
    ADD_FAILURE() << text(c.error());
    return {};
  }
  return summarise(*c);
}

Machine load(const std::string& file) {
  auto c = model::load_cluster(test::repository(file), catalogue());
  if (!c) {
    ADD_FAILURE() << text(c.error());
    return {};
  }
  return summarise(*c);
}

TEST(Machine, EightNicsBesideEightAcceleratorsAddUp) {
  const Machine m = build({.server = "dgx-h100", .servers = 32});
  EXPECT_EQ(m.gpus_per_server, 8);
  EXPECT_EQ(m.nics_per_server, 8);
  EXPECT_NEAR(m.nic.in(Gbps), 397.5, 0.1);
  EXPECT_NEAR(m.network_per_server.in(Gbps), 3180, 1);
  EXPECT_EQ(m.network_limits[m.network_binding].name, "8 x ports of cx7-400g");
  EXPECT_EQ(m.nic_distance, PathClass::pcie_switch);
  EXPECT_TRUE(m.uniform);
  EXPECT_EQ(m.domain, 8);
  EXPECT_DOUBLE_EQ(m.scale_up.in(GBps), 450);
}

TEST(Machine, ScaleUpComesFromThePartOneDirection) {
  EXPECT_DOUBLE_EQ(build({.server = "dgx-a100-80g"}).scale_up.in(GBps), 300);
  EXPECT_DOUBLE_EQ(build({.server = "hgx-b200"}).scale_up.in(GBps), 900);
  EXPECT_DOUBLE_EQ(build({.server = "hgx-h800"}).scale_up.in(GBps), 200);
  const Machine mesh = build({.server = "mi300x-8"});
  EXPECT_EQ(mesh.scale_up_kind, model::ScaleUpKind::mesh);
  EXPECT_DOUBLE_EQ(mesh.scale_up.in(GBps), 448);
}

TEST(Machine, ARackIsOneDomainAsFarAsThereAreServers) {
  EXPECT_EQ(build({.server = "gb200-nvl72", .servers = 36}).domain, 72);
  EXPECT_EQ(build({.server = "gb200-nvl72", .servers = 16}).domain, 64);
  EXPECT_EQ(build({.server = "gb200-nvl72", .servers = 64, .domain_servers = 16}).domain, 64);
}

TEST(Machine, TheDualPortCardNamesPortsAndSlot) {
  const Machine m = load("examples/case-512/after-256.yaml");
  ASSERT_EQ(m.network_limits.size(), 3u);
  EXPECT_NEAR(m.network_limits[0].rate.in(Gbps), 784.3, 0.1);
  EXPECT_NEAR(m.network_limits[1].rate.in(Gbps), 451.2, 0.1);
  EXPECT_EQ(m.network_binding, 1u);
  EXPECT_NEAR(m.network_per_server.in(Gbps), 451.2, 0.1);
  // Four of the eight accelerators sit on the adapter's socket, below two switches.
  EXPECT_EQ(m.network_limits[2].name, "shared in the server: uplink of pex89144 0, PCIe 5.0 x16");
  EXPECT_NEAR(m.network_limits[2].rate.in(Gbps), 2 * 451.2, 0.2);
  EXPECT_EQ(m.nic_distance, PathClass::host_bridge);
}

TEST(Machine, BeforeTheUpgradeTcpMovesDataThroughHostMemory) {
  const Machine m = load("examples/case-512/before.yaml");
  EXPECT_FALSE(m.gpu_direct);
  EXPECT_NEAR(m.network_per_server.in(Gbps), 200.0 * 8948 / 9038, 0.1);
  // The slot-limited card after is 451 / 198 = 2.28 times the network before, not 2.66.
  EXPECT_NEAR(load("examples/case-512/after-256.yaml").network_per_server / m.network_per_server,
              2.28, 0.01);
}

TEST(Machine, IslandsThatDifferAreSaid) {
  const Machine m = load("examples/case-512/after-512-chassis.yaml");
  EXPECT_EQ(m.gpus_per_server, 16);
  EXPECT_FALSE(m.uniform);
  EXPECT_EQ(m.domain, 8);
  EXPECT_EQ(m.smallest_domain, 1);
  ASSERT_EQ(m.islands.size(), 2u);
  EXPECT_DOUBLE_EQ(m.islands[0].bandwidth.in(GBps), 450);
  EXPECT_EQ(m.islands[1].reach, 1);
  EXPECT_DOUBLE_EQ(m.islands[1].bandwidth.in(GBps), 22);  // its ring crosses the sockets once
  EXPECT_NEAR(m.cxl_capacity.in(TB), 4, 1e-9);
}

TEST(Machine, AFanOutOfTwoGivesEachHalfTheHostLink) {
  // 1 -> 2: both copy from host memory through one x16.
  const Machine two = build({.server = "l40s-2-switch"});
  EXPECT_NEAR(two.host_link.in(GBps), 28.2, 0.05);
  EXPECT_NEAR(two.host_link_shared.in(GBps), 28.2, 0.05);  // gen4 cards below a gen5 uplink
  const Machine gen5 = build({.server = "h100-pcie-2-switch"});
  EXPECT_NEAR(gen5.host_link.in(GBps), 56.4, 0.05);
  EXPECT_NEAR(gen5.host_link_shared.in(GBps), 28.2, 0.05);
  // Between the two the uplink does not matter.
  EXPECT_NEAR(gen5.peer_shared.in(GBps), 56.4, 0.05);
}

TEST(Machine, EightCardsBehindOneRootShareIt) {
  const Machine m = build({.server = "h100-pcie-8-switch"});
  EXPECT_NEAR(m.host_link_shared.in(GBps), 56.4 / 8, 0.05);
  // A ring crosses the link between the two switches once in each direction.
  EXPECT_NEAR(m.peer_shared.in(GBps), 56.4, 0.05);
}

TEST(Machine, CardsOnTwoSocketsRingThroughTheLinkBetween) {
  const Machine m = build({.server = "h100-pcie-8-balanced"});
  EXPECT_DOUBLE_EQ(m.peer.in(GBps), 16);
  EXPECT_DOUBLE_EQ(m.peer_shared.in(GBps), 16);
  EXPECT_EQ(m.domain, 1);
  EXPECT_EQ(m.smallest_domain, 1);
  EXPECT_TRUE(m.uniform);
}

TEST(Machine, AcsMakesNeighboursShareTheUplink) {
  // Four cards below one switch, ring of four flows, all up and all down again: a quarter each.
  const Machine m =
      parse("cluster: x\nservers: 1\nserver: {template: h100-pcie-4-switch, acs_redirect: true}\n");
  EXPECT_NEAR(m.peer_shared.in(GBps), 56.4 / 4, 0.05);
}

TEST(Machine, OversubscribedUplinksAreCountedFromPortsNotSlots) {
  const Machine m = build({.server = "case-h100-8",
                           .servers = 64,
                           .transport = Transport::roce,
                           .oversubscription = 2});
  EXPECT_DOUBLE_EQ(m.oversubscription, 2);
  EXPECT_NEAR(m.uplink_per_server.in(Gbps), 392.1, 0.1);   // of 784
  EXPECT_NEAR(m.network_per_server.in(Gbps), 451.2, 0.1);  // inside a leaf
}

TEST(Machine, FourAdaptersOfAnAcceleratorShareItsSlot) {
  // 4 x 98.0 Gb/s meet in one slot of 451: the ports are the limit, the slot has 15 % to spare.
  const Machine m = build({.server = "aws-p5", .servers = 4, .transport = Transport::roce});
  EXPECT_EQ(m.nics_per_server, 32);
  EXPECT_EQ(m.network_binding, 0u);
  EXPECT_NEAR(m.network_limits.back().rate / m.network_per_server, 451.2 / 392.1, 0.01);
}

TEST(Machine, TwoAdaptersOf400OnOneAcceleratorAreHeldByItsSlot) {
  const Machine m = parse(
      "cluster: x\nservers: 2\nserver: {template: dgx-h100, nics: {count: 16}}\n"
      "fabric: {kind: direct, transport: infiniband}\n");
  EXPECT_NEAR(m.network_per_server.in(Gbps), 8 * 451.2, 1);
  EXPECT_EQ(m.network_limits[m.network_binding].name,
            "shared in the server: slot of accelerator 0, PCIe 5.0 x16");
}

TEST(Machine, WithoutScaleUpFarAcceleratorsCrossTheSockets) {
  // One 400G adapter on socket 0, four cards on each socket: half of 49.0 GB/s would have to cross
  // a link of 16 GB/s, so 32 GB/s are left.
  const Machine m = parse(
      "cluster: x\nservers: 2\nserver: {template: h100-pcie-8-balanced, nics: {part: cx7-400g}}\n"
      "fabric: {kind: direct, transport: roce}\n");
  EXPECT_NEAR(m.network_per_server.in(GBps), 32, 0.01);
  EXPECT_EQ(m.network_limits[m.network_binding].name, "shared in the server: link between sockets");
  EXPECT_EQ(m.nic_distance, PathClass::socket);
}

TEST(Machine, ASlowSwitchPortHoldsAFastCard) {
  const Machine m = parse(
      "cluster: x\nservers: 2\nserver: dgx-h100\n"
      "fabric: {kind: single-switch, transport: roce, switch: {id: old, ports: 64, port_rate: 100 "
      "Gb/s}}\n");
  EXPECT_NEAR(m.nic.in(Gbps), 98.0, 0.1);
  EXPECT_EQ(m.network_limits[m.network_binding].name, "8 x switch port of old");
}

TEST(Machine, CoherentLinksBringHostMemoryNearer) {
  const Machine m = build({.server = "gb200-nvl72", .servers = 18});
  EXPECT_DOUBLE_EQ(m.host_link.in(GBps), 384);         // the memory, not the 450 GB/s link
  EXPECT_DOUBLE_EQ(m.host_link_shared.in(GBps), 192);  // two accelerators a processor
}

TEST(Machine, CxlCardsGiveWhatTheirSlotsLeave) {
  const std::string head =
      "cluster: x\nservers: 1\nserver: {template: dgx-h100, cxl: {part: micron-cz120-256g, count: "
      "2";
  EXPECT_NEAR(parse(head + "}}\n").cxl.in(GBps), 72, 0.01);
  EXPECT_NEAR(parse(head + ", link: gen5 x4}}\n").cxl.in(GBps), 36, 0.01);
  EXPECT_NEAR(parse(head + "}}\n").cxl_capacity.in(GB), 512, 1e-6);
}

Machine of_template(const std::string& id) {
  const auto server = model::build_server(catalogue(), id);
  return build({.server = id, .servers = !server || server->nics.empty() ? 1 : 4});
}

TEST(Machine, SharedIsNeverMoreThanAlone) {
  for (const auto& t : catalogue().servers) {
    const Machine m = of_template(t.id);
    EXPECT_GT(m.host_link.in(GBps), 1) << t.id;
    EXPECT_LE(m.host_link_shared, m.host_link) << t.id;
    EXPECT_LE(m.peer_shared, m.peer) << t.id;
  }
}

TEST(Machine, TheNetworkIsNeverMoreThanThePorts) {
  for (const auto& t : catalogue().servers) {
    const Machine m = of_template(t.id);
    if (m.servers == 1) continue;
    EXPECT_GT(m.network_per_server.in(Gbps), 50) << t.id;
    EXPECT_LE(m.network_per_server, m.network_limits.front().rate) << t.id;
  }
}

}  // namespace
}  // namespace railyard::fabric

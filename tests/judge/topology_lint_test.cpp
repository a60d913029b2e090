#include "judge/topology_lint.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/catalog.h"
#include "model/cluster.h"
#include "model/nccl/topology_of_server.h"
#include "support/support.h"

namespace railyard::judge {
namespace {

using facts::NcclCpu;
using facts::NcclGpu;
using facts::NcclNet;
using facts::NcclNic;
using facts::NcclPci;
using facts::NcclTopology;

const model::Catalog& catalog() {
  static const auto loaded = model::load_catalog(test::repository("catalog"));
  EXPECT_TRUE(loaded);
  return *loaded;
}

NcclPci device(std::string busid, std::string device_class) {
  NcclPci out;
  out.busid = std::move(busid);
  out.device_class = std::move(device_class);
  out.link_speed = "32.0 GT/s PCIe";
  out.link_width = 16;
  return out;
}

/// An H100 and a 400G NIC behind a switch of their own.
NcclPci group(int number) {
  const std::string bus = "0000:" + std::to_string(number + 1);
  NcclPci bridge = device(bus + "0:00.0", "0x060400");
  NcclPci gpu = device(bus + "1:00.0", "0x030200");
  gpu.vendor = "0x10de";
  gpu.device = "0x2330";
  NcclGpu inside;
  inside.dev = inside.rank = number;
  inside.sm = 90;
  inside.gdr = 1;
  inside.nvlinks.push_back({.target = "fffffff:ffff:ff", .count = 18, .target_class = "0x068000"});
  gpu.gpu = inside;
  NcclPci card = device(bus + "2:00.0", "0x020700");
  NcclNet net;
  net.name = "mlx5_" + std::to_string(number);
  net.dev = number;
  net.speed_mbps = 400'000;
  net.port = 1;
  net.guid = "0xa" + std::to_string(number);
  NcclNic nic;
  nic.nets.push_back(net);
  card.nics.push_back(nic);
  bridge.below = {gpu, card};
  return bridge;
}

/// Two groups on each of two sockets: nothing is wrong with it.
NcclTopology healthy() {
  NcclTopology out;
  for (int socket = 0; socket < 2; ++socket) {
    NcclCpu cpu;
    cpu.numaid = socket;
    cpu.arch = "x86_64";
    for (int i = 0; i < 2; ++i) cpu.pci.push_back(group(2 * socket + i));
    out.cpus.push_back(cpu);
  }
  return out;
}

NcclPci& first_gpu(NcclTopology& t) { return t.cpus[0].pci[0].below[0]; }
NcclPci& first_card(NcclTopology& t) { return t.cpus[0].pci[0].below[1]; }

/// "rule severity" of all findings, each once.
std::set<std::string> found(const NcclTopology& topology) {
  std::set<std::string> out;
  for (const TopologyFinding& f : lint_topology(topology, catalog()))
    out.insert(f.rule + ' ' + std::string(name(f.severity)));
  return out;
}
using Set = std::set<std::string>;

TEST(TopologyLint, AHealthyServerIsQuiet) { EXPECT_EQ(found(healthy()), Set{}); }

TEST(TopologyLint, ServersOfTheCatalogueAreQuiet) {
  for (const model::Catalog::Template& t : catalog().servers) {
    const auto server = model::build_server(catalog(), t.id);
    ASSERT_TRUE(server) << t.id;
    if (server->islands.size() > 1) continue;  // an external chassis is off the NVLink fabric
    for (const TopologyFinding& f :
         lint_topology(model::nccl::topology_of(*server, model::Fabric{}), catalog()))
      EXPECT_EQ(f.severity, TopologySeverity::note) << t.id << ": " << f.rule << ": " << f.what;
  }
}

TEST(TopologyLint, EveryRuleHasOneEntry) {
  std::set<std::string_view> ids;
  for (const TopologyRule& rule : topology_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.summary.empty());
  }
}

TEST(TopologyLint, AnotherVersionIsRefusedUnlessItIsAmds) {
  NcclTopology t = healthy();
  t.version = 3;
  EXPECT_EQ(found(t), Set{"version error"});
  t.version = 2;
  t.rccl = true;
  EXPECT_EQ(found(t), Set{"dialect note"});
}

TEST(TopologyLint, WhatNcclPassesOverIsAFinding) {
  NcclTopology t = healthy();
  facts::count(t.skipped, "<gpu> in <system>", {"t.xml", 2, 3}, "");
  facts::count(t.skipped, "<switch> in <cpu>", {"t.xml", 4, 5}, "");
  EXPECT_EQ(found(t), (Set{"gpu-outside-pci error", "unknown-element warning"}));
}

TEST(TopologyLint, NumbersThatAreNoneAndAttributesThatAreMissing) {
  NcclTopology t = healthy();
  t.misread.push_back({.element = "nvlink", .attribute = "count", .text = "x18"});
  t.misread.push_back({.element = "pci", .attribute = "busid"});
  t.stumbles.push_back({.what = "a tab between elements"});
  EXPECT_EQ(found(t), (Set{"not-a-number error", "missing-attribute error", "xml error"}));
}

TEST(TopologyLint, BusIdsNumbersAndRanksAreUnique) {
  NcclTopology t = healthy();
  t.cpus[1].pci[0].below[0].busid = "0000:11:00.0";
  t.cpus[1].pci[0].below[0].gpu->dev = 0;
  t.cpus[1].pci[0].below[0].gpu->rank = 0;
  EXPECT_EQ(found(t),
            (Set{"duplicate-busid error", "duplicate-dev error", "duplicate-rank error"}));
}

TEST(TopologyLint, ALinkToADeviceThatIsNotThere) {
  NcclTopology t = healthy();
  first_gpu(t).gpu->nvlinks[0] = {
      .target = "0000:77:00.0", .count = 18, .target_class = "0x030200"};
  EXPECT_EQ(found(t), Set{"nvlink-target error"});
  first_gpu(t).gpu->nvlinks[0].target = "0000:21:00.0";
  EXPECT_EQ(found(t), Set{});
}

TEST(TopologyLint, ASpeedThatNcclDoesNotKnow) {
  NcclTopology t = healthy();
  first_card(t).link_speed = "16.0 GT/s";  // without PCIe behind the fraction
  EXPECT_EQ(found(t), Set{"link-speed warning"});
  first_card(t).link_speed = "32 GT/s PCIe/s";
  EXPECT_EQ(found(t), Set{});
}

TEST(TopologyLint, AClassThatNcclTakesForASwitch) {
  NcclTopology t = healthy();
  t.cpus[0].pci[1].below.push_back(device("0000:29:00.0", "0x010802"));
  EXPECT_EQ(found(t), Set{"unknown-class warning"});
}

TEST(TopologyLint, OneSlowLinkIsAFaultAndAllAlikeAreAHost) {
  NcclTopology t = healthy();
  first_gpu(t).link_width = 8;
  EXPECT_EQ(found(t), Set{"slow-link warning"});
  for (NcclCpu& cpu : t.cpus)
    for (NcclPci& bridge : cpu.pci) {
      bridge.below[0].link_width = 16;
      bridge.below[0].link_speed = "16.0 GT/s PCIe";
    }
  EXPECT_EQ(found(t), Set{"slow-link note"});
  for (NcclCpu& cpu : t.cpus)
    for (NcclPci& bridge : cpu.pci) bridge.below[0].link_speed = "2.5 GT/s PCIe";
  EXPECT_EQ(found(t), Set{"slow-link warning"});
}

TEST(TopologyLint, WhatAVirtualMachineDoesNotKnowIsNoBrokenSlot) {
  NcclTopology t = healthy();
  for (NcclCpu& cpu : t.cpus) {
    cpu.numaid = -1;
    for (NcclPci& bridge : cpu.pci)
      for (NcclPci& below : bridge.below) {
        below.link_width = 0;
        below.link_speed = "";
      }
  }
  EXPECT_EQ(found(t), Set{});
}

TEST(TopologyLint, ASwitchOnASlowUplink) {
  NcclTopology t = healthy();
  t.cpus[0].pci[0].link_speed = "5.0 GT/s PCIe";
  EXPECT_EQ(found(t), Set{"slow-uplink warning"});
  for (NcclCpu& cpu : t.cpus)
    for (NcclPci& bridge : cpu.pci) bridge.link_speed = "5.0 GT/s PCIe";
  EXPECT_EQ(found(t), Set{"slow-uplink warning"});
  // One generation behind everywhere is an older host.
  for (NcclCpu& cpu : t.cpus)
    for (NcclPci& bridge : cpu.pci) bridge.link_speed = "16.0 GT/s PCIe";
  EXPECT_EQ(found(t), Set{"slow-uplink note"});
}

TEST(TopologyLint, ANicThatIsFasterThanItsSlot) {
  NcclTopology t = healthy();
  first_card(t).link_width = 8;
  EXPECT_EQ(found(t), Set{"nic-above-slot warning"});
  // Two ports of 400 Gb/s in one Gen5 x16 slot: each fits, both do not.
  t = healthy();
  NcclNet second = first_card(t).nics[0].nets[0];
  second.name = "mlx5_9";
  second.dev = 9;
  second.port = 2;
  first_card(t).nics[0].nets.push_back(second);
  EXPECT_EQ(found(t), Set{"ports-above-slot note"});
}

TEST(TopologyLint, AGpuWithoutANicNearbyThoughThereAreEnough) {
  NcclTopology t = healthy();
  t.cpus[0].pci[1].below.push_back(first_card(t));  // now two there, none here
  t.cpus[0].pci[0].below.pop_back();
  EXPECT_EQ(found(t), Set{"no-close-nic warning"});
  t.cpus[0].pci[1].below.pop_back();  // three NICs for four GPUs: NVLink takes them there
  EXPECT_EQ(found(t), Set{});
}

TEST(TopologyLint, AVirtualMachineThatHidesWhatIsNear) {
  NcclTopology t = healthy();
  for (NcclCpu& cpu : t.cpus) {
    cpu.numaid = -1;
    std::vector<NcclPci> flat;
    for (const NcclPci& bridge : cpu.pci)
      flat.insert(flat.end(), bridge.below.begin(), bridge.below.end());
    cpu.pci = flat;
  }
  EXPECT_EQ(found(t), Set{"vm-look warning"});
  for (NcclCpu& cpu : t.cpus) cpu.numaid = 0;
  EXPECT_EQ(found(t), Set{"no-close-nic note"});
}

TEST(TopologyLint, AGpuOffTheNvlinkFabricOrWithLinksDown) {
  NcclTopology t = healthy();
  first_gpu(t).gpu->nvlinks[0].count = 17;
  EXPECT_EQ(found(t), Set{"fewer-nvlinks warning"});
  first_gpu(t).gpu->nvlinks.clear();
  EXPECT_EQ(found(t), Set{"off-nvlink warning"});
}

TEST(TopologyLint, NetworkDevicesWithoutSpeedOrWithOnePort) {
  NcclTopology t = healthy();
  NcclNet& net = first_card(t).nics[0].nets[0];
  net.speed_mbps = std::nullopt;
  EXPECT_EQ(found(t), Set{"net-speed warning"});
  net.speed_mbps = 400'000;
  net.guid = "0xA1";
  EXPECT_EQ(found(t), Set{"shared-port warning"});
}

TEST(TopologyLint, ARankThatIsMissingAndAHostThatIsNamed) {
  NcclTopology t = healthy();
  first_gpu(t).gpu->rank = std::nullopt;
  t.cpus[0].host_hash = "0xadb8b415c72850ed";
  EXPECT_EQ(found(t), (Set{"no-rank warning", "host-hash note"}));
}

}  // namespace
}  // namespace railyard::judge

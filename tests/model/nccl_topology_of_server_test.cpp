#include "model/nccl/topology_of_server.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/measure.h"
#include "gtest/gtest.h"
#include "model/nccl/system_builder.h"
#include "support/support.h"

namespace railyard::model::nccl {
namespace {

using facts::NcclPci;
using facts::NcclTopology;

const Catalog& catalog() {
  static const auto loaded = load_catalog(test::repository("catalog"));
  EXPECT_TRUE(loaded);
  return *loaded;
}

NcclTopology of(const std::string& server) {
  const auto cluster = build_cluster(catalog(), {.server = server, .servers = 2});
  EXPECT_TRUE(cluster) << server << '\n' << text(cluster.error());
  return cluster ? topology_of(*cluster) : NcclTopology{};
}

struct Totals {
  int gpus = 0, nets = 0, nvlinks = 0;
  std::set<std::string> busids = {};
  bool unique = true;
};

void add(const NcclPci& pci, Totals& out) {
  out.unique = out.unique && out.busids.insert(pci.busid).second;
  out.gpus += pci.gpu ? 1 : 0;
  if (pci.gpu)
    for (const facts::NcclNvlink& link : pci.gpu->nvlinks) out.nvlinks += link.count;
  for (const facts::NcclNic& nic : pci.nics) out.nets += static_cast<int>(nic.nets.size());
  for (const NcclPci& below : pci.below) add(below, out);
}

Totals totals_of(const NcclTopology& topology) {
  Totals out;
  for (const facts::NcclCpu& cpu : topology.cpus)
    for (const NcclPci& pci : cpu.pci) add(pci, out);
  return out;
}

TEST(TopologyOfServer, EveryTemplateGivesAllItsGpusAndUniqueBusIds) {
  for (const Catalog::Template& t : catalog().servers) {
    const auto server = build_server(catalog(), t.id);
    ASSERT_TRUE(server) << t.id;
    const Totals totals = totals_of(topology_of(*server, Fabric{}));
    EXPECT_EQ(totals.gpus, server->accelerators) << t.id;
    EXPECT_TRUE(totals.unique) << t.id;
    int ports = 0;
    for (const NicPlace& nic : server->nics) ports += nic.part.ports;
    EXPECT_EQ(totals.nets, ports) << t.id;
  }
}

TEST(TopologyOfServer, NcclTakesEveryTemplateThatItsOwnVendorMakes) {
  for (const Catalog::Template& t : catalog().servers) {
    const auto server = build_server(catalog(), t.id);
    ASSERT_TRUE(server) << t.id;
    const auto system = build_system(topology_of(*server, Fabric{}));
    const bool nvidia = server->accelerator.compute_capability > 0;
    EXPECT_EQ(system.has_value(), nvidia) << t.id << '\n' << (system ? "" : system.error().text());
    if (system) {
      EXPECT_EQ(system->gpus().size(), static_cast<std::size_t>(server->accelerators)) << t.id;
    }
  }
}

TEST(TopologyOfServer, AnHgxOfHopperHasEighteenLinksToTheSwitch) {
  const NcclTopology t = of("dgx-h100");
  EXPECT_EQ(t.version, 1);
  ASSERT_EQ(t.cpus.size(), 2u);
  EXPECT_EQ(t.cpus[0].vendor, "GenuineIntel");
  EXPECT_EQ(totals_of(t).gpus, 8);
  EXPECT_EQ(totals_of(t).nvlinks, 8 * 18);
}

TEST(TopologyOfServer, FourA100WithoutASwitchHaveFourLinksToEachOther) {
  const NcclTopology t = of("hgx-a100-4");
  EXPECT_EQ(totals_of(t).nvlinks, 4 * 12);
  EXPECT_EQ(t.cpus[0].vendor, "AuthenticAMD");
}

TEST(TopologyOfServer, TheCubeMeshOfVoltaIsSymmetric) {
  const NcclTopology t = of("dgx1-v100");
  EXPECT_EQ(totals_of(t).nvlinks, 8 * 6);
  std::map<std::pair<std::string, std::string>, int> links;
  for (const facts::NcclCpu& cpu : t.cpus)
    for (const NcclPci& bridge : cpu.pci)
      for (const NcclPci& gpu : bridge.below)
        if (gpu.gpu)
          for (const facts::NcclNvlink& link : gpu.gpu->nvlinks)
            links[{gpu.busid, link.target}] = link.count;
  for (const auto& [ends, count] : links)
    EXPECT_EQ((links[{ends.second, ends.first}]), count) << ends.first << ' ' << ends.second;
}

TEST(TopologyOfServer, PortsOfOneCardShareItsGuidAndItsDevice) {
  const auto cluster = build_cluster(
      catalog(), {.server = "dgx-h100", .servers = 2, .nic = "cx7-2x200g", .nics = 1});
  ASSERT_TRUE(cluster) << text(cluster.error());
  const NcclTopology t = topology_of(*cluster);
  std::vector<const NcclPci*> cards;
  std::vector<const NcclPci*> open;
  for (const facts::NcclCpu& cpu : t.cpus)
    for (const NcclPci& pci : cpu.pci) open.push_back(&pci);
  while (!open.empty()) {
    const NcclPci* at = open.back();
    open.pop_back();
    if (!at->nics.empty()) cards.push_back(at);
    for (const NcclPci& below : at->below) open.push_back(&below);
  }
  ASSERT_EQ(cards.size(), 2u);
  const facts::NcclNet &a = cards[0]->nics[0].nets[0], &b = cards[1]->nics[0].nets[0];
  EXPECT_EQ(a.guid, b.guid);
  EXPECT_NE(a.port, b.port);
  EXPECT_NE(a.dev, b.dev);
  const auto bus = [](const NcclPci* pci) { return pci->busid.substr(0, pci->busid.size() - 1); };
  EXPECT_EQ(bus(cards[0]), bus(cards[1]));
}

TEST(TopologyOfServer, AmdsPartsGiveAmdsDialect) {
  const NcclTopology t = of("mi300x-8");
  EXPECT_TRUE(t.rccl);
  EXPECT_EQ(t.version, 2);
  EXPECT_EQ(totals_of(t).nvlinks, 8 * 7);
}

TEST(PcieRate, ASpeedIsKnownByTheSpellingsThatNcclHas) {
  EXPECT_FLOAT_EQ(pcie_gb_per_s("16.0 GT/s PCIe", 16), 24);
  EXPECT_FLOAT_EQ(pcie_gb_per_s("16 GT/s", 16), 24);
  EXPECT_FLOAT_EQ(pcie_gb_per_s("32 GT/s PCIe/s", 16), 48);
  EXPECT_FLOAT_EQ(pcie_gb_per_s("64.0 GT/s PCIe", 0), 96);
  // These two are read as Gen3.
  EXPECT_FLOAT_EQ(pcie_gb_per_s("16.0 GT/s", 16), 12);
  EXPECT_FLOAT_EQ(pcie_gb_per_s("64 GT/s", 16), 12);
}

}  // namespace
}  // namespace railyard::model::nccl

// From the `=== System` lines of a log back to a topology.

#include "model/nccl/topology_of_log.h"

#include <gtest/gtest.h>

#include "model/nccl/system_builder.h"

namespace railyard::model::nccl {
namespace {

facts::NcclSystem logged() {
  facts::NcclSystem out;
  const auto line = [&](int depth, const char* link, double rate, const char* node,
                        const char* detail) {
    out.nodes.push_back({.line = static_cast<int>(out.nodes.size()) + 1,
                         .depth = depth,
                         .link = link,
                         .bandwidth = rate,
                         .node = node,
                         .detail = detail});
  };
  line(0, "", 0, "CPU/0-0", "1/1/3");
  line(1, "SYS", 22, "CPU/0-1", "");
  line(1, "PCI", 48, "PCI/0-10000", "1000c03010000001");
  line(2, "PCI", 48, "GPU/0-11000", "0");
  line(3, "NVL", 370.8, "NVS/0-0", "");
  line(2, "PCI", 48, "NIC/0-12000", "");
  line(3, "NET", 50, "NET/0-0", "0/abc000/1/50.000000");
  line(0, "", 0, "CPU/0-1", "1/1/3");
  line(1, "PCI", 24, "GPU/0-21000", "1");
  line(2, "NVL", 370.8, "NVS/0-0", "");
  return out;
}

TEST(NcclTopologyOfLog, TheTreeComesBackWithLinksThatNcclCountsAlike) {
  const auto result = topology_of(logged(), true);
  ASSERT_TRUE(result);
  const facts::NcclTopology& t = result->topology;
  ASSERT_EQ(t.cpus.size(), 2u);
  EXPECT_EQ(t.cpus[0].numaid, 0);
  ASSERT_EQ(t.cpus[0].pci.size(), 1u);
  const facts::NcclPci& bridge = t.cpus[0].pci[0];
  EXPECT_EQ(bridge.busid, "0000:10:00.0");
  EXPECT_EQ(bridge.vendor, "0x1000");
  EXPECT_EQ(bridge.link_speed, "32.0 GT/s PCIe");
  ASSERT_EQ(bridge.below.size(), 2u);
  ASSERT_TRUE(bridge.below[0].gpu);
  EXPECT_EQ(bridge.below[0].gpu->sm, 90);
  EXPECT_EQ(bridge.below[0].gpu->nvlinks.at(0).count, 18);
  EXPECT_EQ(bridge.below[1].nics.at(0).nets.at(0).speed_mbps, 400'000);
  EXPECT_EQ(t.cpus[1].pci.at(0).link_speed, "16.0 GT/s PCIe");
  EXPECT_TRUE(result->assumed.empty());
}

TEST(NcclTopologyOfLog, NcclsOwnRatesAreKept) {
  const auto system = build_system(topology_of(logged(), true)->topology).value();
  double nvlink = 0, sockets = 0;
  for (const Link& link : system.links) {
    if (link.kind == LinkKind::nvlink) nvlink = std::max(nvlink, double{link.gb_per_s});
    if (link.kind == LinkKind::sys) sockets = double{link.gb_per_s};
  }
  EXPECT_NEAR(nvlink, 370.8, 1e-3);
  EXPECT_NEAR(sockets, 22, 1e-6);
}

TEST(NcclTopologyOfLog, LinesWithoutAGpuGiveNothing) {
  facts::NcclSystem bare = logged();
  bare.nodes.resize(3);
  EXPECT_FALSE(topology_of(bare, true));
  EXPECT_FALSE(topology_of({}, true));
}

TEST(NcclTopologyOfLog, APcieBoxSaysWhatItAssumes) {
  facts::NcclSystem box = logged();
  std::erase_if(box.nodes, [](const facts::NcclSystemNode& n) { return n.link == "NVL"; });
  EXPECT_EQ(topology_of(box, true)->assumed.size(), 1u);
}

}  // namespace
}  // namespace railyard::model::nccl

#include "intake/nccl_topology_xml.h"

#include <string>

#include "base/text.h"
#include "gtest/gtest.h"
#include "support/support.h"

namespace railyard::intake {
namespace {

constexpr const char* kSmall = R"(<system version="1">
  <cpu numaid="0" affinity="ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="0x8f">
    <pci busid="0000:10:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:11:00.0" class="0x020700" link_speed="32 GT/s PCIe/s" link_width="16">
        <nic>
          <net name="mlx5_0" dev="0" speed="400000" port="1" guid="0xab" latency="1.5" rail="3"/>
        </nic>
      </pci>
      <pci busid="0000:12:00.0" class="0x030200" link_speed="" link_width="0">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/>
          <c2c bw="50000" count="9"/>
        </gpu>
      </pci>
    </pci>
    <nic>
      <net name="eth0" dev="1"/>
    </nic>
  </cpu>
</system>
)";

Checked<facts::NcclTopology> read(std::string_view bytes) {
  return read_nccl_topology({.file = "topo.xml", .bytes = bytes});
}
facts::NcclTopology good(std::string_view bytes) {
  auto out = read(bytes);
  EXPECT_TRUE(out) << text(out.error());
  return out ? *std::move(out) : facts::NcclTopology{};
}

TEST(NcclTopologyXml, TheTreeComesOutAsItStands) {
  const auto topology = good(kSmall);
  ASSERT_EQ(topology.cpus.size(), 1u);
  const facts::NcclCpu& cpu = topology.cpus[0];
  EXPECT_EQ(cpu.model, 143);
  ASSERT_EQ(cpu.pci.size(), 1u);
  ASSERT_EQ(cpu.nics.size(), 1u);
  EXPECT_EQ(cpu.nics[0].position, 1);
  EXPECT_FALSE(cpu.nics[0].nets[0].speed_mbps);
  const facts::NcclPci& bridge = cpu.pci[0];
  ASSERT_EQ(bridge.below.size(), 2u);
  const facts::NcclNet& net = bridge.below[0].nics[0].nets[0];
  EXPECT_EQ(net.speed_mbps, 400000);
  EXPECT_EQ(net.guid, "0xab");
  EXPECT_EQ(net.latency, 1.5);
  EXPECT_EQ(net.at.line, 6);
  ASSERT_EQ(net.other.size(), 1u);
  EXPECT_EQ(net.other[0].first, "rail");
  const facts::NcclPci& device = bridge.below[1];
  EXPECT_EQ(device.link_width, 0);
  EXPECT_EQ(device.link_speed, "");
  ASSERT_TRUE(device.gpu);
  EXPECT_EQ(device.gpu->sm, 90);
  EXPECT_EQ(device.gpu->nvlinks.at(0).count, 18);
  EXPECT_EQ(device.gpu->c2c.at(0).bandwidth_mbps, 50000);
  EXPECT_FALSE(topology.rccl);
  EXPECT_TRUE(topology.misread.empty());
  EXPECT_TRUE(topology.stumbles.empty());
  EXPECT_TRUE(topology.skipped.empty());
}

TEST(NcclTopologyXml, NumbersAreReadAsCReadsThem) {
  const auto topology = good(
      "<system version=\"1\"><cpu numaid=\"010\" familyid=\"6x\" modelid=\"\">"
      "<pci busid=\"a\" link_width=\"99999999999\"><gpu dev=\"0x1F\" sm=\"ninety\"><nvlink "
      "target=\"b\"/></gpu></pci></cpu></system>");
  const facts::NcclCpu& cpu = topology.cpus.at(0);
  EXPECT_EQ(cpu.numaid, 8);
  EXPECT_EQ(cpu.family, 6);
  EXPECT_EQ(cpu.model, 0);
  EXPECT_EQ(cpu.pci[0].gpu->dev, 31);
  EXPECT_EQ(cpu.pci[0].gpu->sm, 0);
  ASSERT_EQ(topology.misread.size(), 5u);  // numaid, familyid, link_width, sm, and no count
  EXPECT_EQ(topology.misread[0].attribute, "numaid");
  EXPECT_EQ(topology.misread[0].read_as, 8);
  EXPECT_EQ(topology.misread[4].attribute, "count");
  EXPECT_FALSE(topology.misread[4].text);
}

TEST(NcclTopologyXml, WhatNcclPassesOverIsCountedWithItsPlace) {
  const auto topology =
      good("<system version=\"1\">\n<gpu dev=\"0\"/>\n<cpu numaid=\"0\">\n<gpu/></cpu></system>");
  ASSERT_EQ(topology.skipped.size(), 2u);
  EXPECT_EQ(topology.skipped[0].what, "<gpu> in <system>");
  EXPECT_EQ(topology.skipped[0].first[0].line, 2);
  EXPECT_EQ(topology.skipped[1].what, "<gpu> in <cpu>");
}

TEST(NcclTopologyXml, WhereNcclsOwnParserStopsIsNoted) {
  const auto topology = good(
      "<?xml version=\"1.0\"?>\n<system version=\"1\">\n\t<cpu numaid=\"0\"\n arch=\"x86_64\"/>"
      "</system>");
  ASSERT_EQ(topology.stumbles.size(), 3u);
  EXPECT_EQ(topology.stumbles[0].what, "an instruction <? ... ?>");
  EXPECT_EQ(topology.stumbles[1].what, "a tab between elements");
  EXPECT_EQ(topology.stumbles[1].at.line, 3);
  EXPECT_EQ(topology.stumbles[2].what, "a line end inside of an element");
}

TEST(NcclTopologyXml, AmdsDialectIsKnownByItsVersionOrItsLinks) {
  EXPECT_TRUE(good("<system version=\"2\"/>").rccl);
  EXPECT_TRUE(
      good("<system version=\"1\"><cpu><pci busid=\"a\"><gpu><xgmi target=\"b\" count=\"1\"/>"
           "</gpu></pci></cpu></system>")
          .rccl);
}

TEST(NcclTopologyXml, ItIsToldFromOtherFiles) {
  EXPECT_TRUE(looks_like_nccl_topology(kSmall));
  EXPECT_TRUE(looks_like_nccl_topology("<!-- of the cloud -->\n<system version=\"1\">"));
  EXPECT_FALSE(looks_like_nccl_topology("<graphs version=\"1\">"));
  EXPECT_FALSE(looks_like_nccl_topology("<topology version=\"2.0\">"));
  EXPECT_FALSE(looks_like_nccl_topology("<system>"));
  EXPECT_FALSE(looks_like_nccl_topology("servers: 4\n"));
  EXPECT_FALSE(looks_like_nccl_topology(""));

  const auto graphs = read("<graphs version=\"1\"/>");
  ASSERT_FALSE(graphs);
  EXPECT_TRUE(text(graphs.error()).contains("NCCL_GRAPH_FILE")) << text(graphs.error());
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("servers: 4\n"));
}

TEST(NcclTopologyXml, TextBetweenElementsIsRefusedWhereItStands) {
  const auto refused = read("<system version=\"1\">\n  <cpu>socket 0</cpu>\n</system>");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error()[0].at.line, 2);
}

TEST(NcclTopologyXml, AFileThatIsCutOffAnywhereIsRefusedWithAPlace) {
  const std::string whole = kSmall;
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
    const auto cut = read(std::string_view(whole).substr(0, size));
    ASSERT_FALSE(cut) << size;
    EXPECT_GT(cut.error()[0].at.line, 0) << size;
    (void)looks_like_nccl_topology(std::string_view(whole).substr(0, size));
  }
}

TEST(NcclTopologyXml, OurMachinesOwnFileIsReadWhole) {
  const std::string path = test::shared("data/h200/nccl_topo.xml");
  if (path.empty()) GTEST_SKIP() << "the topology of the two H200 is not here (RAILYARD_SHARED)";
  const auto bytes = read_file(path);
  ASSERT_TRUE(bytes);
  const auto topology = good(*bytes);
  ASSERT_EQ(topology.cpus.size(), 1u);
  EXPECT_EQ(topology.cpus[0].numaid, -1);
  EXPECT_EQ(topology.cpus[0].pci.size(), 2u);
  EXPECT_EQ(topology.cpus[0].nics.size(), 1u);
  EXPECT_EQ(topology.cpus[0].pci[1].position, 2);
  EXPECT_TRUE(topology.misread.empty());
  EXPECT_TRUE(topology.skipped.empty());
}

}  // namespace
}  // namespace railyard::intake

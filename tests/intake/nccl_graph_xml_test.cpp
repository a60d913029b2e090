#include "intake/nccl_graph_xml.h"

#include <cstdint>
#include <string>

#include "base/text.h"
#include "gtest/gtest.h"
#include "intake/nccl_attributes.h"
#include "support/support.h"

namespace railyard::intake {
namespace {

constexpr const char* kSmall = R"(<graphs version="1">
  <graph id="1" pattern="3" crossnic="0" nchannels="2" speedintra="40" speedinter="24"
         latencyinter="5.5" typeintra="NVL" typeinter="PXB" samechannels="0">
    <channel>
      <net dev="1"/>
      <gpu dev="0xa"/>
      <gpu dev="0"/>
      <net dev="2"/>
    </channel>
    <channel/>
    <lane/>
  </graph>
</graphs>
)";

Checked<facts::NcclGraphs> read(std::string_view bytes) {
  return read_nccl_graph({.file = "graph.xml", .bytes = bytes});
}

TEST(NcclGraphXml, ChannelsComeOutInTheOrderOfTheFile) {
  const auto graphs = read(kSmall);
  ASSERT_TRUE(graphs) << text(graphs.error());
  ASSERT_EQ(graphs->graphs.size(), 1u);
  const facts::NcclGraph& g = graphs->graphs[0];
  EXPECT_EQ(g.id, 1);
  EXPECT_EQ(g.pattern, 3);
  EXPECT_EQ(g.channels, 2);
  EXPECT_EQ(g.latency_inter, 5.5);
  EXPECT_EQ(g.type_inter, "PXB");
  EXPECT_FALSE(g.same_channels);
  ASSERT_EQ(g.list.size(), 2u);
  EXPECT_EQ(g.list[0].gpus, (std::vector<std::int64_t>{10, 0}));
  EXPECT_EQ(g.list[0].nets, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(g.list[1].at.line, 10);
  ASSERT_EQ(graphs->skipped.size(), 1u);
  EXPECT_EQ(graphs->skipped[0].what, "<lane> in <graph>");
}

TEST(NcclGraphXml, ADeviceThatIsNoNumberIsNoted) {
  const auto graphs = read(
      "<graphs version=\"1\"><graph><channel><gpu dev=\"g1\"/></channel>"
      "</graph></graphs>");
  ASSERT_TRUE(graphs);
  EXPECT_EQ(graphs->misread.back().attribute, "dev");
  EXPECT_EQ(graphs->misread.back().text, "g1");
}

TEST(NcclGraphXml, ItIsToldFromOtherFiles) {
  EXPECT_TRUE(looks_like_nccl_graph(kSmall));
  EXPECT_FALSE(looks_like_nccl_graph("<system version=\"1\"/>"));
  EXPECT_FALSE(looks_like_nccl_graph(""));
  EXPECT_FALSE(read(""));
  const auto topology = read("<system version=\"1\"/>");
  ASSERT_FALSE(topology);
  EXPECT_TRUE(text(topology.error()).contains("NCCL_TOPO_FILE"));
}

TEST(NcclGraphXml, AFileThatIsCutOffAnywhereIsRefused) {
  const std::string whole = kSmall;
  for (std::size_t size = 0; size + 2 < whole.size(); ++size)
    ASSERT_FALSE(read(std::string_view(whole).substr(0, size))) << size;
}

TEST(NcclGraphXml, OurMachinesOwnGraphsHaveTwelveChannels) {
  const std::string path = test::shared("data/h200/nccl_graph.xml");
  if (path.empty()) GTEST_SKIP() << "the graphs of the two H200 are not here (RAILYARD_SHARED)";
  const auto bytes = read_file(path);
  ASSERT_TRUE(bytes);
  const auto graphs = read(*bytes);
  ASSERT_TRUE(graphs) << text(graphs.error());
  EXPECT_TRUE(graphs->misread.empty());
  ASSERT_FALSE(graphs->graphs.empty());
  EXPECT_EQ(graphs->graphs[0].channels, 12);
  EXPECT_EQ(graphs->graphs[0].list.size(), 12u);
  EXPECT_EQ(graphs->graphs[0].list[0].gpus, (std::vector<std::int64_t>{0, 1}));
}

TEST(ReadLoosely, AsStrtolDoes) {
  const auto value = [](std::string_view text) { return read_loosely(text).value; };
  EXPECT_EQ(value(" -12"), -12);
  EXPECT_EQ(value("0x1F"), 31);
  EXPECT_EQ(value("0x"), 0);
  EXPECT_EQ(value("08"), 0);
  EXPECT_EQ(value("18 links"), 18);
  EXPECT_EQ(value("99999999999999999999"), INT64_MAX);
  EXPECT_EQ(value("-99999999999999999999"), INT64_MIN);
  EXPECT_EQ(read_loosely("ff", Base::hexadecimal).value, 255);
  EXPECT_TRUE(read_loosely("0").as_it_looks);
  EXPECT_TRUE(read_loosely("").as_it_looks);
  EXPECT_FALSE(read_loosely("0x").as_it_looks);
  EXPECT_FALSE(read_loosely("18 links").as_it_looks);
  EXPECT_FALSE(read_loosely("010").as_it_looks);
}

}  // namespace
}  // namespace railyard::intake

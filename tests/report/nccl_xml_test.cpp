// What is read can be written, and reading that gives the same again.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text.h"
#include "gtest/gtest.h"
#include "intake/nccl_graph_xml.h"
#include "intake/nccl_topology_xml.h"
#include "report/nccl_graph_xml.h"
#include "report/nccl_topology_xml.h"
#include "support/support.h"

namespace railyard::report {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path().string());
  std::ranges::sort(out);
  return out;
}

facts::NcclTopology read(const std::string& name, const std::string& bytes) {
  auto out = intake::read_nccl_topology({.file = name, .bytes = bytes});
  EXPECT_TRUE(out) << name << '\n' << text(out.error());
  return out ? *std::move(out) : facts::NcclTopology{};
}

facts::NcclGraphs read_graph(const std::string& name, const std::string& bytes) {
  auto out = intake::read_nccl_graph({.file = name, .bytes = bytes});
  EXPECT_TRUE(out) << name << '\n' << text(out.error());
  return out ? *std::move(out) : facts::NcclGraphs{};
}

/// The written file says the same when it is read: places apart, both write the same text, and
/// nothing in it is doubtful that was not so before.
void holds(const std::string& file) {
  const auto bytes = read_file(file);
  ASSERT_TRUE(bytes);
  if (intake::looks_like_nccl_topology(*bytes)) {
    const auto first = read(file, *bytes);
    const std::string written = to_xml(first);
    const auto second = read(file + " written", written);
    EXPECT_EQ(to_xml(second), written) << file;
    EXPECT_LE(second.misread.size(), first.misread.size());
    EXPECT_TRUE(second.skipped.empty());
    EXPECT_TRUE(second.stumbles.empty());
    EXPECT_EQ(second.cpus.size(), first.cpus.size());
    EXPECT_EQ(second.rccl, first.rccl);
  } else if (intake::looks_like_nccl_graph(*bytes)) {
    const std::string written = to_xml(read_graph(file, *bytes));
    EXPECT_EQ(to_xml(read_graph(file + " written", written)), written) << file;
  }
}

TEST(NcclXml, EveryFileAtHandIsReadWrittenAndReadAgain) {
  const std::string golden = test::shared("data/nccl_golden/xml");
  const std::string ours = test::shared("data/h200");
  const std::string formats = test::shared("cases/formats/nccl-topo-xml");
  if (golden.empty() || ours.empty() || formats.empty())
    GTEST_SKIP() << "the topologies are not here (RAILYARD_SHARED)";
  for (const std::string& folder : {golden, ours, formats})
    for (const std::string& file : files_in(folder)) holds(file);
}

TEST(NcclXml, ADumpOfNcclComesBackByteForByte) {
  for (const char* name : {"data/h200/nccl_topo.xml", "data/h200/nccl_graph.xml"}) {
    const std::string path = test::shared(name);
    if (path.empty()) GTEST_SKIP() << "the dumps are not here (RAILYARD_SHARED)";
    const auto bytes = read_file(path);
    ASSERT_TRUE(bytes);
    if (intake::looks_like_nccl_graph(*bytes))
      EXPECT_EQ(to_xml(read_graph(path, *bytes)), *bytes);
    else
      EXPECT_EQ(to_xml(read(path, *bytes)), *bytes);
  }
}

TEST(NcclXml, WhatStandsBetweenTwoDevicesStaysThere) {
  const std::string bytes =
      "<system version=\"1\">\n"
      "  <cpu numaid=\"0\" arch=\"x86_64\">\n"
      "    <pci busid=\"a\" class=\"0x030200\" link_speed=\"\" link_width=\"0\">\n"
      "      <gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\" mlopart=\"&lt;1&gt;\"/>\n"
      "    </pci>\n"
      "    <nic>\n"
      "      <net name=\"eth0\" dev=\"0\" latency=\"1.5\" speed=\"10000\"/>\n"
      "    </nic>\n"
      "    <pci busid=\"b\" class=\"0x060400\">\n"
      "      <pcilink target=\"c\"/>\n"
      "    </pci>\n"
      "  </cpu>\n"
      "</system>\n";
  EXPECT_EQ(to_xml(read("topo.xml", bytes)), bytes);
}

TEST(NcclXml, DevicesOfAGraphAreHexadecimal) {
  const std::string bytes =
      "<graphs version=\"1\">\n"
      "  <graph id=\"0\" pattern=\"4\" crossnic=\"0\" nchannels=\"1\" speedintra=\"20\" "
      "speedinter=\"0.24\" latencyinter=\"0\" typeintra=\"NVL\" typeinter=\"PIX\" "
      "samechannels=\"1\">\n"
      "    <channel>\n"
      "      <net dev=\"0x100000000\"/>\n"
      "      <gpu dev=\"0xf\"/>\n"
      "      <gpu dev=\"0\"/>\n"
      "      <net dev=\"0x2\"/>\n"
      "    </channel>\n"
      "  </graph>\n"
      "</graphs>\n";
  const auto graphs = read_graph("graph.xml", bytes);
  ASSERT_EQ(graphs.graphs.size(), 1u);
  EXPECT_EQ(graphs.graphs[0].speed_inter, 0.24);
  ASSERT_EQ(graphs.graphs[0].list.size(), 1u);
  EXPECT_EQ(graphs.graphs[0].list[0].gpus, (std::vector<std::int64_t>{15, 0}));
  EXPECT_EQ(graphs.graphs[0].list[0].nets, (std::vector<std::int64_t>{std::int64_t{1} << 32, 2}));
  EXPECT_EQ(to_xml(graphs), bytes);
  EXPECT_EQ(read_graph("graph.xml",
                       "<graphs version=\"1\"><graph><channel><gpu dev=\"1a\"/>"
                       "</channel></graph></graphs>")
                .graphs[0]
                .list[0]
                .gpus[0],
            26);
}

}  // namespace
}  // namespace railyard::report

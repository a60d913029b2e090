// The catalogue against itself, and other tools' hardware files against it.

#include "model/catalog_check.h"

#include <gtest/gtest.h>

#include "base/json_reader.h"
#include "support/support.h"

namespace railyard::model {
namespace {

const Catalog& shipped() {
  static const Checked<Catalog> catalog = load_catalog(test::repository("catalog"));
  if (!catalog) ADD_FAILURE() << text(catalog.error());
  return *catalog;
}

/// The finding about `part` whose text begins with `what`; an empty one when there is none.
Disagreement finding(const std::vector<Disagreement>& all, std::string_view part,
                     std::string_view what) {
  for (const Disagreement& d : all)
    if (d.part == part && d.what.starts_with(what)) return d;
  return {};
}

/// A catalogue with the shipped tables of links and one accelerator.
Catalog with(Accelerator a) {
  Catalog c;
  c.pcie_generations = shipped().pcie_generations;
  c.scale_up_generations = shipped().scale_up_generations;
  c.accelerators.push_back(std::move(a));
  return c;
}
Accelerator h100() { return *shipped().accelerator("h100"); }

TEST(CatalogCheck, TheCatalogueThatShipsHasNoErrors) {
  const CatalogCheck check = check_catalog(shipped());
  for (const Disagreement& d : check.found)
    EXPECT_EQ(d.severity, Severity::note) << d.part << ": " << d.what << ": " << d.sum;
  EXPECT_GT(check.rules, 1000);
}

TEST(CatalogCheck, TheDualPortCardIsLimitedByItsSlotWithTheSum) {
  const Disagreement d =
      finding(check_catalog(shipped()).found, "lres1260pf-2qsfp112", "the slot is the limit");
  EXPECT_EQ(d.severity, Severity::note);
  EXPECT_TRUE(d.what.contains("redundancy"));
  EXPECT_TRUE(d.sum.contains("2 x 400 Gb/s = 800 Gb/s on the wire")) << d.sum;
  EXPECT_TRUE(d.sum.contains("784 Gb/s of payload")) << d.sum;  // x 4096 / 4178
  EXPECT_TRUE(d.sum.contains("carries 461 Gb/s")) << d.sum;     // 504.1 x 256 / 280
  EXPECT_TRUE(d.sum.contains("58.8 %")) << d.sum;
  // A single port of the same rate fits its slot.
  EXPECT_EQ(finding(check_catalog(shipped()).found, "cx7-400g", "the slot").part, "");
}

TEST(CatalogCheck, ConflictsBetweenSourcesAreNotes) {
  const Disagreement d = finding(check_catalog(shipped()).found, "b200-sxm-180g",
                                 "memory.bandwidth: sources disagree");
  EXPECT_EQ(d.severity, Severity::note);
  EXPECT_EQ(d.sum, "ml-engineering has 8000");
}

TEST(CatalogCheck, ADeviationThatTheCatalogueExplainsIsANote) {
  const Disagreement d = finding(check_catalog(shipped()).found, "gb300", "nvfp4 is not twice fp8");
  EXPECT_EQ(d.severity, Severity::note);
  EXPECT_EQ(d.expected, "10.0 PFLOP/s");
  EXPECT_EQ(d.found, "15.0 PFLOP/s");
  EXPECT_TRUE(d.sum.contains("three times")) << d.sum;
}

TEST(CatalogCheck, LinksTimesRateMustGiveTheTotal) {
  Accelerator a = h100();
  a.scale_up.total = 900.0 * GBps;  // both directions added
  const Disagreement d = finding(check_catalog(with(a)).found, a.id, "links x rate");
  EXPECT_EQ(d.severity, Severity::error);
  EXPECT_EQ(d.sum, "18 x 25.0 GB/s = 450 GB/s, stated 900 GB/s");
}

TEST(CatalogCheck, ALinkIsAsFastAsItsGeneration) {
  Accelerator a = h100();
  a.scale_up.per_link = 50.0 * GBps;
  a.scale_up.links = 9;
  EXPECT_EQ(finding(check_catalog(with(a)).found, a.id, "a link is not as fast").severity,
            Severity::error);
  a = h100();
  a.scale_up.links = 36;
  a.scale_up.total = 900.0 * GBps;
  EXPECT_EQ(finding(check_catalog(with(a)).found, a.id, "more links").sum,
            "36 against 18 of nvlink4");
}

TEST(CatalogCheck, PeaksDoubleAsOperandsHalve) {
  Accelerator a = h100();
  const auto set = [&](Precision p, double rate) {
    a.peak[static_cast<std::size_t>(p)] = rate * TFLOPS;
  };
  set(Precision::bf16, 1979);  // the sparse rate
  const auto found = check_catalog(with(a)).found;
  EXPECT_EQ(finding(found, a.id, "bf16 is not twice tf32").severity, Severity::error);
  EXPECT_EQ(finding(found, a.id, "fp16 is not the rate of bf16").severity, Severity::error);
  EXPECT_EQ(finding(found, a.id, "fp8 is not twice bf16").severity, Severity::error);
  set(Precision::bf16, 1000);  // rounded
  EXPECT_TRUE(check_catalog(with(a)).found.empty());
}

TEST(CatalogCheck, UsableMemoryLiesBetweenLabelAndGiB) {
  Accelerator a = h100();
  a.memory_usable = 81920.0 * MiB;  // all of 80 GiB
  EXPECT_TRUE(check_catalog(with(a)).found.empty());
  a.memory_usable = 83000.0 * MiB;
  EXPECT_EQ(finding(check_catalog(with(a)).found, a.id, "usable memory").part, a.id);
  a.memory_usable = 70.0 * GB;
  const Disagreement d = finding(check_catalog(with(a)).found, a.id, "usable memory");
  EXPECT_EQ(d.sum, "70.00e9 bytes for a label of 80.0 GB");
}

TEST(CatalogCheck, MeasuredRatesStayBelowWhatLimitsThem) {
  Accelerator a = h100();
  a.measured.bf16_gemm = 1200.0 * TFLOPS;
  a.measured.copy = 3400.0 * GBps;
  a.measured.host_to_device = 64.0 * GBps;
  const auto found = check_catalog(with(a)).found;
  EXPECT_EQ(finding(found, a.id, "bf16 GEMM").severity, Severity::error);
  EXPECT_EQ(finding(found, a.id, "memory copy").severity, Severity::error);
  EXPECT_EQ(finding(found, a.id, "copy to the device").sum, "64.0 GB/s against 63.0 GB/s");
}

TEST(CatalogCheck, SwitchPortsTimesRateMustGiveTheTotal) {
  Catalog c;
  c.switches.push_back({.id = "s",
                        .ports = 64,
                        .port_rate = 400.0 * Gbps,
                        .total = 51200.0 * Gbps,
                        .from = {.source = "a page"}});
  const Disagreement d = finding(check_catalog(c).found, "s", "ports x port rate");
  EXPECT_EQ(d.sum, "64 x 400 Gb/s = 25.6 Tb/s, stated 51.2 Tb/s");
}

TEST(CatalogCheck, APcieGenerationFollowsFromItsTransferRate) {
  Catalog c;
  c.pcie_generations.push_back({.id = "g5",
                                .generation = 5,
                                .gigatransfers = 32,
                                .encoded = 64.0 * GBps,
                                .payload_256 = 60.0 * GBps,
                                .from = {.source = "a page"}});
  const auto found = check_catalog(c).found;
  EXPECT_EQ(finding(found, "g5", "transfers").sum,
            "32.0 GT/s x 16 x 0.9846 = 63.0 GB/s, stated 64.0 GB/s");
  EXPECT_EQ(finding(found, "g5", "the share of data").expected, "57.6 GB/s");
}

TEST(CatalogCheck, ParametersMustFollowFromTheDimensions) {
  Catalog c;
  c.architectures.push_back(*shipped().architecture("llama3-8b"));
  c.architectures[0].stated_parameters = 7e9;
  const Disagreement d = finding(check_catalog(c).found, "llama3-8b", "the dimensions");
  EXPECT_EQ(d.sum, "8.030 B counted, 7.000 B stated, 14.7 % off");
}

TEST(CatalogCheck, PartsWithoutASourceAndNamesThatStandTwice) {
  Accelerator a = h100(), b = h100();
  a.from.source.clear();
  b.id = "h200";
  Catalog c = with(a);
  c.accelerators.push_back(b);
  const auto found = check_catalog(c).found;
  EXPECT_EQ(finding(found, a.id, "no source").severity, Severity::error);
  EXPECT_TRUE(finding(found, "h200", "a name that stands twice").sum.contains("of h100-sxm-80g"));
}

PeerCheck peer(const std::string& file) {
  const std::string path = test::repository("tests/model/data/peers/" + file);
  auto bytes = read_file(path);
  EXPECT_TRUE(bytes) << path;
  const auto doc = json::parse(path, *bytes);
  EXPECT_TRUE(doc) << path;
  const auto check = check_peer(shipped(), *doc);
  if (check) return *check;
  ADD_FAILURE() << text(check.error());
  return {};
}

TEST(CheckPeer, CalculonsFileIsComparedWithThePartOfItsName) {
  const PeerCheck p = peer("h100_80g.json");
  EXPECT_EQ(p.format, "calculon");
  EXPECT_EQ(p.part, "h100-sxm-80g");
  EXPECT_EQ(p.rules, 4);
  ASSERT_EQ(p.found.size(), 3u);
  EXPECT_EQ(p.found[0].severity, Severity::note);  // 1000 for 989.5 is rounding
  EXPECT_EQ(p.found[1].sum, "3.07 TB/s there, 3.35 TB/s here: -8.30 %");
  EXPECT_EQ(p.found[1].severity, Severity::error);
  EXPECT_EQ(
      p.found[2].sum,
      "900 GB/s there, 450 GB/s here: +100 % (twice: both directions added, or the sparse rate)");
}

TEST(CheckPeer, AnInfiniteMemoryIsSeenAsSuch) {
  const PeerCheck p = peer("a100_80e.json");
  EXPECT_TRUE(p.part.starts_with("a100-sxm")) << p.part;
  EXPECT_TRUE(finding(p.found, p.part, "mem1.GiB").sum.contains("no limit, on purpose"));
}

TEST(CheckPeer, LlmAnalysisWrongMemoryIsFound) {
  const PeerCheck p = peer("a10.json");
  EXPECT_EQ(p.format, "llm-analysis");
  EXPECT_EQ(p.part, "a10");
  ASSERT_EQ(p.found.size(), 1u);
  EXPECT_EQ(p.found[0].what, "mem_per_GPU_in_GB differs");
}

TEST(CheckPeer, ABridgeAndAnIntegerPathThatIsNotThere) {
  const PeerCheck p = peer("h100_pcie.json");
  EXPECT_EQ(p.part, "h100-pcie-80g");
  ASSERT_EQ(p.found.size(), 2u);
  EXPECT_TRUE(p.found[0].what.contains("4-bit"));
  EXPECT_TRUE(p.found[1].what.contains("bridged pair"));
}

TEST(CheckPeer, AFactorOfTwoIsNamed) {
  const PeerCheck p = peer("mi210.json");
  EXPECT_EQ(p.part, "mi210");
  const Disagreement d = finding(p.found, "mi210", "peak_i8");
  EXPECT_TRUE(d.sum.contains("twice")) << d.sum;
  EXPECT_TRUE(finding(p.found, "mi210", "intra_node").sum.contains("both directions")) << d.sum;
}

TEST(CheckPeer, AnotherFormatAndAnUnknownPartAreProblems) {
  const auto other = yaml::Document::parse("x.json", R"({"gpus": 8})");
  ASSERT_TRUE(other);
  const auto no_format = check_peer(shipped(), *other);
  ASSERT_FALSE(no_format);
  EXPECT_TRUE(no_format.error()[0].hint.contains("Calculon"));
  const auto unknown =
      yaml::Document::parse("x.json", R"({"name": "z9000", "peak_fp16_TFLOPS": 1})");
  const auto no_part = check_peer(shipped(), *unknown);
  ASSERT_FALSE(no_part);
  EXPECT_EQ(no_part.error()[0].at.line, 1);
  EXPECT_EQ(no_part.error()[0].found, "'z9000'");
  EXPECT_TRUE(no_part.error()[0].hint.contains("z9000"));
}

}  // namespace
}  // namespace railyard::model

// The catalogue that ships, and what the loader says about broken ones.

#include "model/catalog.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/csv.h"
#include "support/support.h"

namespace railyard::model {
namespace {

const Catalog& shipped() {
  static const Checked<Catalog> catalog = load_catalog(test::repository("catalog"));
  if (!catalog) ADD_FAILURE() << text(catalog.error());
  return *catalog;
}

/// A catalogue of the files given as name and text.
class Folder {
 public:
  explicit Folder(std::initializer_list<std::pair<std::string, std::string>> files) {
    path_ = testing::TempDir() + "catalogue-" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(path_);
    for (const auto& [name, bytes] : files) std::ofstream(path_ + '/' + name) << bytes;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  Checked<Catalog> load() const { return load_catalog(path_); }

 private:
  std::string path_;
};

/// The only problem of a catalogue of one file.
Problem problem_of(const std::string& file, const std::string& bytes) {
  const auto loaded = Folder({{file, bytes}}).load();
  if (loaded) {
    ADD_FAILURE() << "accepted:\n" << bytes;
    return {};
  }
  EXPECT_EQ(loaded.error().size(), 1u) << text(loaded.error());
  return loaded.error().front();
}

TEST(TheCatalogue, HoldsTheFieldsPartsAndModels) {
  EXPECT_GE(shipped().accelerators.size(), 48u);
  EXPECT_GE(shipped().nics.size(), 16u);
  EXPECT_GE(shipped().switches.size(), 10u);
  EXPECT_GE(shipped().pcie_switches.size() + shipped().retimers.size(), 6u);
  EXPECT_GE(shipped().architectures.size(), 45u);
  EXPECT_EQ(shipped().pcie_generations.size(), 6u);
  EXPECT_EQ(shipped().scale_up_generations.size(), 6u);
  EXPECT_EQ(shipped().socket_links.size(), 7u);
}

TEST(TheCatalogue, KnowsAnH100InItsUnits) {
  const Accelerator* h = shipped().accelerator("h100-sxm-80g");
  ASSERT_TRUE(h);
  EXPECT_EQ(h->compute_capability, 90);
  EXPECT_EQ(h->multiprocessors, 132);
  EXPECT_DOUBLE_EQ(h->peak_of(Precision::bf16).in(TFLOPS), 989.5);
  EXPECT_DOUBLE_EQ(h->peak_of(Precision::fp8).in(TFLOPS), 1979);
  EXPECT_EQ(h->peak_of(Precision::nvfp4), FlopRate{});
  EXPECT_DOUBLE_EQ(h->memory_label.in(GB), 80);
  EXPECT_DOUBLE_EQ(h->memory_usable.in(MiB), 81559);
  EXPECT_DOUBLE_EQ(h->memory.in(GBps), 3350);
  EXPECT_EQ(h->scale_up.kind, ScaleUpKind::fabric);
  EXPECT_DOUBLE_EQ(h->scale_up.total.in(GBps), 450);
  EXPECT_EQ(h->pcie_generation, 5);
  EXPECT_DOUBLE_EQ(h->power.in(watt), 700);
  EXPECT_DOUBLE_EQ(h->measured.all_reduce_bus.in(GBps), 445);
  EXPECT_DOUBLE_EQ(h->measured.all_reduce_small.in(us), 15.5);
  EXPECT_EQ(h->pci_id, "10de:2330");
  EXPECT_EQ(h->from.confidence, Confidence::agreed);
}

TEST(TheCatalogue, KeepsTheH100Of500WattsApart) {
  const Accelerator* h = shipped().accelerator("H100-96GB-HBM2e-500W");
  ASSERT_TRUE(h);
  EXPECT_NE(h, shipped().accelerator("H100"));
  EXPECT_DOUBLE_EQ(h->power.in(watt), 500);
  EXPECT_DOUBLE_EQ(h->memory.in(TBps), 2.4);
}

TEST(TheCatalogue, FindsAPartUnderEverySpellingOfPublishedTables) {
  const std::pair<const char*, const char*> spellings[] = {
      {"V100", "v100-sxm2-32g"},
      {"A100", "a100-sxm-80g"},
      {"A100_40GB", "a100-sxm-40g"},
      {"A100-40GB", "a100-sxm-40g"},
      {"A100_80GB", "a100-sxm-80g"},
      {"A100-80GB", "a100-sxm-80g"},
      {"A100-80GB (llm-analysis says 40GB)", "a100-sxm-80g"},
      {"H100", "h100-sxm-80g"},
      {"H100_80GB", "h100-sxm-80g"},
      {"H100-80GB", "h100-sxm-80g"},
      {"H100-SXM-80GB", "h100-sxm-80g"},
      {"H100-SXM5-80GB", "h100-sxm-80g"},
      {"H100-96GB-HBM2e-500W", "h100-96g-hbm2e-500w"},
      {"H200", "h200-sxm-141g"},
      {"H200-SXM5-141GB", "h200-sxm-141g"},
      {"H200-NVL-141GB", "h200-nvl-141g"},
      {"H800", "h800-sxm-80g"},
      {"L40S", "l40s"},
      {"B200", "b200-sxm-180g"},
      {"B200-SXM", "b200-sxm-180g"},
      {"Blackwell GPU (B200-SXM-180GB)", "b200-sxm-180g"},
      {"B300", "b300-sxm-288g"},
      {"Blackwell Ultra GPU (B300-SXM-270GB)", "b300-sxm-288g"},
      {"GB200", "gb200"},
      {"Blackwell GPU (GB200)", "gb200"},
      {"GB300", "gb300"},
      {"Blackwell Ultra GPU (GB300)", "gb300"},
      {"AMD Instinct MI300X 192GB HBM3", "mi300x"},
      {"AMD Instinct MI350X", "mi350x"},
      {"MI325X", "mi325x"},
      {"AMD Instinct MI325X 256GB HBM3E", "mi325x"},
      {"AMD Instinct MI325X 256GB HBM3e", "mi325x"},
      {"AMD Instinct MI325X 256GB HBM3E DLC", "mi325x"},
      {"MI355X", "mi355x"},
      {"AMD Instinct MI355X", "mi355x"},
      {"NVIDIA H100 80GB HBM3", "h100-sxm-80g"}};  // the last: as nvidia-smi prints it
  for (const auto& [spelling, id] : spellings) {
    const Accelerator* a = shipped().accelerator(spelling);
    ASSERT_TRUE(a) << spelling;
    EXPECT_EQ(a->id, id) << spelling;
  }
  EXPECT_EQ(shipped().accelerator("H1000"), nullptr);
}

TEST(TheCatalogue, ResolvesEveryGpuAndModelOfTheTrainingTable) {
  const std::string path = test::shared("data/training_throughput.csv");
  if (path.empty()) GTEST_SKIP() << "the shared table is not here";
  const auto bytes = read_file(path);
  ASSERT_TRUE(bytes);
  const auto table = csv::Table::parse({path, *bytes});
  ASSERT_TRUE(table);
  std::set<std::string> gpus, models;
  for (std::size_t r = 0; r < table->rows(); ++r) {
    gpus.emplace(table->at(r, "gpu"));
    models.emplace(table->at(r, "model"));
  }
  EXPECT_GE(models.size(), 70u);
  for (const std::string& gpu : gpus) EXPECT_TRUE(shipped().accelerator(gpu)) << gpu;
  for (const std::string& model : models) EXPECT_TRUE(find_base(shipped(), model)) << model;
}

TEST(TheCatalogue, HasTheShapesThatTheTrainingTablePrints) {
  const std::string path = test::shared("data/training_throughput.csv");
  if (path.empty()) GTEST_SKIP() << "the shared table is not here";
  const auto bytes = read_file(path);
  ASSERT_TRUE(bytes);
  const auto table = csv::Table::parse({path, *bytes});
  ASSERT_TRUE(table);
  Problems problems;
  int compared = 0;
  for (std::size_t r = 0; r < table->rows(); ++r) {
    const Architecture* a = shipped().architecture(table->at(r, "model"));  // none for variations
    if (!a) continue;
    const auto same = [&](const char* column, int ours) {
      const auto printed = table->integer(r, column, problems);
      if (!printed) return;
      ++compared;
      EXPECT_EQ(*printed, ours) << a->id << ' ' << column << ", line " << table->line(r);
    };
    same("layers", a->layers);
    same("hidden", a->hidden);
    same("heads", a->heads);
    if (!a->latent) same("kv_heads", a->kv_heads);
    // Where every layer has experts, the table prints the width of one of them.
    same("ffn", a->ffn > 0 ? a->ffn : a->experts ? a->experts->ffn : 0);
    same("vocab", a->vocab);
  }
  EXPECT_TRUE(problems.empty());
  EXPECT_GT(compared, 5000);
}

TEST(FindBase, AVariationHasTheTraitsOfWhatItVaries) {
  const auto id = [](const char* spelling) {
    const Architecture* a = find_base(shipped(), spelling);
    return a ? a->id : std::string("none");
  };
  EXPECT_EQ(id("Llama3-70B cut to 12 layers"), "llama3-70b");
  EXPECT_EQ(id("Llama3.1-405B cut to 4 layers"), "llama3-405b");
  EXPECT_EQ(id("DeepSeek-V2 cut to 4 layers"), "deepseek-v2");
  EXPECT_EQ(id("Llama2-70B LoRA"), "llama2-70b");
  EXPECT_EQ(id("BLOOM-like-18B"), "bloom-176b");
  EXPECT_EQ(id("LLAMA3_70B"), "llama3-70b");
  EXPECT_EQ(id("llama3-71b"), "none");
  EXPECT_EQ(id("Bloomberg-like-50B"), "none");
}

TEST(SameName, CaseAndSeparatorsDoNotMatterButTheirAbsenceDoes) {
  EXPECT_TRUE(same_name("GPT OSS 120B", "gpt-oss-120b"));
  EXPECT_TRUE(same_name("Qwen3_235B_a22B", "qwen3-235b-a22b"));
  EXPECT_FALSE(same_name("GPT-35B", "GPT3-5B"));
  EXPECT_FALSE(same_name("H100", "H100 "));
}

TEST(TheCatalogue, MarksTheCustomersCardsAsSupplied) {
  const Nic* nic = shipped().nic("LRES1260PF-2QSFP112");
  ASSERT_TRUE(nic);
  EXPECT_EQ(nic->ports, 2);
  EXPECT_DOUBLE_EQ(nic->ports_rate().in(Gbps), 800);
  EXPECT_EQ(nic->chip_limit, Bandwidth{});
  EXPECT_EQ(nic->from.confidence, Confidence::supplied);
  EXPECT_EQ(nic->from.source, "user-supplied, no datasheet");
  const PcieSwitch* fan_out = find(shipped().pcie_switches, "LRSV9500-4I");
  const Retimer* retimer = find(shipped().retimers, "LRSV9560-2E");
  const CxlMemory* cxl = find(shipped().cxl, "case-cxl-card");
  ASSERT_TRUE(fan_out && retimer && cxl);
  EXPECT_EQ(fan_out->lanes, 48);  // x16 up, two x16 down
  EXPECT_EQ(fan_out->from.confidence, Confidence::supplied);
  EXPECT_EQ(retimer->from.confidence, Confidence::supplied);
  EXPECT_EQ(cxl->from.confidence, Confidence::supplied);
}

TEST(TheCatalogue, KeepsTheSourceOfAValueThatDiffersFromItsPart) {
  EXPECT_DOUBLE_EQ(shipped().accelerator("B200")->memory.in(GBps), 7700);
  for (const Catalog::ValueSource& v : shipped().values) {
    if (v.part != "b200-sxm-180g" || v.field != "memory.bandwidth") continue;
    EXPECT_EQ(v.from.confidence, Confidence::conflict);
    EXPECT_EQ(v.from.source, "aiconfigurator");
    EXPECT_EQ(v.from.note, "ml-engineering has 8000");
    return;
  }
  FAIL() << "the value's source is lost";
}

// A hundred bytes of a valid part, to spoil one thing at a time.
constexpr const char* kPart = R"(accelerators:
  - id: x1
    memory: {label: 80 GB, usable: 81559 MiB, bandwidth: 3350 GB/s}
    scale_up: {kind: fabric, links: 18, per_link: 25 GB/s}
    source: test
)";

TEST(LoadCatalogue, DerivesWhatFollowsFromTheRest) {
  const auto c = Folder({{"accelerators.yaml", kPart}}).load();
  ASSERT_TRUE(c) << text(c.error());
  EXPECT_DOUBLE_EQ(c->accelerators[0].scale_up.total.in(GBps), 18 * 25);
  const auto label =
      Folder({{"accelerators.yaml", "accelerators: [{id: y, memory: {label: 80 GB}}]"}});
  EXPECT_DOUBLE_EQ(label.load()->accelerators[0].memory_usable.in(GB), 80);
}

TEST(LoadCatalogue, LeavesFilesOfOtherReadersAlone) {
  const auto c = Folder({{"accelerators.yaml", kPart}, {"stacks.yaml", "stacks: ["}}).load();
  ASSERT_TRUE(c) << text(c.error());
  EXPECT_EQ(c->documents.size(), 1u);
}

TEST(LoadCatalogue, KeepsServerTemplatesAsTheyStand) {
  const auto c =
      Folder({{"servers.yaml",
               "servers:\n  - {id: box, anything: [1, 2], source: s, confidence: single}\n"}})
          .load();
  ASSERT_TRUE(c) << text(c.error());
  const Catalog::Template* t = c->server("BOX");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->from.source, "s");
  EXPECT_EQ(t->node->line, 2);
  ASSERT_TRUE(t->node->find("anything"));
  EXPECT_EQ(t->document->file(), t->file);
}

TEST(LoadCatalogue, ABareNumberWhereAUnitIsDueIsRefusedAtItsPlace) {
  const Problem p =
      problem_of("accelerators.yaml", "accelerators:\n  - id: x1\n    memory: {bandwidth: 3350}\n");
  EXPECT_EQ(p.at.line, 3);
  EXPECT_EQ(p.at.column, 25);
  EXPECT_EQ(p.found, "'3350'");
  EXPECT_TRUE(p.hint.contains("unit is missing")) << p.hint;
}

TEST(LoadCatalogue, AMisspeltKeyGetsTheKeyThatWasMeant) {
  const Problem p =
      problem_of("accelerators.yaml", "accelerators:\n  - id: x1\n    peak: {fp18: 5 TFLOP/s}\n");
  EXPECT_EQ(p.at.line, 3);
  EXPECT_EQ(p.at.column, 12);
  EXPECT_TRUE(p.hint.contains("fp16") || p.hint.contains("fp8")) << p.hint;
}

TEST(LoadCatalogue, ANameThatStandsTwiceShowsBothPlaces) {
  const Problem p = problem_of("accelerators.yaml",
                               "accelerators:\n"
                               "  - {id: h100, aliases: [H100 SXM]}\n"
                               "  - {id: h100-sxm}\n");
  EXPECT_EQ(p.at.line, 3);
  EXPECT_EQ(p.found, "'h100-sxm'");
  EXPECT_TRUE(p.hint.contains("'H100 SXM'") && p.hint.contains("accelerators.yaml:2")) << p.hint;
}

TEST(LoadCatalogue, AnItemWithoutAnIdIsRefused) {
  const Problem p = problem_of("nics.yaml", "nics:\n  - port_rate: 400 Gb/s\n");
  EXPECT_EQ(p.at.line, 2);
  EXPECT_TRUE(p.expected.contains("an id")) << p.expected;
}

TEST(LoadCatalogue, AWordOfConfidenceIsOneOfFive) {
  const Problem p = problem_of("nics.yaml", "nics:\n  - {id: n, confidence: agred}\n");
  EXPECT_EQ(p.found, "'agred'");
  EXPECT_TRUE(p.hint.contains("agreed")) << p.hint;
}

TEST(LoadCatalogue, AValueWithASourceHasNoFurtherKeys) {
  const Problem p =
      problem_of("nics.yaml", "nics:\n  - {id: n, port_rate: {value: 400 Gb/s, sauce: me}}\n");
  EXPECT_EQ(p.at.line, 2);
  EXPECT_EQ(p.found, "'sauce'");
  EXPECT_TRUE(p.hint.contains("source")) << p.hint;
}

TEST(LoadCatalogue, ALinkHasAWidthThatLinksTrainTo) {
  const Problem p =
      problem_of("nics.yaml", "nics:\n  - {id: n, pcie: {generation: 5, lanes: 7}}\n");
  EXPECT_EQ(p.found, "'7'");
}

TEST(LoadCatalogue, AnUnknownKindOfPartIsNamed) {
  const Problem p = problem_of("nics.yaml", "nicks:\n  - {id: n}\n");
  EXPECT_EQ(p.at.line, 1);
  EXPECT_TRUE(p.hint.contains("nics")) << p.hint;
}

TEST(LoadCatalogue, AModelNeedsItsDimensions) {
  const auto loaded = Folder({{"models.yaml", "models:\n  - {id: m, layers: 4}\n"}}).load();
  ASSERT_FALSE(loaded);
  const std::string all = text(loaded.error());
  for (const char* key : {"'hidden'", "'heads'", "'ffn'", "'vocab'"})
    EXPECT_TRUE(all.contains(key)) << key << " missing in\n" << all;
  EXPECT_FALSE(all.contains("'layers'")) << all;
}

TEST(LoadCatalogue, DimensionsMustFitEachOther) {
  const std::string head = "models:\n  - {id: m, layers: 4, hidden: 64, vocab: 10, ffn: 8, ";
  EXPECT_TRUE(
      problem_of("models.yaml", head + "heads: 7}\n").expected.contains("divisor of hidden"));
  EXPECT_TRUE(problem_of("models.yaml", head + "heads: 8, kv_heads: 3}\n")
                  .expected.contains("divisor of heads"));
  EXPECT_TRUE(
      problem_of("models.yaml", head + "heads: 8, experts: {experts: 4, top_k: 5, ffn: 8}}\n")
          .expected.contains("number of experts (4)"));
  EXPECT_TRUE(problem_of("models.yaml", head + "heads: 8, state_space: {layers: 2, "
                                               "attention_layers: 1, ffn_layers: 2}}\n")
                  .expected.contains("sum to 4"));
}

TEST(LoadCatalogue, AllProblemsOfAllFilesComeInOneRun) {
  const auto loaded = Folder({{"accelerators.yaml", "accelerators:\n  - {id: a, power: 700}\n"},
                              {"nics.yaml", "nics: {"},
                              {"switches.yaml", "switches:\n  - {id: s, ports: many}\n"}})
                          .load();
  ASSERT_FALSE(loaded);
  ASSERT_EQ(loaded.error().size(), 3u) << text(loaded.error());
  EXPECT_TRUE(loaded.error()[0].at.file.ends_with("accelerators.yaml"));
  EXPECT_TRUE(loaded.error()[1].at.file.ends_with("nics.yaml"));
  EXPECT_TRUE(loaded.error()[2].at.file.ends_with("switches.yaml"));
}

TEST(LoadCatalogue, AMissingOrEmptyFolderIsSaid) {
  EXPECT_FALSE(load_catalog("no/such/folder"));
  const auto empty = Folder({}).load();
  ASSERT_FALSE(empty);
  EXPECT_TRUE(empty.error()[0].expected.contains("accelerators.yaml"));
}

TEST(ReadAccelerator, OverridesPartOfAPart) {
  Accelerator a = *shipped().accelerator("h100");
  const auto doc = yaml::Document::parse("c.yaml", "{memory: {label: 64 GB}, power: 500 W}");
  ASSERT_TRUE(doc);
  Problems problems;
  yaml::Fields fields(*doc, doc->root(), problems, "the accelerator");
  read_accelerator(fields, a);
  fields.done();
  EXPECT_TRUE(problems.empty()) << text(problems);
  EXPECT_DOUBLE_EQ(a.memory_usable.in(GB), 64);
  EXPECT_DOUBLE_EQ(a.memory.in(GBps), 3350);
  EXPECT_DOUBLE_EQ(a.power.in(watt), 500);
}

TEST(ReadArchitecture, OverridesPartOfAModel) {
  Architecture a = *shipped().architecture("llama3-70b");
  const auto doc = yaml::Document::parse("j.yaml", "{layers: 12, heads: 32}");
  ASSERT_TRUE(doc);
  Problems problems;
  yaml::Fields fields(*doc, doc->root(), problems, "the model");
  read_architecture(fields, a);
  EXPECT_TRUE(problems.empty()) << text(problems);
  EXPECT_EQ(a.layers, 12);
  EXPECT_EQ(a.heads, 32);
  EXPECT_EQ(a.kv_heads, 8);  // grouped heads stay grouped
  EXPECT_EQ(a.hidden, 8192);
}

}  // namespace
}  // namespace railyard::model

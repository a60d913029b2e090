#include "model/stacks.h"

#include <set>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "support/support.h"

namespace railyard::model {
namespace {

const Stacks& stacks() {
  static const Checked<Stacks> loaded = load_stacks(test::repository("catalog/stacks.yaml"));
  if (!loaded) ADD_FAILURE() << text(loaded.error());
  return *loaded;
}

std::string bad(std::string yaml) {
  auto doc = yaml::Document::parse("stacks.yaml", std::move(yaml));
  if (!doc) return text(doc.error());
  auto read = parse_stacks(*doc);
  if (read) {
    ADD_FAILURE() << "read without complaint";
    return {};
  }
  return text(read.error());
}

TEST(Stacks, TheCatalogueHasEveryStackThatPublishedRunsName) {
  for (const char* id : {"megatron-lm-2020",
                         "megatron-lm-2021",
                         "megatron-lm-2022",
                         "megatron-deepspeed-2021",
                         "megatron-deepspeed-2022",
                         "megatron-core-0.8",
                         "megatron-core-0.12",
                         "nemo-24.07",
                         "nemo-24.09",
                         "megatron-bridge-25.09",
                         "megatron-bridge-26.02",
                         "megatron-bridge-26.04",
                         "llm-foundry-2023",
                         "nanotron-2025",
                         "torchtitan-2024",
                         "torchtitan-2025",
                         "internevo-2023",
                         "deepspeed-zero3-2022",
                         "mlperf-3.0",
                         "mlperf-3.1",
                         "mlperf-4.0",
                         "mlperf-4.1",
                         "mlperf-5.0",
                         "mlperf-5.1",
                         "simumax-megatron-2025",
                         "pytorch-ddp",
                         "pytorch-fsdp",
                         "pytorch-compile"})
    EXPECT_NE(stacks().find(id), nullptr) << id;
  EXPECT_NE(stacks().find(kDefaultStack), nullptr);
  EXPECT_EQ(stacks().find("no-such-stack"), nullptr);
}

TEST(Stacks, EveryStackHasASourceADateAndATitle) {
  for (const Stack& s : stacks().list) {
    EXPECT_FALSE(s.from.source.empty()) << s.id;
    EXPECT_FALSE(s.title.empty()) << s.id;
    EXPECT_GE(s.software.year, 2020) << s.id;
    EXPECT_LE(s.software.year, 2026) << s.id;
    EXPECT_EQ(s.software.stack, s.id);
  }
}

TEST(Stacks, NamesAndAliasesAreUnique) {
  std::set<std::string> names;
  for (const Stack& s : stacks().list) {
    EXPECT_TRUE(names.insert(s.id).second) << s.id;
    for (const std::string& alias : s.aliases) EXPECT_TRUE(names.insert(alias).second) << alias;
  }
}

TEST(Stacks, AnotherStacksFeaturesAreTheStart) {
  const Software& older = stacks().find("megatron-core-0.8")->software;
  const Software& newer = stacks().find("megatron-core-0.12")->software;
  EXPECT_EQ(older.attention, AttentionKernel::flash2);
  EXPECT_EQ(newer.attention, AttentionKernel::flash3);
  EXPECT_TRUE(newer.overlap_tensor);
  EXPECT_EQ(newer.year, 2025);
}

// What DeepSpeed's BF16_Optimizer does: fp32 gradients, all of them all-reduced.
TEST(Stacks, BloomReducedGradientsInFullPrecision) {
  const Software& bloom = stacks().find("megatron-deepspeed-2022")->software;
  EXPECT_EQ(bloom.gradient_wire_bytes, 4);
  EXPECT_FALSE(bloom.reduce_scatter_gradients);
  EXPECT_EQ(bloom.attention, AttentionKernel::unfused);
}

TEST(Stacks, AliasesFindTheStack) {
  EXPECT_EQ(stacks().find("Megatron Core")->id, "megatron-core-0.12");
  EXPECT_EQ(stacks().find("megatron_bridge")->id, "megatron-bridge-26.04");
}

TEST(BrokenStacks, MistakesStandAtTheirPlaces) {
  EXPECT_NE(bad("stacks:\n- {id: a, released: 2024}\n")
                .find("stacks.yaml:2:21: expected a month such as 2024-07"),
            std::string::npos);
  EXPECT_NE(bad("stacks:\n- {id: a, released: 2024-13}\n").find("expected a month"),
            std::string::npos);
  EXPECT_NE(bad("stacks:\n- {id: a, released: 2024-07, gradient_bytes: 3}\n")
                .find("stacks.yaml:2:46: expected one of 2, 4, found '3'"),
            std::string::npos);
  EXPECT_NE(bad("stacks:\n- {id: b, like: a, released: 2024-07}\n")
                .find("stacks.yaml:2:17: expected a stack that stands above"),
            std::string::npos);
  EXPECT_NE(bad("stacks:\n- {id: a, released: 2024-07}\n- {id: A, released: 2024-08}\n")
                .find("stacks.yaml:3:8: expected a name that no other stack has"),
            std::string::npos);
  EXPECT_NE(bad("stacks:\n- {id: a}\n").find("expected key 'released'"), std::string::npos);
  EXPECT_NE(bad("stack: []\n").find("expected key 'stacks'"), std::string::npos);
}

}  // namespace
}  // namespace railyard::model

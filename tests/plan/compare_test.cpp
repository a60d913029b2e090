#include "plan/compare.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/catalog.h"
#include "model/stacks.h"
#include "support/support.h"

namespace railyard::plan {
namespace {

class Compare : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    catalog_ = std::make_unique<model::Catalog>(*model::load_catalog(test::repository("catalog")));
    stacks_ = std::make_unique<model::Stacks>(
        *model::load_stacks(test::repository("catalog/stacks.yaml")));
    calibration_ = std::make_unique<predict::Calibration>(
        *predict::load_calibration(test::repository("catalog/calibration.yaml")));
  }
  static void TearDownTestSuite() {
    catalog_.reset();
    stacks_.reset();
    calibration_.reset();
  }

  static model::Cluster cluster(const char* file) {
    auto read =
        model::load_cluster(test::repository(std::string("examples/case-512/") + file), *catalog_);
    EXPECT_TRUE(read) << text(read.error());
    return *std::move(read);
  }
  /// 13B, tensor 8, without overlap: the network counts.
  static model::Job job() {
    model::Job job;
    job.model = *catalog_->architecture("gpt3-13b");
    job.software = stacks_->find("megatron-lm-2022")->software;
    job.global_batch = 512;
    job.layout.tensor = 8;
    job.layout.data = 0;
    return job;
  }
  static Comparison compared(const Workload& a, const Workload& b) {
    auto out = compare(a, b, *calibration_);
    EXPECT_TRUE(out) << text(out.error());
    return *std::move(out);
  }
  static std::vector<std::string> names(const Comparison& c) {
    std::vector<std::string> out;
    for (const Contribution& x : c.changes) out.push_back(x.what);
    return out;
  }

  static std::unique_ptr<model::Catalog> catalog_;
  static std::unique_ptr<model::Stacks> stacks_;
  static std::unique_ptr<predict::Calibration> calibration_;
};
std::unique_ptr<model::Catalog> Compare::catalog_;
std::unique_ptr<model::Stacks> Compare::stacks_;
std::unique_ptr<predict::Calibration> Compare::calibration_;

TEST_F(Compare, ASetUpDoesNotDifferFromItself) {
  const Workload a{cluster("before.yaml"), job()};
  const Comparison c = compared(a, a);
  EXPECT_TRUE(c.changes.empty());
  EXPECT_EQ(c.gain(), Seconds{});
}

TEST_F(Compare, TheUpgradeOfTheNetworkIsThreeChangesInThisOrder) {
  const Comparison c =
      compared({cluster("before.yaml"), job()}, {cluster("after-256.yaml"), job()});
  EXPECT_EQ(names(c),
            (std::vector<std::string>{"NIC and its switch", "PCIe link of the NIC", "transport"}));
  EXPECT_LT(c.gain(), Seconds{});
}

TEST_F(Compare, ContributionsInOrderSumToTheWhole) {
  const Comparison c =
      compared({cluster("before.yaml"), job()}, {cluster("after-512-servers.yaml"), job()});
  Seconds sum{};
  for (const Contribution& x : c.changes) sum += x.in_order;
  EXPECT_NEAR(sum / c.gain(), 1, 1e-9);
  EXPECT_NEAR(c.changes.back().step / c.time_b, 1, 1e-9);
}

TEST_F(Compare, AFastCardBehindASlowLinkGivesNothingUntilTheLinkComes) {
  // The old link carries 226 Gb/s, the new card's ports 784: alone the new link does nothing.
  const Comparison c =
      compared({cluster("before.yaml"), job()}, {cluster("after-256.yaml"), job()});
  const auto link = std::ranges::find(c.changes, "PCIe link of the NIC", &Contribution::what);
  ASSERT_NE(link, c.changes.end());
  ASSERT_TRUE(link->alone);
  EXPECT_NEAR(*link->alone / c.time_a, 0, 1e-9);
  EXPECT_LT(link->in_order / c.time_a, -0.01);
  ASSERT_TRUE(c.interaction());
  EXPECT_LT(*c.interaction(), Seconds{});
}

TEST_F(Compare, OnlyWhatDiffersIsNamed) {
  Workload a{cluster("after-256.yaml"), job()}, b = a;
  b.cluster.fabric.oversubscription = 4;
  EXPECT_EQ(names(compared(a, b)), std::vector<std::string>{"fabric"});
  b = a;
  b.job.layout.recompute = model::Recompute::full;
  EXPECT_EQ(names(compared(a, b)), std::vector<std::string>{"layout"});
  b = a;
  b.cluster.straggler = 0.02;
  EXPECT_EQ(names(compared(a, b)), std::vector<std::string>{"limits"});
}

TEST_F(Compare, MoreServersWithASmallerMicroBatchAreOneChangeTogether) {
  Workload a{cluster("after-256.yaml"), job()}, b{cluster("after-512-servers.yaml"), job()};
  a.job.global_batch = b.job.global_batch = 32;  // 32 ranks of data parallelism: one sequence each
  b.job.layout.pipeline = 2;                     // without it, 64 ranks would need 64 sequences
  const Comparison c = compared(a, b);
  const auto servers = std::ranges::find_if(
      c.changes, [](const Contribution& x) { return x.what.starts_with("servers"); });
  ASSERT_NE(servers, c.changes.end());
  EXPECT_EQ(servers->what, "servers + layout");
  EXPECT_FALSE(servers->alone);
  EXPECT_FALSE(c.interaction());
}

TEST_F(Compare, MemoryOnTheSlotsOfTheSameServerIsAChangeOfItsOwn) {
  const Comparison c =
      compared({cluster("after-256.yaml"), job()}, {cluster("after-512-servers.yaml"), job()});
  EXPECT_EQ(names(c), (std::vector<std::string>{"CXL memory", "servers"}));
}

TEST_F(Compare, DifferentBatchesAreComparedByTheirThroughput) {
  Workload a{cluster("after-256.yaml"), job()}, b = a;
  b.job.global_batch *= 2;
  const Comparison c = compared(a, b);
  EXPECT_NEAR(c.time_b / c.time_a,
              c.a.prediction.tokens_per_second / c.b.prediction.tokens_per_second, 1e-12);
}

TEST_F(Compare, AnImpossibleSideIsAProblem) {
  Workload a{cluster("after-256.yaml"), job()}, b = a;
  b.job.layout.tensor = 3;
  EXPECT_FALSE(compare(a, b, *calibration_));
}

}  // namespace
}  // namespace railyard::plan

#include "app/workbench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/sha256.h"
#include "terminal.h"

namespace railyard::app {
namespace {

Workbench bench() {
  Terminal t;
  const Given given("predict", {{"--catalog", {}}});
  auto opened = Workbench::open(given, t.io());
  EXPECT_TRUE(opened) << text(opened.error());
  return *std::move(opened);
}

class WorkbenchFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view bytes) {
    const std::string path = testing::TempDir() + "railyard-bench-" + name;
    std::ofstream(path) << bytes;
    written_.push_back(path);
    return path;
  }
  ~WorkbenchFiles() override {
    for (const std::string& path : written_) std::filesystem::remove(path);
  }

 private:
  std::vector<std::string> written_;
};

TEST_F(WorkbenchFiles, TheExampleOfTheReadmeIsReadAndFits) {
  Workbench b = bench();
  const auto cluster =
      b.cluster(write("cluster.yaml",
                      "cluster: pod\nservers: 32\nserver: dgx-h100\n"
                      "fabric: {kind: rail, transport: infiniband, switch: quantum2-qm9700}\n"));
  ASSERT_TRUE(cluster) << text(cluster.error());
  const auto job = b.job(
      write("job.yaml",
            "job: llama3-70b on 256\nmodel: llama3-70b\nsequence: 8192\nglobal_batch: 1024\n"
            "precision: bf16\n"
            "layout: {tensor_parallel: 4, sequence_parallel: true, pipeline_parallel: 4,\n"
            "         virtual_stages: 5, zero: 1, recompute: [norms, activation_function]}\n"));
  ASSERT_TRUE(job) << text(job.error());
  const auto fitted = model::fit_to(*job, cluster->accelerators());
  ASSERT_TRUE(fitted) << text(fitted.error());
  EXPECT_EQ(fitted->layout.data, 16);  // 32 x 8 / (4 x 4)
}

TEST_F(WorkbenchFiles, EveryFileThatWasReadIsAnInput) {
  Workbench b = bench();
  const std::string bytes = "cluster: one\nservers: 1\nserver: dgx-h100\n";
  const std::string path = write("one.yaml", bytes);
  ASSERT_TRUE(b.cluster(path));
  ASSERT_FALSE(b.inputs().empty());
  EXPECT_EQ(b.inputs().front().path, path);
  EXPECT_EQ(b.inputs().front().sha256, sha256(bytes));
  EXPECT_TRUE(std::ranges::any_of(b.inputs(), [](const report::Input& i) {
    return i.path == "catalog/calibration.yaml";
  })) << "a result depends on the fitted numbers too";
}

TEST_F(WorkbenchFiles, AMissingFileIsAProblemAndNoInput) {
  Workbench b = bench();
  const std::size_t before = b.inputs().size();
  const auto job = b.job("no/such/job.yaml");
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().at(0).at.file, "no/such/job.yaml");
  EXPECT_EQ(b.inputs().size(), before);
}

}  // namespace
}  // namespace railyard::app

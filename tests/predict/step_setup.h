#pragma once
// Clusters and jobs that the tests of the step share: built from the shipped catalogue and
// calibration.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "fabric/machine.h"
#include "model/catalog.h"
#include "model/cluster.h"
#include "model/job.h"
#include "model/stacks.h"
#include "predict/calibration.h"
#include "support/support.h"

namespace railyard::predict {

/// Read once for all tests of the binary.
struct Shipped {
  model::Catalog catalog = {};
  model::Stacks stacks = {};
  Calibration calibration = {};
};
inline const Shipped& shipped() {
  static const Shipped all = [] {
    Shipped s;
    const auto take = [](auto read) {
      EXPECT_TRUE(read) << text(read.error());
      return *std::move(read);
    };
    s.catalog = take(model::load_catalog(test::repository("catalog")));
    s.stacks = take(model::load_stacks(test::repository("catalog/stacks.yaml")));
    s.calibration = take(load_calibration(test::repository("catalog/calibration.yaml")));
    return s;
  }();
  return all;
}

/// `servers` of eight H100 with eight 400G adapters.
inline model::Cluster h100_cluster(int servers) {
  auto built = model::build_cluster(shipped().catalog, {.server = "dgx-h100", .servers = servers});
  EXPECT_TRUE(built) << text(built.error());
  return *std::move(built);
}
/// One accelerator alone.
inline model::Cluster one_gpu() {
  auto built = model::build_cluster(shipped().catalog,
                                    {.server = "dgx-h100", .servers = 1, .accelerators = 1});
  EXPECT_TRUE(built) << text(built.error());
  return *std::move(built);
}

/// Names of the catalogue.
struct Trained {
  std::string_view model = {};
  std::string_view stack = "megatron-core-0.12";
};
/// A job without a layout, which is the caller's.
inline model::Job job_of(const Trained& what) {
  model::Job job;
  const model::Architecture* known = shipped().catalog.architecture(what.model);
  const model::Stack* software = shipped().stacks.find(what.stack);
  EXPECT_TRUE(known && software);
  job.model = *known;
  job.software = software->software;
  job.global_batch = 256;
  job.sequence = 2048;
  return job;
}

}  // namespace railyard::predict

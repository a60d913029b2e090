#include "report/nccl_profile.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "intake/busbw_csv.h"
#include "support/support.h"

namespace railyard::report {
namespace {

judge::NcclCalibration of_sweep() {
  const std::string path = test::repository("validation/h200_nccl_sweep.csv");
  const std::string bytes = *read_file(path);
  const auto table = intake::read_busbw_csv({.file = path, .bytes = bytes});
  return *judge::calibrate_nccl(table->rows,
                                {.own_channels = 24, .fingerprint = "2 x \"H200\", C:\\, #1: a"});
}

TEST(NcclProfileYaml, ReadsBackToAnEqualProfile) {
  const auto made = of_sweep();
  const auto again = predict::nccl::read_profile("p.yaml", to_yaml(made));
  ASSERT_TRUE(again) << text(again.error());
  EXPECT_EQ(*again, made.profile);
  EXPECT_EQ(to_yaml(*again), to_yaml(made.profile));
  for (const auto& curve : made.profile.curves)
    for (const std::int64_t bytes : {1000, 12345, 1 << 20, 123456789}) {
      const predict::nccl::ProfileQuestion q{.way = curve.way, .channels = 12, .bytes = bytes};
      EXPECT_EQ(time_of(*again, q)->us, time_of(made.profile, q)->us);
    }
}

TEST(NcclProfileYaml, ACutFileIsRefusedOrLacksCurves) {
  const auto made = of_sweep();
  const std::string whole = to_yaml(made);
  for (std::size_t n = 0; n < whole.size(); n += 997) {
    const auto cut = predict::nccl::read_profile("p.yaml", whole.substr(0, n));
    if (cut) {
      EXPECT_LE(cut->curves.size(), made.profile.curves.size());
    }
  }
}

TEST(NcclProfileYaml, EveryCurveHasARowAndAllTogetherTheLast) {
  const auto made = of_sweep();
  const Table table = table_of(made);
  EXPECT_EQ(table.rows.size(), made.profile.curves.size() + 1);
  EXPECT_EQ(table.rows.back()[0].shown(), "all");
}

}  // namespace
}  // namespace railyard::report

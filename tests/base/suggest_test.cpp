#include "base/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace railyard {
namespace {

TEST(EditDistance, CountsEachKindOfSlipOnce) {
  EXPECT_EQ(edit_distance("predict", "predict"), 0);
  EXPECT_EQ(edit_distance("predict", "predct"), 1);    // left out
  EXPECT_EQ(edit_distance("predict", "preddict"), 1);  // doubled
  EXPECT_EQ(edit_distance("predict", "predikt"), 1);   // another letter
  EXPECT_EQ(edit_distance("predict", "rpedict"), 1);   // neighbours swapped
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
}

TEST(DidYouMean, NamesTheNearestAndTheFirstOfEquals) {
  const std::vector<std::string> known{"h100-sxm-80g", "h200-sxm-141g", "a100-sxm-80g"};
  EXPECT_EQ(did_you_mean("h100-smx-80g", known), "did you mean 'h100-sxm-80g'?");
  EXPECT_EQ(nearest("a100", known), "a100-sxm-80g") << "part of a name";
  const std::vector<std::string> pair{"cat", "bat"};
  EXPECT_EQ(nearest("hat", pair), "cat");
}

TEST(DidYouMean, KnowsTheWordInAnotherCaseAndItsShortForm) {
  const std::vector<std::string> known{"fp16", "fp8", "tensor_parallel", "infiniband"};
  EXPECT_EQ(nearest("FP8", known), "fp8");
  EXPECT_EQ(nearest("tp", known), "tensor_parallel");
  EXPECT_EQ(nearest("IB", known), "infiniband");
  EXPECT_EQ(nearest("pp", known), "") << "its long form is not among them";
}

TEST(DidYouMean, IsSilentWhenNothingIsNear) {
  const std::vector<std::string> known{"tensor_parallel", "pp"};
  EXPECT_EQ(did_you_mean("colour", known), "");
  EXPECT_EQ(did_you_mean("xy", known), "") << "two letters within two edits say nothing";
}

}  // namespace
}  // namespace railyard

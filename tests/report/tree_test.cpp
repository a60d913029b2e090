#include "report/tree.h"

#include <gtest/gtest.h>

#include "base/json_reader.h"
#include "report/width.h"

namespace railyard::report {
namespace {

using predict::Term;
using predict::term;

Term sample() {
  Term step = term("step", 12.0 * ms, "compute + exposed");
  Term compute = term("compute", 8.5 * ms, "work / rate");
  compute.children.push_back(term("work", 4.2, "6 x parameters x tokens"));
  compute.children.push_back(term("rate", 494.75 * TFLOPS, "half of the peak", "catalog: h100"));
  step.children.push_back(compute);
  step.children.push_back(term("exposed", 3.5 * ms, "what backward does not hide"));
  return step;
}

TEST(TreeText, DrawsBranchesAndAlignsValues) {
  EXPECT_EQ(to_text(sample()),
            "step            12.0 ms  compute + exposed\n"
            "├─ compute      8.50 ms  work / rate\n"
            "│  ├─ work         4.20  6 x parameters x tokens\n"
            "│  └─ rate  495 TFLOP/s  half of the peak [catalog: h100]\n"
            "└─ exposed      3.50 ms  what backward does not hide\n");
}

TEST(TreeText, LongReasonsGoOnBelowWithTheBranchesKept) {
  const std::string narrow = to_text(sample(), {.width = 50});
  EXPECT_EQ(narrow,
            "step            12.0 ms  compute + exposed\n"
            "├─ compute      8.50 ms  work / rate\n"
            "│  ├─ work         4.20  6 x parameters x tokens\n"
            "│  └─ rate  495 TFLOP/s  half of the peak\n"
            "│                        [catalog: h100]\n"
            "└─ exposed      3.50 ms  what backward does not\n"
            "                         hide\n");
  for (std::size_t from = 0; from < narrow.size();) {
    const std::size_t end = narrow.find('\n', from);
    EXPECT_LE(display_width(narrow.substr(from, end - from)), 50);
    from = end + 1;
  }
}

TEST(TreeText, CanStopAtALevel) {
  EXPECT_EQ(to_text(sample(), {.deepest = 1}),
            "step        12.0 ms  compute + exposed\n"
            "├─ compute  8.50 ms  work / rate\n"
            "└─ exposed  3.50 ms  what backward does not hide\n");
}

TEST(TreeJson, CarriesNumbersInTheirUnitsAndLeavesOutWhatIsEmpty) {
  json::Writer out;
  to_json(sample(), out);
  const auto doc = json::parse("t.json", out.text());
  ASSERT_TRUE(doc) << text(doc.error());
  EXPECT_EQ(doc->root().find("value")->scalar, "0.012");
  EXPECT_EQ(doc->root().find("unit")->scalar, "s");
  EXPECT_EQ(doc->root().find("source"), nullptr);
  const yaml::Node& rate = doc->root().find("terms")->items.at(0).find("terms")->items.at(1);
  EXPECT_EQ(rate.find("text")->scalar, "495 TFLOP/s");
  EXPECT_EQ(rate.find("source")->scalar, "catalog: h100");
  EXPECT_EQ(rate.find("terms"), nullptr);
}

}  // namespace
}  // namespace railyard::report

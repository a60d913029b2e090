#include "report/problems.h"

#include <gtest/gtest.h>

namespace railyard::report {
namespace {

Problem at_line(int line) {
  return {.at = {"a^b.yaml", line, 3}, .expected = "x", .found = "y", .source_line = "k: v"};
}

TEST(ProblemsText, StandsInTheOrderOfTheFileAndCountsTheRest) {
  const std::string text = to_text({at_line(9), at_line(2), at_line(5)}, {.most = 2});
  EXPECT_EQ(text,
            "a^b.yaml:2:3: expected x, found y\n  k: v\n    ^\n"
            "a^b.yaml:5:3: expected x, found y\n  k: v\n    ^\n"
            "and 1 more problem\n");
}

TEST(ProblemsText, ColoursTheCaretAndNothingElse) {
  EXPECT_EQ(to_text({at_line(2)}, {.colour = Colour::yes}),
            "a^b.yaml:2:3: expected x, found y\n  k: v\n    \x1b[31m^\x1b[0m\n");
}

}  // namespace
}  // namespace railyard::report

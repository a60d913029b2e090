#include "base/problem.h"

#include <gtest/gtest.h>

namespace railyard {
namespace {

TEST(Problem, SaysWhereWhatAndWhatToDo) {
  const Problem p{.at = {"pod.yaml", 3, 9},
                  .expected = "a bandwidth",
                  .found = "'400'",
                  .hint = "write 400 Gb/s",
                  .source_line = "  rate: 400"};
  EXPECT_EQ(p.text(),
            "pod.yaml:3:9: expected a bandwidth, found '400'\n"
            "    rate: 400\n"
            "          ^\n"
            "  hint: write 400 Gb/s");
}

TEST(Problem, OfAWholeFileHasNoLine) {
  const Problem p{.at = {.file = "pod.yaml"}, .expected = "a file", .found = "a directory"};
  EXPECT_EQ(p.text(), "pod.yaml: expected a file, found a directory");
}

TEST(Problem, TheCaretStandsUnderTabsToo) {
  const Problem p{.at = {"a", 1, 3}, .expected = "x", .found = "y", .source_line = "\t\tkey"};
  EXPECT_EQ(p.text(), "a:1:3: expected x, found y\n  \t\tkey\n  \t\t^");
}

TEST(Problem, AVeryLongLineIsCutAroundTheCaret) {
  const std::string line = std::string(500, '.') + "here" + std::string(500, '.');
  const Problem p{.at = {"a", 1, 501}, .expected = "x", .found = "y", .source_line = line};
  const std::string text = p.text();
  const std::size_t shown = text.find('\n') + 1, caret = text.rfind('\n') + 1;
  EXPECT_LT(caret - shown, 110u);
  EXPECT_EQ(text.find("here", shown) - shown, text.find('^', caret) - caret);
}

TEST(Problem, ControlBytesDoNotReachTheTerminal) {
  const Problem p{.at = {"a", 1, 1}, .expected = "x", .found = "y", .source_line = "\x1b[2Jboo"};
  EXPECT_EQ(p.text().find('\x1b'), std::string::npos);
}

TEST(Problems, StandInTheOrderOfTheFile) {
  const Problems list{{.at = {"a", 10, 1}, .expected = "third", .found = "-"},
                      {.at = {"a", 9, 7}, .expected = "second", .found = "-"},
                      {.at = {"a", 9, 2}, .expected = "first", .found = "-"}};
  EXPECT_EQ(text(list),
            "a:9:2: expected first, found -\n"
            "a:9:7: expected second, found -\n"
            "a:10:1: expected third, found -\n");
}

TEST(LineAt, CountsLinesAndColumnsFromOne) {
  const std::string_view bytes = "one\r\ntwo\n\nfour";
  EXPECT_EQ(line_at(bytes, 0).line, 1);
  EXPECT_EQ(line_at(bytes, 0).column, 1);
  EXPECT_EQ(line_at(bytes, 0).text, "one") << "the CR is no part of the line";
  EXPECT_EQ(line_at(bytes, 6).line, 2);
  EXPECT_EQ(line_at(bytes, 6).column, 2);
  EXPECT_EQ(line_at(bytes, bytes.size()).line, 4);
  EXPECT_EQ(line_at(bytes, bytes.size()).column, 5);
  EXPECT_EQ(line_at(bytes, 999).line, 4) << "an offset behind the end is the end";
}

TEST(LineOf, IsEmptyWhereThereIsNone) {
  EXPECT_EQ(line_of("one\ntwo\r\n", 2), "two");
  EXPECT_EQ(line_of("one\ntwo\r\n", 3), "");
  EXPECT_EQ(line_of("one\ntwo\r\n", 9), "");
}

Result<int> half(int n) {
  if (n % 2 != 0) return std::unexpected(Problem{.expected = "an even number", .found = "odd"});
  return n / 2;
}
Result<int> quarter(int n) {
  const int h = RY_TRY(half(n));
  return RY_TRY(half(h));
}

TEST(RyTry, HandsTheFirstProblemUp) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).error().found, "odd");
}

}  // namespace
}  // namespace railyard

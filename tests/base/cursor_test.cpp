#include "base/cursor.h"

#include <gtest/gtest.h>

namespace railyard {
namespace {

TEST(Cursor, WalksAWordAtATime) {
  Cursor in({.file = "log", .bytes = "NCCL INFO \t comm 0x1f rank 3\r\nnext"});
  EXPECT_TRUE(in.take("NCCL INFO"));
  EXPECT_FALSE(in.take("comm")) << "blanks are not skipped by themselves";
  in.skip_blanks();
  EXPECT_TRUE(in.take("comm "));
  EXPECT_EQ(in.until(" "), "0x1f");
  EXPECT_TRUE(in.take(" rank "));
  EXPECT_EQ(in.integer("a rank").value(), 3);
  EXPECT_EQ(in.peek(), '\r');
  EXPECT_EQ(in.line(), "") << "CR and LF end the line";
  EXPECT_EQ(in.rest(), "next");
  EXPECT_EQ(in.line(), "next");
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(in.peek(), '\0');
}

TEST(Cursor, SkippingBlanksStopsAtTheLineEnd) {
  Cursor in({.file = "log", .bytes = "  \n  x"});
  in.skip_blanks();
  EXPECT_EQ(in.peek(), '\n');
  EXPECT_EQ(in.offset(), 2u);
}

TEST(Cursor, AProblemNamesThePlaceAndWhatStandsThere) {
  Cursor in({.file = "pod.yaml", .bytes = "a: 1\nrate: fast lane\n"});
  in.line();
  EXPECT_TRUE(in.take("rate: "));
  const auto number = in.number("a rate");
  ASSERT_FALSE(number);
  EXPECT_EQ(number.error().at.line, 2);
  EXPECT_EQ(number.error().at.column, 7);
  EXPECT_EQ(number.error().expected, "a rate");
  EXPECT_EQ(number.error().found, "'fast'");
  EXPECT_EQ(number.error().source_line, "rate: fast lane");
}

TEST(Cursor, TellsTheEndOfALineFromTheEndOfTheFile) {
  Cursor in({.file = "f", .bytes = "\n"});
  EXPECT_EQ(in.problem("x").found, "end of line");
  in.line();
  EXPECT_EQ(in.problem("x").found, "end of file");
}

TEST(Cursor, RefusesNumbersThatAreNone) {
  for (const char* text : {"", "nan", "inf", "-inf", ".", "e5", "1e999"}) {
    Cursor in({.file = "f", .bytes = text});
    EXPECT_FALSE(in.number("a number")) << text;
  }
  Cursor big({.file = "f", .bytes = "99999999999999999999"});
  EXPECT_FALSE(big.integer("an integer"));
}

TEST(Cursor, ReadsNumbersAsTheyAreWritten) {
  Cursor in({.file = "f", .bytes = "-1.5e3Gb"});
  EXPECT_DOUBLE_EQ(in.number("a number").value(), -1500);
  EXPECT_EQ(in.rest(), "Gb");
}

}  // namespace
}  // namespace railyard

#include "base/csv.h"

#include <gtest/gtest.h>

namespace railyard::csv {
namespace {

Table parsed(std::string_view bytes) {
  auto table = Table::parse({.file = "t.csv", .bytes = bytes});
  EXPECT_TRUE(table) << text(table.error());
  return table ? *std::move(table) : Table();
}

TEST(Csv, ReadsColumnsByName) {
  const Table t = parsed("model,gpus,mfu\r\ngpt,8,0.52\r\n\r\n\"llama, 70B\",16,\r\n");
  ASSERT_EQ(t.rows(), 2u);
  EXPECT_EQ(t.columns().size(), 3u);
  EXPECT_EQ(t.at(0, "model"), "gpt");
  EXPECT_EQ(t.at(1, "model"), "llama, 70B");
  EXPECT_EQ(t.line(1), 4) << "empty lines count";
  EXPECT_TRUE(t.has("mfu"));
  EXPECT_FALSE(t.has("tokens"));
  EXPECT_EQ(t.at(0, "tokens"), "");
  Problems problems;
  EXPECT_DOUBLE_EQ(t.number(0, "mfu", problems).value(), 0.52);
  EXPECT_FALSE(t.number(1, "mfu", problems)) << "not given is not zero";
  EXPECT_EQ(t.integer(1, "gpus", problems).value(), 16);
  EXPECT_TRUE(problems.empty());
}

TEST(Csv, AByteOrderMarkIsNoPartOfTheFirstName) {
  EXPECT_TRUE(parsed("\xEF\xBB\xBFmodel,gpus\na,1\n").has("model"));
}

TEST(Csv, ALastLineWithoutItsEndIsARow) { EXPECT_EQ(parsed("a,b\n1,2").rows(), 1u); }

TEST(Csv, ABadNumberIsAProblemAtItsColumn) {
  const Table t = parsed("model,gpus\ngpt,eight\nbert,2.5\n");
  Problems problems;
  EXPECT_FALSE(t.integer(0, "gpus", problems));
  EXPECT_FALSE(t.integer(1, "gpus", problems));
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].text(),
            "t.csv:2:5: expected a number in column gpus, found 'eight'\n"
            "  gpt,eight\n"
            "      ^");
  EXPECT_EQ(problems[1].at.line, 3);
  EXPECT_EQ(problems[1].at.column, 6);
  EXPECT_EQ(problems[1].expected, "an integer in column gpus");
}

TEST(Csv, RowsOfAnotherLengthAreAllReported) {
  const auto table = Table::parse({.file = "t.csv", .bytes = "a,b\n1\n1,2\n1,2,3\n"});
  ASSERT_FALSE(table);
  ASSERT_EQ(table.error().size(), 2u);
  EXPECT_EQ(table.error()[0].at.line, 2);
  EXPECT_EQ(table.error()[0].expected, "2 fields");
  EXPECT_EQ(table.error()[0].found, "1");
  EXPECT_EQ(table.error()[0].at.column, 2) << "where the second would begin";
  EXPECT_EQ(table.error()[1].at.line, 4);
  EXPECT_EQ(table.error()[1].at.column, 5) << "the third has no column";
}

TEST(Csv, AnEmptyFileIsNoTable) {
  EXPECT_EQ(Table::parse({.file = "t.csv", .bytes = ""}).error().at(0).found, "an empty file");
  EXPECT_FALSE(Table::parse({.file = "t.csv", .bytes = "\n\r\n"}));
}

TEST(Csv, WhatIsWrittenReadsBack) {
  for (const char* text : {"plain", "a, b", "", "12"}) {
    const std::string line = field(text) + ",end";
    const auto fields = split_line(line);
    ASSERT_EQ(fields.size(), 2u) << line;
    EXPECT_EQ(fields[0], text);
  }
  EXPECT_EQ(field("say \"hi\""), "\"say \"\"hi\"\"\"");
}

}  // namespace
}  // namespace railyard::csv

#include "report/table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/csv.h"
#include "base/json_reader.h"

namespace railyard::report {
namespace {

Table sample() {
  Table t{.columns = {{"name", "name"},
                      {"time_ms", "time", Align::right},
                      {"share", "share", Align::right, 1},
                      {"why", "why", Align::left, 2}}};
  t.add({"compute", Cell(8.523456, "8.52 ms"), Cell(0.6512, "65.1 %"), "tensor cores, mostly"});
  t.add({"all-reduce, exposed", Cell(12.0, "12.0 ms"), Cell(), "the \"network\""});
  return t;
}

TEST(TableText, AlignsNumbersRightAndWordsLeft) {
  EXPECT_EQ(to_text(sample(), 100),
            "name                    time   share  why\n"
            "compute              8.52 ms  65.1 %  tensor cores, mostly\n"
            "all-reduce, exposed  12.0 ms          the \"network\"\n");
}

TEST(TableText, ANarrowScreenCutsWordsThenDropsColumnsAndNeverANumber) {
  EXPECT_EQ(to_text(sample(), 54),
            "name                    time   share  why\n"
            "compute              8.52 ms  65.1 %  tensor cores,…\n"
            "all-reduce, exposed  12.0 ms          the \"network\"\n");
  EXPECT_EQ(to_text(sample(), 40),
            "name                    time   share\n"
            "compute              8.52 ms  65.1 %\n"
            "all-reduce, exposed  12.0 ms\n");
  EXPECT_EQ(to_text(sample(), 30),
            "name                    time\n"
            "compute              8.52 ms\n"
            "all-reduce, exposed  12.0 ms\n");
  EXPECT_EQ(to_text(sample(), 20),
            "name            time\n"
            "compute      8.52 ms\n"
            "all-reduce…  12.0 ms\n");
}

TEST(TableText, NoLineEndsInABlank) {
  const std::string text = to_text(sample(), 100);
  EXPECT_EQ(text.find(" \n"), std::string::npos);
}

TEST(TableCsv, HasFullPrecisionAndReadsBack) {
  const std::string text = to_csv(sample());
  EXPECT_EQ(text,
            "name,time_ms,share,why\n"
            "compute,8.523456,0.6512,\"tensor cores, mostly\"\n"
            "\"all-reduce, exposed\",12,,\"the \"\"network\"\"\"\n");
}

TEST(TableCsv, WhatIsNoNumberIsEmpty) {
  Table t{.columns = {{"x", "x"}}};
  t.add({Cell(std::nan(""))});
  EXPECT_EQ(to_csv(t), "x\n\n");
}

TEST(TableJson, HasTheSameRowsUnderTheSameKeys) {
  json::Writer out;
  Table t = sample();
  t.columns.push_back({"gpus", "gpus", Align::right});
  t.rows[0].emplace_back(8);
  to_json(t, out);
  const auto doc = json::parse("t.json", out.text());
  ASSERT_TRUE(doc) << text(doc.error());
  const yaml::Node& rows = doc->root();
  ASSERT_EQ(rows.items.size(), 2u);
  EXPECT_EQ(rows.items[0].find("time_ms")->scalar, "8.523456");
  EXPECT_FALSE(rows.items[0].find("time_ms")->quoted);
  EXPECT_TRUE(rows.items[0].find("name")->quoted);
  EXPECT_EQ(rows.items[0].find("gpus")->scalar, "8");
  EXPECT_EQ(rows.items[1].find("share")->kind, yaml::Kind::null);
  EXPECT_EQ(rows.items[1].find("gpus")->kind, yaml::Kind::null) << "a row may be short";
}

TEST(Cell, ShowsThreeDigitsAndKeepsAll) {
  EXPECT_EQ(Cell(3.14159265).shown(), "3.14");
  EXPECT_EQ(Cell(3.14159265).csv(), "3.14159265");
  EXPECT_EQ(Cell(123456789).shown(), "123456789") << "a count is exact";
}

}  // namespace
}  // namespace railyard::report

#include "intake/busbw_csv.h"

#include <string>

#include "gtest/gtest.h"
#include "support/support.h"

namespace railyard::intake {
namespace {

using facts::Buffers;

Checked<BusbwRows> read(std::string_view text) {
  return read_busbw_csv({.file = "t.csv", .bytes = text});
}

TEST(BusbwCsv, ThePublishedCompilationIsReadWhole) {
  const std::string path = test::repository("validation/nccl_busbw.csv");
  const std::string bytes = *read_file(path);
  EXPECT_TRUE(looks_like_busbw_csv(bytes));
  const auto table = read_busbw_csv({.file = path, .bytes = bytes});
  ASSERT_TRUE(table) << text(table.error());
  EXPECT_EQ(table->layout, BusbwTable::compilation);
  EXPECT_EQ(table->rows.size(), 987u);
  const auto& first = table->rows.front();
  EXPECT_EQ(first.bytes, 32768u);
  EXPECT_EQ(first.busbw_gbs, 3.07);
  EXPECT_EQ(first.ranks, 8);
  EXPECT_EQ(first.buffers, Buffers::out_of_place);
  EXPECT_EQ(first.health, "healthy");
}

TEST(BusbwCsv, TheLabelsOfTheH200SweepAreSettings) {
  const std::string path = test::repository("validation/h200_nccl_sweep.csv");
  const std::string bytes = *read_file(path);
  EXPECT_TRUE(looks_like_busbw_csv(bytes));
  const auto table = read_busbw_csv({.file = path, .bytes = bytes});
  ASSERT_TRUE(table) << text(table.error());
  EXPECT_EQ(table->layout, BusbwTable::labelled_sweep);
  EXPECT_EQ(table->rows.front().algorithm, "");
  EXPECT_EQ(table->rows.front().time_us, 13.16);
  int seen = 0;
  for (const auto& row : table->rows) {
    if (row.label == "ring_LL128_ch16") {
      ++seen;
      EXPECT_EQ(row.algorithm, "ring");
      EXPECT_EQ(row.protocol, "LL128");
      EXPECT_EQ(row.channels, 16);
    }
    if (row.label == "shm") {
      EXPECT_EQ(row.transport, "shm");
    }
  }
  EXPECT_EQ(seen, 9);
}

TEST(BusbwCsv, ASweepNamesItsColumnsInAnyOrder) {
  const auto table = read(
      "size_bytes,collective,algorithm,protocol,channels,ranks,nodes,mode,in_place,time_us_median,"
      "time_us_min,time_us_max\n"
      "1024,all_reduce,ring,LL,8,2,1,graph,1,5.5,5.25,6\n"
      "1024,all_reduce,auto,auto,,2,1,eager,0,7,,\n");
  ASSERT_TRUE(table) << text(table.error());
  EXPECT_EQ(table->layout, BusbwTable::sweep);
  ASSERT_EQ(table->rows.size(), 2u);
  EXPECT_EQ(table->rows[0].mode, facts::LaunchMode::graph);
  EXPECT_EQ(table->rows[0].buffers, Buffers::in_place);
  EXPECT_EQ(table->rows[0].channels, 8);
  EXPECT_EQ(table->rows[0].time_us_min, 5.25);
  EXPECT_EQ(table->rows[1].algorithm, "");
  EXPECT_FALSE(table->rows[1].channels);
  EXPECT_FALSE(table->rows[1].time_us_min);
}

TEST(BusbwCsv, MistakesHaveTheirPlace) {
  const auto bad = read(
      "label,collective,ranks,size_bytes,time_us_median\n"
      "ring_LL9,all_reduce,2,1024,5\n"
      "default,all_reduce,2,x,5\n");
  ASSERT_FALSE(bad);
  ASSERT_EQ(bad.error().size(), 2u);
  EXPECT_EQ(bad.error()[0].at.line, 2);
  EXPECT_EQ(bad.error()[1].at.line, 3);
}

TEST(BusbwCsv, AnEmptyTableAndOneOfAnotherFormatAreRefused) {
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("model,params\nx,1\n"));
  EXPECT_FALSE(looks_like_busbw_csv(""));
  EXPECT_FALSE(looks_like_busbw_csv("model,params\n"));
}

TEST(BusbwCsv, ATextCutAnywhereEndsInRowsOrProblems) {
  constexpr std::string_view whole =
      "label,collective,ranks,size_bytes,time_us_median,time_us_min\n"
      "ring_LL_ch8,all_reduce,2,1024,5.5,5\n";
  for (std::size_t n = 0; n <= whole.size(); ++n) {
    const auto table = read(whole.substr(0, n));
    if (table) {
      EXPECT_LE(table->rows.size(), 1u);
    }
  }
}

}  // namespace
}  // namespace railyard::intake

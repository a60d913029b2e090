#include "base/text.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace railyard {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  Files() : folder_(fs::temp_directory_path() / ("railyard-text-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Files() override { fs::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_;
};

TEST_F(Files, WhatIsWrittenReadsBackToTheByte) {
  const std::string bytes("one\r\n\0two", 9);
  EXPECT_EQ(write_file(path("a"), bytes).value(), 9u);
  EXPECT_EQ(read_file(path("a")).value(), bytes);
  EXPECT_FALSE(fs::exists(path("a.partial")));
}

TEST_F(Files, AMissingFileADirectoryAndATooLargeFileAreProblems) {
  const auto missing = read_file(path("missing"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().text(),
            path("missing") + ": expected a readable file, found No such file or directory");
  EXPECT_EQ(read_file(path(".")).error().found, "a directory");
  std::ofstream(path("b")) << std::string(100, 'x');
  EXPECT_EQ(read_file(path("b"), 99).error().expected, "at most 99 bytes");
  EXPECT_EQ(read_file(path("b"), 100).value().size(), 100u);
}

TEST_F(Files, AFailedWriteLeavesTheOldFileAndNothingElse) {
  EXPECT_FALSE(write_file(path("none/a"), "x"));
  fs::create_directory(path("taken"));
  EXPECT_FALSE(write_file(path("taken"), "x"));
  EXPECT_FALSE(fs::exists(path("taken.partial")));
  EXPECT_TRUE(fs::is_directory(path("taken")));
}

TEST(Text, AProblemAtAnOffsetHasLineColumnAndSource) {
  const Text t{.file = "f", .bytes = "one\ntwo three\n"};
  const Problem p = t.problem_at(8, "four", "three");
  EXPECT_EQ(p.text(), "f:2:5: expected four, found three\n  two three\n      ^");
}

}  // namespace
}  // namespace railyard

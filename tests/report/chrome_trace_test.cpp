#include "report/chrome_trace.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/json_reader.h"

namespace railyard::report {
namespace {

TEST(ChromeTrace, GivesEveryBarItsGroupTrackAndMicroseconds) {
  const std::string text =
      chrome_trace({{"forward 0", "forward", "stage 0", "compute", 0.0 * ms, 1.5 * ms},
                    {"send", "network", "stage 0", "network", 1.5 * ms, 0.25 * us},
                    {"forward \"0\"", "forward", "stage 1", "compute", 1.50025 * ms, 1.5 * ms}},
                   "one step");
  const auto doc = json::parse("trace.json", text);
  ASSERT_TRUE(doc) << railyard::text(doc.error());
  EXPECT_EQ(doc->root().find("otherData")->find("title")->scalar, "one step");

  std::map<std::string, std::string> names;  // "pid/tid" of a track, "pid" of a group
  int bars = 0;
  for (const yaml::Node& e : doc->root().find("traceEvents")->items) {
    const std::string pid = e.find("pid")->scalar, tid = e.find("tid")->scalar;
    if (e.find("ph")->scalar == "M") {
      const bool group = e.find("name")->scalar == "process_name";
      names[group ? pid : pid + '/' + tid] = e.find("args")->find("name")->scalar;
      continue;
    }
    ++bars;
    EXPECT_EQ(e.find("ph")->scalar, "X");
    if (e.find("name")->scalar == "send") {
      EXPECT_EQ(names[pid], "stage 0");
      EXPECT_EQ(names[pid + '/' + tid], "network");
      EXPECT_EQ(e.find("ts")->scalar, "1500.000000");
      EXPECT_EQ(e.find("dur")->scalar, "0.250000");
    }
    if (e.find("name")->scalar == "forward \"0\"") {
      EXPECT_EQ(names[pid], "stage 1");
      EXPECT_EQ(names[pid + '/' + tid], "compute");
      EXPECT_EQ(e.find("ts")->scalar, "1500.250000");
    }
  }
  EXPECT_EQ(bars, 3);
  EXPECT_EQ(names.size(), 5u) << "two groups, three tracks";
}

TEST(ChromeTrace, AnEmptyTimelineIsAValidFile) {
  EXPECT_TRUE(json::parse("trace.json", chrome_trace({}, "nothing")));
}

}  // namespace
}  // namespace railyard::report

#include "report/step_trace.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json_reader.h"

namespace railyard::report {
namespace {

using predict::EventKind;

/// Two stages of two parts, one micro-batch: a few bars of each kind.
predict::StepTimeline timeline() {
  return {.stages = 2,
          .total = 10.0 * ms,
          .pipeline = 8.0 * ms,
          .events = {{EventKind::forward, 0, 0, 0, 0.0 * ms, 1.0 * ms},
                     {EventKind::send, 0, 0, 0, 1.0 * ms, 1.5 * ms},
                     {EventKind::forward, 0, 1, 0, 2.0 * ms, 3.0 * ms},
                     {EventKind::gradients, 0, 0, 0, 6.0 * ms, 8.5 * ms},
                     {EventKind::optimizer, 0, 0, 0, 8.5 * ms, 9.0 * ms},
                     {EventKind::forward, 1, 0, 0, 1.5 * ms, 2.5 * ms}}};
}

/// "name on track" of every bar, in the order of the file.
std::vector<std::string> bars(const yaml::Document& doc) {
  std::vector<std::string> out;
  for (const yaml::Node& e : doc.root().find("traceEvents")->items)
    if (e.find("ph")->scalar == "X")
      out.push_back(e.find("name")->scalar + " at " + e.find("ts")->scalar + " for " +
                    e.find("dur")->scalar);
  return out;
}

TEST(StepTrace, NamesBarsByMicroBatchAndPart) {
  const auto doc = json::parse("t.json", chrome_trace(timeline(), "gpt"));
  ASSERT_TRUE(doc) << text(doc.error());
  EXPECT_EQ(doc->root().find("otherData")->find("title")->scalar, "gpt");
  EXPECT_EQ(bars(*doc),
            (std::vector<std::string>{"forward 0 of part 0 at 0.000000 for 1000.000000",
                                      "send 0 of part 0 at 1000.000000 for 500.000000",
                                      "forward 0 of part 1 at 2000.000000 for 1000.000000",
                                      "data parallel at 6000.000000 for 2500.000000",
                                      "optimizer at 8500.000000 for 500.000000",
                                      "forward 0 of part 0 at 1500.000000 for 1000.000000"}));
}

TEST(StepTrace, WithoutVirtualStagesAPartNeedsNoName) {
  predict::StepTimeline plain = timeline();
  for (predict::Event& e : plain.events) e.chunk = 0;
  const auto doc = json::parse("t.json", chrome_trace(plain, "gpt"));
  ASSERT_TRUE(doc);
  EXPECT_TRUE(bars(*doc).front().starts_with("forward 0 at"));
}

}  // namespace
}  // namespace railyard::report

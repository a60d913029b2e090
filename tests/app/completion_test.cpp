#include "app/completion.h"

#include <gtest/gtest.h>

namespace railyard::app {
namespace {

using Words = std::vector<std::string>;

std::vector<Command> sample_table() {
  return {
      {.words = "show",
       .arguments = {{.name = "PART", .value = Value::part},
                     {.name = "FILE", .value = Value::file, .repeats = true}},
       .options =
           {{.name = "--by", .letter = 'b', .value = Value::choice, .choices = {"source", "size"}},
            {.name = "--count", .value = Value::integer}}},
      {.words = "plan run", .arguments = {{.name = "CLUSTER"}}},
      {.words = "plan sweep"}};
}

Words after(const Words& typed) {
  return candidates(sample_table(), typed, [] { return Words{"h100", "h200", "a100"}; });
}

TEST(Completion, BeginsWithTheCommands) {
  EXPECT_EQ(after({""}), (Words{"show", "plan"}));
  EXPECT_EQ(after({"p"}), Words{"plan"});
  EXPECT_EQ(after({"plan", ""}), (Words{"run", "sweep"}));
  EXPECT_EQ(after({}), (Words{"show", "plan"}));
  EXPECT_EQ(after({"nonsense", ""}), Words{});
}

TEST(Completion, KnowsWhatEachArgumentIs) {
  EXPECT_EQ(after({"show", "h"}), (Words{"h100", "h200"}));
  EXPECT_EQ(after({"show", "h100", ""}), Words{":file"});
  EXPECT_EQ(after({"show", "h100", "a", ""}), Words{":file"}) << "the last one repeats";
  EXPECT_EQ(after({"plan", "run", "a", ""}), Words{}) << "no more are taken";
}

TEST(Completion, KnowsWhatAnOptionWants) {
  EXPECT_EQ(after({"show", "--by", "s"}), (Words{"source", "size"}));
  EXPECT_EQ(after({"show", "-b", "so"}), Words{"source"});
  EXPECT_EQ(after({"show", "--by", "=", "si"}), Words{"size"}) << "as bash splits it";
  EXPECT_EQ(after({"show", "--count", ""}), Words{}) << "a number is the user's";
  EXPECT_EQ(after({"show", "--by", "size", "a"}), Words{"a100"})
      << "an option's value is no argument";
  EXPECT_EQ(after({"show", "--output", ""}), Words{":file"});
  EXPECT_EQ(after({"show", "--catalog", ""}), Words{":folder"});
}

TEST(Completion, ThereIsAScriptForEachShellAndForNoOther) {
  for (const char* shell : {"bash", "zsh", "fish"})
    EXPECT_TRUE(completion_script(shell).contains("completion candidates")) << shell;
  EXPECT_EQ(completion_script("tcsh"), "");
}

}  // namespace
}  // namespace railyard::app

#include "app/command_line.h"

#include <gtest/gtest.h>

namespace railyard::app {
namespace {

Command sample() {
  return {
      .words = "plan run",
      .summary = "a command for tests",
      .arguments = {{.name = "CLUSTER", .summary = "a cluster file"},
                    {.name = "JOB", .summary = "job files", .optional = true, .repeats = true}},
      .options = {{.name = "--set", .value = Value::text, .placeholder = "K=V", .repeats = true},
                  {.name = "--max-gpus", .letter = 'm', .value = Value::integer},
                  {.name = "--days", .value = Value::number, .fallback = "30"},
                  {.name = "--explain"}}};
}

Given parsed(const std::vector<std::string>& words) {
  auto given = parse_command_line(sample(), words);
  EXPECT_TRUE(given) << given.error().text();
  return given ? *std::move(given) : Given({}, {});
}

std::string refused(const std::vector<std::string>& words) {
  const auto given = parse_command_line(sample(), words);
  EXPECT_FALSE(given);
  return given ? std::string() : given.error().text();
}

TEST(CommandLine, OptionsStandAnywhereAndInBothSpellings) {
  const Given g = parsed({"--explain", "pod.yaml", "--set", "a=1", "job1", "--set=b=2", "job2",
                          "-m", "64", "--format=json"});
  EXPECT_EQ(g.text("CLUSTER"), "pod.yaml");
  EXPECT_EQ(g.list("JOB"), (std::vector<std::string>{"job1", "job2"}));
  EXPECT_EQ(g.list("--set"), (std::vector<std::string>{"a=1", "b=2"}));
  EXPECT_EQ(g.integer("--max-gpus"), 64);
  EXPECT_TRUE(g.flag("--explain"));
  EXPECT_EQ(g.format(), Format::json);
  EXPECT_EQ(g.command(), "plan run");
}

TEST(CommandLine, WhatIsNotTypedHasItsFallback) {
  const Given g = parsed({"pod.yaml"});
  EXPECT_DOUBLE_EQ(g.number("--days"), 30);
  EXPECT_FALSE(g.flag("--days")) << "a fallback was not typed";
  EXPECT_FALSE(g.flag("--explain"));
  EXPECT_FALSE(g.has("JOB"));
  EXPECT_EQ(g.integer("--max-gpus"), 0);
  EXPECT_EQ(g.format(), Format::table);
}

TEST(CommandLine, TheLastOfTwoWins) {
  EXPECT_EQ(parsed({"a", "--format", "json", "--format", "csv"}).format(), Format::csv);
}

TEST(CommandLine, BehindTwoDashesNothingIsAnOption) {
  EXPECT_EQ(parsed({"a", "--", "--explain"}).text("JOB"), "--explain");
  EXPECT_EQ(parsed({"-", "--days", "2"}).text("CLUSTER"), "-") << "one dash is standard input";
}

TEST(CommandLine, NegativeNumbersAreValues) {
  EXPECT_EQ(parsed({"a", "--max-gpus", "-5"}).integer("--max-gpus"), -5);
}

TEST(CommandLine, MistakesNameTheCommandAndTheWayOut) {
  EXPECT_EQ(refused({}),
            "railyard plan run: expected CLUSTER (a cluster file), found nothing\n"
            "  hint: see railyard plan run --help");
  EXPECT_EQ(refused({"a", "--explian"}),
            "railyard plan run: expected an option of this command, found '--explian'\n"
            "  hint: did you mean '--explain'?");
  EXPECT_EQ(refused({"a", "--max-gpus", "many"}),
            "railyard plan run: expected a whole number for --max-gpus, found 'many'\n"
            "  hint: see railyard plan run --help");
  EXPECT_EQ(refused({"a", "--days", "3x"}),
            "railyard plan run: expected a number for --days, found '3x'\n"
            "  hint: see railyard plan run --help");
  EXPECT_EQ(refused({"a", "--days"}),
            "railyard plan run: expected a value for --days, found nothing\n"
            "  hint: see railyard plan run --help");
}

TEST(CommandLine, AskingForWhatTheDescriptionDoesNotHaveIsOurBug) {
  EXPECT_THROW(parsed({"a"}).text("--no-such-option"), std::logic_error);
}

TEST(FindCommand, TakesTheLongestMatch) {
  const std::vector<Command> table{{.words = "plan"}, {.words = "plan run"}, {.words = "show"}};
  const std::vector<std::string> both{"plan", "run", "x"}, one{"plan", "x"};
  EXPECT_EQ(find_command(table, both)->command->words, "plan run");
  EXPECT_EQ(find_command(table, both)->words, 2u);
  EXPECT_EQ(find_command(table, one)->command->words, "plan");
}

TEST(FindCommand, SaysHowFarItMadeSense) {
  const std::vector<Command> table{{.words = "nccl explain"}, {.words = "nccl judge"}};
  const std::vector<std::string> typed{"nccl", "juge"}, group{"nccl"}, none;
  EXPECT_EQ(find_command(table, typed).error().text(),
            "railyard nccl: expected explain or judge, found 'juge'\n"
            "  hint: did you mean 'judge'?");
  EXPECT_EQ(find_command(table, group).error().found, "nothing");
  EXPECT_EQ(find_command(table, none).error().expected, "a command");
}

}  // namespace
}  // namespace railyard::app

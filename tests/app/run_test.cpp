#include "app/run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "app/answer.h"
#include "app/command_table.h"
#include "app/version.h"
#include "base/json_reader.h"
#include "base/sha256.h"
#include "base/text.h"
#include "terminal.h"

namespace railyard::app {
namespace {

/// Commands that end in each way.
std::vector<Command> sample_table() {
  return {{.words = "fine",
           .run =
               [](const Given& given, Io& io) {
                 report::Table table{.columns = {{"n", "n", report::Align::right}}};
                 table.add({42});
                 give(table, {}, given, io);
                 return Exit::ok;
               }},
          {.words = "found",
           .run =
               [](const Given&, Io& io) {
                 io.out("one finding\n");
                 return Exit::findings;
               }},
          {.words = "refused",
           .run =
               [](const Given&, Io& io) {
                 io.out("half an answer");
                 return refuse(Problem{.expected = "better", .found = "this"}, io);
               }},
          {.words = "broken",
           .arguments = {{.name = "FILE", .summary = "a file", .optional = true}},
           .run = [](const Given&, Io&) -> Exit { throw std::runtime_error("index 7 of 3"); }},
          {.words = "forgetful", .run = [](const Given& given, Io&) {
             return given.flag("--not-described") ? Exit::ok : Exit::findings;
           }}};
}

TEST(Run, AnswersInTheFormThatIsAskedFor) {
  Terminal table, csv, json;
  EXPECT_EQ(table.run({"fine"}, sample_table()), Exit::ok);
  EXPECT_EQ(table.out, " n\n42\n");
  EXPECT_EQ(csv.run({"fine", "--format", "csv"}, sample_table()), Exit::ok);
  EXPECT_EQ(csv.out, "n\n42\n");
  EXPECT_EQ(json.run({"fine", "--format", "json"}, sample_table()), Exit::ok);
  const auto doc = json::parse("out", json.out);
  ASSERT_TRUE(doc) << json.out;
  EXPECT_EQ(doc->root().find("schema")->scalar, "railyard.fine/1");
  EXPECT_EQ(doc->root().find("generated_by")->scalar, signature());
  EXPECT_EQ(doc->root().find("result")->items.at(0).find("n")->scalar, "42");
  EXPECT_EQ(table.err + csv.err + json.err, "");
}

TEST(Run, FindingsAreAnAnswerWithAnotherExitCode) {
  Terminal t;
  EXPECT_EQ(t.run({"found"}, sample_table()), Exit::findings);
  EXPECT_EQ(t.out, "one finding\n");
}

TEST(Run, OurOwnBugIsToldWithAllThatIsNeededToRepeatIt) {
  const std::string file = testing::TempDir() + "railyard-run-input.yaml";
  std::ofstream(file) << "abc";
  Terminal t;
  EXPECT_EQ(t.run({"broken", file}, sample_table()), Exit::internal);
  EXPECT_EQ(t.out, "");
  EXPECT_TRUE(t.err.contains("a mistake in railyard, not in what you typed")) << t.err;
  EXPECT_TRUE(t.err.contains("command  railyard broken " + file)) << t.err;
  EXPECT_TRUE(t.err.contains("index 7 of 3")) << t.err;
  EXPECT_TRUE(t.err.contains(version())) << t.err;
  EXPECT_TRUE(t.err.contains("sha256 " + sha256("abc"))) << t.err;
  std::remove(file.c_str());
}

TEST(Run, ACommandThatAsksForAnUndescribedOptionIsOurBugToo) {
  Terminal t;
  EXPECT_EQ(t.run({"forgetful"}, sample_table()), Exit::internal);
  EXPECT_TRUE(t.err.contains("--not-described")) << t.err;
}

TEST(Run, OutputGoesToAFileWholeOrNotAtAll) {
  const std::string file = testing::TempDir() + "railyard-run-output.txt";
  Terminal t;
  EXPECT_EQ(t.run({"found", "-o", file}, sample_table()), Exit::findings);
  EXPECT_EQ(t.out, "");
  EXPECT_EQ(read_file(file).value(), "one finding\n");
  EXPECT_EQ(t.run({"refused", "-o", file}, sample_table()), Exit::bad_input);
  EXPECT_EQ(read_file(file).value(), "one finding\n")
      << "half an answer does not replace a whole one";
  EXPECT_EQ(t.run({"found", "-o", "/no/such/folder/x"}, sample_table()), Exit::output);
  std::remove(file.c_str());
}

TEST(Run, HelpIsAnAnswerAndAMistakeIsNone) {
  Terminal help, mistake;
  EXPECT_EQ(help.run({"fine", "--help"}, sample_table()), Exit::ok);
  EXPECT_TRUE(help.out.starts_with("railyard fine [options]\n")) << help.out;
  EXPECT_EQ(help.err, "");
  EXPECT_EQ(mistake.run({"fin"}, sample_table()), Exit::usage);
  EXPECT_EQ(mistake.out, "");
  EXPECT_EQ(mistake.err,
            "railyard: expected a command, found 'fin'\n  hint: did you mean 'fine'?\n");
}

TEST(Run, TheSameInputGivesTheSameBytes) {
  for (const char* format : {"table", "json", "csv"}) {
    Terminal first, second;
    second.seconds = 1234.5;  // another time of day
    const std::vector<std::string> words{"catalog", "list", "--format", format};
    EXPECT_EQ(first.run(words, standard_commands()), Exit::ok);
    EXPECT_EQ(second.run(words, standard_commands()), Exit::ok);
    EXPECT_EQ(first.out, second.out);
    EXPECT_GT(first.out.size(), 1000u);
  }
}

TEST(Run, AnAnswerDoesNotTellWhereTheProgramLies) {
  const std::string here = std::filesystem::current_path().string();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"demo", "--all", "--format", "json"},
        {"demo"},
        {"validate", "ranking", "--format", "json"}}) {
    Terminal t;
    Io io = t.io();
    io.catalog = here + "/catalog";
    EXPECT_EQ(run(words, standard_commands(), io), Exit::ok) << t.err;
    EXPECT_FALSE(t.out.contains(here)) << words.front();
    EXPECT_FALSE(t.out.contains("/../")) << words.front();
    EXPECT_TRUE(t.out.contains(words.front() == "demo" ? "examples/case-512/case.yaml"
                                                       : "validation/training_throughput.csv"));
  }
}

TEST(Run, EveryCommandAnswersHelpInEachForm) {
  const std::vector<Command> table = standard_commands();
  for (const Command& c : table) {
    Terminal dash, word;
    std::vector<std::string> behind = words_of(c), before = words_of(c);
    behind.emplace_back("--help");
    before.insert(before.begin(), "help");
    EXPECT_EQ(dash.run(behind, table), Exit::ok) << c.words;
    EXPECT_EQ(word.run(before, table), Exit::ok) << c.words;
    EXPECT_EQ(dash.out, word.out) << c.words;
  }
}

}  // namespace
}  // namespace railyard::app

// Laws of the command table: whatever is added to it later, these hold.

#include "app/command_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "app/command_line.h"
#include "app/completion.h"
#include "app/help.h"
#include "report/width.h"

namespace railyard::app {
namespace {

/// The words of an example as a shell splits them, up to a pipe, a redirection or a comment.
std::vector<std::string> shell_words(const std::string& line) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : line + ' ') {
    if (c != ' ') {
      word += c;
      continue;
    }
    if (word == "|" || word == ">" || word == "#") break;
    if (!word.empty()) out.push_back(word);
    word.clear();
  }
  return out;
}

TEST(CommandTable, EveryCommandIsWhollyDescribed) {
  std::set<std::string> seen;
  for (const Command& c : standard_commands()) {
    EXPECT_TRUE(seen.insert(c.words).second) << c.words << " stands twice";
    EXPECT_FALSE(c.summary.empty()) << c.words;
    EXPECT_FALSE(c.summary.ends_with('.')) << c.words;
    EXPECT_FALSE(c.examples.empty()) << c.words;
    EXPECT_TRUE(c.run) << c.words;
    for (const Option& o : all_options(c)) {
      EXPECT_TRUE(o.name.starts_with("--")) << c.words << o.name;
      EXPECT_FALSE(o.summary.empty()) << c.words << o.name;
      EXPECT_EQ(o.value == Value::none, o.placeholder.empty()) << c.words << o.name;
      EXPECT_EQ(o.value == Value::choice, !o.choices.empty()) << c.words << o.name;
    }
    for (const Argument& a : c.arguments) {
      EXPECT_FALSE(a.summary.empty()) << c.words << a.name;
      EXPECT_TRUE(std::ranges::all_of(a.name, [](unsigned char l) { return !std::islower(l); }))
          << c.words << ": arguments are in capitals";
      EXPECT_TRUE(!a.repeats || &a == &c.arguments.back()) << c.words << ": only the last repeats";
    }
  }
}

TEST(CommandTable, NoOptionStandsTwice) {
  for (const Command& c : standard_commands()) {
    std::set<std::string> names;
    std::set<char> letters;
    for (const Option& o : all_options(c)) {
      EXPECT_TRUE(names.insert(o.name).second) << c.words << ' ' << o.name;
      EXPECT_TRUE(!o.letter || letters.insert(o.letter).second) << c.words << " -" << o.letter;
    }
  }
}

TEST(CommandTable, EveryExampleIsACommandLineThatParses) {
  const std::vector<Command> table = standard_commands();
  for (const Command& c : table)
    for (const Example& e : c.examples) {
      EXPECT_FALSE(e.what.empty()) << e.line;
      std::vector<std::string> words = shell_words(e.line);
      const auto start = std::ranges::find_if(words, [](const std::string& w) {
        return w == "railyard" || w.ends_with("$(railyard") || w.ends_with("<(railyard");
      });
      ASSERT_NE(start, words.end()) << e.line;
      words.erase(words.begin(), start + 1);
      while (!words.empty() && words.back().find_first_of(")\"") != std::string::npos)
        words.back().resize(words.back().find_first_of(")\""));
      const auto match = find_command(table, words);
      ASSERT_TRUE(match) << e.line << '\n' << match.error().text();
      EXPECT_EQ(match->command->words, c.words) << e.line;
      const auto given =
          parse_command_line(*match->command, std::span(words).subspan(match->words));
      EXPECT_TRUE(given) << e.line << '\n' << given.error().text();
    }
}

TEST(CommandTable, HelpAndCompletionNameEveryOption) {
  const std::vector<Command> table = standard_commands();
  for (const Command& c : table) {
    const std::string page = help(c, 100);
    std::vector<std::string> typed = words_of(c);
    typed.emplace_back("--");
    const auto offered = candidates(table, typed, [] { return std::vector<std::string>(); });
    for (const Option& o : all_options(c)) {
      EXPECT_TRUE(page.contains(o.name)) << c.words << ' ' << o.name;
      EXPECT_NE(std::ranges::find(offered, o.name), offered.end()) << c.words << ' ' << o.name;
    }
    for (const Argument& a : c.arguments) EXPECT_TRUE(page.contains(a.name)) << c.words << a.name;
  }
}

TEST(CommandTable, HelpPagesFitTheTerminal) {
  for (const Command& c : standard_commands())
    for (const int width : {80, 100, 160}) {
      const std::string page = help(c, width);
      for (std::size_t from = 0; from < page.size();) {
        const std::size_t end = page.find('\n', from);
        EXPECT_LE(report::display_width(page.substr(from, end - from)), width)
            << page.substr(from, end - from);
        from = end + 1;
      }
    }
}

}  // namespace
}  // namespace railyard::app

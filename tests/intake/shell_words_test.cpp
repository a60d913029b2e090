#include "intake/shell_words.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace railyard::intake {
namespace {

/// The words of the last command, joined by '|'.
std::string last(std::string_view script) {
  const ShellScript s = read_shell({.file = "run.sh", .bytes = script});
  std::string out;
  if (s.commands.empty()) return out;
  for (const ShellWord& w : s.commands.back()) out += (out.empty() ? "" : "|") + w.text;
  return out;
}

TEST(ShellWords, BlanksPartAndQuotesJoin) {
  EXPECT_EQ(last("python  a.py 'one two' \"three four\" five\\ six"),
            "python|a.py|one two|three four|five six");
}

TEST(ShellWords, ABackslashAtTheEndContinuesTheLine) {
  EXPECT_EQ(last("python a.py \\\n  --x 1 \\\r\n  --y 2\n"), "python|a.py|--x|1|--y|2");
}

TEST(ShellWords, CommentsAreNoWordsButAHashInsideAWordIs) {
  EXPECT_EQ(last("run a#b # c d\n"), "run|a#b");
}

TEST(ShellWords, VariablesAreReplacedAndUnquotedOnesAreSplit) {
  EXPECT_EQ(last("A=\"1 2\"\nB=$A\nrun $A \"$A\" ${B}x\n"), "run|1|2|1 2|1|2x");
}

TEST(ShellWords, ArraysGiveTheirItems) {
  EXPECT_EQ(last("ARGS=(\n  --x 1 # why\n  '--y=a b'\n)\nARGS+=( --z )\nrun \"${ARGS[@]}\" end\n"),
            "run|--x|1|--y=a b|--z|end");
  EXPECT_EQ(last("A=(1 2)\nrun $A\n"), "run|1");  // bash gives the first
}

TEST(ShellWords, DefaultsStandInForUnsetVariables) {
  EXPECT_EQ(last("A=4\nrun ${A:-8} ${B:-8} ${C:-${A}} ${D-'x y'}\n"), "run|4|8|4|x|y");
}

TEST(ShellWords, ArithmeticIsWorkedOut) {
  EXPECT_EQ(last("N=4\nG=8\nW=$(($N * G))\nrun $W $((2+3*4)) $(( (2+3)*4 )) $((7/2)) $((7%4))\n"),
            "run|32|14|20|3|3");
  EXPECT_EQ(last("run $((1/0)) $((unset+1))\n"), "run|$((1/0))|$((unset+1))");
}

TEST(ShellWords, WhatOnlyARunningShellKnowsStaysAsWritten) {
  EXPECT_EQ(last("run $1 ${UNSET} $(hostname -s) `pwd`/a.py ${A%%.*}\n"),
            "run|$1|${UNSET}|$(hostname -s)|`pwd`/a.py|${A%%.*}");
}

TEST(ShellWords, RedirectionsAreNoArguments) {
  EXPECT_EQ(last("run --x 1 > out.txt 2>&1\n"), "run|--x|1");
  EXPECT_EQ(last("run --x 1 2> err.txt --y 2 >> log\n"), "run|--x|1|--y|2");
}

TEST(ShellWords, ACommandInsideQuotesIsACommandToo) {
  EXPECT_EQ(last("CMD='a.py --x 1'\nsrun bash -c 'python $CMD --y 2'\n"),
            "python|a.py|--x|1|--y|2");
}

TEST(ShellWords, AWordKnowsWhereItWasWritten) {
  const std::string_view script = "A=\"--x 17\"\nrun $A\n";
  const ShellScript s = read_shell({.file = "run.sh", .bytes = script});
  ASSERT_EQ(s.commands.size(), 1u);
  ASSERT_EQ(s.commands[0].size(), 3u);
  EXPECT_EQ(s.commands[0][1].offset, 3u);  // --x inside the quotes of line 1
  EXPECT_EQ(s.commands[0][2].offset, 7u);
}

TEST(ShellWords, ASecondAssignmentUnderAConditionIsCounted) {
  const ShellScript s =
      read_shell({.file = "run.sh", .bytes = "TP=8\nif [ $N = 1 ]; then\n  TP=1\nfi\nrun $TP\n"});
  ASSERT_EQ(s.skipped.size(), 1u);
  EXPECT_EQ(s.skipped[0].what, "assignments under a condition");
  EXPECT_EQ(s.skipped[0].first[0].line, 3);
}

TEST(ShellWords, AnOpenQuoteIsCountedAtItsPlace) {
  const ShellScript s = read_shell({.file = "run.sh", .bytes = "run a\nrun 'b c\nd\n"});
  ASSERT_EQ(s.skipped.size(), 1u);
  EXPECT_EQ(s.skipped[0].first[0].line, 2);
  EXPECT_EQ(s.skipped[0].first[0].column, 5);
}

TEST(ShellWords, AScriptThatDoublesAVariableOnEveryLineIsCutOff) {
  std::string script = "A=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 60; ++i) script += "A=\"$A$A\"\n";
  const ShellScript s = read_shell({.file = "run.sh", .bytes = script + "run $A\n"});
  ASSERT_EQ(s.skipped.size(), 1u);
  EXPECT_EQ(s.skipped[0].what, "variables that grow too large");
}

}  // namespace
}  // namespace railyard::intake

#include "app/help.h"

#include <algorithm>

#include "app/version.h"
#include "report/width.h"

namespace railyard::app {

namespace {

constexpr std::size_t kExamples = 3;  // of the overview

struct Entry {
  std::string what, meaning;
};

/// Two columns; the second is wrapped at blanks, and begins below a first that is too long for it.
std::string entries(const std::vector<Entry>& list, int width) {
  constexpr int kNarrowest = 30;  // of the second
  int left = 0;
  for (const Entry& e : list)
    if (const int w = report::display_width(e.what); w + 4 + kNarrowest <= width)
      left = std::max(left, w);
  const std::string indent(static_cast<std::size_t>(left) + 4, ' ');
  std::string out;
  for (const Entry& e : list) {
    std::string before = "  " + report::pad_right(e.what, left + 2);
    if (report::display_width(e.what) > left) {
      out += "  " + e.what + '\n';
      before = indent;
    }
    for (const std::string& line :
         report::wrap(e.meaning, std::max(kNarrowest, width - left - 4))) {
      out += before + line + '\n';
      before = indent;
    }
  }
  return out;
}

std::string usage(const Command& command) {
  std::string out = "railyard " + command.words;
  for (const Argument& a : command.arguments) {
    const std::string name = a.name + (a.repeats ? "..." : "");
    out += a.optional ? " [" + name + ']' : ' ' + name;
  }
  return out + (all_options(command).empty() ? "" : " [options]");
}

std::string option_name(const Option& o) {
  std::string out = o.letter ? std::string{'-', o.letter, ',', ' '} + o.name : o.name;
  if (o.value != Value::none) out += ' ' + o.placeholder;
  return out;
}

std::string option_meaning(const Option& o) {
  std::string out = o.summary;
  if (o.repeats) out += "; may be given more than once";
  if (!o.choices.empty() && o.name != "--format") {
    out += ':';
    for (const std::string& choice : o.choices) out += ' ' + choice;
  }
  if (!o.fallback.empty()) out += " (" + o.fallback + " when not given)";
  return out;
}

std::vector<Entry> options_as_entries(const std::vector<Option>& options) {
  std::vector<Entry> list;
  for (const Option& o : options) list.push_back({option_name(o), option_meaning(o)});
  return list;
}

std::string exit_codes(const Command& command, int width) {
  std::vector<ExitNote> notes{{Exit::ok, "done"},
                              {Exit::usage, "usage"},
                              {Exit::internal, "our bug"},
                              {Exit::output, "the answer could not be written"}};
  notes.insert(notes.end(), command.exits.begin(), command.exits.end());
  std::ranges::stable_sort(notes, {}, &ExitNote::code);
  std::string text = "Exit codes:";
  for (const ExitNote& note : notes)
    text += (&note == &notes.front() ? " " : "; ") + std::to_string(static_cast<int>(note.code)) +
            ' ' + note.when;
  std::string lines;
  for (const std::string& line : report::wrap(text, width)) lines += line + '\n';
  return lines;
}

std::string first_word(const std::string& words) { return words.substr(0, words.find(' ')); }

/// "demo, predict, catalog, help": commands with the same first word count once.
std::string first_words(const std::vector<Command>& table) {
  std::string out, last;
  for (const Command& command : table) {
    const std::string first = first_word(command.words);
    if (first != last) out += (out.empty() ? "" : ", ") + first;
    last = first;
  }
  return out;
}

}  // namespace

std::string overview(const std::vector<Command>& table, int width) {
  std::vector<Entry> examples;
  for (const Command& command : table)
    if (!command.examples.empty() && examples.size() < kExamples)
      examples.push_back({command.examples.front().line, command.examples.front().what});
  const std::vector<std::string> names = report::wrap(first_words(table), width - 2);
  std::string out =
      std::string(signature()) +
      ": what a training job does on a cluster, what holds it back, what to change\n\n"
      "Begin with:\n" +
      entries(examples, width) + "\nCommands:\n";
  for (const std::string& line : names) out += "  " + line + '\n';
  out += "\nEvery command has --help. Answers go to standard output, as table, json or csv.\n";
  // A second line of commands takes the place of this one: twelve lines are enough.
  if (names.size() == 1)
    out += "Exit codes: 0 done; 1 done, and something is wrong; 2 usage; 3 input; 70 our bug.\n";
  return out;
}

std::string help(const Command& command, int width) {
  std::string out = usage(command) + "\n  " + command.summary + '\n';
  if (!command.examples.empty()) {
    std::vector<Entry> list;
    for (const Example& e : command.examples) list.push_back({e.line, e.what});
    out += "\nExamples:\n" + entries(list, width);
  }
  if (!command.arguments.empty()) {
    std::vector<Entry> list;
    for (const Argument& a : command.arguments) {
      std::string meaning = a.summary;
      if (!a.choices.empty()) meaning += ':';
      for (const std::string& choice : a.choices) meaning += ' ' + choice;
      list.push_back({a.name, meaning});
    }
    out += "\nArguments:\n" + entries(list, width);
  }
  std::vector<Entry> list = options_as_entries(command.options);
  if (!list.empty()) out += "\nOptions:\n" + entries(list, width);
  list = options_as_entries(command.result ? common_options() : std::vector<Option>{});
  list.push_back({"-h, --help", "this page"});
  return out + "\nCommon options:\n" + entries(list, width) + '\n' + exit_codes(command, width);
}

std::string group_help(const std::vector<Command>& table, std::string_view word, int width) {
  std::vector<Entry> list;
  for (const Command& command : table)
    if (first_word(command.words) == word)
      list.push_back({"railyard " + command.words, command.summary});
  return list.empty() ? std::string() : entries(list, width);
}

}  // namespace railyard::app

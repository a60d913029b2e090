// The one file that includes CLI11 (its header takes four seconds to compile). CLI11 splits the
// words into options and arguments; what may be given, and what is said when it is wrong, comes
// from the command's description.

#include "app/command_line.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/suggest.h"

namespace railyard::app {

namespace {

std::string listed(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i)
    out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return out;
}

struct Mistake {
  std::string expected = {}, found = {}, hint = {};
};

/// `words`: the command as far as it was understood.
Problem mistake(const std::string& words, Mistake m) {
  const std::string name = words.empty() ? "railyard" : "railyard " + words;
  return {.at = {.file = name},
          .expected = std::move(m.expected),
          .found = std::move(m.found),
          .hint = m.hint.empty() ? "see " + name + " --help" : std::move(m.hint)};
}

Problem mistake(const Command& command, Mistake m) { return mistake(command.words, std::move(m)); }

std::string quoted(const std::string& word) { return '\'' + word + '\''; }

/// What values an option or argument may have.
struct Domain {
  const std::string& name;
  Value kind;
  const std::vector<std::string>& choices;
};

template <class T>
bool reads_as(const std::string& value) {
  T number{};
  const char* const end = value.data() + value.size();
  const auto [stop, ec] = std::from_chars(value.data(), end, number);
  return ec == std::errc{} && stop == end;
}

std::string expected_of(const Domain& domain, const std::string& value) {
  switch (domain.kind) {
    case Value::choice:
      return std::ranges::find(domain.choices, value) == domain.choices.end()
                 ? listed(domain.choices)
                 : std::string();
    case Value::integer: return reads_as<std::int64_t>(value) ? "" : "a whole number";
    case Value::number: return reads_as<double>(value) ? "" : "a number";
    default: return {};
  }
}

/// What is wrong with the first bad value, if there is one.
std::optional<Problem> check_values(const Command& command, const Domain& domain,
                                    const std::vector<std::string>& values) {
  for (const std::string& value : values)
    if (const std::string expected = expected_of(domain, value); !expected.empty())
      return mistake(command, {expected + " for " + domain.name, quoted(value),
                               did_you_mean(value, domain.choices)});
  return std::nullopt;
}

Problem too_many(const Command& command, const std::string& word) {
  const std::size_t most = command.arguments.size();
  const std::string expected =
      most == 0 ? "no argument"
                : "at most " + std::to_string(most) + (most == 1 ? " argument" : " arguments");
  return mistake(command, {expected, quoted(word)});
}

Problem unknown_option(const Command& command, const std::string& word) {
  std::vector<std::string> known{"--help"};
  for (const Option& o : all_options(command)) known.push_back(o.name);
  return mistake(command, {"an option of this command", quoted(word),
                           did_you_mean(word.substr(0, word.find('=')), known)});
}

/// The words by option, and those that belong to none.
struct Typed {
  std::map<std::string, std::vector<std::string>> values = {};
  std::map<std::string, bool> flags = {};
  std::vector<std::string> words = {};
};

Result<Typed> split(const Command& command, std::span<const std::string> rest) {
  const auto dashes = std::ranges::find(rest, "--");  // behind it, nothing is an option
  Typed typed;
  CLI::App cli;
  cli.set_help_flag();  // --help is ours
  cli.allow_extras();
  for (const Option& o : all_options(command)) {
    const std::string letter = o.letter ? std::string{'-', o.letter, ','} : std::string();
    if (o.value == Value::none) {
      cli.add_flag(letter + o.name, typed.flags[o.name]);
      continue;
    }
    cli.add_option(letter + o.name, typed.values[o.name])
        ->type_size(1)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(o.repeats ? CLI::MultiOptionPolicy::TakeAll
                                        : CLI::MultiOptionPolicy::TakeLast);
  }
  try {
    std::vector<std::string> reversed(rest.begin(), dashes);  // CLI11 takes the last word first
    std::ranges::reverse(reversed);
    cli.parse(std::move(reversed));
  } catch (const CLI::ArgumentMismatch& e) {  // "--output: 1 required TEXT missing"
    const std::string option = std::string(e.what()).substr(0, std::string(e.what()).find(':'));
    return std::unexpected(mistake(command, {"a value for " + option, "nothing"}));
  } catch (const CLI::ParseError& e) {
    return std::unexpected(mistake(command, {"options with their values", e.what()}));
  }
  for (std::string& word : cli.remaining()) {
    if (word.starts_with('-') && word.size() > 1)
      return std::unexpected(unknown_option(command, word));
    typed.words.push_back(std::move(word));
  }
  if (dashes != rest.end()) typed.words.insert(typed.words.end(), dashes + 1, rest.end());
  return typed;
}

}  // namespace

std::vector<std::string> next_words(const std::vector<Command>& table,
                                    std::span<const std::string> words) {
  std::vector<std::string> out;
  for (const Command& command : table) {
    const std::vector<std::string> own = words_of(command);
    if (own.size() > words.size() &&
        std::ranges::equal(std::span(own).first(words.size()), words) &&
        std::ranges::find(out, own[words.size()]) == out.end())
      out.push_back(own[words.size()]);
  }
  return out;
}

Result<Match> find_command(const std::vector<Command>& table, std::span<const std::string> typed) {
  Match best;
  for (const Command& command : table) {
    const std::vector<std::string> own = words_of(command);
    if (own.size() > best.words && own.size() <= typed.size() &&
        std::ranges::equal(own, typed.first(own.size())))
      best = {&command, own.size()};
  }
  if (best.command) return best;

  // How far did it make sense? "catalog lsit" is a mistake in the second word.
  std::size_t known = 0;
  std::string begun;
  std::vector<std::string> next = next_words(table, {});
  while (known < typed.size() && std::ranges::find(next, typed[known]) != next.end()) {
    begun += (begun.empty() ? "" : " ") + typed[known++];
    next = next_words(table, typed.first(known));
  }
  const std::string expected = known == 0 ? "a command" : listed(next);
  if (known == typed.size()) return std::unexpected(mistake(begun, {expected, "nothing"}));
  return std::unexpected(
      mistake(begun, {expected, quoted(typed[known]), did_you_mean(typed[known], next)}));
}

Result<Given> parse_command_line(const Command& command, std::span<const std::string> rest) {
  Typed typed = RY_TRY(split(command, rest));
  std::map<std::string, Given::Slot, std::less<>> slots;
  for (const Option& o : all_options(command)) {
    Given::Slot& slot = slots[o.name];
    slot.typed = o.value == Value::none ? typed.flags[o.name] : !typed.values[o.name].empty();
    slot.values = std::move(typed.values[o.name]);
    if (slot.values.empty() && !o.fallback.empty()) slot.values.push_back(o.fallback);
    if (auto wrong = check_values(command, {o.name, o.value, o.choices}, slot.values))
      return std::unexpected(*std::move(wrong));
  }
  std::span<const std::string> words = typed.words;
  for (const Argument& a : command.arguments) {
    Given::Slot& slot = slots[a.name];
    const std::size_t take = a.repeats ? words.size() : std::min<std::size_t>(words.size(), 1);
    slot.values.assign(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(take));
    slot.typed = take > 0;
    words = words.subspan(take);
    if (!slot.typed && !a.optional)
      return std::unexpected(mistake(command, {a.name + " (" + a.summary + ')', "nothing"}));
    if (auto wrong = check_values(command, {a.name, a.value, a.choices}, slot.values))
      return std::unexpected(*std::move(wrong));
  }
  if (!words.empty()) return std::unexpected(too_many(command, words.front()));
  return Given(command.words, std::move(slots));
}

}  // namespace railyard::app

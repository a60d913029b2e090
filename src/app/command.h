#pragma once
// A command described as data. The parser, the help page, the shell completions and the tests all
// read the same description, so an option that is missing in one of them cannot exist.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/io.h"

namespace railyard::app {

/// What a value is: how it is checked before the command runs, and how a shell completes it.
enum class Value : std::uint8_t { none, text, file, folder, integer, number, choice, part };

struct Option {
  std::string name = {};         ///< "--format"
  char letter = 0;               ///< short form, only for the common ones
  Value value = Value::none;     ///< none: a flag
  std::string placeholder = {};  ///< "FILE", as help shows it
  std::string summary = {};
  std::vector<std::string> choices = {};  ///< of Value::choice
  std::string fallback = {};              ///< the value when the option is not given
  bool repeats = false;
};

struct Argument {
  std::string name = {};  ///< "CLUSTER"
  Value value = Value::file;
  std::string summary = {};
  bool optional = false;
  bool repeats = false;  ///< takes all that follow; only the last argument may
  std::vector<std::string> choices = {};
};

struct Example {
  std::string line = {};  ///< "railyard predict cluster.yaml job.yaml"
  std::string what = {};
};

/// An exit code of this command that is more than "done", "usage" and "our bug".
struct ExitNote {
  Exit code = Exit::findings;
  std::string when = {};
};

enum class Format : std::uint8_t { table, json, csv };

/// What the user typed, checked against the description. Asking for a name that the description
/// does not have is our mistake and throws std::logic_error.
class Given {
 public:
  struct Slot {
    std::vector<std::string> values = {};  ///< the fallback when nothing was typed
    bool typed = false;
  };

  Given(std::string command, std::map<std::string, Slot, std::less<>> slots)
      : command_(std::move(command)), slots_(std::move(slots)) {}

  /// The words of the command: "catalog list".
  const std::string& command() const { return command_; }
  bool flag(std::string_view option) const { return slot(option).typed; }
  bool has(std::string_view name) const { return !slot(name).values.empty(); }
  /// The value, or the fallback, or empty.
  std::string text(std::string_view name) const;
  const std::vector<std::string>& list(std::string_view name) const { return slot(name).values; }
  /// Of Value::integer and Value::number; zero when not given and without fallback.
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  Format format() const;

 private:
  const Slot& slot(std::string_view name) const;

  std::string command_;
  std::map<std::string, Slot, std::less<>> slots_;
};

struct Command {
  std::string words = {};  ///< "predict", "catalog list"
  std::string summary = {};
  std::vector<Argument> arguments = {};
  std::vector<Option> options = {};  ///< its own; common_options() come on top
  std::vector<Example> examples = {};
  std::vector<ExitNote> exits = {};
  bool result = true;  ///< answers with a result, hence --format and the other common options
  std::function<Exit(const Given&, Io&)> run = {};
};

/// --format, --output, --catalog, --no-timing, --no-color: of every command that has a result.
const std::vector<Option>& common_options();
/// "catalog list" as two words.
std::vector<std::string> words_of(const Command& command);
/// A command's own options, then the common ones.
std::vector<Option> all_options(const Command& command);

}  // namespace railyard::app

#pragma once
// From words to a checked command, or to a mistake that says what to type instead.

#include <span>
#include <string>
#include <vector>

#include "app/command.h"
#include "base/problem.h"

namespace railyard::app {

/// The command whose words `typed` begins with (the longest match), and how many words it took; or
/// "did you mean".
struct Match {
  const Command* command = nullptr;
  std::size_t words = 0;
};
Result<Match> find_command(const std::vector<Command>& table, std::span<const std::string> typed);

/// Words that can follow `words` in the name of a command, in the order of the table.
std::vector<std::string> next_words(const std::vector<Command>& table,
                                    std::span<const std::string> words);

/// Reads the words behind the command's own. All mistakes have exit code 2.
Result<Given> parse_command_line(const Command& command, std::span<const std::string> rest);

}  // namespace railyard::app

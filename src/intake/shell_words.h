#pragma once
// Splits a launch script into the words that a shell would hand to its commands. Enough of bash for
// the scripts people start training with: quotes, comments, continued lines, variables and arrays,
// `${NAME:-default}`, `$((8 * 4))`. Nothing is run: what only a running shell knows (`$1`,
// `$(hostname)`) stays in the word as it is written. Every word remembers where its first letter
// stands in the file, also when it came out of a variable.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "facts/seen.h"

namespace railyard::intake {

struct ShellWord {
  std::string text = {};
  std::size_t offset = 0;  ///< in the file
};
using ShellCommand = std::vector<ShellWord>;

struct ShellScript {
  std::vector<ShellCommand> commands =
      {};  ///< in file order, also those inside quotes (`bash -c '...'`)
  std::vector<std::pair<std::string, ShellCommand>> variables = {};  ///< last values, by name
  std::vector<ShellWord> comments = {};  ///< lines that begin with #, for #SBATCH
  std::vector<facts::Skipped> skipped = {};
};

ShellScript read_shell(const Text& text);

}  // namespace railyard::intake

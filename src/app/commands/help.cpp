// `railyard help COMMAND`: the same page as `railyard COMMAND --help`.

#include <vector>

#include "app/command.h"
#include "app/command_table.h"
#include "app/run.h"

namespace railyard::app {

std::vector<Command> help_commands() {
  return {{.words = "help",
           .summary = "what a command does, with examples",
           .arguments = {{.name = "COMMAND",
                          .value = Value::text,
                          .summary = "its words",
                          .optional = true,
                          .repeats = true}},
           .examples = {{"railyard help catalog list", "the same as railyard catalog list --help"}},
           .result = false,
           .run = [](const Given& given, Io& io) {
             std::vector<std::string> words = given.list("COMMAND");
             words.emplace_back("--help");
             return run(words, standard_commands(), io);
           }}};
}

}  // namespace railyard::app

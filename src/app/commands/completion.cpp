// `railyard completion bash|zsh|fish`, and the question that the scripts ask at each tab.

#include <string>
#include <vector>

#include "app/answer.h"
#include "app/command.h"
#include "app/command_table.h"
#include "app/completion.h"
#include "report/parts.h"

namespace railyard::app {

namespace {

Command script_for(const std::string& shell, const std::string& example) {
  return {.words = "completion " + shell,
          .summary = "tab completion for " + shell,
          .examples = {{example, "switch it on in this shell"}},
          .result = false,
          .run = [shell](const Given&, Io& io) {
            io.out(completion_script(shell));
            return Exit::ok;
          }};
}

/// The ids of the catalogue; none when it cannot be read: a tab is no place for an error.
std::vector<std::string> part_ids(const Io& io) {
  std::vector<std::string> out;
  if (const auto catalog = model::load_catalog(io.catalog))
    for (const report::PartView& part : report::parts_of(*catalog)) out.push_back(part.id);
  return out;
}

Exit suggest(const Given& given, Io& io) {
  for (const std::string& word :
       candidates(standard_commands(), given.list("WORD"), [&] { return part_ids(io); }))
    io.out(word + '\n');
  return Exit::ok;
}

}  // namespace

std::vector<Command> completion_commands() {
  return {script_for("bash", "eval \"$(railyard completion bash)\""),
          script_for("zsh", "source <(railyard completion zsh)"),
          script_for("fish", "railyard completion fish | source"),
          {.words = "completion candidates",
           .summary = "what can follow the words typed so far; the scripts ask this",
           .arguments = {{.name = "WORD",
                          .value = Value::text,
                          .summary = "typed words, the last one unfinished",
                          .optional = true,
                          .repeats = true}},
           .examples = {{"railyard completion candidates -- catalog sh", "prints: show"}},
           .result = false,
           .run = suggest}};
}

}  // namespace railyard::app

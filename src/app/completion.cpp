#include "app/completion.h"

#include <algorithm>

#include "app/command_line.h"

namespace railyard::app {

namespace {

constexpr std::string_view kBash =
    R"sh(# railyard: tab completion for bash.   eval "$(railyard completion bash)"
_railyard() {
  local -a found
  mapfile -t found < <(railyard completion candidates -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=()
  case "${found[0]-}" in
    :file) compopt -o default ;;
    :folder) compopt -o dirnames ;;
    *) COMPREPLY=("${found[@]}") ;;
  esac
}
complete -F _railyard railyard
)sh";

constexpr std::string_view kZsh = R"sh(#compdef railyard
# railyard: tab completion for zsh.   source <(railyard completion zsh)
_railyard() {
  local -a found
  found=("${(@f)$(railyard completion candidates -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case "${found[1]}" in
    :file) _files ;;
    :folder) _files -/ ;;
    *) compadd -- "${found[@]}" ;;
  esac
}
compdef _railyard railyard
)sh";

constexpr std::string_view kFish =
    R"sh(# railyard: tab completion for fish.   railyard completion fish | source
function __railyard_candidates
    set -l typed (commandline -opc) (commandline -ct)
    set -l found (railyard completion candidates -- $typed[2..-1] 2>/dev/null)
    switch "$found[1]"
        case ':file'
            __fish_complete_path (commandline -ct)
        case ':folder'
            __fish_complete_directories (commandline -ct)
        case '*'
            printf '%s\n' $found
    end
end
complete -c railyard -f -a '(__railyard_candidates)'
)sh";

using Words = std::vector<std::string>;

struct Wanted {
  Value value = Value::none;
  Words choices = {};
};

Words of_value(const Wanted& wanted, const std::function<Words()>& parts) {
  switch (wanted.value) {
    case Value::file: return {":file"};
    case Value::folder: return {":folder"};
    case Value::part: return parts();
    case Value::choice: return wanted.choices;
    default: return {};
  }
}

/// What the command wants at the end of `rest`, the finished words behind its name: the value of an
/// option, else the argument that is next.
Wanted wanted_after(const Command& command, std::span<const std::string> rest) {
  const std::vector<Option> options = all_options(command);
  std::size_t arguments = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (!rest[i].starts_with('-')) {
      ++arguments;
      continue;
    }
    const auto option = std::ranges::find_if(options, [&](const Option& o) {
      return rest[i] == o.name || (o.letter && rest[i] == std::string{'-', o.letter});
    });
    if (option == options.end() || option->value == Value::none) continue;
    if (++i == rest.size()) return {option->value, option->choices};
  }
  if (command.arguments.empty()) return {};
  if (arguments >= command.arguments.size() && !command.arguments.back().repeats) return {};
  const Argument& next = command.arguments[std::min(arguments, command.arguments.size() - 1)];
  return {next.value, next.choices};
}

}  // namespace

std::vector<std::string> candidates(const std::vector<Command>& table,
                                    std::span<const std::string> typed,
                                    const std::function<std::vector<std::string>()>& parts) {
  Words finished(typed.begin(), typed.end());
  std::string last;
  if (!finished.empty()) {
    last = std::move(finished.back());
    finished.pop_back();
  }
  if (last == "=") last.clear();  // bash splits --format=json at the '='
  std::erase(finished, "=");

  Words found;
  const auto match = find_command(table, finished);
  if (!match) {
    found = next_words(table, finished);
  } else if (last.starts_with('-')) {
    found = {"--help"};
    for (const Option& o : all_options(*match->command)) found.push_back(o.name);
  } else {
    found =
        of_value(wanted_after(*match->command, std::span(finished).subspan(match->words)), parts);
  }
  if (found.size() == 1 && found.front().starts_with(':')) return found;
  std::erase_if(found, [&](const std::string& word) { return !word.starts_with(last); });
  return found;
}

std::string_view completion_script(std::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  return shell == "fish" ? kFish : std::string_view();
}

}  // namespace railyard::app

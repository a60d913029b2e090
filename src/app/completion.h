#pragma once
// Tab completion. The shells' scripts are a few lines each and ask the program what could come
// next; the answer is worked out here, from the command table, so a new option completes by itself.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.h"

namespace railyard::app {

/// What the last of `typed` can become. One candidate ":file" or ":folder" asks the shell to
/// complete a path. `parts` gives the ids of the catalogue and is called only when one is due.
std::vector<std::string> candidates(const std::vector<Command>& table,
                                    std::span<const std::string> typed,
                                    const std::function<std::vector<std::string>()>& parts);

/// The script for "bash", "zsh" or "fish"; empty for another word.
std::string_view completion_script(std::string_view shell);

}  // namespace railyard::app

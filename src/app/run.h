#pragma once
// The run of one command, from its words to its exit code.

#include <span>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/io.h"

namespace railyard::app {

/// `words` without the program's own name. Never throws.
Exit run(std::span<const std::string> words, const std::vector<Command>& table, Io io);

}  // namespace railyard::app

#pragma once
// All commands of the program. The list is the documentation: a new command is one file in
// src/app/commands/ and its two lines in command_table.cpp.

#include <vector>

#include "app/command.h"

namespace railyard::app {

/// In the order in which help shows them; commands with a common first word stand together.
std::vector<Command> standard_commands();

}  // namespace railyard::app

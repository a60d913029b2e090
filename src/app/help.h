#pragma once
// Help pages from the command table: examples first, then arguments and options, then exit codes.

#include <string>
#include <string_view>
#include <vector>

#include "app/command.h"

namespace railyard::app {

/// What `railyard` alone prints: twelve lines, three of them examples.
std::string overview(const std::vector<Command>& table, int width);
/// The page of one command.
std::string help(const Command& command, int width);
/// The page of a word that several commands begin with ("catalog"); empty when none does.
std::string group_help(const std::vector<Command>& table, std::string_view word, int width);

}  // namespace railyard::app

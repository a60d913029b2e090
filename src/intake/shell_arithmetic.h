#pragma once
// What stands inside `$((...))` of a script, once its variables have their values.

#include <cstdint>
#include <optional>
#include <string_view>

namespace railyard::intake {

/// Integer arithmetic with + - * / % and parentheses in 64 bits; nothing when it is anything else,
/// or overflows, or divides by zero.
std::optional<std::int64_t> shell_arithmetic(std::string_view expression);

}  // namespace railyard::intake

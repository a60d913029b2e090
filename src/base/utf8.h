#pragma once
// Whether bytes are UTF-8. [RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF]

#include <cstddef>
#include <string>
#include <string_view>

namespace railyard {

/// Offset of the first sequence that is no UTF-8; npos: all of it is.
std::size_t invalid_utf8(std::string_view bytes);

/// The text with `?` for control bytes (but tabs and line ends) and for broken UTF-8: what a
/// hostile file holds must not reach the terminal.
std::string printable(std::string text);

}  // namespace railyard

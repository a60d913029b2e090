#pragma once
// How many terminal columns a text takes. Bytes are not columns: "µs" has three bytes and two
// columns, a Chinese character has three bytes and two columns.

#include <string>
#include <string_view>
#include <vector>

namespace railyard::report {

/// Columns that UTF-8 `text` takes on a terminal; a broken byte counts as one.
int display_width(std::string_view text);

/// `text` with blanks behind (left) or before (right) it, to at least `width` columns.
std::string pad_right(std::string_view text, int width);
std::string pad_left(std::string_view text, int width);

/// At most `width` columns; what is cut is shown by an ellipsis. Cuts between words where it can.
std::string cut(std::string_view text, int width);

/// Breaks at blanks into lines of at most `width` columns; a longer word stands alone.
std::vector<std::string> wrap(std::string_view text, int width);

}  // namespace railyard::report

#pragma once
// A user's mistake is a value with a place; our own mistake is an abort.
//
// A Problem says where, what was expected, what was found, and what to do about it. Readers that
// can go on collect Problems, so that one run shows all mistakes of a file.

#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace railyard {

/// A position in a user's file. Lines and columns count from 1; 0 means "the file as a whole".
/// Columns count bytes, as compilers do.
struct Place {
  std::string file = {};
  int line = 0, column = 0;
};

struct Problem {
  Place at = {};
  std::string expected = {}, found = {}, hint = {};
  std::string source_line = {};  ///< the line of the file at `at`, for the caret

  /// `file:line:column: expected X, found Y`, the line with a caret, the hint.
  std::string text() const;
};

using Problems = std::vector<Problem>;

/// A single mistake.
template <class T>
using Result = std::expected<T, Problem>;
/// All mistakes of a file.
template <class T>
using Checked = std::expected<T, Problems>;

inline std::unexpected<Problems> as_problems(Problem p) {
  Problems list;
  list.push_back(std::move(p));
  return std::unexpected(std::move(list));
}

/// All problems in file order, one after the other.
std::string text(const Problems& problems);

/// The line of `bytes` that contains offset `at`, and the 1-based line and column of that offset.
struct LinePlace {
  int line = 1, column = 1;
  std::string_view text = {};
};
LinePlace line_at(std::string_view bytes, std::size_t at);
/// Line number `line` (from 1) of `bytes`, without its end; empty when there is none.
std::string_view line_of(std::string_view bytes, int line);

}  // namespace railyard

// g++ 12 has no std::expected::and_then. Returns the error from the enclosing function.
#define RY_TRY(expr)                                        \
  __extension__({                                           \
    auto ry_result = (expr);                                \
    if (!ry_result) [[unlikely]]                            \
      return std::unexpected(std::move(ry_result).error()); \
    *std::move(ry_result);                                  \
  })

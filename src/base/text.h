#pragma once
// A whole text file in memory, with its name. Readers take a Text and keep views into it; line and
// column are counted only when something is wrong.

#include <string>
#include <string_view>

#include "base/problem.h"

namespace railyard {

struct Text {
  std::string_view file, bytes;

  Problem problem_at(std::size_t offset, std::string expected, std::string found,
                     std::string hint = {}) const;
};

/// Reads a file. A missing file, a directory, or one above `limit` is a Problem, not a surprise.
Result<std::string> read_file(const std::string& path, std::size_t limit = std::size_t{1} << 32);

/// Writes a file through a temporary name in the same folder, so that a failure leaves nothing
/// half-written.
Result<std::size_t> write_file(const std::string& path, std::string_view bytes);

}  // namespace railyard

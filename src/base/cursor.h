#pragma once
// Walks over a text. No regex, no copies, no stoi: from_chars over a string_view; the place of a
// mistake is worked out only when there is one.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/problem.h"
#include "base/text.h"

namespace railyard {

class Cursor {
 public:
  explicit Cursor(Text text) : text_(text), rest_(text.bytes) {}

  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  std::size_t offset() const { return text_.bytes.size() - rest_.size(); }

  bool take(std::string_view word);
  /// Blanks and tabs, not line ends.
  void skip_blanks();
  /// Up to and over the next line end; CR is stripped.
  std::string_view line();
  /// Up to, not over, the next of `stops`, or the end.
  std::string_view until(std::string_view stops);
  Result<double> number(std::string_view what);
  Result<std::int64_t> integer(std::string_view what);

  Problem problem(std::string_view expected, std::string hint = {}) const;

 private:
  std::string found() const;

  Text text_;
  std::string_view rest_;
};

}  // namespace railyard

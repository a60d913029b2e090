#include "base/cursor.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace railyard {

bool Cursor::take(std::string_view word) {
  if (!rest_.starts_with(word)) return false;
  rest_.remove_prefix(word.size());
  return true;
}

void Cursor::skip_blanks() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
}

std::string_view Cursor::line() {
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  std::string_view out = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  if (out.ends_with('\r')) out.remove_suffix(1);
  return out;
}

std::string_view Cursor::until(std::string_view stops) {
  const std::size_t end = std::min(rest_.find_first_of(stops), rest_.size());
  const std::string_view out = rest_.substr(0, end);
  rest_.remove_prefix(end);
  return out;
}

Result<double> Cursor::number(std::string_view what) {
  double value = 0;
  const auto [end, ec] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (ec != std::errc{} || !std::isfinite(value)) return std::unexpected(problem(what));
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return value;
}

Result<std::int64_t> Cursor::integer(std::string_view what) {
  std::int64_t value = 0;
  const auto [end, ec] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (ec != std::errc{}) return std::unexpected(problem(what));
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return value;
}

Problem Cursor::problem(std::string_view expected, std::string hint) const {
  return text_.problem_at(offset(), std::string(expected), found(), std::move(hint));
}

std::string Cursor::found() const {
  if (rest_.empty()) return "end of file";
  if (rest_.front() == '\n' || rest_.front() == '\r') return "end of line";
  return '\'' +
         std::string(rest_.substr(0, std::min<std::size_t>(rest_.find_first_of(" \r\n"), 24))) +
         '\'';
}

}  // namespace railyard

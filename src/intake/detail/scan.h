#pragma once
// Walks over one line of a log. Nothing here reports a problem: a line that does not fit is counted
// by the reader and left.

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace railyard::intake {

class Scan {
 public:
  explicit Scan(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }

  Scan& blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
    return *this;
  }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  /// Up to, not over, the next of `stops`, or the end.
  std::string_view until(std::string_view stops) { return cut(rest_.find_first_of(stops)); }
  /// The next word; blanks before it are passed over.
  std::string_view word() { return blanks().until(" \t"); }
  /// Goes behind the next `word`; stays where it is and says false when there is none.
  bool skip_to(std::string_view word) {
    const std::size_t at = rest_.find(word);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + word.size());
    return true;
  }
  template <std::integral T = int>
  std::optional<T> integer(int base = 10) {
    T v = 0;
    const auto [end, ec] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), v, base);
    if (ec != std::errc{}) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return v;
  }
  std::optional<double> number() {
    double v = 0;
    const auto [end, ec] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), v);
    if (ec != std::errc{}) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return v;
  }

 private:
  std::string_view cut(std::size_t at) {
    const std::string_view head = rest_.substr(0, at);
    rest_.remove_prefix(head.size());
    return head;
  }

  std::string_view rest_;
};

/// The whole of `text` as a number.
template <std::integral T = int>
std::optional<T> whole_integer(std::string_view text, int base = 10) {
  Scan in(text);
  const auto v = in.integer<T>(base);
  return v && in.at_end() ? v : std::nullopt;
}
inline std::optional<double> whole_number(std::string_view text) {
  Scan in(text);
  const auto v = in.number();
  return v && in.at_end() ? v : std::nullopt;
}

}  // namespace railyard::intake

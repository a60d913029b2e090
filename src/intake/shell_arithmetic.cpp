#include "intake/shell_arithmetic.h"

#include <algorithm>
#include <charconv>

namespace railyard::intake {

namespace {

// Nobody nests parentheses deeper in a launch script.
constexpr int kDeepest = 16;

/// Recursive descent; a number that cannot be known is empty all the way up.
class Arithmetic {
 public:
  explicit Arithmetic(std::string_view text) : rest_(text) {}

  std::optional<std::int64_t> value() {
    const auto v = sum(0);
    skip();
    return rest_.empty() ? v : std::nullopt;
  }

 private:
  using Number = std::optional<std::int64_t>;
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool take(char c) {
    skip();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  Number sum(int depth) {
    Number a = product(depth);
    for (;;) {
      if (take('+')) {
        a = combine(a, product(depth), '+');
      } else if (take('-')) {
        a = combine(a, product(depth), '-');
      } else {
        return a;
      }
    }
  }
  Number product(int depth) {
    Number a = factor(depth);
    for (;;) {
      if (take('*')) {
        a = combine(a, factor(depth), '*');
      } else if (take('/')) {
        a = combine(a, factor(depth), '/');
      } else if (take('%')) {
        a = combine(a, factor(depth), '%');
      } else {
        return a;
      }
    }
  }
  Number factor(int depth) {
    if (depth > kDeepest) return std::nullopt;
    if (take('(')) {
      const Number inner = sum(depth + 1);
      return take(')') ? inner : std::nullopt;
    }
    skip();
    std::int64_t v = 0;
    const auto [end, ec] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), v);
    if (ec != std::errc{}) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return v;
  }
  static Number combine(Number a, Number b, char op) {
    if (!a || !b) return std::nullopt;
    std::int64_t out = 0;
    switch (op) {
      case '+': return __builtin_add_overflow(*a, *b, &out) ? Number() : out;
      case '-': return __builtin_sub_overflow(*a, *b, &out) ? Number() : out;
      case '*': return __builtin_mul_overflow(*a, *b, &out) ? Number() : out;
      default: break;
    }
    if (*b == 0 || *b == -1) return *b == 0 ? Number() : (op == '/' ? combine(0, a, '-') : 0);
    return op == '/' ? *a / *b : *a % *b;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::int64_t> shell_arithmetic(std::string_view expression) {
  return Arithmetic(expression).value();
}

}  // namespace railyard::intake

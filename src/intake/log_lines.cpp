#include <algorithm>

#include "intake/detail/log_lines.h"
#include "intake/detail/scan.h"

namespace railyard::intake {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// ECMA-48: ESC [ parameters and a final byte from @ to ~.
void take_colours_out(std::string_view line, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      out += line[i];
      continue;
    }
    if (i + 1 >= line.size() || line[i + 1] != '[') continue;
    for (i += 2; i < line.size() && !(line[i] >= '@' && line[i] <= '~'); ++i) {
    }
  }
}

// `2024-06-01T10:11:12.123456789Z `: what kubectl logs --timestamps puts in front.
std::string_view without_time(std::string_view line) {
  Scan in(line);
  const std::string_view word = in.until(" ");
  const bool date = word.size() > 10 && word[4] == '-' && word[7] == '-' && word[10] == 'T' &&
                    is_digit(word[0]) && is_digit(word[5]);
  return date ? in.blanks().rest() : line;
}

}  // namespace

bool LogLines::next() {
  if (rest_.empty()) return false;
  ++number_;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  while (line_.ends_with('\r')) line_.remove_suffix(1);
  if (line_.find('\x1b') != std::string_view::npos) {
    take_colours_out(line_, clean_);
    line_ = clean_;
  }
  return true;
}

std::string_view without_launcher(std::string_view line) {
  line = without_time(line);
  if (line.starts_with('(') && line.find("pid=") != std::string_view::npos) {  // Ray
    const std::size_t end = line.find(')');
    if (end != std::string_view::npos) return Scan(line.substr(end + 1)).blanks().rest();
  }
  if (line.starts_with('[')) {  // `[1,0]<stdout>:`, `[default0]:`, `[rank3]:`
    const std::size_t end = line.find(']');
    if (end == std::string_view::npos) return line;
    Scan in(line.substr(end + 1));
    if (in.take("<stdout>:") || in.take("<stderr>:") || in.take(":")) return in.rest();
    return line;
  }
  // `0: `, ` 3: `, `rank3: `, `worker-0: `: one word, a colon, a blank
  Scan in(line);
  in.blanks();
  const std::string_view word = in.until(": \t");
  constexpr std::size_t kLongest = 64;  // of a host name
  if (word.empty() || word.size() > kLongest || !in.take(": ")) return line;
  const bool name = std::ranges::all_of(word, [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_';
  });
  return name && is_digit(word.back()) ? in.rest() : line;
}

}  // namespace railyard::intake

#include "report/width.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace railyard::report {

namespace {

struct Range {
  char32_t first, last;
};
// East Asian wide and full-width blocks (Unicode 15, annex 11), whole blocks only.
constexpr Range kWide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                           {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                           {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};

struct Symbol {
  std::size_t bytes = 1;
  int columns = 1;
};

bool continues(std::string_view text, std::size_t i) {
  return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
}

Symbol first_symbol(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t bytes = lead < 0x80    ? 1
                            : lead >= 0xf0 ? 4
                            : lead >= 0xe0 ? 3
                            : lead >= 0xc0 ? 2
                                           : 0;
  if (bytes <= 1) return {};
  char32_t code = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues(text, i)) return {};
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  }
  const bool combining = code >= 0x300 && code <= 0x36f;
  const bool wide = std::ranges::any_of(
      kWide, [code](const Range& r) { return code >= r.first && code <= r.last; });
  return {.bytes = bytes, .columns = combining ? 0 : wide ? 2 : 1};
}

}  // namespace

int display_width(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    const Symbol s = first_symbol(text);
    columns += s.columns;
    text.remove_prefix(s.bytes);
  }
  return columns;
}

std::string pad_right(std::string_view text, int width) {
  std::string out(text);
  out.append(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
  return out;
}

std::string pad_left(std::string_view text, int width) {
  std::string out(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
  out += text;
  return out;
}

std::string cut(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  std::string out;
  int columns = 0;
  while (!text.empty()) {
    const Symbol s = first_symbol(text);
    if (columns + s.columns > width - 1) break;
    out += text.substr(0, s.bytes);
    columns += s.columns;
    text.remove_prefix(s.bytes);
  }
  // Half a number is a wrong number: cut before the last word where something is left then.
  if (const std::size_t blank = out.rfind(' ');
      blank != std::string::npos && blank * 2 > out.size())
    out.resize(blank);
  return width > 0 ? out + "…" : out;
}

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!lines.empty() && display_width(lines.back()) + 1 + display_width(word) <= width)
      lines.back().append(" ").append(word);
    else
      lines.emplace_back(word);
  }
  return lines;
}

}  // namespace railyard::report

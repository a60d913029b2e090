#pragma once
// Text of a script that remembers where each character stood, however often it was copied from one
// variable to the next.

#include <cstddef>
#include <string>
#include <vector>

#include "intake/shell_words.h"

namespace railyard::intake {

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool is_name(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Characters with the offset in the file that each came from.
struct Traced {
  std::string text = {};
  std::vector<std::size_t> from = {};

  void add(char c, std::size_t offset) {
    text += c;
    from.push_back(offset);
  }
  void add(const Traced& more) {
    text += more.text;
    from.insert(from.end(), more.from.begin(), more.from.end());
  }
};

inline ShellWord word_of(const Traced& t) { return {t.text, t.from.empty() ? 0 : t.from.front()}; }

/// Cuts at blanks and line ends.
inline std::vector<Traced> split(const Traced& t) {
  std::vector<Traced> out;
  bool inside = false;
  for (std::size_t i = 0; i < t.text.size(); ++i) {
    if (is_blank(t.text[i]) || t.text[i] == '\n') {
      inside = false;
      continue;
    }
    if (!inside) out.emplace_back();
    inside = true;
    out.back().add(t.text[i], t.from[i]);
  }
  return out;
}

}  // namespace railyard::intake

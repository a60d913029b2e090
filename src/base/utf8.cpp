#include "base/utf8.h"

#include <algorithm>

namespace railyard {

namespace {

/// Bytes of the sequence that begins with `lead`; 0: none begins so.
std::size_t length_of(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

/// The second byte is narrower than the others where overlong forms, surrogates and what lies
/// above U+10FFFF would begin.
bool second_fits(std::string_view sequence) {
  const auto second = static_cast<unsigned char>(sequence[1]);
  switch (static_cast<unsigned char>(sequence[0])) {
    case 0xe0: return second >= 0xa0;
    case 0xed: return second <= 0x9f;
    case 0xf0: return second >= 0x90;
    case 0xf4: return second <= 0x8f;
    default: return true;
  }
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::size_t invalid_utf8(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[i]);
    const std::size_t n = length_of(lead);
    const std::string_view rest = bytes.substr(i, n);
    if (n == 0 || rest.size() < n || !std::ranges::all_of(rest.substr(1), continues)) return i;
    if (n > 1 && !second_fits(rest)) return i;
    i += n;
  }
  return std::string_view::npos;
}

std::string printable(std::string text) {
  std::size_t checked = 0;
  for (;;) {
    const std::size_t bad = invalid_utf8(std::string_view(text).substr(checked));
    if (bad == std::string_view::npos) break;
    text[checked + bad] = '?';
    checked += bad;
  }
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n') || c == 0x7f) c = '?';
  return text;
}

}  // namespace railyard

#include "base/json.h"

#include <charconv>
#include <cmath>

namespace railyard::json {

std::string escape(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      default:
        if (u < 0x20) {
          out += "\\u00";
          out += kHex[u >> 4];
          out += kHex[u & 15];
        } else {
          out += c;
        }
    }
  }
  return out;
}

void Writer::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_items_.empty()) return;
  if (has_items_.back()) out_ += ',';
  has_items_.back() = true;
  out_ += '\n';
  out_.append(has_items_.size() * 2, ' ');
}

void Writer::open(char c) {
  separate();
  out_ += c;
  has_items_.push_back(false);
}

void Writer::close(char c) {
  const bool had = has_items_.back();
  has_items_.pop_back();
  if (had) {
    out_ += '\n';
    out_.append(has_items_.size() * 2, ' ');
  }
  out_ += c;
}

Writer& Writer::begin_object() {
  open('{');
  return *this;
}
Writer& Writer::end_object() {
  close('}');
  return *this;
}
Writer& Writer::begin_array() {
  open('[');
  return *this;
}
Writer& Writer::end_array() {
  close(']');
  return *this;
}

Writer& Writer::key(std::string_view name) {
  separate();
  out_ += '"' + escape(name) + "\": ";
  after_key_ = true;
  return *this;
}

Writer& Writer::value(std::string_view text) {
  separate();
  out_ += '"' + escape(text) + '"';
  return *this;
}

Writer& Writer::value(double number) {
  if (!std::isfinite(number)) return null();
  separate();
  char buffer[32];
  const auto [end, ec] = std::to_chars(buffer, buffer + sizeof buffer, number);
  out_.append(buffer, end);
  return *this;
}

Writer& Writer::value(std::int64_t number) {
  separate();
  out_ += std::to_string(number);
  return *this;
}

Writer& Writer::value(bool flag) {
  separate();
  out_ += flag ? "true" : "false";
  return *this;
}

Writer& Writer::null() {
  separate();
  out_ += "null";
  return *this;
}

}  // namespace railyard::json

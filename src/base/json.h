#pragma once
// JSON out: a writer that keeps key order, escapes, and prints the shortest number that reads back
// the same. JSON in: small files come through simdjson into a tree (json_reader.h).

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace railyard::json {

/// Writes one value. Keys come out in the order of the calls; not-a-number and infinity become
/// null.
class Writer {
 public:
  Writer& begin_object();
  Writer& end_object();
  Writer& begin_array();
  Writer& end_array();
  Writer& key(std::string_view name);

  Writer& value(std::string_view text);
  Writer& value(const char* text) { return value(std::string_view(text)); }
  Writer& value(double number);
  Writer& value(std::int64_t number);
  Writer& value(std::integral auto number) { return value(static_cast<std::int64_t>(number)); }
  Writer& value(bool flag);
  Writer& null();

  template <class T>
  Writer& field(std::string_view name, const T& v) {
    return key(name).value(v);
  }

  const std::string& text() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  void separate();
  void open(char c);
  void close(char c);

  std::string out_;
  std::vector<bool> has_items_;
  bool after_key_ = false;
};

std::string escape(std::string_view text);

}  // namespace railyard::json

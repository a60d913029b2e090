#pragma once
// Fields of JSON objects that tools write: absent, null or of another kind all mean "not given".

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "base/yaml.h"
#include "intake/detail/scan.h"

namespace railyard::intake {

inline std::string text_at(const yaml::Node& node, std::string_view key) {
  const yaml::Node* v = node.find(key);
  return v != nullptr && v->kind == yaml::Kind::scalar ? v->scalar : std::string();
}
inline std::optional<double> number_at(const yaml::Node& node, std::string_view key) {
  return whole_number(text_at(node, key));
}
template <std::integral T = int>
std::optional<T> integer_at(const yaml::Node& node, std::string_view key) {
  const std::string text = text_at(node, key);
  return whole_integer<T>(Scan(text).blanks().rest());  // `root` is text with blanks in front
}

}  // namespace railyard::intake

#include "base/json_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace railyard::json {

namespace {

namespace od = simdjson::ondemand;

constexpr int kDeepest = 64;

/// Copies simdjson's forward-only view into a tree. `start` is the first byte of the padded buffer:
/// token addresses minus it are offsets in the file.
class Copy {
 public:
  Copy(const char* start, const std::vector<std::size_t>& lines) : start_(start), lines_(lines) {}

  simdjson::error_code value(od::value from, yaml::Node& out, int depth) {
    if (depth > kDeepest) return simdjson::DEPTH_ERROR;
    std::tie(out.line, out.column) = place(from.raw_json_token().data());
    od::json_type type{};
    if (const auto e = from.type().get(type)) return e;
    switch (type) {
      case od::json_type::object: {
        out.kind = yaml::Kind::map;
        od::object object;
        if (const auto e = from.get_object().get(object)) return e;
        for (auto pair : object) {
          od::field field;
          if (const auto e = std::move(pair).get(field)) return e;
          yaml::Node::Key key;
          const char* at = field.key().raw();
          std::tie(key.line, key.column) = place(at - 1);
          std::string_view name;
          if (const auto e = field.unescaped_key().get(name)) return e;
          key.name = name;
          out.keys.push_back(std::move(key));
          out.items.emplace_back();
          if (const auto e = value(field.value(), out.items.back(), depth + 1)) return e;
        }
        return simdjson::SUCCESS;
      }
      case od::json_type::array: {
        out.kind = yaml::Kind::list;
        od::array array;
        if (const auto e = from.get_array().get(array)) return e;
        for (auto item : array) {
          od::value v;
          if (const auto e = std::move(item).get(v)) return e;
          out.items.emplace_back();
          if (const auto e = value(v, out.items.back(), depth + 1)) return e;
        }
        return simdjson::SUCCESS;
      }
      case od::json_type::string: {
        out.kind = yaml::Kind::scalar;
        out.quoted = true;
        std::string_view text;
        if (const auto e = from.get_string().get(text)) return e;
        out.scalar = text;
        return simdjson::SUCCESS;
      }
      case od::json_type::number: {
        out.kind = yaml::Kind::scalar;
        double number = 0;
        std::string_view token = from.raw_json_token();
        if (const auto e = from.get_double().get(number)) return e;
        token = token.substr(0, token.find_first_of(" \t\r\n,]}"));
        out.scalar = token;
        return simdjson::SUCCESS;
      }
      case od::json_type::boolean: {
        out.kind = yaml::Kind::scalar;
        bool flag = false;
        if (const auto e = from.get_bool().get(flag)) return e;
        out.scalar = flag ? "true" : "false";
        return simdjson::SUCCESS;
      }
      case od::json_type::null: break;
    }
    out.kind = yaml::Kind::null;
    bool null = false;
    if (const auto e = from.is_null().get(null)) return e;
    return null ? simdjson::SUCCESS : simdjson::N_ATOM_ERROR;
  }

  /// Line and column.
  std::pair<int, int> place(const char* at) const {
    const auto offset = static_cast<std::size_t>(at - start_);
    const auto next = std::ranges::upper_bound(lines_, offset);
    return {static_cast<int>(next - lines_.begin()), static_cast<int>(offset - *(next - 1)) + 1};
  }

 private:
  const char* start_;
  const std::vector<std::size_t>& lines_;
};

}  // namespace

Checked<yaml::Document> parse(std::string file, std::string bytes) {
  const simdjson::padded_string padded(bytes);
  std::vector<std::size_t> lines{0};  // offset of the first byte of each line
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] == '\n') lines.push_back(i + 1);

  od::parser parser;
  od::document document;
  yaml::Node root;
  Copy copy(padded.data(), lines);
  auto error = parser.iterate(padded).get(document);
  const bool opened = !error;
  if (opened) {
    od::value top;
    error = document.get_value().get(top);
    if (!error) error = copy.value(top, root, 0);
    const char* after = nullptr;
    if (!error && !document.current_location().get(after)) error = simdjson::TRAILING_CONTENT;
  }
  if (error) {
    const char* at = padded.data();
    const char* where = nullptr;
    // A document that could not even be opened has no location to ask for.
    if (opened && !document.current_location().get(where) && where) at = where;
    const std::size_t offset = std::min(static_cast<std::size_t>(at - padded.data()), bytes.size());
    return as_problems(
        Text{file, bytes}.problem_at(offset, "JSON", simdjson::error_message(error)));
  }
  return yaml::Document::adopt(std::move(file), std::move(bytes), std::move(root));
}

}  // namespace railyard::json

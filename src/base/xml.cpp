#include "base/xml.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <pugixml.hpp>
#include <tuple>
#include <utility>

namespace railyard::xml {

namespace {

// Far above any real file (a topology of hwloc has a few megabytes at most and ten levels or so),
// and far below trouble.
constexpr std::size_t kLargest = std::size_t{64} << 20;
constexpr std::size_t kMostElements = 1'000'000;
constexpr std::size_t kMostAttributes = 256;  // of one element
constexpr int kDeepest = 64;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// A mistake at an offset of the file.
struct Refusal {
  std::size_t at = 0;
  std::string expected = {}, found = {}, hint = {};
};

/// The element's name at `at`, which is the first byte after '<' or '</'.
std::string_view name_at(std::string_view bytes, std::size_t at) {
  const std::string_view rest = bytes.substr(std::min(at, bytes.size()));
  return rest.substr(0, rest.find_first_of("/> \t\r\n<"));
}

/// Where the markup at `at` (a '<') ends: comments, CDATA and instructions have their own ends, and
/// a '>' in quotes ends nothing.
std::size_t end_of_markup(std::string_view bytes, std::size_t at) {
  const auto after = [&](std::string_view closing) {
    const std::size_t end = bytes.find(closing, at);
    return end == std::string_view::npos ? bytes.size() : end + closing.size();
  };
  const std::string_view rest = bytes.substr(at);
  if (rest.starts_with("<!--")) return after("-->");
  if (rest.starts_with("<![CDATA[")) return after("]]>");
  if (rest.starts_with("<?")) return after("?>");
  char quote = 0;
  for (std::size_t i = at; i < bytes.size(); ++i) {
    if (quote != 0) {
      if (bytes[i] == quote) quote = 0;
    } else if (bytes[i] == '"' || bytes[i] == '\'') {
      quote = bytes[i];
    } else if (bytes[i] == '>') {
      return i + 1;
    }
  }
  return bytes.size();
}

/// The innermost element that is still open before `until`; its '<'. Everything before `until` is
/// known to be well formed.
std::optional<std::size_t> open_before(std::string_view bytes, std::size_t until) {
  std::vector<std::size_t> open;
  for (std::size_t at = bytes.find('<'); at < until; at = bytes.find('<', at)) {
    const std::size_t end = end_of_markup(bytes, at);
    if (end > until) break;
    const char next = at + 1 < bytes.size() ? bytes[at + 1] : '\0';
    if (next == '/') {
      if (!open.empty()) open.pop_back();
    } else if (next != '!' && next != '?' && bytes[end - 2] != '/') {
      open.push_back(at);
    }
    at = end;
  }
  if (open.empty()) return std::nullopt;
  return open.back();
}

/// An end tag that is missing or of another element.
Refusal mismatch(std::string_view bytes, std::size_t at) {
  const std::size_t tag = bytes.substr(0, std::min(at + 1, bytes.size())).rfind("</");
  const bool cut_off =
      tag == std::string_view::npos || end_of_markup(bytes, tag) < std::min(at, bytes.size());
  const std::size_t where = cut_off ? bytes.size() : tag;
  const auto open = open_before(bytes, where);
  Refusal out{.at = where, .expected = "the end of the file", .found = {}, .hint = {}};
  if (open) {
    const std::string name(name_at(bytes, *open + 1));
    out.expected = "</" + name + ">";
    out.hint = "<" + name + "> begins in line " + std::to_string(line_at(bytes, *open).line);
  }
  out.found = cut_off ? "the end of the file"
                      : "</" + std::string(name_at(bytes, where + 2).substr(0, 40)) + ">";
  return out;
}

Refusal refusal_of(const pugi::xml_parse_result& result, std::string_view bytes) {
  const std::size_t at =
      std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0)), bytes.size());
  const auto broken = [&](const char* expected) {
    const bool cut_off = trim(bytes.substr(at)).empty() || end_of_markup(bytes, at) == bytes.size();
    return Refusal{.at = at,
                   .expected = expected,
                   .found = cut_off ? "the end of the file" : "something else",
                   .hint = cut_off ? "the file seems to be cut off" : ""};
  };
  switch (result.status) {
    case pugi::status_end_element_mismatch: return mismatch(bytes, at);
    case pugi::status_bad_start_element:
    case pugi::status_unrecognized_tag: return broken("the name of an element after '<'");
    case pugi::status_bad_end_element: return broken("the end of an element");
    case pugi::status_bad_attribute: return broken("an attribute: name=\"value\"");
    case pugi::status_bad_comment: return broken("a comment that ends in '-->'");
    case pugi::status_bad_cdata: return broken("a section that ends in ']]>'");
    case pugi::status_bad_doctype: return broken("a document type that ends in '>'");
    case pugi::status_bad_pi: return broken("an instruction that ends in '?>'");
    case pugi::status_bad_pcdata: return broken("an element after the text");
    default: return {.at = at, .expected = "XML", .found = result.description(), .hint = {}};
  }
}

/// Copies pugixml's tree, whose names and values point into `buffer`: their addresses minus its
/// start are offsets in the file.
class Copy {
 public:
  Copy(const std::string& buffer, std::string_view bytes)
      : buffer_(buffer), lines_{0}, refusal_(std::nullopt) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (bytes[i] == '\n') lines_.push_back(i + 1);
  }

  const std::optional<Refusal>& refusal() const { return refusal_; }

  void element(const pugi::xml_node& from, Element& out, int depth) {
    const std::size_t name = offset(from.name());
    const std::size_t start = name > 0 ? name - 1 : 0;
    if (depth > kDeepest)
      return refuse(
          {.at = start, .expected = "at most 64 nested elements", .found = "more", .hint = {}});
    if (++elements_ > kMostElements)
      return refuse(
          {.at = start, .expected = "at most 1000000 elements", .found = "more", .hint = {}});
    out.name = from.name();
    std::tie(out.line, out.column) = place(start);
    for (const pugi::xml_attribute& a : from.attributes()) attribute(a, out);
    for (const pugi::xml_node& child : from.children()) {
      if (refusal_) return;
      if (child.type() == pugi::node_element)
        element(child, out.children.emplace_back(), depth + 1);
      else if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata)
        out.text += trim(child.value());
    }
  }

  std::size_t offset(const char* in) const {
    const char* first = buffer_.data();
    const std::less<> before;
    if (before(in, first) || before(first + buffer_.size(), in)) return 0;
    return static_cast<std::size_t>(in - first);
  }

 private:
  void attribute(const pugi::xml_attribute& from, Element& out) {
    const std::size_t at = offset(from.name());
    if (out.find(from.name()))
      return refuse({.at = at,
                     .expected = "each attribute once",
                     .found = "'" + std::string(from.name()) + "' again",
                     .hint = {}});
    if (out.attributes.size() == kMostAttributes)
      return refuse({.at = at,
                     .expected = "at most 256 attributes of one element",
                     .found = "more",
                     .hint = {}});
    Attribute& made = out.attributes.emplace_back();
    made.name = from.name();
    made.value = from.value();
    std::tie(made.line, made.column) = place(at);
  }

  std::pair<int, int> place(std::size_t offset) const {
    const auto next = std::ranges::upper_bound(lines_, offset);
    return {static_cast<int>(next - lines_.begin()), static_cast<int>(offset - *(next - 1)) + 1};
  }

  void refuse(Refusal why) {
    if (!refusal_) refusal_ = std::move(why);
  }

  const std::string& buffer_;
  std::vector<std::size_t> lines_;  // offset of the first byte of each line
  std::optional<Refusal> refusal_;
  std::size_t elements_ = 0;
};

std::string first_words(std::string_view text) {
  text = trim(text);
  return "'" + std::string(text.substr(0, std::min<std::size_t>(text.find('\n'), 40))) + "'";
}

/// Whatever stands beside the one outermost element.
std::optional<Refusal> beside_root(const pugi::xml_document& document, const Copy& copy,
                                   std::string_view bytes) {
  int roots = 0;
  for (const pugi::xml_node& node : document.children()) {
    switch (node.type()) {
      case pugi::node_element:
        if (++roots > 1)
          return Refusal{.at = copy.offset(node.name()) - 1,
                         .expected = "one outermost element",
                         .found = "<" + std::string(node.name()) + "> beside it",
                         .hint = {}};
        break;
      case pugi::node_pcdata:
      case pugi::node_cdata:
        if (!trim(node.value()).empty())
          return Refusal{.at = copy.offset(trim(node.value()).data()),
                         .expected = "an element in angle brackets",
                         .found = first_words(node.value()),
                         .hint = {}};
        break;
      case pugi::node_doctype:
        // Entities that are defined in terms of each other grow beyond any memory; no file that we
        // read needs them.
        if (std::string_view(node.value()).contains('['))
          return Refusal{.at = std::min(bytes.find("<!DOCTYPE"), bytes.size()),
                         .expected = "a document type without definitions",
                         .found = "definitions of its own",
                         .hint = "remove the <!DOCTYPE ...>"};
        break;
      default: break;
    }
  }
  if (roots == 0)
    return Refusal{.at = bytes.size(),
                   .expected = "an XML element",
                   .found = trim(bytes).empty() ? "an empty file" : "none",
                   .hint = {}};
  return std::nullopt;
}

std::unexpected<Problems> refuse(const Text& text, Refusal why) {
  return as_problems(
      text.problem_at(why.at, std::move(why.expected), std::move(why.found), std::move(why.hint)));
}

}  // namespace

const Attribute* Element::find(std::string_view attribute) const {
  const auto at = std::ranges::find(attributes, attribute, &Attribute::name);
  return at == attributes.end() ? nullptr : &*at;
}

Checked<Document> Document::parse(Text text) {
  const std::string_view bytes = text.bytes;
  if (bytes.size() > kLargest)
    return refuse(text, {.at = 0,
                         .expected = "an XML file of at most 64 MiB",
                         .found = std::to_string(bytes.size() >> 20) + " MiB",
                         .hint = {}});
  if (const std::size_t zero = bytes.find('\0'); zero != std::string_view::npos)
    return refuse(text, {.at = zero,
                         .expected = "XML text in UTF-8",
                         .found = "a zero byte",
                         .hint = "a file in UTF-16 has to be saved as UTF-8"});

  std::string buffer(bytes);
  buffer += '\n';  // pugixml is generous about the last byte, so let it not be one of the file
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_buffer_inplace(
      buffer.data(), buffer.size(),
      pugi::parse_default | pugi::parse_fragment | pugi::parse_doctype, pugi::encoding_utf8);
  if (!result) return refuse(text, refusal_of(result, bytes));

  Copy copy(buffer, bytes);
  if (auto why = beside_root(document, copy, bytes)) return refuse(text, std::move(*why));
  Element root;
  copy.element(document.document_element(), root, 1);
  if (copy.refusal()) return refuse(text, *copy.refusal());
  return Document(text, std::move(root));
}

Problem Document::problem(const Place& at, std::string expected, std::string found,
                          std::string hint) const {
  return {.at = at,
          .expected = std::move(expected),
          .found = std::move(found),
          .hint = std::move(hint),
          .source_line = std::string(line_of(text_.bytes, at.line))};
}

std::string_view root_name(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  for (;;) {
    bytes = trim(bytes);
    if (!bytes.starts_with('<')) return {};
    if (!bytes.starts_with("<!") && !bytes.starts_with("<?")) return name_at(bytes, 1);
    bytes.remove_prefix(end_of_markup(bytes, 0));
  }
}

std::string quoted(std::string_view value) {
  std::string out;
  for (const char c : value) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      // A bare line end in an attribute would be read back as a blank.
      case '\n': out += "&#10;"; break;
      case '\r': out += "&#13;"; break;
      case '\t': out += "&#9;"; break;
      default: out += c;
    }
  return out;
}

}  // namespace railyard::xml

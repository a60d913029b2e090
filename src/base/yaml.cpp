#include "base/yaml.h"

#include <libfyaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "base/suggest.h"
#include "base/utf8.h"

namespace railyard::yaml {

using namespace std::string_view_literals;

namespace {

struct Free {
  void operator()(fy_document* d) const { fy_document_destroy(d); }
  void operator()(fy_diag* d) const { fy_diag_destroy(d); }
};

// Nesting deeper than this is an attack, not a design file.
constexpr int kDeepest = 64;

// And so are aliases that repeat more than this: nine lines of nine aliases each, every line of the
// line above, are 350 bytes and half a billion nodes. libfyaml would build them all when asked to
// resolve aliases, so it is not asked; they are followed, and counted, while the tree is copied.
constexpr int kMostRepeated = 10'000;

class Copy {
 public:
  explicit Copy(fy_document* document) {
    void* at = nullptr;
    while (fy_anchor* anchor = fy_document_anchor_iterate(document, &at)) {
      std::size_t length = 0;
      const char* name = fy_anchor_get_text(anchor, &length);
      if (name) anchors_.emplace(fy_anchor_node(anchor), std::string(name, length));
    }
  }

  struct Refusal {
    int line = 0, column = 1;
    std::string expected = {}, found = {}, hint = {};
  };
  /// The first thing that cannot be copied; its line is 0 when there is none.
  const Refusal& refusal() const { return refusal_; }

  Node node(fy_node* from, int depth) {
    Node out;
    if (!from || refusal_.line > 0) return out;
    if (const fy_mark* m = start(from)) {
      out.line = m->line + 1;
      out.column = m->column + 1;
      last_line_ = out.line;
    }
    if (depth > kDeepest) {
      refuse({.line = last_line_, .expected = "at most 64 nested levels", .found = "more"});
      return out;
    }
    if (fy_node_is_alias(from)) return alias(from, out, depth);
    if (inside_ > 0 && ++repeated_ > kMostRepeated) {
      refuse({.line = alias_line_,
              .column = alias_column_,
              .expected = "aliases that repeat at most 10000 values",
              .found = "an alias with more behind it",
              .hint = "aliases of aliases multiply; write the values out"});
      return out;
    }
    switch (fy_node_get_type(from)) {
      case FYNT_SCALAR: scalar(from, out); break;
      case FYNT_SEQUENCE: list(from, out, depth); break;
      case FYNT_MAPPING: map(from, out, depth); break;
    }
    if (inside_ > 0)
      repeated_ += static_cast<int>(out.scalar.size()) / 16;  // long texts weigh more
    // Only now: an alias inside of what its anchor names has no end.
    if (const auto named = anchors_.find(from); named != anchors_.end())
      known_[named->second] = from;
    return out;
  }

 private:
  static void scalar(fy_node* from, Node& out) {
    std::size_t length = 0;
    const char* s = fy_node_get_scalar(from, &length);
    const fy_node_style style = fy_node_get_style(from);
    out.quoted = style == FYNS_SINGLE_QUOTED || style == FYNS_DOUBLE_QUOTED;
    if (s) out.scalar.assign(s, length);
    out.kind = !out.quoted && (out.scalar.empty() || out.scalar == "~" || out.scalar == "null")
                   ? Kind::null
                   : Kind::scalar;
  }

  void list(fy_node* from, Node& out, int depth) {
    out.kind = Kind::list;
    void* at = nullptr;
    while (fy_node* item = fy_node_sequence_iterate(from, &at)) {
      if (refusal_.line > 0) return;
      out.items.push_back(node(item, depth + 1));
    }
    if (out.line == 0 && !out.items.empty()) {
      out.line = out.items.front().line;
      out.column = out.items.front().column;
    }
  }

  void map(fy_node* from, Node& out, int depth) {
    out.kind = Kind::map;
    std::vector<Node> merged;
    void* at = nullptr;
    while (fy_node_pair* pair = fy_node_mapping_iterate(from, &at)) {
      if (refusal_.line > 0) return;
      const Node key = node(fy_node_pair_key(pair), depth + 1);
      Node value = node(fy_node_pair_value(pair), depth + 1);
      if (value.line == 0) {
        value.line = key.line;
        value.column = key.column;
      }
      if (out.line == 0) {
        out.line = key.line;
        out.column = key.column;
      }
      if (key.scalar == "<<" && !key.quoted && value.kind == Kind::map) {
        merged.push_back(std::move(value));
        continue;
      }
      out.keys.push_back({key.scalar, key.line, key.column});
      out.items.push_back(std::move(value));
    }
    for (Node& more : merged) merge(more, out);
  }

  /// `<<: *other` brings the keys of the other map that this one does not have.
  static void merge(Node& from, Node& into) {
    for (std::size_t i = 0; i < from.keys.size(); ++i) {
      if (into.find(from.keys[i].name)) continue;
      into.keys.push_back(std::move(from.keys[i]));
      into.items.push_back(std::move(from.items[i]));
    }
  }

  /// What the alias names, copied once more.
  Node alias(fy_node* from, const Node& place, int depth) {
    std::size_t length = 0;
    const char* text = fy_node_get_scalar(from, &length);
    const std::string name(text ? text : "", text ? length : 0);
    const auto known = known_.find(name);
    if (known == known_.end()) {
      refuse({.line = place.line,
              .column = place.column,
              .expected = "an alias of an anchor '&" + name + "' above it",
              .found = "'*" + name + "'",
              .hint = "a text that begins with '*' stands in quotes"});
      return place;
    }
    if (inside_ == 0) {
      alias_line_ = place.line;
      alias_column_ = place.column;
    }
    ++inside_;
    Node out = node(known->second, depth);
    --inside_;
    return out;
  }

  void refuse(Refusal why) {
    if (refusal_.line > 0) return;
    refusal_ = std::move(why);
    refusal_.line = std::max(refusal_.line, 1);
  }

  static const fy_mark* start(fy_node* n) {
    if (fy_node_get_type(n) != FYNT_SCALAR) return nullptr;
    fy_token* token = fy_node_get_scalar_token(n);
    return token ? fy_token_start_mark(token) : nullptr;
  }

  std::unordered_map<fy_node*, std::string> anchors_;
  std::unordered_map<std::string, fy_node*> known_;  ///< the anchors that are complete
  Refusal refusal_;
  int last_line_ = 1;  ///< a map and a list have no place of their own
  int inside_ = 0;     ///< of how many aliases the copy is
  int repeated_ = 0;   ///< values that aliases have brought
  int alias_line_ = 0, alias_column_ = 0;
};

std::string hint_for(const Problem& p) {
  if (p.source_line.find('\t') != std::string::npos)
    return "YAML indents with spaces; this line holds a tab";
  if (p.found.contains("duplicate")) return "each key may stand once in a map";
  if (p.found.contains("flow")) return "a '{' or '[' is not closed, or a comma is missing";
  if (p.found.contains("quoted") || p.found.contains("EOF")) return "a quote is not closed";
  return {};
}

/// libfyaml may see an end one line below the last, and takes a lone CR for a line end: such a
/// place is moved to the end of the last line that has text.
LinePlace inside(std::string_view bytes, int line, int column) {
  const std::string_view text = bytes.substr(0, bytes.find_last_not_of(" \t\r\n") + 1);
  const LinePlace last = line_at(text, text.size());
  if (line > last.line || (line == last.line && column > last.column)) return last;
  return {.line = std::max(line, 1), .column = std::max(column, 1), .text = line_of(bytes, line)};
}

/// Whether there is more than blanks and comments.
bool has_content(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return true;
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
  }
  return false;
}

bool is_marker(std::string_view line, std::string_view marker) {
  return line.starts_with(marker) &&
         (line.size() == marker.size() || " \t\r"sv.contains(line[marker.size()]));
}

/// The line where a second document begins, or 0. No text of a document can begin a line with a
/// marker, not even in quotes.
int second_document(std::string_view bytes) {
  bool begun = false, ended = false;
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);  // a byte-order mark
  for (int number = 1; !bytes.empty(); ++number) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    const std::size_t first = line.find_first_not_of(" \t\r");
    const bool filled = first != std::string_view::npos && line[first] != '#';
    if (is_marker(line, "...")) {
      ended = begun;
    } else if (filled && ((begun && is_marker(line, "---")) || ended)) {
      return number;
    } else if (filled && line.front() != '%') {
      begun = true;
    }
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
  }
  return 0;
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i].name == key) return &items[i];
  return nullptr;
}

std::string describe(const Node& node) {
  switch (node.kind) {
    case Kind::null: return "nothing";
    case Kind::list: return "a list";
    case Kind::map: return "a map";
    case Kind::scalar: break;
  }
  return '\'' + node.scalar.substr(0, 40) + '\'';
}

Checked<Document> Document::parse(std::string file, std::string bytes) {
  Document doc;
  doc.file_ = std::move(file);
  doc.bytes_ = std::move(bytes);
  if (const std::size_t zero = doc.bytes_.find('\0'); zero != std::string::npos)
    return as_problems(Text{doc.file_, doc.bytes_}.problem_at(zero, "text", "a zero byte",
                                                              "is this a binary file?"));
  // YAML is UTF-8, and libfyaml 0.7.12 does not come back from a directive (a line that begins
  // with %) that is not.
  if (const std::size_t byte = invalid_utf8(doc.bytes_); byte != std::string::npos)
    return as_problems(Text{doc.file_, doc.bytes_}.problem_at(
        byte, "UTF-8", "another byte",
        "is this a YAML file? iconv turns other encodings to UTF-8"));

  fy_diag_cfg diag_config;
  fy_diag_cfg_default(&diag_config);
  diag_config.fp = nullptr;  // what it finds is collected; nothing may go to the error stream
  diag_config.output_fn = [](fy_diag*, void*, const char*, std::size_t) {};
  const std::unique_ptr<fy_diag, Free> diag(fy_diag_create(&diag_config));
  fy_diag_set_collect_errors(diag.get(), true);
  fy_parse_cfg config{};
  config.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_DISABLE_MMAP_OPT);
  config.diag = diag.get();
  const std::unique_ptr<fy_document, Free> parsed(
      fy_document_build_from_string(&config, doc.bytes_.data(), doc.bytes_.size()));

  Problems problems;
  void* at = nullptr;
  while (const fy_diag_error* e = fy_diag_errors_iterate(diag.get(), &at)) {
    LinePlace at_error = inside(doc.bytes_, e->line, e->column);
    // A line that begins with a tab is taken as the rest of the one above, and that one is blamed.
    const bool tab_below = line_of(doc.bytes_, at_error.line + 1).starts_with('\t');
    if (tab_below) at_error = {.line = at_error.line + 1, .column = 1};
    problems.push_back(doc.problem(at_error.line, at_error.column, "YAML",
                                   tab_below ? "a tab at the start of a line"
                                   : e->msg  ? e->msg
                                             : "what cannot be read"));
    problems.back().hint = hint_for(problems.back());
    break;  // what follows the first syntax error is noise
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));
  if (!has_content(doc.bytes_))
    return as_problems(doc.problem(1, 1, "a YAML map", "an empty file"));
  if (!parsed || !fy_document_root(parsed.get()))
    return as_problems(doc.problem(1, 1, "a YAML map", "text that is no YAML"));
  if (const int second = second_document(doc.bytes_); second > 0)
    return as_problems(doc.problem(second, 1, "one YAML document", "a second one",
                                   "a file holds one; give each its own file"));
  Copy copy(parsed.get());
  doc.root_ = copy.node(fy_document_root(parsed.get()), 0);
  if (const Copy::Refusal& why = copy.refusal(); why.line > 0)
    return as_problems(doc.problem(why.line, why.column, why.expected, why.found, why.hint));
  return doc;
}

Checked<Document> Document::load(const std::string& path) {
  auto bytes = read_file(path, std::size_t{1} << 28);
  if (!bytes) return as_problems(std::move(bytes).error());
  return parse(path, *std::move(bytes));
}

Document Document::adopt(std::string file, std::string bytes, Node root) {
  Document doc;
  doc.file_ = std::move(file);
  doc.bytes_ = std::move(bytes);
  doc.root_ = std::move(root);
  return doc;
}

Problem Document::problem(int line, int column, std::string expected, std::string found,
                          std::string hint) const {
  return {.at = {file_, line, column},
          .expected = std::move(expected),
          .found = std::move(found),
          .hint = std::move(hint),
          .source_line = std::string(line_of(bytes_, line))};
}

Problem Document::problem(const Node& at, std::string expected, std::string hint) const {
  return problem(std::max(at.line, 1), std::max(at.column, 1), std::move(expected), describe(at),
                 std::move(hint));
}

Fields::Fields(const Document& doc, const Node& node, Problems& problems, std::string what)
    : doc_(doc), node_(node), problems_(problems), what_(std::move(what)) {
  if (node.kind != Kind::map) report(node, "a map for " + what_);
}

void Fields::report(const Node& at, std::string expected, std::string hint) {
  problems_.push_back(doc_.problem(at, std::move(expected), std::move(hint)));
}

bool Fields::has(std::string_view key) const { return node_.find(key) != nullptr; }

const Node* Fields::get(std::string_view key) {
  asked_.emplace_back(key);
  return node_.find(key);
}

const Node* Fields::need(std::string_view key) {
  const Node* found = get(key);
  if (!found && node_.kind == Kind::map) {
    std::string hint;  // a misspelt key is the likely reason; among several, say nothing
    int alike = 0;
    for (const auto& k : node_.keys)
      if (edit_distance(k.name, key) <= 2) {
        hint = "'" + k.name + "' looks like it";
        ++alike;
      }
    if (alike > 1) hint.clear();
    problems_.push_back(doc_.problem(std::max(node_.line, 1), std::max(node_.column, 1),
                                     "key '" + std::string(key) + "' in " + what_, "none",
                                     std::move(hint)));
  }
  return found;
}

const Node* Fields::scalar(const Asked& asked) {
  const Node* n = get(asked.key);
  if (!n) return nullptr;
  if (n->kind == Kind::scalar) return n;
  report(*n, std::string(asked.expected));
  return nullptr;
}

bool Fields::text(std::string_view key, std::string& out) {
  const Node* n = scalar({key, "a text"});
  if (n) out = n->scalar;
  return n != nullptr;
}

namespace {

/// "4k" is 4096 to one and 4000 to another: both are shown, written out.
std::string written_out(std::string_view text) {
  if (text.size() < 2 || text.size() > 8) return {};
  const std::size_t power = "kmg"sv.find(static_cast<char>(text.back() | 0x20));
  const std::string_view digits = text.substr(0, text.size() - 1);
  double value = 0;
  const auto [p, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (power == std::string_view::npos || ec != std::errc{} || p != digits.data() + digits.size() ||
      !(value > 0 && value < 1e6))
    return {};
  const auto times = static_cast<double>(power + 1);
  const auto shown = [&](double unit) {
    return std::to_string(static_cast<long long>(std::round(value * std::pow(unit, times))));
  };
  return "a count has no suffix: write " + shown(1000) + " or " + shown(1024);
}

}  // namespace

bool Fields::integer(std::string_view key, int& out, int least, int most) {
  const std::string range =
      most < (1 << 30) ? "an integer from " + std::to_string(least) + " to " + std::to_string(most)
                       : "an integer, at least " + std::to_string(least);
  const Node* n = scalar({key, range});
  if (!n) return false;
  int value = 0;
  const char* end = n->scalar.data() + n->scalar.size();
  const auto [p, ec] = std::from_chars(n->scalar.data(), end, value);
  if (ec != std::errc{} || p != end || value < least || value > most) {
    report(*n, range, written_out(n->scalar));
    return false;
  }
  out = value;
  return true;
}

namespace {

/// "64" and "0.5": limits are exact.
std::string bound(double limit) {
  return limit == std::floor(limit) && std::abs(limit) < 1e9
             ? std::to_string(static_cast<long long>(limit))
             : show_number(limit);
}

}  // namespace

bool Fields::number(std::string_view key, double& out, double least, double most) {
  std::string range = "a number, at least " + bound(least);
  if (most < 1e300) range = "a number from " + bound(least) + " to " + bound(most);
  const Node* n = scalar({key, range});
  if (!n) return false;
  double value = 0;
  const char* end = n->scalar.data() + n->scalar.size();
  const auto [p, ec] = std::from_chars(n->scalar.data(), end, value);
  if (ec != std::errc{} || p != end || !std::isfinite(value) || value < least || value > most) {
    report(*n, range, written_out(n->scalar));
    return false;
  }
  out = value;
  return true;
}

bool Fields::flag(std::string_view key, bool& out) {
  const Node* n = scalar({key, "true or false"});
  if (!n) return false;
  if (n->scalar == "true" || n->scalar == "yes" || n->scalar == "on") {
    out = true;
  } else if (n->scalar == "false" || n->scalar == "no" || n->scalar == "off") {
    out = false;
  } else {
    report(*n, "true or false");
    return false;
  }
  return true;
}

template <class Q>
bool Fields::measure(std::string_view key, Q& out, Measured<Q> (*parse)(std::string_view)) {
  const Node* n = scalar({key, parse("").error().expected});
  if (!n) return false;
  auto value = parse(n->scalar);
  if (!value) {
    report(*n, value.error().expected, value.error().hint);
    return false;
  }
  out = *value;
  return true;
}

bool Fields::bytes(std::string_view key, Bytes& out) { return measure(key, out, parse_bytes); }
bool Fields::bandwidth(std::string_view key, Bandwidth& out) {
  return measure(key, out, parse_bandwidth);
}
bool Fields::seconds(std::string_view key, Seconds& out) {
  return measure(key, out, parse_seconds);
}
bool Fields::flop_rate(std::string_view key, FlopRate& out) {
  return measure(key, out, parse_flop_rate);
}
bool Fields::watts(std::string_view key, Watts& out) { return measure(key, out, parse_watts); }
bool Fields::dollars(std::string_view key, Dollars& out) {
  return measure(key, out, parse_dollars);
}

bool Fields::word(std::string_view key, const std::vector<std::string>& words, int& out) {
  std::string all = "one of";
  for (std::size_t i = 0; i < words.size(); ++i) all += (i == 0 ? " " : ", ") + words[i];
  const Node* n = scalar({key, all});
  if (!n) return false;
  const auto it = std::ranges::find(words, n->scalar);
  if (it == words.end()) {
    report(*n, all, did_you_mean(n->scalar, words));
    return false;
  }
  out = static_cast<int>(it - words.begin());
  return true;
}

bool Fields::list(std::string_view key, const std::function<void(const Node&)>& each) {
  const Node* n = get(key);
  if (!n) return false;
  if (n->kind != Kind::list) {
    report(*n, "a list");
    return false;
  }
  for (const Node& item : n->items) each(item);
  return true;
}

void Fields::done() {
  std::vector<std::string> known = asked_;
  std::ranges::sort(known);
  known.erase(std::ranges::unique(known).begin(), known.end());
  for (const auto& key : node_.keys) {
    if (std::ranges::binary_search(known, key.name)) continue;
    std::vector<std::string> free;  // a key that is there already was not meant
    for (const std::string& k : known)
      if (!node_.find(k)) free.push_back(k);
    std::string hint = did_you_mean(key.name, free);
    if (hint.empty()) {
      hint = "known keys:";
      for (const auto& k : known) hint += ' ' + k;
    }
    problems_.push_back(doc_.problem(key.line, key.column, "a key of " + what_,
                                     "'" + key.name + "'", std::move(hint)));
  }
}

}  // namespace railyard::yaml

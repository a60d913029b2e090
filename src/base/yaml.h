#pragma once
// YAML with places. libfyaml parses (it refuses duplicate keys and knows line and column of every
// node); the tree is copied into plain values here, so that nothing else in the house sees the
// library or its lifetimes. JSON is a subset of YAML and is read by the same door.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/measure.h"
#include "base/problem.h"
#include "base/quantity.h"
#include "base/text.h"

namespace railyard::yaml {

enum class Kind : std::uint8_t { null, scalar, list, map };

/// A value of the tree. Line and column count from 1.
struct Node {
  Kind kind = Kind::null;
  bool quoted = false;  ///< "8" is text, 8 is a number
  int line = 0, column = 0;
  std::string scalar = {};
  std::vector<Node> items = {};  ///< of a list; of a map: the values
  struct Key {
    std::string name = {};
    int line = 0, column = 0;
  };
  std::vector<Key> keys = {};  ///< of a map, parallel to items

  const Node* find(std::string_view key) const;
};

/// A parsed file: the tree and what is needed to talk about it.
class Document {
 public:
  static Checked<Document> parse(std::string file, std::string bytes);
  static Checked<Document> load(const std::string& path);
  /// A tree that another reader (JSON) made of `bytes`.
  static Document adopt(std::string file, std::string bytes, Node root);

  const Node& root() const { return root_; }
  const std::string& file() const { return file_; }
  const std::string& bytes() const { return bytes_; }

  Problem problem(int line, int column, std::string expected, std::string found,
                  std::string hint = {}) const;
  Problem problem(const Node& at, std::string expected, std::string hint = {}) const;

 private:
  std::string file_, bytes_;
  Node root_;
};

/// "a map", "a list", "'80'", "nothing": how a node is named in an error.
std::string describe(const Node& node);

/// Reads the fields of one map. Remembers what was asked for; `done()` reports every key that
/// nobody asked for, with the nearest one that somebody did. All mistakes go to one list.
class Fields {
 public:
  Fields(const Document& doc, const Node& node, Problems& problems, std::string what);

  /// The key's node, or nullptr when absent. Marks the key as known.
  const Node* get(std::string_view key);
  /// As get, but absence is a problem.
  const Node* need(std::string_view key);
  bool has(std::string_view key) const;
  /// A key that this reader knows and leaves to others.
  void ignore(std::string_view key) { asked_.emplace_back(key); }

  // Each leaves `out` alone when the key is absent, and reports when the value is wrong.
  bool text(std::string_view key, std::string& out);
  bool integer(std::string_view key, int& out, int least = 0, int most = 1 << 30);
  bool number(std::string_view key, double& out, double least = 0, double most = 1e300);
  bool fraction(std::string_view key, double& out) { return number(key, out, 0, 1); }
  bool flag(std::string_view key, bool& out);
  bool bytes(std::string_view key, Bytes& out);
  bool bandwidth(std::string_view key, Bandwidth& out);
  bool seconds(std::string_view key, Seconds& out);
  bool flop_rate(std::string_view key, FlopRate& out);
  bool watts(std::string_view key, Watts& out);
  bool dollars(std::string_view key, Dollars& out);
  /// One word of a closed list; returns its index through `out`.
  bool word(std::string_view key, const std::vector<std::string>& words, int& out);
  template <class E>
  bool choice(std::string_view key, const std::vector<std::pair<std::string, E>>& words, E& out) {
    std::vector<std::string> names;
    for (const auto& w : words) names.push_back(w.first);
    int index = 0;
    if (!word(key, names, index)) return false;
    out = words[static_cast<std::size_t>(index)].second;
    return true;
  }
  /// Calls `each` for every item of a list.
  bool list(std::string_view key, const std::function<void(const Node&)>& each);

  void done();
  bool is_map() const { return node_.kind == Kind::map; }
  const Node& node() const { return node_; }
  const Document& document() const { return doc_; }
  Problems& problems() { return problems_; }
  void report(const Node& at, std::string expected, std::string hint = {});

 private:
  template <class Q>
  bool measure(std::string_view key, Q& out, Measured<Q> (*parse)(std::string_view));
  struct Asked {
    std::string_view key, expected;
  };
  /// The scalar of the key; nullptr when absent, and reported when it is a list or a map.
  const Node* scalar(const Asked& asked);

  const Document& doc_;
  const Node& node_;
  Problems& problems_;
  std::string what_;
  std::vector<std::string> asked_;
};

}  // namespace railyard::yaml

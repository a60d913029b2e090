#pragma once
// XML in: pugixml parses, the result is a tree of plain values with places, so that nothing else in
// the house sees the library or its lifetimes.
//
// The files come from anywhere, so the reader holds on to limits: nesting, size, number of elements
// and attributes. A document type may be named but may define nothing; `&lt; &gt; &amp; &quot;
// &apos;` and character numbers are replaced, any other entity stays as it is spelled.

#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "base/text.h"

namespace railyard::xml {

/// Line and column of the name count from 1.
struct Attribute {
  std::string name = {}, value = {};
  int line = 0, column = 0;
};

/// Line and column are those of the `<`.
struct Element {
  std::string name = {};
  int line = 0, column = 0;
  std::vector<Attribute> attributes = {};
  std::string text = {};  ///< its own, without that of its children; blanks around it are gone
  std::vector<Element> children = {};

  const Attribute* find(std::string_view attribute) const;
};

/// A parsed file: the tree and what is needed to talk about it. The text must outlive it.
class Document {
 public:
  /// At most 64 MiB. A file that is cut off, not XML or beyond a limit is a problem with a place.
  static Checked<Document> parse(Text text);

  const Element& root() const { return root_; }

  Place place(const Element& at) const { return {std::string(text_.file), at.line, at.column}; }
  Place place(const Attribute& at) const { return {std::string(text_.file), at.line, at.column}; }
  Problem problem(const Place& at, std::string expected, std::string found,
                  std::string hint = {}) const;

 private:
  Document(Text text, Element root) : text_(text), root_(std::move(root)) {}

  Text text_;
  Element root_;
};

/// The name of the outermost element, found without parsing the rest: what a file is can be told
/// from its first bytes, even where it is cut off later. Empty when there is none.
std::string_view root_name(std::string_view bytes);

/// A text as it must stand between double quotes.
std::string quoted(std::string_view value);

}  // namespace railyard::xml

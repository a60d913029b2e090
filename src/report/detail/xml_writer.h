#pragma once
// XML out, one element a line.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace railyard::report::detail {

class XmlWriter {
 public:
  /// An element from construction to destruction: `<name a="1"/>`, or with what stands inside.
  class Element {
   public:
    Element(XmlWriter& out, const char* name);
    ~Element();
    Element(const Element&) = delete;
    Element& operator=(const Element&) = delete;

    Element& text(const char* attribute, std::string_view value);
    Element& if_text(const char* attribute, const std::optional<std::string>& value);
    Element& integer(const char* attribute, long long value);
    Element& if_integer(const char* attribute, const std::optional<int>& value);
    /// As C's %g.
    Element& number(const char* attribute, double value);
    Element& rest(const std::vector<std::pair<std::string, std::string>>& attributes);

   private:
    XmlWriter& out_;
    const char* name_;
  };

  std::string take() { return std::move(text_); }

 private:
  std::string text_ = {};
  int depth_ = 0;
  bool open_ = false;  // the last element's start tag has no '>' yet
};

}  // namespace railyard::report::detail

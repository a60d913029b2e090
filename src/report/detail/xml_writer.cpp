#include "report/detail/xml_writer.h"

#include <fmt/format.h>

#include "base/xml.h"

namespace railyard::report::detail {

using Element = XmlWriter::Element;

Element::Element(XmlWriter& out, const char* name) : out_(out), name_(name) {
  if (out_.open_) out_.text_ += ">\n";
  out_.text_.append(static_cast<std::size_t>(2 * out_.depth_), ' ');
  out_.text_ += '<';
  out_.text_ += name;
  ++out_.depth_;
  out_.open_ = true;
}

Element::~Element() {
  --out_.depth_;
  if (out_.open_) {
    out_.text_ += "/>\n";
  } else {
    out_.text_.append(static_cast<std::size_t>(2 * out_.depth_), ' ');
    out_.text_ += "</";
    out_.text_ += name_;
    out_.text_ += ">\n";
  }
  out_.open_ = false;
}

Element& Element::text(const char* attribute, std::string_view value) {
  out_.text_ += ' ';
  out_.text_ += attribute;
  out_.text_ += "=\"";
  out_.text_ += xml::quoted(value);
  out_.text_ += '"';
  return *this;
}

Element& Element::if_text(const char* attribute, const std::optional<std::string>& value) {
  return value ? text(attribute, *value) : *this;
}

Element& Element::integer(const char* attribute, long long value) {
  return text(attribute, std::to_string(value));
}

Element& Element::if_integer(const char* attribute, const std::optional<int>& value) {
  return value ? integer(attribute, static_cast<long long>(*value)) : *this;
}

Element& Element::number(const char* attribute, double value) {
  return text(attribute, fmt::format("{:g}", value));
}

Element& Element::rest(const std::vector<std::pair<std::string, std::string>>& attributes) {
  for (const auto& [name, value] : attributes) text(name.c_str(), value);
  return *this;
}

}  // namespace railyard::report::detail

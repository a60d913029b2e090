#include "intake/nccl_attributes.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace railyard::intake {

namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

/// What strtof would take.
std::optional<double> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

}  // namespace

LooseInteger read_loosely(std::string_view text, Base base) {
  LooseInteger out;
  std::string_view rest = text;
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  bool negative = false;
  if (rest.starts_with('-') || rest.starts_with('+')) {
    negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  int radix = base == Base::hexadecimal ? 16 : 10;
  if (rest.size() > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X') &&
      digit_of(rest[2]) < 16) {
    radix = 16;
    rest.remove_prefix(2);
  } else if (base == Base::as_spelled && rest.size() > 1 && rest[0] == '0') {
    radix = 8;
  }
  // As strtol: what is too large becomes the largest number, and so is the smallest.
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  std::uint64_t value = 0;
  bool overflow = false;
  std::size_t used = 0;
  for (; used < rest.size() && digit_of(rest[used]) < radix; ++used) {
    const auto digit = static_cast<std::uint64_t>(digit_of(rest[used]));
    overflow = overflow || value > (most - digit) / static_cast<std::uint64_t>(radix);
    if (!overflow) value = value * static_cast<std::uint64_t>(radix) + digit;
  }
  if (overflow) value = most;
  out.value = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  if (overflow && negative) out.value = std::numeric_limits<std::int64_t>::min();
  // An empty attribute is how a virtual machine says "not known"; it is meant to be zero.
  const bool blank = text.find_first_not_of(kBlanks) == std::string_view::npos;
  out.as_it_looks =
      blank || (used > 0 && used == rest.size() && !overflow && (radix != 8 || value < 8));
  return out;
}

const xml::Attribute* NcclFields::get(std::string_view name) {
  asked_.push_back(name);
  return element_.find(name);
}

void NcclFields::missing(std::string_view name) {
  misread_.push_back({.at = document_.place(element_),
                      .element = element_.name,
                      .attribute = std::string(name),
                      .text = std::nullopt});
}

std::optional<std::string> NcclFields::text(std::string_view name) {
  const xml::Attribute* a = get(name);
  return a ? std::optional(a->value) : std::nullopt;
}

std::optional<int> NcclFields::integer(std::string_view name) {
  const xml::Attribute* a = get(name);
  if (!a) return std::nullopt;
  const LooseInteger read = read_loosely(a->value);
  const int value = static_cast<int>(read.value);  // modulo 2^32, as NCCL stores a long in an int
  if (!read.as_it_looks || value != read.value)
    misread_.push_back({.at = document_.place(*a),
                        .element = element_.name,
                        .attribute = a->name,
                        .text = a->value,
                        .read_as = value});
  return value;
}

std::optional<double> NcclFields::number(std::string_view name) {
  const xml::Attribute* a = get(name);
  if (!a) return std::nullopt;
  return leading_number(a->value).value_or(0);
}

int NcclFields::needed_integer(std::string_view name) {
  const std::optional<int> value = integer(name);
  if (!value) missing(name);
  return value.value_or(0);
}

std::string NcclFields::needed_text(std::string_view name) {
  std::optional<std::string> value = text(name);
  if (!value) missing(name);
  return std::move(value).value_or("");
}

facts::NcclAttributes NcclFields::other() const {
  facts::NcclAttributes out;
  for (const xml::Attribute& a : element_.attributes)
    if (std::ranges::find(asked_, a.name) == asked_.end()) out.emplace_back(a.name, a.value);
  return out;
}

void read_children(const xml::Document& document, const xml::Element& parent,
                   std::initializer_list<std::pair<std::string_view, ElementReader>> readers,
                   std::vector<facts::Skipped>& skipped) {
  for (const xml::Element& child : parent.children) {
    const auto* reader = std::ranges::find_if(
        readers, [&](const auto& candidate) { return candidate.first == child.name; });
    if (reader != readers.end())
      reader->second(child);
    else
      facts::count(skipped, "<" + child.name + "> in <" + parent.name + ">", document.place(child),
                   "NCCL passes over it, with everything inside");
  }
}

Problems stray_text(const xml::Document& document) {
  Problems out;
  std::vector<const xml::Element*> open{&document.root()};
  while (!open.empty()) {
    const xml::Element& at = *open.back();
    open.pop_back();
    if (!at.text.empty())
      out.push_back(document.problem(document.place(at),
                                     "elements only, as NCCL does inside <" + at.name + ">",
                                     "the text '" + at.text.substr(0, 40) + "'",
                                     "values stand in attributes: name=\"value\""));
    for (const xml::Element& child : at.children) open.push_back(&child);
  }
  return out;
}

}  // namespace railyard::intake

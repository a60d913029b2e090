#include "app/command.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace railyard::app {

const Given::Slot& Given::slot(std::string_view name) const {
  const auto at = slots_.find(name);
  if (at == slots_.end())
    throw std::logic_error("command '" + command_ + "' asks for '" + std::string(name) +
                           "', which its description does not have");
  return at->second;
}

std::string Given::text(std::string_view name) const {
  const Slot& s = slot(name);
  return s.values.empty() ? std::string() : s.values.back();
}

namespace {

template <class T>
T as_number(const std::string& text) {
  T value{};
  if (text.empty()) return value;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc{} || end != text.data() + text.size())
    throw std::logic_error("'" + text + "' passed the parser and is no number");
  return value;
}

}  // namespace

std::int64_t Given::integer(std::string_view name) const {
  return as_number<std::int64_t>(text(name));
}

double Given::number(std::string_view name) const { return as_number<double>(text(name)); }

Format Given::format() const {
  const std::string word = text("--format");
  return word == "json" ? Format::json : word == "csv" ? Format::csv : Format::table;
}

const std::vector<Option>& common_options() {
  static const std::vector<Option> options{
      {.name = "--format",
       .value = Value::choice,
       .placeholder = "FORMAT",
       .summary = "table for people, json or csv for programs",
       .choices = {"table", "json", "csv"},
       .fallback = "table"},
      {.name = "--output",
       .letter = 'o',
       .value = Value::file,
       .placeholder = "FILE",
       .summary = "write the answer to FILE, whole or not at all"},
      {.name = "--catalog",
       .value = Value::folder,
       .placeholder = "DIR",
       .summary = "catalogue of parts and models"},
      {.name = "--no-timing", .summary = "leave out how long the program itself took"},
      {.name = "--no-color", .summary = "no colours on the error stream"}};
  return options;
}

std::vector<std::string> words_of(const Command& command) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from < command.words.size();) {
    const std::size_t end = std::min(command.words.find(' ', from), command.words.size());
    out.push_back(command.words.substr(from, end - from));
    from = end + 1;
  }
  return out;
}

std::vector<Option> all_options(const Command& command) {
  std::vector<Option> all = command.options;
  if (command.result) all.insert(all.end(), common_options().begin(), common_options().end());
  return all;
}

}  // namespace railyard::app

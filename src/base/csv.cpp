#include "base/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace railyard::csv {

std::vector<std::string_view> split_line(std::string_view line) {
  std::vector<std::string_view> out;
  for (;;) {
    if (line.starts_with('"')) {
      const std::size_t close = std::min(line.find('"', 1), line.size());
      out.push_back(line.substr(1, close - 1));
      line.remove_prefix(std::min(close + 1, line.size()));
      if (!line.starts_with(',')) break;
    } else {
      const std::size_t comma = std::min(line.find(','), line.size());
      out.push_back(line.substr(0, comma));
      line.remove_prefix(comma);
      if (line.empty()) break;
    }
    line.remove_prefix(1);
  }
  return out;
}

namespace {

/// At the end of a line that is too short, or at the first field that has no column.
Problem wrong_number_of_fields(const Text& text, std::string_view line,
                               const std::vector<std::string_view>& fields, std::size_t columns) {
  const char* at = fields.size() < columns ? line.data() + line.size() : fields[columns].data();
  return text.problem_at(static_cast<std::size_t>(at - text.bytes.data()),
                         std::to_string(columns) + " fields", std::to_string(fields.size()));
}

}  // namespace

Checked<Table> Table::parse(Text text) {
  Table table;
  table.text_ = text;
  Problems problems;
  std::string_view rest = text.bytes;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  for (int line_number = 1; !rest.empty(); ++line_number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const auto fields = split_line(line);
    if (table.columns_.empty()) {
      for (const auto f : fields) table.columns_.emplace_back(f);
      continue;
    }
    if (fields.size() != table.columns_.size()) {
      if (problems.size() < 20)
        problems.push_back(wrong_number_of_fields(text, line, fields, table.columns_.size()));
      continue;
    }
    table.lines_.push_back(line_number);
    table.fields_.insert(table.fields_.end(), fields.begin(), fields.end());
  }
  if (table.columns_.empty())
    return as_problems({.at = {std::string(text.file), 1, 1},
                        .expected = "a CSV header line",
                        .found = "an empty file"});
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return table;
}

int Table::index(std::string_view column) const {
  const auto it = std::ranges::find(columns_, column);
  return it == columns_.end() ? -1 : static_cast<int>(it - columns_.begin());
}

std::string_view Table::at(std::size_t row, std::string_view column) const {
  const int i = index(column);
  return i < 0 ? std::string_view{} : fields_[row * columns_.size() + static_cast<std::size_t>(i)];
}

Problem Table::problem(std::size_t row, std::string_view column, std::string expected) const {
  const std::string_view f = at(row, column);
  const std::size_t offset = static_cast<std::size_t>(f.data() - text_.bytes.data());
  return text_.problem_at(offset, std::move(expected) + " in column " + std::string(column),
                          '\'' + std::string(f.substr(0, 40)) + '\'');
}

std::optional<double> Table::number(std::size_t row, std::string_view column,
                                    Problems& problems) const {
  const std::string_view f = at(row, column);
  if (f.empty()) return std::nullopt;
  double v = 0;
  const auto [end, ec] = std::from_chars(f.data(), f.data() + f.size(), v);
  if (ec != std::errc{} || end != f.data() + f.size() || !std::isfinite(v)) {
    problems.push_back(problem(row, column, "a number"));
    return std::nullopt;
  }
  return v;
}

std::optional<int> Table::integer(std::size_t row, std::string_view column,
                                  Problems& problems) const {
  const auto v = number(row, column, problems);
  if (!v) return std::nullopt;
  if (*v != std::floor(*v) || std::abs(*v) > 2e9) {
    problems.push_back(problem(row, column, "an integer"));
    return std::nullopt;
  }
  return static_cast<int>(*v);
}

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace railyard::csv

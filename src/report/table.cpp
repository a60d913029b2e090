#include "report/table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/csv.h"
#include "base/measure.h"
#include "report/width.h"

namespace railyard::report {

namespace {

constexpr int kGap = 2;
constexpr int kUsefulText = 16;   // a text column that may go goes rather than be cut below this
constexpr int kShortestText = 8;  // one that must stay is not cut below this

struct Shown {
  std::size_t column = 0;
  int width = 0;
};

int total_width(const std::vector<Shown>& columns) {
  const int text = std::accumulate(columns.begin(), columns.end(), 0,
                                   [](int sum, const Shown& s) { return sum + s.width; });
  return text + kGap * std::max(0, static_cast<int>(columns.size()) - 1);
}

int natural_width(const Table& table, std::size_t column) {
  int width = display_width(table.columns[column].title);
  for (const auto& row : table.rows)
    if (column < row.size()) width = std::max(width, display_width(row[column].shown()));
  return width;
}

/// Takes from a text column what is too much, down to `least` columns.
void narrow(Shown& column, int too_much, int least) {
  column.width = std::max(std::min(least, column.width), column.width - too_much);
}

/// Which columns fit, and how wide each is.
std::vector<Shown> choose(const Table& table, int width) {
  std::vector<Shown> shown;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    shown.push_back({i, natural_width(table, i)});
  const auto column = [&](const Shown& s) -> const Column& { return table.columns[s.column]; };
  while (total_width(shown) > width) {  // the least important goes, or if that is enough, shrinks
    const auto least =
        std::ranges::max_element(shown, {}, [&](const Shown& s) { return column(s).priority; });
    if (least == shown.end() || column(*least).priority == 0) break;
    if (column(*least).align == Align::left)
      narrow(*least, total_width(shown) - width, kUsefulText);
    if (total_width(shown) > width) shown.erase(least);
  }
  while (total_width(shown) > width) {
    Shown* longest = nullptr;
    for (Shown& s : shown)
      if (column(s).align == Align::left && (!longest || s.width > longest->width)) longest = &s;
    if (!longest || longest->width <= kShortestText) break;
    narrow(*longest, total_width(shown) - width, kShortestText);
  }
  return shown;
}

std::string line(const Table& table, const std::vector<Shown>& shown,
                 const std::function<std::string_view(std::size_t)>& text) {
  std::string out;
  for (const Shown& s : shown) {
    const bool right = table.columns[s.column].align == Align::right;
    const std::string field = right ? std::string(text(s.column)) : cut(text(s.column), s.width);
    out += right ? pad_left(field, s.width) : pad_right(field, s.width);
    out.append(kGap, ' ');
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + '\n';
}

}  // namespace

Cell::Cell(double number) : shown_(show_number(number)), value_(number) {}

std::string Cell::csv() const {
  if (const auto* text = std::get_if<std::string>(&value_)) return csv::field(*text);
  if (const auto* count = std::get_if<std::int64_t>(&value_)) return std::to_string(*count);
  const auto* number = std::get_if<double>(&value_);
  if (!number || !std::isfinite(*number)) return {};
  char buffer[32];
  const auto [end, ec] = std::to_chars(buffer, buffer + sizeof buffer, *number);
  return std::string(buffer, end);
}

void Cell::write(json::Writer& out) const {
  if (const auto* text = std::get_if<std::string>(&value_))
    out.value(*text);
  else if (const auto* number = std::get_if<double>(&value_))
    out.value(*number);
  else if (const auto* count = std::get_if<std::int64_t>(&value_))
    out.value(*count);
  else
    out.null();
}

std::string to_text(const Table& table, int width) {
  const std::vector<Shown> shown = choose(table, width);
  std::string out =
      line(table, shown, [&](std::size_t c) -> std::string_view { return table.columns[c].title; });
  for (const auto& row : table.rows)
    out += line(table, shown, [&](std::size_t c) -> std::string_view {
      return c < row.size() ? std::string_view(row[c].shown()) : std::string_view();
    });
  return out;
}

std::string to_csv(const Table& table) {
  std::string out;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    out += (c == 0 ? "" : ",") + csv::field(table.columns[c].key);
  out += '\n';
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      out += (c == 0 ? "" : ",") + (c < row.size() ? row[c].csv() : std::string());
    out += '\n';
  }
  return out;
}

void to_json(const Table& table, json::Writer& out) {
  out.begin_array();
  for (const auto& row : table.rows) {
    out.begin_object();
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      out.key(table.columns[c].key);
      if (c < row.size())
        row[c].write(out);
      else
        out.null();
    }
    out.end_object();
  }
  out.end_array();
}

}  // namespace railyard::report

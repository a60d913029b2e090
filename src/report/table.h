#pragma once
// One table, three forms. What a person sees, what a script reads and what a spreadsheet loads come
// from the same rows, so they cannot drift apart: three significant digits on the screen, the full
// number in JSON and CSV.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"

namespace railyard::report {

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string key = {};    ///< in JSON and CSV; a number with a unit names it: "time_ms"
  std::string title = {};  ///< on the screen
  Align align = Align::left;
  int priority = 0;  ///< a narrow screen drops the highest first; 0 always stays
};

/// A field: a text, a number with the text that people see, or nothing (JSON null, empty in CSV).
class Cell {
 public:
  Cell() = default;
  Cell(std::string text) : shown_(text), value_(std::move(text)) {}
  Cell(const char* text) : Cell(std::string(text)) {}
  Cell(std::string_view text) : Cell(std::string(text)) {}
  /// Three significant digits on the screen.
  Cell(double number);
  /// A number that people see otherwise, as "8.52 ms" or "35.2 %".
  Cell(double number, std::string shown) : shown_(std::move(shown)), value_(number) {}
  /// A count: exact in every form.
  Cell(std::integral auto count)
      : shown_(std::to_string(count)), value_(static_cast<std::int64_t>(count)) {}

  const std::string& shown() const { return shown_; }
  std::string csv() const;
  void write(json::Writer& out) const;

 private:
  std::string shown_;
  std::variant<std::monostate, std::string, double, std::int64_t> value_;
};

struct Table {
  std::vector<Column> columns = {};
  std::vector<std::vector<Cell>> rows = {};

  void add(std::vector<Cell> row) { rows.push_back(std::move(row)); }
};

/// Title line and rows, every line at most `width` columns where that is possible: the least
/// important column is cut with an ellipsis if it is text and that is enough, or else goes, and so
/// on; when only those that must stay are left, the longest text is cut. A number is never cut or
/// wrapped.
std::string to_text(const Table& table, int width);
/// One header line of keys, then the rows; full precision, no thousands marks, never "nan".
std::string to_csv(const Table& table);
/// A list of objects, keys in the order of the columns.
void to_json(const Table& table, json::Writer& out);

}  // namespace railyard::report

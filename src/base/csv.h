#pragma once
// Comma-separated tables by column name. Fields with a comma stand in double quotes; LF and CRLF
// line ends; an empty field means "not given", never zero.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "base/text.h"

namespace railyard::csv {

class Table {
 public:
  /// The text must outlive the table: fields are views into it.
  static Checked<Table> parse(Text text);

  std::size_t rows() const { return lines_.size(); }
  /// The line of the file on which row `r` stands.
  int line(std::size_t r) const { return lines_[r]; }
  const std::vector<std::string>& columns() const { return columns_; }
  bool has(std::string_view column) const { return index(column) >= 0; }
  /// The field, or empty when the column does not exist.
  std::string_view at(std::size_t row, std::string_view column) const;
  /// Number in the field; nothing when empty; nothing and a problem when it is no number.
  std::optional<double> number(std::size_t row, std::string_view column, Problems& problems) const;
  std::optional<int> integer(std::size_t row, std::string_view column, Problems& problems) const;
  Problem problem(std::size_t row, std::string_view column, std::string expected) const;

 private:
  int index(std::string_view column) const;

  Text text_ = {};
  std::vector<std::string> columns_;
  std::vector<int> lines_;
  std::vector<std::string_view> fields_;  // rows x columns
};

/// Splits one line; used by readers of logs as well.
std::vector<std::string_view> split_line(std::string_view line);

/// A field as it must be written: quoted when it holds a comma, a quote or a line end.
std::string field(std::string_view text);

}  // namespace railyard::csv

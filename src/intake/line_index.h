#pragma once
// Line and column of many offsets of one text: the starts of the lines are found once.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/text.h"
#include "facts/seen.h"

namespace railyard::intake {

class LineIndex {
 public:
  explicit LineIndex(const Text& text) : text_(text) {
    for (std::size_t i = 0; i < text.bytes.size(); ++i)
      if (text.bytes[i] == '\n') starts_.push_back(i + 1);
  }

  Place place(std::size_t offset) const {
    const auto next = std::ranges::upper_bound(starts_, offset);
    return {.file = std::string(text_.file),
            .line = static_cast<int>(next - starts_.begin()),
            .column = static_cast<int>(offset - *(next - 1)) + 1};
  }

  /// Place and text of the line; the text is left out when it is long (minified or generated).
  facts::Where where(std::size_t offset) const {
    constexpr std::size_t kKept = 400;
    const std::size_t start = *(std::ranges::upper_bound(starts_, offset) - 1);
    const std::string_view rest = text_.bytes.substr(start, kKept + 1);
    std::string_view line = rest.substr(0, rest.find_first_of("\r\n"));
    return {.at = place(offset), .line = line.size() > kKept ? std::string() : std::string(line)};
  }

 private:
  Text text_;
  std::vector<std::size_t> starts_ = {0};
};

}  // namespace railyard::intake

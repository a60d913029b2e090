#include "report/problems.h"

#include <algorithm>
#include <tuple>

namespace railyard::report {

namespace {

/// The line that holds nothing but the caret, in red.
std::string with_red_caret(std::string text) {
  for (std::size_t line = text.find('\n'); line != std::string::npos;
       line = text.find('\n', line + 1)) {
    const std::size_t first = text.find_first_not_of(" \t", line + 1);
    if (first == std::string::npos || text[first] != '^') continue;
    return text.replace(first, 1, "\x1b[31m^\x1b[0m");
  }
  return text;
}

}  // namespace

std::string to_text(const Problems& problems, ProblemOptions options) {
  Problems sorted = problems;
  std::ranges::stable_sort(sorted, [](const Problem& a, const Problem& b) {
    return std::tie(a.at.file, a.at.line, a.at.column) <
           std::tie(b.at.file, b.at.line, b.at.column);
  });
  std::string out;
  for (std::size_t i = 0; i < std::min(sorted.size(), options.most); ++i) {
    const std::string text = sorted[i].text();
    out += (options.colour == Colour::yes ? with_red_caret(text) : text) + '\n';
  }
  if (sorted.size() > options.most)
    out += "and " + std::to_string(sorted.size() - options.most) + " more problem" +
           (sorted.size() - options.most == 1 ? "\n" : "s\n");
  return out;
}

}  // namespace railyard::report

#include "base/problem.h"

#include <algorithm>
#include <tuple>

#include "base/utf8.h"

namespace railyard {

namespace {

// A long line is cut around the caret: 100 columns are what a terminal shows without wrapping.
constexpr std::size_t kShown = 100;

std::string caret(std::string_view line, int column) {
  const std::size_t at = column > 0 ? static_cast<std::size_t>(column - 1) : 0;
  const std::size_t from = at > kShown * 3 / 4 ? at - kShown / 2 : 0;
  const std::string shown =
      printable(std::string(line.substr(std::min(from, line.size()), kShown)));
  std::string pad;
  for (std::size_t i = from; i < at && i - from < shown.size(); ++i)
    pad += shown[i - from] == '\t' ? '\t' : ' ';
  return "  " + shown + "\n  " + pad + "^";
}

}  // namespace

std::string Problem::text() const {
  std::string out = at.file.empty() ? std::string("railyard") : at.file;
  if (at.line > 0) out += ':' + std::to_string(at.line) + ':' + std::to_string(at.column);
  out += ": expected " + expected + ", found " + printable(found);
  if (!source_line.empty()) out += '\n' + caret(source_line, at.column);
  if (!hint.empty()) out += "\n  hint: " + hint;
  return out;
}

std::string text(const Problems& problems) {
  std::vector<const Problem*> order;
  order.reserve(problems.size());
  for (const Problem& p : problems) order.push_back(&p);
  std::ranges::stable_sort(order, [](const Problem* a, const Problem* b) {
    return std::tie(a->at.file, a->at.line, a->at.column) <
           std::tie(b->at.file, b->at.line, b->at.column);
  });
  std::string out;
  for (const Problem* p : order) out += p->text() + '\n';
  return out;
}

LinePlace line_at(std::string_view bytes, std::size_t at) {
  const std::string_view before = bytes.substr(0, std::min(at, bytes.size()));
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 == 0
  const std::string_view rest = bytes.substr(start);
  std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return {.line = 1 + static_cast<int>(std::ranges::count(before, '\n')),
          .column = 1 + static_cast<int>(before.size() - start),
          .text = line};
}

std::string_view line_of(std::string_view bytes, int line) {
  for (int i = 1; i < line; ++i) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) return {};
    bytes.remove_prefix(end + 1);
  }
  std::string_view out = bytes.substr(0, std::min(bytes.find('\n'), bytes.size()));
  if (out.ends_with('\r')) out.remove_suffix(1);
  return out;
}

}  // namespace railyard

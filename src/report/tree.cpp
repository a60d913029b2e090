#include "report/tree.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "report/width.h"

namespace railyard::report {

namespace {

constexpr int kGap = 2;
constexpr int kNarrowest = 24;  // of the column of formulas

/// A term and what stands left of it: `branch` on its own line, `below` on those that follow.
struct Line {
  const predict::Term* term = nullptr;
  std::string branch, below;
};

struct Indent {
  std::string own, rest;
};

void flatten(const predict::Term& term, const Indent& indent, int levels, std::vector<Line>& out) {
  const bool opens = levels != 0 && !term.children.empty();
  out.push_back({&term, indent.own, indent.rest + (opens ? "│  " : "")});
  if (!opens) return;
  for (std::size_t i = 0; i < term.children.size(); ++i) {
    const bool last = i + 1 == term.children.size();
    flatten(term.children[i],
            {indent.rest + (last ? "└─ " : "├─ "), indent.rest + (last ? "   " : "│  ")},
            levels - 1, out);
  }
}

std::string reason(const predict::Term& term) {
  std::string out = term.formula;
  if (!term.source.empty()) out += (out.empty() ? "[" : " [") + term.source + ']';
  return out;
}

}  // namespace

std::string to_text(const predict::Term& root, TreeOptions options) {
  std::vector<Line> lines;
  flatten(root, {}, options.deepest > 0 ? options.deepest : -1, lines);
  int names = 0, values = 0;
  for (const Line& l : lines) {
    names = std::max(names, display_width(l.branch) + display_width(l.term->name));
    values = std::max(values, display_width(l.term->value));
  }
  const int reasons = std::max(kNarrowest, options.width - names - values - 2 * kGap);
  std::string out;
  for (const Line& l : lines) {
    const std::vector<std::string> why = wrap(reason(*l.term), reasons);
    std::string line = pad_right(l.branch + l.term->name, names + kGap) +
                       pad_left(l.term->value, values) + std::string(kGap, ' ');
    for (std::size_t i = 0; i < std::max<std::size_t>(why.size(), 1); ++i) {
      if (i > 0) line = pad_right(l.below, names + values + 2 * kGap);
      if (!why.empty()) line += why[i];
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + '\n';
    }
  }
  return out;
}

void to_json(const predict::Term& root, json::Writer& out) {
  out.begin_object().field("name", root.name).field("value", root.number);
  if (!root.unit.empty()) out.field("unit", root.unit);
  if (!root.value.empty()) out.field("text", root.value);
  if (!root.formula.empty()) out.field("formula", root.formula);
  if (!root.source.empty()) out.field("source", root.source);
  if (!root.children.empty()) {
    out.key("terms").begin_array();
    for (const predict::Term& child : root.children) to_json(child, out);
    out.end_array();
  }
  out.end_object();
}

}  // namespace railyard::report

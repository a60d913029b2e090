#include "report/topology_lint.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/width.h"

namespace railyard::report {

namespace {

using judge::TopologyFinding;
using judge::TopologySeverity;

std::string counted(int n, const char* one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

std::string place_of(const TopologyFinding& f) {
  std::string out = f.at.file;
  if (f.at.line > 0) out += fmt::format(":{}:{}", f.at.line, f.at.column);
  return out;
}

}  // namespace

int TopologyFindings::count(TopologySeverity severity) const {
  return static_cast<int>(std::ranges::count(found, severity, &TopologyFinding::severity));
}

std::string to_text(const TopologyFindings& findings, int width) {
  constexpr int kIndent = 2;
  std::string out;
  for (const TopologyFinding& f : findings.found) {
    out += fmt::format("{}: {} [{}]\n", place_of(f), judge::name(f.severity), f.rule);
    for (const std::string& line : wrap(f.what, width - kIndent)) out += "  " + line + '\n';
    for (const std::string& line : wrap("hint: " + f.hint, width - kIndent))
      out += "  " + line + '\n';
  }
  out += counted(findings.files, "file") + ": " +
         counted(findings.count(TopologySeverity::error), "error") + ", " +
         counted(findings.count(TopologySeverity::warning), "warning") + ", " +
         counted(findings.count(TopologySeverity::note), "note") + '\n';
  return out;
}

Table table_of(const TopologyFindings& findings) {
  Table out{.columns = {{"file", "file"},
                        {"line", "line", Align::right},
                        {"column", "column", Align::right, 3},
                        {"severity", "severity"},
                        {"rule", "rule"},
                        {"what", "what", Align::left, 1},
                        {"hint", "hint", Align::left, 2}},
            .rows = {}};
  for (const TopologyFinding& f : findings.found)
    out.add({Cell(f.at.file), f.at.line > 0 ? Cell(f.at.line) : Cell(),
             f.at.line > 0 ? Cell(f.at.column) : Cell(), Cell(judge::name(f.severity)),
             Cell(f.rule), Cell(f.what), Cell(f.hint)});
  return out;
}

void to_json(const TopologyFindings& findings, json::Writer& out) {
  out.begin_object().field("files", findings.files);
  out.field("errors", findings.count(TopologySeverity::error));
  out.field("warnings", findings.count(TopologySeverity::warning));
  out.field("notes", findings.count(TopologySeverity::note));
  to_json(table_of(findings), out.key("findings"));
  out.end_object();
}

}  // namespace railyard::report

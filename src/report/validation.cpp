#include "report/validation.h"

#include <fmt/format.h>

#include <map>

#include "report/detail/accuracy_columns.h"

namespace railyard::report {

namespace {

using detail::accuracy_columns;
using detail::add;
using detail::percent;
using detail::signed_percent;
using detail::write;
using detail::write_sources;
using judge::ValidatedRow;

void write_rows(const std::vector<ValidatedRow>& rows, json::Writer& out) {
  out.key("rows").begin_array();
  for (const ValidatedRow& r : rows) {
    out.begin_object().field("file", r.at.file).field("line", r.at.line).field("source", r.source);
    out.field("model", r.model).field("metric", r.metric);
    out.key("measured");
    r.measured > 0 ? out.value(r.measured) : out.null();
    out.key("predicted");
    r.predicted > 0 ? out.value(r.predicted) : out.null();
    if (r.error) out.field("error", *r.error).field("inside_band", r.inside_band);
    if (!r.reason.empty()) out.field("reason", r.reason);
    out.field("full_configuration", r.full);
    out.end_object();
  }
  out.end_array();
}

}  // namespace

Table table_of(const judge::TrainingValidation& v) {
  Table table = accuracy_columns();
  for (const auto& s : v.sources) add(table, s.source, s.all);
  add(table, "rows with full configuration", v.full_rows);
  add(table, "overall", v.overall);
  return table;
}

Table table_of(const judge::MemoryValidation& v) {
  Table table = accuracy_columns();
  for (const auto& s : v.sources) add(table, s.source, s.all);
  add(table, "overall", v.overall);
  return table;
}

Table table_of(const judge::RankingValidation& v) {
  Table table{.columns = {{"model", "model"},
                          {"gpus", "GPUs", Align::right},
                          {"configurations", "configurations", Align::right},
                          {"spearman", "Spearman", Align::right},
                          {"regret", "top-1 regret", Align::right}}};
  for (const auto& g : v.groups)
    table.add({g.model, g.gpus, g.configurations,
               Cell(g.spearman, fmt::format("{:.2f}", g.spearman)), percent(g.regret)});
  if (v.groups.empty()) {
    table.add(
        {"nothing to rank: too few configurations of one model on as many GPUs", {}, {}, {}, {}});
    return table;
  }
  table.add({"mean of the groups",
             {},
             {},
             Cell(v.spearman, fmt::format("{:.2f}", v.spearman)),
             percent(v.regret)});
  return table;
}

void to_json(const judge::TrainingValidation& v, json::Writer& out) {
  out.begin_object().key("overall").begin_object();
  write(v.overall, out);
  out.end_object().key("full_configuration").begin_object();
  write(v.full_rows, out);
  out.end_object().field("band_coverage", v.band_coverage);
  write_sources(v.sources, out);
  write_rows(v.rows, out);
  out.end_object();
}

void to_json(const judge::MemoryValidation& v, json::Writer& out) {
  out.begin_object().key("overall").begin_object();
  write(v.overall, out);
  out.field("worked", v.worked).field("failed", v.failed);
  out.field("false_oom", v.false_oom).field("passed_failures", v.passed_failures);
  out.end_object();
  write_sources(v.sources, out);
  write_rows(v.rows, out);
  out.end_object();
}

void to_json(const judge::RankingValidation& v, json::Writer& out) {
  std::vector<double> errors;
  for (const auto& r : v.rows)
    if (r.error) errors.push_back(*r.error);
  out.begin_object().key("overall").begin_object();
  write(judge::accuracy(errors, static_cast<int>(v.rows.size())), out);
  out.field("groups", v.groups.size());
  for (const auto& [name, value] : {std::pair{"spearman", v.spearman}, {"regret", v.regret}}) {
    out.key(name);
    v.groups.empty() ? out.null() : out.value(value);
  }
  out.end_object().key("groups").begin_array();
  for (const auto& g : v.groups)
    out.begin_object()
        .field("model", g.model)
        .field("gpus", g.gpus)
        .field("configurations", g.configurations)
        .field("spearman", g.spearman)
        .field("regret", g.regret)
        .end_object();
  out.end_array();
  out.key("sources").begin_array().end_array();
  write_rows(v.rows, out);
  out.end_object();
}

Table rows_of(const std::vector<ValidatedRow>& rows) {
  Table table{.columns = {{"file", "file"},
                          {"line", "line", Align::right},
                          {"source", "source"},
                          {"model", "model"},
                          {"metric", "metric"},
                          {"measured", "measured", Align::right},
                          {"predicted", "predicted", Align::right},
                          {"error", "error", Align::right},
                          {"reason", "reason"}}};
  for (const ValidatedRow& r : rows) {
    const auto positive = [](double v) { return v > 0 ? Cell(v) : Cell(); };
    table.add({r.at.file, r.at.line, r.source, r.model, r.metric, positive(r.measured),
               positive(r.predicted), r.error ? signed_percent(*r.error) : Cell(), r.reason});
  }
  return table;
}

Table reasons_of(const std::vector<ValidatedRow>& rows) {
  std::map<std::string, int> counts;
  for (const ValidatedRow& r : rows)
    if (!r.error && !r.reason.empty()) ++counts[r.reason];
  Table table{.columns = {{"n", "lines", Align::right}, {"reason", "why there is no error"}}};
  for (const auto& [reason, n] : counts) table.add({n, reason});
  return table;
}

std::string to_markdown(const Table& table) {
  std::string out = "|", rule = "|";
  for (const Column& c : table.columns) {
    out += ' ' + c.title + " |";
    rule += c.align == Align::right ? "---:|" : "---|";
  }
  out += '\n' + rule + '\n';
  for (const auto& row : table.rows) {
    out += '|';
    for (const Cell& c : row) out += ' ' + c.shown() + " |";
    out += '\n';
  }
  return out;
}

}  // namespace railyard::report

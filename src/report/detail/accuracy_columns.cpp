#include "report/detail/accuracy_columns.h"

#include <fmt/format.h>

#include <utility>

namespace railyard::report::detail {

Cell percent(double fraction) { return {fraction, fmt::format("{:.1f} %", 100 * fraction)}; }
Cell signed_percent(double fraction) {
  return {fraction, fmt::format("{:+.1f} %", 100 * fraction)};
}

Table accuracy_columns() {
  return {.columns = {{"source", "source"},
                      {"n", "lines", Align::right},
                      {"predicted", "predicted", Align::right},
                      {"mape", "MAPE", Align::right},
                      {"median", "median", Align::right},
                      {"p90", "p90", Align::right},
                      {"max", "max", Align::right},
                      {"bias", "bias", Align::right}}};
}

void add(Table& table, const std::string& name, const judge::Accuracy& a) {
  if (a.predicted == 0) {
    table.add({name, a.n, a.predicted, {}, {}, {}, {}, {}});
    return;
  }
  table.add({name, a.n, a.predicted, percent(a.mape), percent(a.median), percent(a.p90),
             percent(a.max), signed_percent(a.bias)});
}

void write(const judge::Accuracy& a, json::Writer& out) {
  out.field("n", a.n).field("predicted", a.predicted);
  for (const auto& [name, value] : {std::pair{"mape", a.mape},
                                    {"median", a.median},
                                    {"p90", a.p90},
                                    {"max", a.max},
                                    {"bias", a.bias}}) {
    out.key(name);
    a.predicted > 0 ? out.value(value) : out.null();
  }
}

void write_sources(const std::vector<judge::SourceAccuracy>& sources, json::Writer& out) {
  out.key("sources").begin_array();
  for (const auto& s : sources) {
    out.begin_object().field("source", s.source);
    write(s.all, out);
    out.end_object();
  }
  out.end_array();
}

}  // namespace railyard::report::detail

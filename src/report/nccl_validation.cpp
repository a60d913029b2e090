#include "report/nccl_validation.h"

#include <fmt/format.h>

#include <map>

#include "report/detail/accuracy_columns.h"
#include "report/nccl_explain.h"
#include "report/validation.h"

namespace railyard::report {

using detail::percent;
using detail::signed_percent;
using judge::NcclRow;
using judge::NcclValidation;

Table table_of(const NcclValidation& v) {
  Table table = detail::accuracy_columns();
  for (const auto& s : v.sources) detail::add(table, s.source, s.all);
  detail::add(table, "overall", v.overall);
  return table;
}

Table sizes_of(const NcclValidation& v) {
  Table table{.columns = {{"size", "size"},
                          {"n", "lines", Align::right},
                          {"median", "median", Align::right},
                          {"within_10pct", "within 10 %", Align::right},
                          {"inside_band", "inside the band", Align::right},
                          {"nccl_n", "with NCCL's own", Align::right, 1},
                          {"same_rows_median", "median there", Align::right, 1},
                          {"nccl_median", "NCCL's median", Align::right, 1},
                          {"nccl_within_10pct", "NCCL's within 10 %", Align::right, 1}}};
  for (const auto& s : v.sizes)
    table.add({s.name, s.n, percent(s.median), percent(s.within_10pct), percent(s.inside_band),
               s.nccl_n, percent(s.same_rows_median), percent(s.nccl_median),
               percent(s.nccl_within_10pct)});
  return table;
}

Table labels_of(const NcclValidation& v) {
  struct Count {
    int n = 0, flagged = 0;
  };
  std::map<std::string, Count> counts;
  for (const NcclRow& r : v.rows) {
    ++counts[r.health].n;
    counts[r.health].flagged += r.flagged;
  }
  Table table{.columns = {{"label", "labelled as"},
                          {"n", "lines", Align::right},
                          {"flagged", "flagged", Align::right}}};
  for (const auto& [label, c] : counts) table.add({label, c.n, Cell(c.flagged)});
  return table;
}

Table rows_of(const NcclValidation& v) {
  Table table{.columns = {{"file", "file", Align::left, 2},
                          {"line", "line", Align::right},
                          {"source", "source", Align::left, 1},
                          {"collective", "collective"},
                          {"bytes", "size", Align::right},
                          {"health", "labelled as"},
                          {"measured", "measured us", Align::right},
                          {"predicted", "expected us", Align::right},
                          {"low", "low", Align::right, 1},
                          {"high", "high", Align::right, 1},
                          {"error", "error", Align::right},
                          {"flagged", "flagged"},
                          {"reason", "reason", Align::left, 3}}};
  for (const NcclRow& r : v.rows) {
    const auto positive = [](double us) { return us > 0 ? Cell(us) : Cell(); };
    table.add({r.at.file, r.at.line, r.source, r.collective,
               Cell(static_cast<double>(r.bytes), show_size(r.bytes)), r.health,
               positive(r.measured_us), positive(r.predicted_us), positive(r.low_us),
               positive(r.high_us), r.error ? signed_percent(*r.error) : Cell(),
               r.flagged ? "slow" : "", r.reason});
  }
  return table;
}

std::string to_text(const NcclValidation& v, int width) {
  std::map<std::string, int> reasons;
  for (const NcclRow& r : v.rows)
    if (!r.reason.empty()) ++reasons[r.reason];
  std::string out = "healthy rows, each predicted without any row of its system\n\n" +
                    to_text(table_of(v), width) + '\n' + to_text(sizes_of(v), width);
  out += fmt::format(
      "\nband of 64 KiB to 32 MiB: at most x{:.2f} wide\n"
      "flagged as too slow: {:.1f} % of the pathological rows (mean of the sources), {:.1f} % of "
      "the "
      "healthy ones\n\n",
      v.widest_band, 100 * v.flagged_pathological, 100 * v.flagged_healthy);
  out += to_text(labels_of(v), width);
  if (!reasons.empty()) out += '\n';
  for (const auto& [reason, n] : reasons) out += fmt::format("{:>4} without: {}\n", n, reason);
  return out;
}

std::string to_markdown(const NcclValidation& v) {
  std::string out =
      "Healthy published nccl-tests results, each predicted without any row of its system. NCCL's "
      "own\n"
      "estimate is that of its cost table on a server of the catalogue, where there is one.\n\n";
  out += to_markdown(sizes_of(v));
  out += fmt::format(
      "\nBand of 64 KiB to 32 MiB: at most x{:.2f} wide. Flagged as too slow: {:.1f} % of the "
      "pathological\nrows (mean of the sources), {:.1f} % of the healthy ones.\n\n",
      v.widest_band, 100 * v.flagged_pathological, 100 * v.flagged_healthy);
  return out + to_markdown(labels_of(v)) + '\n' + to_markdown(table_of(v));
}

void to_json(const NcclValidation& v, json::Writer& out) {
  out.begin_object().key("overall").begin_object();
  detail::write(v.overall, out);
  out.field("within_10pct", v.within_10pct)
      .field("inside_band", v.inside_band)
      .field("widest_band", v.widest_band)
      .field("flagged_pathological", v.flagged_pathological)
      .field("flagged_healthy", v.flagged_healthy)
      .end_object();
  out.key("sizes").begin_array();
  for (const auto& s : v.sizes)
    out.begin_object()
        .field("size", s.name)
        .field("n", s.n)
        .field("median", s.median)
        .field("within_10pct", s.within_10pct)
        .field("inside_band", s.inside_band)
        .field("nccl_n", s.nccl_n)
        .field("same_rows_median", s.same_rows_median)
        .field("nccl_median", s.nccl_median)
        .field("nccl_within_10pct", s.nccl_within_10pct)
        .end_object();
  out.end_array();
  detail::write_sources(v.sources, out);
  out.key("rows").begin_array();
  for (const NcclRow& r : v.rows) {
    out.begin_object()
        .field("file", r.at.file)
        .field("line", r.at.line)
        .field("source", r.source)
        .field("collective", r.collective)
        .field("bytes", r.bytes)
        .field("health", r.health);
    const auto time = [&](const char* key, double us) {
      out.key(key);
      us > 0 ? out.value(us) : out.null();
    };
    time("measured", r.measured_us);
    time("predicted", r.predicted_us);
    time("low", r.low_us);
    time("high", r.high_us);
    time("nccl_estimate", r.nccl_us.value_or(0));
    if (r.error) out.field("error", *r.error).field("inside_band", r.inside_band);
    if (!r.reason.empty()) out.field("reason", r.reason);
    out.field("flagged", r.flagged).end_object();
  }
  out.end_array().end_object();
}

}  // namespace railyard::report

#include "report/nccl_judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/nccl_expect.h"
#include "report/nccl_explain.h"
#include "report/width.h"

namespace railyard::report {

namespace {

using judge::NcclDip;
using judge::NcclFinding;
using judge::NcclHypothesis;
using judge::NcclJudgedRun;
using judge::NcclJudgedSize;
using judge::NcclJudgement;
using judge::Standing;

constexpr std::size_t kShownHypotheses = 3;

std::string counted(int n, const char* one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

std::string place_of(const Place& at) {
  if (at.line <= 0) return at.file;
  return fmt::format("{}:{}:{}", at.file, at.line, std::max(1, at.column));
}

const char* buffers_text(facts::Buffers buffers) {
  switch (buffers) {
    case facts::Buffers::out_of_place: return "out of place";
    case facts::Buffers::in_place: return "in place";
    case facts::Buffers::unknown: break;
  }
  return "";
}

Cell number_or_none(double value) { return value > 0 ? Cell(value) : Cell(); }

std::vector<Cell> cells(const NcclJudgedSize& s) {
  const double per_us = s.expected_us > 0 ? s.expected_busbw * s.expected_us : 0;
  return {Cell(static_cast<double>(s.bytes), show_size(s.bytes)),
          Cell(buffers_text(s.buffers)),
          Cell(s.us),
          Cell(s.busbw),
          number_or_none(s.expected_us),
          number_or_none(s.low_us),
          number_or_none(s.high_us),
          number_or_none(s.expected_busbw),
          number_or_none(s.high_us > 0 ? per_us / s.high_us : 0),
          number_or_none(s.low_us > 0 ? per_us / s.low_us : 0),
          number_or_none(s.ratio()),
          Cell(judge::name(s.verdict))};
}

/// On the screen the band stands beside its middle; scripts get all numbers.
Table screen_of(const NcclJudgedRun& run) {
  Table out{.columns = {{"", "size", Align::right},
                        {"", "buffers"},
                        {"", "us", Align::right},
                        {"", "busbw GB/s", Align::right},
                        {"", "expected us", Align::right, 1},
                        {"", "expected GB/s", Align::right},
                        {"", "ratio", Align::right},
                        {"", "verdict"}},
            .rows = {}};
  for (const NcclJudgedSize& s : run.sizes) {
    const double per_us = s.expected_us > 0 ? s.expected_busbw * s.expected_us : 0;
    out.add({Cell(static_cast<double>(s.bytes), show_size(s.bytes)), Cell(buffers_text(s.buffers)),
             Cell(s.us), Cell(s.busbw), number_or_none(s.expected_us),
             per_us > 0
                 ? Cell(s.expected_busbw, fmt::format("{} ({} - {})", show_number(s.expected_busbw),
                                                      show_number(per_us / s.high_us),
                                                      show_number(per_us / s.low_us)))
                 : Cell(),
             s.ratio() > 0 ? Cell(s.ratio(), fmt::format("{:.2f}", s.ratio())) : Cell(),
             Cell(judge::name(s.verdict))});
  }
  constexpr std::ptrdiff_t kMeasured = 4;  // the columns before what is expected
  if (!run.platform) {
    out.columns.erase(out.columns.begin() + kMeasured, out.columns.end());
    for (auto& row : out.rows) row.erase(row.begin() + kMeasured, row.end());
  }
  return out;
}

std::vector<Column> size_columns() {
  return {{"bytes", "size", Align::right},
          {"buffers", "buffers"},
          {"time_us", "us", Align::right},
          {"busbw_gb_per_s", "busbw GB/s", Align::right},
          {"expected_us", "expected us", Align::right, 1},
          {"low_us", "least us", Align::right, 3},
          {"high_us", "most us", Align::right, 3},
          {"expected_busbw_gb_per_s", "expected GB/s", Align::right},
          {"busbw_low", "least GB/s", Align::right, 2},
          {"busbw_high", "most GB/s", Align::right, 2},
          {"ratio", "ratio", Align::right},
          {"verdict", "verdict"}};
}

std::string head(const NcclJudgedRun& run) {
  std::string out = place_of(run.at) + ": " + (run.collective.empty() ? "?" : run.collective);
  if (run.ranks > 0) out += ", " + counted(run.ranks, "rank");
  if (run.nodes > 0) out += " on " + counted(run.nodes, "node");
  if (!run.version.empty()) out += ", NCCL " + run.version;
  out += '\n';
  if (run.platform)
    out += fmt::format("{} (from {})\n", describe(*run.platform), run.known_from);
  else if (run.collective.empty())
    out +=
        "no expected values: the file does not say which collective; only checks of the numbers by "
        "themselves\n";
  else
    out +=
        "no expected values: the machine is not known (--system FILE); only checks of the "
        "numbers by themselves\n";
  return out;
}

std::string dip_text(const NcclDip& dip) {
  std::string out =
      fmt::format("{} ({}) takes {} us, {} only {}: {:.0f} % less", show_size(dip.bytes),
                  buffers_text(dip.buffers), show_number(dip.us), show_size(dip.faster_bytes),
                  show_number(dip.faster_us), 100 * (1 - 1 / dip.gain()));
  if (!dip.change.empty()) out += "; " + dip.change;
  return out;
}

const char* standing_text(Standing standing) {
  switch (standing) {
    case Standing::shown: return "shown";
    case Standing::ruled_out: return "ruled out";
    case Standing::open: break;
  }
  return "open";
}

std::string tail(const NcclJudgedRun& run, int width) {
  std::string out;
  const auto say = [&](const std::string& text) {
    for (const std::string& line : wrap(text, width)) out += line + '\n';
  };
  for (const std::string& text : run.assumed) say("assumed: " + text);
  if (run.first_slow) say("slow from " + show_size(*run.first_slow) + " on");
  if (run.plateau) {
    const auto& p = *run.plateau;
    std::string text =
        fmt::format("plateau {} GB/s at {}", show_number(p.busbw), show_size(p.bytes));
    if (p.expected > 0) text += fmt::format(", expected {}", show_number(p.expected));
    if (p.light > 0)
      text += fmt::format(", no more than {} ({})", show_number(p.light), p.light_why);
    say(text);
  }
  constexpr std::size_t kDips = 3;
  for (std::size_t i = 0; i < std::min(kDips, run.dips.size()); ++i)
    say("dip: " + dip_text(run.dips[i]));
  if (run.dips.size() > kDips) say(fmt::format("and {} smaller ones", run.dips.size() - kDips));
  if (!run.hypotheses.empty()) {
    say(fmt::format("what would give this curve (a healthy system misses it by a factor {:.2f}):",
                    std::exp(run.healthy_misfit)));
    for (std::size_t i = 0; i < std::min(kShownHypotheses, run.hypotheses.size()); ++i) {
      const NcclHypothesis& h = run.hypotheses[i];
      std::string text = fmt::format("  {}. {}: misses by a factor {:.2f}, plateau {} GB/s", i + 1,
                                     h.what, std::exp(h.misfit), show_number(h.plateau));
      if (!h.why.empty()) text += fmt::format(", {}: {}", standing_text(h.standing), h.why);
      say(text);
    }
  }
  for (const std::string& text : run.remarks) say("normal: " + text);
  return out;
}

std::string finding_text(const NcclFinding& f, int width) {
  constexpr int kIndent = 2;
  std::string out;
  if (f.evidence.empty())
    out = fmt::format("{} [{}]\n", judge::name(f.severity), f.rule);
  else
    out = fmt::format("{}: {} [{}]\n", place_of(f.evidence.front().at), judge::name(f.severity),
                      f.rule);
  const auto say = [&](const std::string& text) {
    for (const std::string& line : wrap(text, width - kIndent)) out += "  " + line + '\n';
  };
  std::string cause = f.cause;
  if (f.loss > 1) cause += fmt::format(" (costs a factor {:.1f})", f.loss);
  say(cause);
  for (std::size_t i = 0; i < f.evidence.size(); ++i) {
    const auto& e = f.evidence[i];
    if (e.line.empty()) continue;
    out += "  | " + cut(e.line, width - kIndent - 2) + '\n';
  }
  if (!f.expected.empty()) say("expected: " + f.expected);
  if (!f.fix.empty()) say("fix: " + f.fix);
  if (!f.settle.empty()) say("to be sure: " + f.settle);
  return out;
}

}  // namespace

int count(const NcclJudgement& judgement, judge::NcclSeverity severity) {
  return static_cast<int>(std::ranges::count(judgement.findings, severity, &NcclFinding::severity));
}

Table table_of(const NcclJudgement& judgement) {
  Table out{.columns = {{"file", "file"}, {"line", "line", Align::right}, {"collective", "what"}},
            .rows = {}};
  for (Column& c : size_columns()) out.columns.push_back(std::move(c));
  for (const NcclJudgedRun& run : judgement.runs)
    for (const NcclJudgedSize& s : run.sizes) {
      std::vector<Cell> row{Cell(s.at.file), Cell(s.at.line), Cell(run.collective)};
      for (Cell& cell : cells(s)) row.push_back(std::move(cell));
      out.add(std::move(row));
    }
  return out;
}

std::string to_text(const NcclJudgement& judgement, int width) {
  std::string out;
  for (const NcclJudgedRun& run : judgement.runs) {
    out += head(run);
    out += to_text(screen_of(run), width) + tail(run, width) + '\n';
  }
  for (const NcclFinding& f : judgement.findings) out += finding_text(f, width);
  if (judgement.findings.empty()) out += "nothing wrong\n";
  out += counted(static_cast<int>(judgement.runs.size()), "run") + ", " +
         counted(judgement.logs, "log") + ": " +
         counted(count(judgement, judge::NcclSeverity::error), "error") + ", " +
         counted(count(judgement, judge::NcclSeverity::warning), "warning") + ", " +
         counted(count(judgement, judge::NcclSeverity::note), "note") + '\n';
  return out;
}

namespace {

void write(const NcclFinding& f, json::Writer& out) {
  out.begin_object()
      .field("rule", f.rule)
      .field("class", f.topic)
      .field("severity", judge::name(f.severity))
      .field("cause", f.cause)
      .field("fix", f.fix)
      .field("confidence", f.confidence)
      .field("expected", f.expected)
      .field("settle", f.settle);
  out.key("loss_factor");
  if (f.loss > 0)
    out.value(f.loss);
  else
    out.null();
  out.key("evidence").begin_array();
  for (const auto& e : f.evidence)
    out.begin_object()
        .field("file", e.at.file)
        .field("line", e.at.line)
        .field("column", std::max(1, e.at.column))
        .field("text", e.line)
        .end_object();
  out.end_array().end_object();
}

void write(const NcclHypothesis& h, json::Writer& out) {
  out.begin_object()
      .field("id", h.id)
      .field("class", h.topic)
      .field("what", h.what)
      .field("misfit", h.misfit)
      .field("plateau_busbw_gb_per_s", h.plateau)
      .field("loss_factor", h.loss)
      .field("standing", standing_text(h.standing))
      .field("why", h.why)
      .end_object();
}

void write(const NcclJudgedRun& run, json::Writer& out) {
  out.begin_object()
      .field("file", run.at.file)
      .field("line", run.at.line)
      .field("collective", run.collective)
      .field("ranks", run.ranks)
      .field("nodes", run.nodes)
      .field("nccl", run.version)
      .field("platform", run.platform ? describe(*run.platform) : std::string())
      .field("known_from", run.known_from)
      .field("slow", run.slow);
  out.key("assumed").begin_array();
  for (const std::string& a : run.assumed) out.value(a);
  out.end_array();
  Table table{.columns = size_columns(), .rows = {}};
  for (const NcclJudgedSize& s : run.sizes) table.add(cells(s));
  to_json(table, out.key("sizes"));
  out.key("first_slow_bytes");
  if (run.first_slow)
    out.value(*run.first_slow);
  else
    out.null();
  out.key("plateau");
  if (run.plateau) {
    const auto& p = *run.plateau;
    out.begin_object().field("bytes", p.bytes).field("busbw_gb_per_s", p.busbw);
    out.key("expected_busbw_gb_per_s");
    if (p.expected > 0)
      out.value(p.expected);
    else
      out.null();
    out.key("speed_of_light_busbw_gb_per_s");
    if (p.light > 0)
      out.value(p.light);
    else
      out.null();
    out.field("speed_of_light_why", p.light_why).end_object();
  } else {
    out.null();
  }
  out.key("dips").begin_array();
  for (const NcclDip& d : run.dips)
    out.begin_object()
        .field("line", d.at.line)
        .field("bytes", d.bytes)
        .field("buffers", buffers_text(d.buffers))
        .field("time_us", d.us)
        .field("faster_bytes", d.faster_bytes)
        .field("faster_us", d.faster_us)
        .field("gain", d.gain())
        .field("change", d.change)
        .field("better", d.better)
        .end_object();
  out.end_array();
  out.field("healthy_misfit", run.healthy_misfit);
  out.key("hypotheses").begin_array();
  for (const NcclHypothesis& h : run.hypotheses) write(h, out);
  out.end_array();
  out.key("remarks").begin_array();
  for (const std::string& r : run.remarks) out.value(r);
  out.end_array().end_object();
}

}  // namespace

void to_json(const NcclJudgement& judgement, json::Writer& out) {
  out.begin_object().field("logs", judgement.logs);
  out.field("errors", count(judgement, judge::NcclSeverity::error));
  out.field("warnings", count(judgement, judge::NcclSeverity::warning));
  out.field("notes", count(judgement, judge::NcclSeverity::note));
  out.key("findings").begin_array();
  for (const NcclFinding& f : judgement.findings) write(f, out);
  out.end_array();
  out.key("runs").begin_array();
  for (const NcclJudgedRun& run : judgement.runs) write(run, out);
  out.end_array().end_object();
}

}  // namespace railyard::report

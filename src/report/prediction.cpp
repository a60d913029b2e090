#include "report/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/measure.h"
#include "predict/step_parts.h"
#include "predict/words.h"
#include "report/tree.h"
#include "report/width.h"

namespace railyard::report {

namespace {

using model::Job;
using predict::Outlook;
using predict::Prediction;

constexpr int kLabel = 14;       // columns of "does not fit  "
constexpr int kSideBySide = 84;  // from this width on, memory stands beside time
constexpr int kGap = 4;
constexpr double kWorthNaming = 0.02;  // share of a part that "then" names

std::string text(int n) { return std::to_string(n); }

/// Shares stand below each other: one decimal each.
std::string show_share(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// A label and lines that continue below it in the same column.
std::string labelled(std::string_view label, const std::string& what, int width) {
  std::string out, left = pad_right(label, kLabel);
  for (const std::string& line : wrap(what, std::max(30, width - kLabel))) {
    out += left + line + '\n';
    left.assign(kLabel, ' ');
  }
  return out;
}

std::vector<std::string> lines_of(const std::string& block) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from < block.size();) {
    const std::size_t end = std::min(block.find('\n', from), block.size());
    out.push_back(block.substr(from, end - from));
    from = end + 1;
  }
  return out;
}

/// Two blocks of lines next to each other.
struct Columns {
  std::string left = {}, right = {};
};
std::string beside(const Columns& blocks) {
  const std::vector<std::string> left = lines_of(blocks.left), right = lines_of(blocks.right);
  int wide = 0;
  for (const std::string& line : left) wide = std::max(wide, display_width(line));
  std::string out;
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    std::string line = i < left.size() ? left[i] : std::string();
    if (i < right.size()) line = pad_right(line, wide + kGap) + right[i];
    out += line + '\n';
  }
  return out;
}

Table time_table(const Prediction& p) {
  Table table{.columns = {{"name", "time of a step"},
                          {"seconds", "", Align::right},
                          {"share", "share", Align::right}}};
  const auto add = [&](std::string_view title, Seconds time) {
    const double share = time / p.time.total;
    table.add({title, Cell(time.si(), show(time)), Cell(share, show_share(share))});
  };
  for (const predict::TimePart& part : predict::time_parts())
    if (const Seconds t = predict::time_of(p.time, part); t != Seconds{}) add(part.title, t);
  add("step", p.time.total);
  return table;
}

Table memory_table(const Outlook& o) {
  const predict::MemoryTerms& m = o.prediction.memory;
  const std::string of = o.job.layout.pipeline > 1 ? " of stage " + text(m.stage) : " of a rank";
  Table table{.columns = {{"name", "memory" + of}, {"bytes", "", Align::right}}};
  const auto add = [&](std::string_view title, Bytes b) {
    table.add({title, Cell(b.si(), show(b))});
  };
  for (const predict::MemoryPart& part : predict::memory_parts())
    if (m.*part.member > Bytes{}) add(part.title, m.*part.member);
  add("total", m.total());
  add("accelerator has", m.capacity);
  if (m.host > Bytes{}) add("offloaded", m.host);
  return table;
}

std::string job_line(const Job& job) {
  const std::string unit =
      job.model.convolutional ? " samples" : " sequences of " + text(job.sequence);
  return job.model.id + ", " + text(job.global_batch) + unit + " a step, " +
         std::string(model::name(job.precision)) +
         (job.software.stack.empty() ? "" : ", " + job.software.stack);
}

/// Tokens, or samples where there are none.
std::string rate_line(const Outlook& o) {
  const std::string what = o.job.model.convolutional ? "samples/s" : "tokens/s";
  return show_number(o.prediction.tokens_per_second) + ' ' + what + ", " +
         show_number(o.prediction.tokens_per_second_per_gpu) + " a GPU";
}

std::string overflow(const predict::Fit& fit) {
  std::string out;
  if (!fit.device_fits())
    out = show(fit.need) + " of accelerator memory, " + show(fit.need - fit.capacity) +
          " more than there are";
  const std::string between = out.empty() ? "" : "; ";
  if (fit.tier_is_missing) return out + between + "the servers have no CXL memory to offload to";
  if (!fit.host_fits())
    out += between + show(fit.host_need) + " of host memory a server, " +
           show(fit.host_need - fit.host_capacity) + " more than there are";
  return out;
}

std::string largest_kind(const predict::MemoryTerms& m) {
  const auto& parts = predict::memory_parts();
  const auto largest = std::ranges::max_element(
      parts, {}, [&](const predict::MemoryPart& p) { return (m.*p.member).si(); });
  return "most of it: " + std::string(largest->title) + ' ' + show(m.*largest->member);
}

std::string fit_text(const Outlook& o, int width) {
  if (o.fit.fits()) return {};
  std::string out =
      labelled("does not fit",
               overflow(o.fit) +
                   (o.fit.device_fits() ? std::string() : "; " + largest_kind(o.prediction.memory)),
               width);
  constexpr std::size_t kShown = 3;
  if (o.advice.empty())
    out +=
        labelled("", "no change of the layout makes it fit, nor do two or three together", width);
  for (std::size_t i = 0; i < std::min(o.advice.size(), kShown); ++i) {
    const predict::FitChange& c = o.advice[i];
    out += labelled(i == 0 ? "it fits with" : "or with",
                    c.change + ": " + show(c.fit.need) + ", step " + show(c.step), width);
  }
  return out;
}

std::string limit_text(const Outlook& o, int width) {
  const predict::Bottleneck& first = o.limited_by();
  std::string out =
      labelled("limited by", first.what + ", " + show_percent(first.share) + " of the step", width);
  out += labelled("", first.number + (first.reason.empty() ? "" : "; " + first.reason), width);
  std::string then;
  for (std::size_t i = 1; i < o.bottlenecks.size() && i <= 3; ++i)
    if (o.bottlenecks[i].share >= kWorthNaming)
      then += (then.empty() ? "" : ", ") + o.bottlenecks[i].what + ' ' +
              show_percent(o.bottlenecks[i].share);
  return then.empty() ? out : out + labelled("then", then, width);
}

std::string goodput_line(const predict::Goodput& g) {
  std::string out = show_percent(g.useful) + " of the time: saving " + show_percent(g.checkpoint);
  if (g.between_failures > Seconds{})
    out += ", work lost " + show_percent(g.lost) + ", restarts " + show_percent(g.restart) +
           "; a failure every " + show(g.between_failures);
  if (g.interval > Seconds{})
    out += ", a save every " + show(g.interval) +
           (g.interval_is_chosen ? " (square root of 2 x save x time between failures)" : "");
  return out;
}

std::string power_line(const predict::Energy& e) {
  constexpr double kJoulesPerKilowattHour = 3.6e6;
  return show(e.total()) + " at most: accelerators " + show(e.accelerators) +
         (e.servers_known ? ", servers " + show(e.servers) : std::string(", servers not known")) +
         "; " + show_number(e.step.si() / kJoulesPerKilowattHour) + " kWh a step";
}

std::string rent_line(const Outlook& o) {
  const auto of = [&](Seconds t) {
    return show_number(o.rent_per_hour.si() * (t / hour)) + " USD";
  };
  std::string out = of(1.0 * hour) + " an hour, " + of(o.prediction.time.total) + " a step";
  return o.whole_run > Seconds{} ? out + ", " + of(o.whole_run) + " the run" : out;
}

std::string rest_text(const Outlook& o, int width) {
  std::string out;
  if (o.goodput) out += labelled("goodput", goodput_line(*o.goodput), width);
  if (o.energy.accelerators > Watts{}) out += labelled("power", power_line(o.energy), width);
  if (o.rent_per_hour > Dollars{}) out += labelled("rent", rent_line(o), width);
  if (o.whole_run > Seconds{})
    out += labelled("whole run",
                    show_number(o.whole_run.in(day)) + " days for " +
                        show_number(o.job.trained_tokens / 1e9) + " billion tokens" +
                        (o.goodput ? ", failures included" : ""),
                    width);
  for (const std::string& note : o.notes) out += labelled("note", note, width);
  return out;
}

void write_utilisation(const predict::Utilisation& u, json::Writer& out) {
  out.key("utilisation").begin_object();
  out.field("busy", u.busy).field("compute", u.compute).field("mfu", u.mfu).end_object();
}

void write_time(const Prediction& p, json::Writer& out) {
  out.key("time").begin_array();
  for (const predict::TimePart& part : predict::time_parts()) {
    const Seconds time = predict::time_of(p.time, part);
    out.begin_object().field("name", part.key).field("seconds", time.si());
    out.field("share", time / p.time.total).end_object();
  }
  out.end_array();
}

void write_memory(const Outlook& o, json::Writer& out) {
  const predict::MemoryTerms& m = o.prediction.memory;
  out.key("memory").begin_array();
  for (const predict::MemoryPart& part : predict::memory_parts())
    out.begin_object().field("name", part.key).field("bytes", (m.*part.member).si()).end_object();
  out.end_array();
  out.field("memory_stage", m.stage).field("memory_total_bytes", m.total().si());
  out.field("memory_allocated_bytes", m.allocated().si());
  out.field("memory_capacity_bytes", m.capacity.si());
  out.field("host_memory_bytes", o.fit.host_need.si());
  out.field("host_capacity_bytes", o.fit.host_capacity.si());
  out.field("fits", o.fit.fits());
  out.key("fits_with").begin_array();
  for (const predict::FitChange& c : o.advice) {
    out.begin_object().field("change", c.change).field("memory_total_bytes", c.fit.need.si());
    out.field("step_time_s", c.step.si()).end_object();
  }
  out.end_array();
}

void write_limits(const Outlook& o, json::Writer& out) {
  out.field("limited_by", o.limited_by().what);
  out.key("limits").begin_array();
  for (const predict::Bottleneck& b : o.bottlenecks) {
    out.begin_object().field("part", b.part).field("what", b.what).field("seconds", b.time.si());
    out.field("share", b.share).field("number", b.number).field("reason", b.reason).end_object();
  }
  out.end_array();
}

void write_goodput(const Outlook& o, json::Writer& out) {
  out.key("goodput");
  if (!o.goodput) {
    out.null();
    return;
  }
  const predict::Goodput& g = *o.goodput;
  out.begin_object().field("useful", g.useful).field("checkpoint", g.checkpoint);
  out.field("lost", g.lost).field("restart", g.restart);
  out.field("checkpoint_interval_s", g.interval.si());
  out.field("between_failures_s", g.between_failures.si()).end_object();
}

void write_energy(const predict::Energy& e, json::Writer& out) {
  out.key("power_w").begin_object().field("accelerators", e.accelerators.si());
  out.key("servers");
  if (e.servers_known)
    out.value(e.servers.si());
  else
    out.null();
  out.end_object();
  out.field("energy_per_step_j", e.step.si());
}

}  // namespace

std::string with_band(const Prediction& p) {
  return show(p.time.total) + " (" + show(p.low * p.time.total) + " to " +
         show(p.high * p.time.total) + ")";
}

std::string to_text(const Outlook& o, const model::Cluster& cluster, int width) {
  const Prediction& p = o.prediction;
  std::string out = labelled(
      "cluster", (cluster.id.empty() ? "" : cluster.id + ": ") + predict::cluster_in_words(cluster),
      width);
  out += labelled("job", (o.job.name.empty() ? "" : o.job.name + ": ") + job_line(o.job), width);
  out += labelled("layout", predict::layout_in_words(o.job), width) + '\n';
  out += labelled("step time", with_band(p) + "; " + rate_line(o), width);
  out +=
      labelled("utilisation",
               "GPU busy " + show_percent(p.utilisation.busy) + ", computing " +
                   show_percent(p.utilisation.compute) + ", MFU " + show_percent(p.utilisation.mfu),
               width);
  const Columns tables{to_text(time_table(p), width), to_text(memory_table(o), width)};
  out += '\n' + (width >= kSideBySide ? beside(tables) : tables.left + '\n' + tables.right) + '\n';
  return out + fit_text(o, width) + limit_text(o, width) + rest_text(o, width);
}

void to_json(const Outlook& o, const predict::Term* explanation, json::Writer& out) {
  const Prediction& p = o.prediction;
  out.begin_object().field("job", o.job.name).field("accelerators", o.accelerators);
  out.field("layout", predict::layout_in_words(o.job));
  out.field("step_time_s", p.time.total.si());
  out.key("band").begin_object().field("low_s", (p.low * p.time.total).si());
  out.field("high_s", (p.high * p.time.total).si()).field("coverage", 0.8).end_object();
  const std::string unit = o.job.model.convolutional ? "samples" : "tokens";
  out.field(unit + "_per_s", p.tokens_per_second);
  out.field(unit + "_per_s_per_gpu", p.tokens_per_second_per_gpu);
  out.field("mfu", p.utilisation.mfu);
  write_utilisation(p.utilisation, out);
  write_time(p, out);
  write_memory(o, out);
  write_limits(o, out);
  write_goodput(o, out);
  write_energy(o.energy, out);
  out.key("rent_usd_per_hour");
  if (o.rent_per_hour > Dollars{})
    out.value(o.rent_per_hour.si());
  else
    out.null();
  out.key("whole_run_s");
  if (o.whole_run > Seconds{})
    out.value(o.whole_run.si());
  else
    out.null();
  out.key("notes").begin_array();
  for (const std::string& note : o.notes) out.value(note);
  out.end_array();
  if (explanation) to_json(*explanation, out.key("explanation"));
  out.end_object();
}

Table table_of(const Outlook& o) {
  const Prediction& p = o.prediction;
  Table table{.columns = {{"group", "group"},
                          {"name", "name"},
                          {"value", "value", Align::right},
                          {"unit", "unit"},
                          {"share", "share", Align::right}}};
  table.add({"step", "step_time", p.time.total.si(), "s", 1.0});
  table.add({"step", "step_time_low", (p.low * p.time.total).si(), "s", Cell()});
  table.add({"step", "step_time_high", (p.high * p.time.total).si(), "s", Cell()});
  const std::string unit = o.job.model.convolutional ? "samples" : "tokens";
  table.add({"step", unit + "_per_s", p.tokens_per_second, unit + "/s", Cell()});
  table.add({"step", unit + "_per_s_per_gpu", p.tokens_per_second_per_gpu, unit + "/s", Cell()});
  table.add({"utilisation", "busy", p.utilisation.busy, "", Cell()});
  table.add({"utilisation", "compute", p.utilisation.compute, "", Cell()});
  table.add({"utilisation", "mfu", p.utilisation.mfu, "", Cell()});
  for (const predict::TimePart& part : predict::time_parts()) {
    const Seconds time = predict::time_of(p.time, part);
    table.add({"time", part.key, time.si(), "s", time / p.time.total});
  }
  for (const predict::MemoryPart& part : predict::memory_parts())
    table.add({"memory", part.key, (p.memory.*part.member).si(), "B", Cell()});
  table.add({"memory", "total", p.memory.total().si(), "B", Cell()});
  table.add({"memory", "capacity", p.memory.capacity.si(), "B", Cell()});
  table.add({"limit", o.limited_by().what, o.limited_by().time.si(), "s", o.limited_by().share});
  return table;
}

namespace {

void add_terms(const predict::Term& term, const std::string& above, Table& table) {
  const std::string path = above.empty() ? term.name : above + " / " + term.name;
  table.add({path, term.number, term.unit, term.formula, term.source});
  for (const predict::Term& child : term.children) add_terms(child, path, table);
}

}  // namespace

Table table_of(const predict::Term& explanation) {
  Table table{.columns = {{"term", "term"},
                          {"value", "value", Align::right},
                          {"unit", "unit"},
                          {"formula", "formula"},
                          {"source", "source"}}};
  add_terms(explanation, {}, table);
  return table;
}

}  // namespace railyard::report

#include "report/comparison.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "base/measure.h"
#include "predict/host_cpu.h"
#include "predict/step_parts.h"
#include "predict/words.h"
#include "report/prediction.h"
#include "report/width.h"

namespace railyard::report {

namespace {

using plan::Comparison;
using plan::Contribution;
using predict::Outlook;

// Gains smaller than this share of the step are rounding, and have no shares.
constexpr double kNothing = 1e-6;

/// "+12.3 %"
std::string signed_percent(double ratio) {
  const std::string text = fmt::format("{:+.1f} %", 100 * ratio);
  return text == "-0.0 %" || text == "+0.0 %" ? "0.0 %" : text;
}
std::string whole_percent(double ratio) {
  const std::string text = fmt::format("{:.0f} %", 100 * ratio);
  return text == "-0 %" ? "0 %" : text;
}

/// A figure of both sides: `number` for scripts, `shown` for people.
struct Figure {
  std::string key, title, unit;
  std::function<double(const Outlook&)> number;
  std::function<std::string(const Outlook&)> shown;
};

Seconds exposed_communication(const predict::StepTime& t) {
  return t.tensor + t.context + t.expert + t.pipeline + t.data;
}

Figure seconds(std::string key, std::string title,
               const std::function<Seconds(const Outlook&)>& of) {
  return {std::move(key), std::move(title), "s", [of](const Outlook& o) { return of(o).si(); },
          [of](const Outlook& o) { return show(of(o)); }};
}
Figure share(std::string key, std::string title, const std::function<double(const Outlook&)>& of) {
  return {std::move(key), std::move(title), "", of,
          [of](const Outlook& o) { return fmt::format("{:.1f} %", 100 * of(o)); }};
}
Figure bytes(std::string key, std::string title, const std::function<Bytes(const Outlook&)>& of) {
  return {std::move(key), std::move(title), "B", [of](const Outlook& o) { return of(o).si(); },
          [of](const Outlook& o) { return show(of(o)); }};
}
Figure number(std::string key, std::string title, std::string unit,
              const std::function<double(const Outlook&)>& of) {
  return {std::move(key), std::move(title), std::move(unit), of,
          [of](const Outlook& o) { return show_number(of(o)); }};
}

const std::vector<Figure>& figures() {
  static const std::vector<Figure> all = {
      {"accelerators", "accelerators", "", [](const Outlook& o) { return double(o.accelerators); },
       [](const Outlook& o) { return std::to_string(o.accelerators); }},
      seconds("step_time", "step time", [](const Outlook& o) { return o.prediction.time.total; }),
      number("rate", "tokens or samples/s", "1/s",
             [](const Outlook& o) { return o.prediction.tokens_per_second; }),
      number("rate_per_gpu", "each accelerator", "1/s",
             [](const Outlook& o) { return o.prediction.tokens_per_second_per_gpu; }),
      share("mfu", "MFU", [](const Outlook& o) { return o.prediction.utilisation.mfu; }),
      share("busy", "GPU busy", [](const Outlook& o) { return o.prediction.utilisation.busy; }),
      share("compute", "GPU computing",
            [](const Outlook& o) { return o.prediction.utilisation.compute; }),
      seconds("communication", "exposed communication",
              [](const Outlook& o) { return exposed_communication(o.prediction.time); }),
      share("communication_share", "its share of the step",
            [](const Outlook& o) {
              return exposed_communication(o.prediction.time) / o.prediction.time.total;
            }),
      {"network_per_server", "network of a server", "B/s",
       [](const Outlook& o) { return o.machine.network_per_server.si(); },
       [](const Outlook& o) {
         const Bandwidth rate = o.machine.network_per_server;
         return rate > Bandwidth{} ? show_bits(rate) : std::string("none");
       }},
      number("tcp_cores", "cores that TCP receives with", "",
             [](const Outlook& o) { return predict::tcp_cores(o.machine); }),
      bytes("memory", "accelerator memory needed", [](const Outlook& o) { return o.fit.need; }),
      bytes("memory_capacity", "accelerator memory",
            [](const Outlook& o) { return o.fit.capacity; }),
      bytes("host_memory", "host memory of a server",
            [](const Outlook& o) { return o.machine.host_capacity; }),
      bytes("cxl_memory", "CXL memory of a server",
            [](const Outlook& o) { return o.machine.cxl_capacity; }),
      {"power", "power at most", "W", [](const Outlook& o) { return o.energy.total().si(); },
       [](const Outlook& o) { return show(o.energy.total()); }},
      share("goodput", "goodput",
            [](const Outlook& o) { return o.goodput ? o.goodput->useful : 1; }),
      seconds("whole_run", "whole run", [](const Outlook& o) { return o.whole_run; })};
  return all;
}

/// What is zero on both sides, or says nothing, is left out on the screen.
bool worth_showing(const Figure& f, const Comparison& c) {
  const double a = f.number(c.a), b = f.number(c.b);
  if (f.key == "goodput") return c.a.goodput || c.b.goodput;
  return a != 0 || b != 0;
}

Table side_by_side(const Comparison& c) {
  Table table{.columns = {{"figure", ""},
                          {"a", "A", Align::right},
                          {"b", "B", Align::right},
                          {"change", "change", Align::right}}};
  for (const Figure& f : figures()) {
    if (!worth_showing(f, c)) continue;
    const double a = f.number(c.a), b = f.number(c.b);
    table.add({f.title, f.shown(c.a), f.shown(c.b),
               a == b || a == 0 ? Cell() : Cell(signed_percent(b / a - 1))});
  }
  return table;
}

double share_of(const Comparison& c, const Contribution& change) {
  return change.in_order / c.gain();
}
bool has_gain(const Comparison& c) { return std::abs(c.gain() / c.time_a) > kNothing; }

Table changes_table(const Comparison& c) {
  Table table{.columns = {{"change", "change"},
                          {"alone", "alone", Align::right},
                          {"in_order", "in order", Align::right},
                          {"step", "step", Align::right},
                          {"share", "share", Align::right}}};
  for (const Contribution& x : c.changes)
    table.add({x.what, x.alone ? signed_percent(*x.alone / c.time_a) : "-",
               signed_percent(x.in_order / c.time_a), show(x.step),
               has_gain(c) ? whole_percent(share_of(c, x)) : "-"});
  return table;
}

/// The table, and below each change what it is.
std::string changes_text(const Comparison& c, int width) {
  constexpr int kIndent = 4;
  std::string out;
  std::size_t row = 0;  // of the table, the line of titles included
  const std::string table = to_text(changes_table(c), width);
  for (std::size_t from = 0; from < table.size(); ++row) {
    const std::size_t end = table.find('\n', from) + 1;
    out += table.substr(from, end - from);
    from = end;
    if (row == 0 || c.changes[row - 1].to.empty()) continue;
    const Contribution& x = c.changes[row - 1];
    for (const std::string& line : wrap(x.from + "  ->  " + x.to, width - kIndent))
      out += std::string(kIndent, ' ') + line + '\n';
  }
  return out;
}

std::string interaction_line(const Comparison& c) {
  const std::string all = "together " + signed_percent(c.gain() / c.time_a) + " of A's step time";
  const std::optional<Seconds> interaction = c.interaction();
  if (!interaction) return all + "; a change marked '-' does nothing without those before it\n";
  return all + ", alone they would sum to " + signed_percent((c.gain() - *interaction) / c.time_a) +
         ": interaction " + signed_percent(*interaction / c.time_a) + '\n';
}

std::string heading(const char* side, const Outlook& o, const model::Cluster& cluster, int width) {
  const std::string what = (cluster.id.empty() ? "" : cluster.id + ": ") +
                           predict::cluster_in_words(cluster) + "; " + o.job.model.id + ", " +
                           predict::layout_in_words(o.job) + (o.fit.fits() ? "" : "; does not fit");
  std::string out, left = std::string(side) + "  ";
  for (const std::string& line : wrap(what, width - 3)) {
    out += left + line + '\n';
    left = "   ";
  }
  return out;
}

std::string limits(const Comparison& c) {
  std::string out;
  for (const auto& [side, o] : {std::pair{"A", &c.a}, std::pair{"B", &c.b}})
    out += std::string(side) + " is limited by " + o->limited_by().what + " (" +
           fmt::format("{:.1f} %", 100 * o->limited_by().share) + ")\n";
  return out;
}

void write_change(const Comparison& c, const Contribution& x, json::Writer& out) {
  out.begin_object().field("what", x.what).field("from", x.from).field("to", x.to);
  out.key("alone_s");
  if (x.alone)
    out.value(x.alone->si());
  else
    out.null();
  out.field("in_order_s", x.in_order.si());
  out.key("share");
  if (has_gain(c))
    out.value(share_of(c, x));
  else
    out.null();
  out.field("step_time_s", x.step.si()).field("limited_by", x.limited_by).end_object();
}

}  // namespace

std::string to_text(const Comparison& c, const Sides& sides, int width) {
  std::string out = heading("A", c.a, sides.a, width) + heading("B", c.b, sides.b, width);
  out += '\n' + to_text(side_by_side(c), width) + '\n';
  out += limits(c) + '\n';
  if (c.changes.empty()) return out + "no difference that changes a step\n";
  return out + changes_text(c, width) + interaction_line(c);
}

void to_json(const Comparison& c, json::Writer& out) {
  out.begin_object();
  to_json(c.a, nullptr, out.key("a"));
  to_json(c.b, nullptr, out.key("b"));
  out.field("throughput_ratio",
            c.b.prediction.tokens_per_second / c.a.prediction.tokens_per_second);
  out.field("per_gpu_ratio",
            c.b.prediction.tokens_per_second_per_gpu / c.a.prediction.tokens_per_second_per_gpu);
  out.field("gain_s", c.gain().si());
  out.key("changes").begin_array();
  for (const Contribution& x : c.changes) write_change(c, x, out);
  out.end_array().key("interaction_s");
  if (const std::optional<Seconds> interaction = c.interaction())
    out.value(interaction->si());
  else
    out.null();
  out.end_object();
}

Table table_of(const Comparison& c) {
  Table table{.columns = {{"group", "group"},
                          {"name", "name"},
                          {"a", "a", Align::right},
                          {"b", "b", Align::right},
                          {"unit", "unit"},
                          {"alone_s", "alone", Align::right},
                          {"in_order_s", "in order", Align::right},
                          {"share", "share", Align::right}}};
  for (const Figure& f : figures())
    table.add({"figure", f.key, f.number(c.a), f.number(c.b), f.unit, Cell(), Cell(), Cell()});
  for (const predict::TimePart& part : predict::time_parts())
    table.add({"time", part.key, predict::time_of(c.a.prediction.time, part).si(),
               predict::time_of(c.b.prediction.time, part).si(), "s", Cell(), Cell(), Cell()});
  for (const Contribution& x : c.changes)
    table.add({"change", x.what, x.from, x.to, "", x.alone ? Cell(x.alone->si()) : Cell(),
               x.in_order.si(), has_gain(c) ? Cell(share_of(c, x)) : Cell()});
  return table;
}

}  // namespace railyard::report

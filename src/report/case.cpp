#include "report/case.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/measure.h"
#include "predict/host_cpu.h"
#include "predict/words.h"
#include "report/prediction.h"
#include "report/width.h"

namespace railyard::report {

namespace {

using judge::CaseRun;
using judge::CaseSet;
using judge::ClaimRow;
using judge::Role;
using judge::Verdict;

constexpr int kLimitName = 34, kLimitRate = 4;  // columns of the network's limits

/// A row of figures, one a run.
class Figures {
 public:
  explicit Figures(const CaseSet& set) : set_(set) {
    table_.columns.push_back({"name", "one training step"});
    for (const CaseRun& run : set.runs) table_.columns.push_back({run.id, run.title, Align::right});
  }

  template <class F>
  void row(const std::string& title, F cell) {
    std::vector<Cell> cells{Cell(title)};
    for (const CaseRun& run : set_.runs) cells.push_back(cell(run));
    table_.add(std::move(cells));
  }
  void time(const std::string& title, Seconds (*of)(const CaseRun&)) {
    row(title, [&](const CaseRun& run) {
      const Seconds t = of(run);
      return Cell(t.si(), t > Seconds{} ? show(t) : "-");
    });
  }
  void share(const std::string& title, double (*of)(const CaseRun&)) {
    row(title, [&](const CaseRun& run) { return Cell(of(run), show_percent(of(run))); });
  }

  Table take() { return std::move(table_); }

 private:
  const CaseSet& set_;
  Table table_;
};

bool any_tensor(const CaseSet& set) {
  return std::ranges::any_of(
      set.runs, [](const CaseRun& run) { return run.prediction().time.tensor > Seconds{}; });
}

std::string unit_of_work(const CaseSet& set) {
  return set.runs.front().outlook.job.model.convolutional ? "samples/s" : "tokens/s";
}

std::string round_rate(double rate) { return fmt::format("{:.0f}", rate); }

/// The claim's number in the table.
std::size_t number_of(const std::vector<ClaimRow>& rows, const std::string& id) {
  const auto at = std::ranges::find(rows, id, &ClaimRow::id);
  return static_cast<std::size_t>(at - rows.begin()) + 1;
}

/// "5, 7-10"
std::string ranges(std::vector<std::size_t> numbers) {
  std::ranges::sort(numbers);
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    out += (out.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (end - i == 2) out += ", ";
    if (end - i > 2) out += '-';
    if (end - i > 1) out += std::to_string(numbers[end - 1]);
    i = end;
  }
  return out;
}

/// Short enough for the table; what it leaves open stands with the sums.
std::string verdict_text(const ClaimRow& row, const std::vector<ClaimRow>& rows) {
  std::vector<std::size_t> numbers;
  for (const std::string& id : row.against) numbers.push_back(number_of(rows, id));
  const std::string out(judge::name(row.verdict));
  if (row.verdict == Verdict::contradicts)
    return out + ' ' + (numbers.empty() ? std::string("its sum") : ranges(std::move(numbers)));
  return row.verdict == Verdict::holds_as ? out + " below" : out;
}

/// The reading, what is missing, what the contradiction is.
std::string remark(const ClaimRow& row) {
  switch (row.verdict) {
    case Verdict::holds: return row.because;
    case Verdict::holds_as: return "holds only as " + row.because;
    case Verdict::contradicts: return row.because;
    case Verdict::cannot_judge: return "missing: " + row.because;
  }
  return {};
}

/// Lines with a hanging indent.
std::string hanging(const std::string& left, const std::string& text, int width) {
  std::string out, head = left;
  const int indent = display_width(left);
  for (const std::string& line : wrap(text, std::max(30, width - indent))) {
    out += head + line + '\n';
    head.assign(static_cast<std::size_t>(indent), ' ');
  }
  return out;
}

std::string decimal_size(Bytes b) {
  return b >= 1.0 * GB ? fmt::format("{:.4g} GB", b.in(GB)) : fmt::format("{:.4g} MB", b.in(MB));
}

void write(const judge::Estimate& e, json::Writer& out) {
  out.begin_object().field("what", e.what).field("value", e.value).field("low", e.low);
  out.field("high", e.high).field("unit", e.unit).field("text", e.text).end_object();
}

void write(const ClaimRow& row, const std::vector<ClaimRow>& rows, json::Writer& out) {
  out.begin_object();
  out.field("number", static_cast<std::int64_t>(number_of(rows, row.id)));
  out.field("id", row.id).field("claim", row.claim).field("claimed", row.claimed);
  out.key("predicted").begin_array();
  for (const judge::Estimate& e : row.predicted) write(e, out);
  out.end_array();
  out.field("verdict", judge::name(row.verdict)).field("because", row.because);
  out.field("consistent", row.against.empty());
  out.key("contradicts").begin_array();
  for (const std::string& id : row.against) out.value(id);
  out.end_array();
  out.key("sums").begin_array();
  for (const judge::Sum& s : row.sums) {
    out.begin_object().field("name", s.name).field("line", s.line);
    out.field("value", s.value).field("unit", s.unit).end_object();
  }
  out.end_array().end_object();
}

/// "-12.3 s"
std::string signed_time(Seconds t) {
  constexpr Seconds kNothing = 0.5 * us;
  if (max(t, -t) < kNothing) return "0";
  return t < Seconds{} ? '-' + show(-t) : '+' + show(t);
}

/// What the changes do besides: host cores that TCP takes, and what the slot still costs.
std::string beside_the_changes(const CaseView& v, int width) {
  const CaseRun* before = v.sets.front().find(Role::before);
  const CaseRun* after = v.sets.front().find(Role::after);
  if (!before || !after) return {};
  std::string out;
  const double cores = predict::tcp_cores(before->outlook.machine);
  if (cores > 0)
    out += hanging(
        "  host CPU   ",
        fmt::format("receiving {} by TCP keeps about {:.1f} of {} cores of a server busy; RDMA "
                    "none",
                    show_bits(before->outlook.machine.network_per_server), cores,
                    before->outlook.machine.host_cores),
        width);
  if (v.all_ports)
    out += hanging("  PCIe slot  ",
                   fmt::format("if it carried all of the ports: {} instead of {} ({})",
                               show(v.all_ports->time.total), show(after->step()), after->title),
                   width);
  return out;
}

std::string heading(const std::string& text) { return '\n' + text + '\n'; }

}  // namespace

Table steps_table(const CaseSet& set) {
  Figures f(set);
  f.row("accelerators", [](const CaseRun& r) { return Cell(r.outlook.accelerators); });
  f.row("tensor (x pipeline) x data", [](const CaseRun& r) {
    const model::Layout& l = r.outlook.job.layout;
    return Cell(fmt::format("{}{} x {}", l.tensor,
                            l.pipeline > 1 ? fmt::format(" x {}", l.pipeline) : "", l.data));
  });
  f.time("step time", [](const CaseRun& r) { return r.step(); });
  f.row("  80 % band, s", [](const CaseRun& r) {
    const auto& p = r.prediction();
    return Cell(fmt::format("{}-{}", show_number(p.low * r.step().si()),
                            show_number(p.high * r.step().si())));
  });
  f.time("  compute", [](const CaseRun& r) { return r.prediction().time.compute(); });
  if (any_tensor(set))
    f.time("  tensor parallel", [](const CaseRun& r) { return r.prediction().time.tensor; });
  f.time("  waits for network", [](const CaseRun& r) { return judge::network_wait(r); });
  f.time("  all else", [](const CaseRun& r) {
    const predict::StepTime& t = r.prediction().time;
    return max(t.total - t.compute() - t.tensor - judge::network_wait(r), Seconds{});
  });
  f.share("waiting for the network",
          [](const CaseRun& r) { return judge::network_wait(r) / r.step(); });
  f.share("GPU busy (nvidia-smi)",
          [](const CaseRun& r) { return r.prediction().utilisation.busy; });
  f.share("GPU computing", [](const CaseRun& r) { return r.prediction().utilisation.compute; });
  f.share("MFU", [](const CaseRun& r) { return r.prediction().utilisation.mfu; });
  f.row(unit_of_work(set), [](const CaseRun& r) {
    const double rate = r.prediction().tokens_per_second;
    return Cell(rate, round_rate(rate));
  });
  f.row(unit_of_work(set) + " a GPU", [](const CaseRun& r) {
    const double rate = r.prediction().tokens_per_second_per_gpu;
    return Cell(rate, show_number(rate));
  });
  f.row("memory of a GPU", [](const CaseRun& r) {
    const Bytes need = r.outlook.fit.need;
    return Cell(need.si(), show(need) + (r.outlook.fit.device_fits() ? "" : " (!)"));
  });
  return f.take();
}

std::string limits_text(const CaseSet& set, int width) {
  std::string out;
  int names = 0;
  for (const CaseRun& run : set.runs) names = std::max(names, display_width(run.title));
  for (const CaseRun& run : set.runs) {
    const std::string left = "  " + pad_right(run.title, names) + "  ";
    if (!run.outlook.fit.fits()) {
      out += hanging(
          left,
          "does not fit: " + show(run.outlook.fit.need) + " of " + show(run.outlook.fit.capacity),
          width);
      continue;
    }
    const predict::Bottleneck& b = run.outlook.limited_by();
    // The part alone; predict --explain has the sum.
    const std::string part = b.reason.substr(0, b.reason.find(": "));
    out += hanging(left, b.what + ", " + show_percent(b.share) + " (" + part + ')', width);
  }
  return out.empty() ? out : "limited by\n" + out;
}

Table changes_table(const plan::Comparison& changes) {
  Table table{.columns = {{"change", "what each change gives"},
                          {"from", "from", Align::left, 1},
                          {"to", "to", Align::left, 1},
                          {"alone_s", "alone", Align::right},
                          {"in_order_s", "in order", Align::right},
                          {"step_s", "step then", Align::right}}};
  for (const plan::Contribution& c : changes.changes)
    table.add({c.what, c.from, c.to, c.alone ? Cell(c.alone->si(), signed_time(*c.alone)) : Cell(),
               Cell(c.in_order.si(), signed_time(c.in_order)), Cell(c.step.si(), show(c.step))});
  return table;
}

Table network_table(const CaseRun& run) {
  const fabric::Machine& m = run.outlook.machine;
  Table table{.columns = {{"limit", "network of a server"},
                          {"bits_per_s", "Gb/s", Align::right},
                          {"why", "because"}}};
  bool chip = false;
  const auto add = [&](const std::string& name, Bandwidth rate, const std::string& why) {
    table.add({name, Cell(rate.si() * 8, show_number(rate.in(Gbps))), why});
  };
  for (const fabric::Limit& l : m.network_limits) {
    chip = chip || l.name.contains("chip of");
    add(l.name, l.rate, l.why);
  }
  if (!chip && !run.cluster.server.nics.empty()) {
    const model::Nic& card = run.cluster.server.nics.front().part;
    table.rows.insert(table.rows.begin() + 1,
                      {Cell("chip of " + card.id), Cell(), Cell("not known: " + card.from.source)});
  }
  if (!m.network_limits.empty())
    add("minimum", m.network_per_server,
        m.network_limits[m.network_binding].name + ": what a server can send, and receive");
  return table;
}

std::string network_text(const CaseRun& run, int width) {
  const Table table = network_table(run);
  std::string out = "network of a server, Gb/s of data one way (" + run.title + ")\n";
  for (const std::vector<Cell>& row : table.rows) {
    const std::string& name = row[0].shown();
    // "slot of CARD, PCIe 5.0 x16": the card is in the heading of the case
    const std::string left = "  " + pad_right(cut(name, kLimitName), kLimitName) + ' ' +
                             pad_left(row[1].shown(), kLimitRate) + "  ";
    out += hanging(left, row[2].shown(), width);
  }
  return out;
}

Table claims_table(const std::vector<ClaimRow>& rows) {
  Table table{.columns = {{"number", "", Align::right},
                          {"claim", "claim"},
                          {"claimed", "claimed"},
                          {"verdict", "verdict"},
                          {"predicted", "predicted (80 % band)"}}};
  for (std::size_t i = 0; i < rows.size(); ++i)
    table.add({static_cast<std::int64_t>(i + 1), rows[i].claim, rows[i].claimed,
               verdict_text(rows[i], rows), rows[i].predicted_text});
  return table;
}

std::string sums_text(const std::vector<ClaimRow>& rows, int width) {
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ClaimRow& row = rows[i];
    const std::string text = remark(row);
    if (row.sums.empty() && text.empty()) continue;
    out += hanging(fmt::format("{:>3}  ", i + 1), row.claim + (text.empty() ? "" : ": " + text),
                   width);
    for (const judge::Sum& s : row.sums) out += hanging("       ", s.line, width);
  }
  return out;
}

Table curve_table(const std::vector<judge::SizePoint>& curve) {
  Table table{.columns = {{"size_bytes", "all-reduce of", Align::right},
                          {"before_s", "before", Align::right},
                          {"after_s", "after", Align::right},
                          {"ratio", "ratio", Align::right}}};
  for (const judge::SizePoint& p : curve)
    table.add({Cell(p.size.si(), decimal_size(p.size)),
               Cell(p.time.before.si(), show(p.time.before)),
               Cell(p.time.after.si(), show(p.time.after)), Cell(p.time.before / p.time.after)});
  return table;
}

Table uplinks_table(const std::vector<judge::UplinkPoint>& points, const CaseRun& before) {
  Table table{.columns = {{"oversubscription", "leaf uplinks"},
                          {"share_bits_per_s", "share of a server", Align::right},
                          {"in_order_s", "step, ranks in rack order", Align::right},
                          {"in_order_gain", "gain", Align::right},
                          {"without_order_s", "step, no order", Align::right},
                          {"without_order_gain", "gain", Align::right}}};
  for (const judge::UplinkPoint& p : points) {
    std::vector<Cell> row{Cell(p.oversubscription, fmt::format("{:g}:1", p.oversubscription)),
                          Cell(p.share.si() * 8, show_bits(p.share))};
    for (const predict::Prediction* x : {&p.in_order, &p.without_order}) {
      const judge::Estimate g = judge::gain({}, {before.prediction(), *x});
      row.emplace_back(x->time.total.si(), show(x->time.total));
      row.emplace_back(g.value, fmt::format("{:+.1f} %", 100 * g.value));
    }
    table.add(std::move(row));
  }
  return table;
}

std::string to_text(const CaseView& v, Detail detail, int width) {
  std::string out = v.file.title + '\n';
  out += hanging("",
                 "claims: " + v.file.source +
                     "; what had to be assumed stands in the files beside " + v.file.file,
                 width);
  const std::size_t sets = detail == Detail::all ? v.sets.size() : 1;
  for (std::size_t i = 0; i < sets; ++i) {
    const CaseSet& set = v.sets[i];
    out += '\n' + hanging("",
                          set.title + ": " + predict::layout_in_words(set.runs.front().outlook.job),
                          width);
    out += to_text(steps_table(set), width) + limits_text(set, width);
  }
  if (v.changes)
    out += '\n' + to_text(changes_table(*v.changes), width) + beside_the_changes(v, width);
  const CaseSet& first = v.sets.front();
  if (const CaseRun* after = first.find(Role::after)) out += '\n' + network_text(*after, width);
  if (const CaseRun* before = first.find(Role::before);
      before && detail == Detail::all && !v.uplinks.empty())
    out += '\n' + to_text(uplinks_table(v.uplinks, *before), width);
  if (detail == Detail::all && !v.curve.empty()) out += '\n' + to_text(curve_table(v.curve), width);
  out += '\n' + to_text(claims_table(v.claims), width);
  out += heading("The sums") + sums_text(v.claims, width);
  return out;
}

void to_json(const CaseView& v, json::Writer& out) {
  out.begin_object().field("case", v.file.title).field("source", v.file.source);
  out.key("sets").begin_array();
  for (const CaseSet& set : v.sets) {
    out.begin_object().field("set", set.id).field("title", set.title).key("runs").begin_array();
    for (const CaseRun& run : set.runs) {
      out.begin_object().field("run", run.id).field("title", run.title);
      out.field("network_wait_s", judge::network_wait(run).si());
      to_json(run.outlook, nullptr, out.key("prediction"));
      out.end_object();
    }
    out.end_array().end_object();
  }
  out.end_array();
  if (v.changes) to_json(changes_table(*v.changes), out.key("changes"));
  if (v.all_ports) out.field("step_with_all_ports_s", v.all_ports->time.total.si());
  if (const CaseRun* after = v.sets.front().find(Role::after))
    to_json(network_table(*after), out.key("network_limits"));
  if (const CaseRun* before = v.sets.front().find(Role::before); before && !v.uplinks.empty())
    to_json(uplinks_table(v.uplinks, *before), out.key("uplinks"));
  if (!v.curve.empty()) to_json(curve_table(v.curve), out.key("all_reduce_curve"));
  out.key("claims").begin_array();
  for (const ClaimRow& row : v.claims) write(row, v.claims, out);
  out.end_array().end_object();
}

Table csv_table(const std::vector<CaseView>& views) {
  Table table{.columns = {{"case", "case"},
                          {"claim", "claim"},
                          {"claimed", "claimed"},
                          {"predicted", "predicted"},
                          {"verdict", "verdict"},
                          {"contradicts", "contradicts"},
                          {"because", "because"},
                          {"sum", "sum"},
                          {"line", "line"},
                          {"value", "value", Align::right},
                          {"unit", "unit"}}};
  for (const CaseView& v : views)
    for (const ClaimRow& row : v.claims) {
      std::string against;
      for (const std::string& id : row.against) against += (against.empty() ? "" : " ") + id;
      const std::vector<Cell> head{
          v.file.title, row.id,     row.claimed, row.predicted_text, judge::name(row.verdict),
          against,      row.because};
      const auto add = [&](std::vector<Cell> tail) {
        std::vector<Cell> cells = head;
        cells.insert(cells.end(), tail.begin(), tail.end());
        table.add(std::move(cells));
      };
      if (row.sums.empty()) add({Cell(), Cell(), Cell(), Cell()});
      for (const judge::Sum& s : row.sums) add({s.name, s.line, s.value, s.unit});
    }
  return table;
}

}  // namespace railyard::report

#include "report/nccl_expect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/measure.h"
#include "report/nccl_explain.h"

namespace railyard::report {

namespace {

using predict::Collective;
using predict::nccl::Expectation;
using predict::nccl::ExpectedSize;
using predict::nccl::Mode;
using predict::nccl::Platform;
using predict::nccl::TimeParts;

/// What sets the time; a measured one needs no reason.
std::string source_of(const ExpectedSize& s) {
  if (!s.measured) return bound_by(s.parts);
  return s.measured->measured ? "calibrated" : "beyond the sweep";
}

std::string pick_text(const ExpectedSize& s) { return s.pick ? show(*s.pick) : std::string(); }

const char* mode_text(Mode mode) {
  switch (mode) {
    case Mode::eager: return "launched one by one, as nccl-tests does";
    case Mode::graph: return "replayed from a CUDA graph or launched ahead";
    case Mode::kernel: return "inside the kernel";
  }
  return "";
}
const char* mode_key(Mode mode) {
  return mode == Mode::eager ? "eager" : mode == Mode::graph ? "graph" : "kernel";
}

void add_rows(const Expectation& e, Table& out, bool with_name) {
  for (const ExpectedSize& s : e.sizes) {
    std::vector<Cell> row;
    if (with_name) row.emplace_back(tests_name(e.what));
    const double us = s.us(), bus = s.busbw(us, e.bus_factor);
    row.insert(row.end(),
               {Cell(static_cast<double>(s.bytes), show_size(s.bytes)), Cell(us), Cell(s.low_us),
                Cell(s.high_us), Cell(bus), Cell(s.busbw(s.high_us, e.bus_factor)),
                Cell(s.busbw(s.low_us, e.bus_factor)), Cell(source_of(s)), Cell(pick_text(s))});
    out.rows.push_back(std::move(row));
  }
}

bool all_measured(const ExpectedStory& story) {
  return std::ranges::all_of(story.collectives, [](const Expectation& e) {
    return std::ranges::all_of(e.sizes,
                               [](const ExpectedSize& s) { return s.measured.has_value(); });
  });
}

Table columns(bool with_name) {
  Table out;
  if (with_name) out.columns.push_back({.key = "collective", .title = "collective"});
  for (Column c :
       {Column{"bytes", "size", Align::right}, Column{"time_us", "us", Align::right},
        Column{"low_us", "from", Align::right, 1}, Column{"high_us", "to", Align::right, 1},
        Column{"busbw_gb_per_s", "busbw GB/s", Align::right},
        Column{"busbw_low", "from", Align::right}, Column{"busbw_high", "to", Align::right},
        Column{"bound_by", "set by", Align::left, 2}, Column{"pick", "NCCL takes", Align::left, 1}})
    out.columns.push_back(std::move(c));
  return out;
}

}  // namespace

const char* tests_name(Collective what) {
  switch (what) {
    case Collective::all_reduce: return "all_reduce";
    case Collective::all_gather: return "all_gather";
    case Collective::reduce_scatter: return "reduce_scatter";
    case Collective::all_to_all: return "alltoall";
    case Collective::broadcast: return "broadcast";
    case Collective::send: return "sendrecv";
  }
  return "";
}

std::string describe(const Platform& p) {
  std::string out = fmt::format("{} GPU{} of sm{}", p.gpus, p.gpus == 1 ? "" : "s", p.sm);
  if (p.gpus > 1) {
    const bool pcie = p.inside == predict::nccl::Inside::pcie;
    out += fmt::format(", {}, {} each way", name(p.inside), show(pcie ? p.pcie : p.nvlink));
  }
  if (p.domains > 1)
    out += fmt::format("; {} such, {} with {} of ports", p.domains, name(p.network),
                       show_bits(p.ports));
  return out;
}

std::string bound_by(const TimeParts& parts) {
  const double most = std::max({parts.host, parts.latency, parts.transfer, parts.fill, parts.copy});
  if (most == parts.host) return "host launch";
  if (most == parts.latency) return "latency of the steps";
  if (most == parts.fill) return "pipeline fill";
  if (most == parts.copy) return "local copy";
  if (parts.channels_bind) return "few channels";
  return parts.network_binds ? "NIC ports" : "links inside";
}

Table table_of(const Expectation& expectation) {
  Table out = columns(false);
  add_rows(expectation, out, false);
  return out;
}

Table table_of(const ExpectedStory& story) {
  Table out = columns(true);
  for (const Expectation& e : story.collectives) add_rows(e, out, true);
  return out;
}

std::string to_text(const ExpectedStory& story, int width) {
  std::string out;
  for (const Expectation& e : story.collectives) {
    if (out.empty())
      out = fmt::format("{} with NCCL {}\n{}\n", story.subject, story.nccl, describe(e.platform));
    out += fmt::format("\n{}, {}\nno more than {} GB/s of bus bandwidth: {}\n", tests_name(e.what),
                       mode_text(e.mode), show_number(e.light.bus_gb_per_s), e.light.why);
    out += to_text(table_of(e), width);
  }
  out += '\n';
  if (!all_measured(story))
    out += "from - to: eight of ten healthy systems of this class lie there ('validate nccl')\n";
  if (!story.profile.empty())
    out += "calibrated: " + story.profile +
           "; eight of ten of its points lie in the band when predicted from the others\n";
  for (const std::string& note : story.notes) out += note + '\n';
  return out;
}

void to_json(const ExpectedStory& story, json::Writer& out) {
  out.begin_object().field("subject", story.subject).field("nccl", story.nccl);
  out.key("profile");
  story.profile.empty() ? out.null() : out.value(story.profile);
  out.key("collectives").begin_array();
  for (const Expectation& e : story.collectives) {
    out.begin_object()
        .field("collective", tests_name(e.what))
        .field("mode", mode_key(e.mode))
        .field("ranks", e.platform.ranks())
        .field("platform", describe(e.platform))
        .field("speed_of_light_busbw_gb_per_s", e.light.bus_gb_per_s)
        .field("speed_of_light_why", e.light.why);
    out.key("sizes").begin_array();
    for (const ExpectedSize& s : e.sizes) {
      out.begin_object()
          .field("bytes", s.bytes)
          .field("time_us", s.us())
          .field("low_us", s.low_us)
          .field("high_us", s.high_us)
          .field("busbw_gb_per_s", s.busbw(s.us(), e.bus_factor))
          .field("busbw_low", s.busbw(s.high_us, e.bus_factor))
          .field("busbw_high", s.busbw(s.low_us, e.bus_factor))
          .field("bound_by", bound_by(s.parts))
          .field("calibrated", s.measured.has_value())
          .field("law_us", s.parts.total);
      out.key("terms")
          .begin_object()
          .field("host_us", s.parts.host)
          .field("latency_us", s.parts.latency)
          .field("transfer_us", s.parts.transfer)
          .field("fill_us", s.parts.fill)
          .field("copy_us", s.parts.copy)
          .end_object();
      if (s.pick) {
        out.field("pick", show(*s.pick)).field("pick_estimate_us", s.pick->time_us);
        if (s.pick_us) out.field("pick_time_us", *s.pick_us);
      }
      out.end_object();
    }
    out.end_array().end_object();
  }
  out.end_array();
  out.key("notes").begin_array();
  for (const std::string& note : story.notes) out.value(note);
  out.end_array().end_object();
}

}  // namespace railyard::report

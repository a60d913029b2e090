#include "report/nccl_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "base/measure.h"
#include "report/detail/accuracy_columns.h"
#include "report/nccl_expect.h"

namespace railyard::report {

using judge::HeldOut;
using judge::HeldOutSum;
using judge::LeftOut;
using judge::NcclCalibration;
using predict::nccl::CurveLaw;
using predict::nccl::CurvePoint;
using predict::nccl::Profile;
using predict::nccl::ProfileBand;
using predict::nccl::ProfileCurve;
using predict::nccl::Way;

namespace {

const char* word(predict::nccl::Mode mode) {
  return mode == predict::nccl::Mode::graph ? "graph" : "eager";
}

/// Exact: the largest binary unit that divides it.
std::string size_text(std::int64_t bytes) {
  static constexpr std::array kUnits{"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; unit + 1 < kUnits.size() && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

std::string law_text(const CurveLaw& law) {
  std::string out =
      fmt::format("{{floor: {} us, rate: {} GB/s, ramp: {} B, ramp_power: {}, fill: {} us",
                  law.floor_us, law.gb_per_s, law.ramp_bytes, law.ramp_power, law.fill_us);
  if (law.channel_gb_per_s > 0) out += fmt::format(", channel: {} GB/s", law.channel_gb_per_s);
  return out + fmt::format(", softness: {}}}", law.softness);
}

std::string curve_text(const ProfileCurve& c) {
  std::string out = fmt::format("- collective: {}\n", tests_name(c.way.what));
  if (c.way.algorithm) out += fmt::format("  algorithm: {}\n", name(*c.way.algorithm));
  if (c.way.protocol) out += fmt::format("  protocol: {}\n", name(*c.way.protocol));
  if (c.way.in_place) out += "  in_place: true\n";
  out += "  law: " + law_text(c.curve.law()) + "\n  points:\n";
  for (const CurvePoint& p : c.curve.points()) {
    out += "  - {";
    if (p.channels > 0) out += fmt::format("channels: {}, ", p.channels);
    out += fmt::format("size: {}, time: {} us}}\n", size_text(p.bytes), p.us);
  }
  return out;
}

/// A part of what was left out.
struct Part {
  const char* key;
  const char* title;
  LeftOut what;
  bool is_long;
};
constexpr Part kParts[] = {
    {"channels_long", "channels, 1 MiB on", LeftOut::channels, true},
    {"channels_short", "below", LeftOut::channels, false},
    {"sizes_long", "every 2nd size, 1 MiB on", LeftOut::sizes, true},
    {"sizes_short", "below", LeftOut::sizes, false},
    {"points_long", "one point, 1 MiB on", LeftOut::point, true},
    {"points_short", "below", LeftOut::point, false},
};
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

HeldOutSum sum_of(const NcclCalibration& c, const Part& part, std::size_t curve = kAll) {
  return c.sum([&](const HeldOut& h) {
    return h.what == part.what && (h.measured.bytes >= judge::kLongFrom) == part.is_long &&
           (curve == kAll || h.curve == curve);
  });
}

void add(Table& table, const NcclCalibration& c, std::string title, std::size_t curve) {
  std::string channels;
  std::size_t points = 0;
  for (std::size_t i = 0; i < c.profile.curves.size(); ++i) {
    if (curve != kAll && curve != i) continue;
    const auto& one = c.profile.curves[i].curve;
    points += one.points().size();
    if (curve == i && one.channels().front() > 0)
      channels = fmt::format("{}", fmt::join(one.channels(), " "));
  }
  std::vector<Cell> row{std::move(title), std::move(channels), points};
  for (const Part& part : kParts) {
    const HeldOutSum sum = sum_of(c, part, curve);
    row.push_back(sum.n > 0 ? Cell(sum.share(), fmt::format("{} of {}", sum.within, sum.n))
                            : Cell());
  }
  table.add(std::move(row));
}

void write(const CurveLaw& law, json::Writer& out) {
  out.begin_object()
      .field("floor_us", law.floor_us)
      .field("rate_gb_per_s", law.gb_per_s)
      .field("ramp_bytes", law.ramp_bytes)
      .field("ramp_power", law.ramp_power)
      .field("fill_us", law.fill_us);
  out.key("channel_gb_per_s");
  law.channel_gb_per_s > 0 ? out.value(law.channel_gb_per_s) : out.null();
  out.field("softness", law.softness).end_object();
}

void write_channels(int channels, json::Writer& out) {
  out.key("channels");
  channels > 0 ? out.value(channels) : out.null();
}

void write(const ProfileCurve& c, json::Writer& out) {
  out.begin_object().field("collective", tests_name(c.way.what));
  out.key("algorithm");
  c.way.algorithm ? out.value(name(*c.way.algorithm)) : out.null();
  out.key("protocol");
  c.way.protocol ? out.value(name(*c.way.protocol)) : out.null();
  out.field("in_place", c.way.in_place);
  write(c.curve.law(), out.key("law"));
  out.key("points").begin_array();
  for (const CurvePoint& p : c.curve.points()) {
    out.begin_object();
    write_channels(p.channels, out);
    out.field("bytes", p.bytes).field("time_us", p.us).end_object();
  }
  out.end_array().end_object();
}

void write(const Profile& profile, json::Writer& out) {
  out.begin_object()
      .field("fingerprint", profile.fingerprint)
      .field("mode", word(profile.mode))
      .field("ranks", profile.ranks)
      .field("nodes", profile.nodes);
  out.key("bands").begin_array();
  for (const ProfileBand& b : profile.bands) {
    out.begin_object().key("up_to_bytes");
    b.up_to > 0 ? out.value(b.up_to) : out.null();
    out.field("low", b.low).field("high", b.high).end_object();
  }
  out.end_array().key("curves").begin_array();
  for (const ProfileCurve& c : profile.curves) write(c, out);
  out.end_array().end_object();
}

const char* word(LeftOut what) {
  switch (what) {
    case LeftOut::channels: return "channels";
    case LeftOut::sizes: return "sizes";
    case LeftOut::point: return "point";
  }
  return "";
}

}  // namespace

std::string show(const Way& way) {
  std::string out = tests_name(way.what);
  if (way.algorithm) out += fmt::format(" {}", name(*way.algorithm));
  if (way.protocol) out += fmt::format(" {}", name(*way.protocol));
  if (!way.algorithm && !way.protocol) out += ", NCCL's choice";
  if (way.in_place) out += ", in place";
  return out;
}

std::string to_yaml(const Profile& profile) {
  std::string out = "nccl_profile: 1\n";
  if (!profile.fingerprint.empty())
    out += fmt::format("fingerprint: \"{}\"\n", json::escape(profile.fingerprint));
  out += fmt::format("mode: {}\nranks: {}\nnodes: {}\n", word(profile.mode), profile.ranks,
                     profile.nodes);
  if (!profile.bands.empty()) {
    out +=
        "# Logarithm of measured over predicted time: eight of ten points lie in there when each "
        "is\n# predicted from the others.\nbands:\n";
    for (const ProfileBand& b : profile.bands)
      out += fmt::format("- {{{}low: {}, high: {}}}\n",
                         b.up_to > 0 ? "up_to: " + size_text(b.up_to) + ", " : "", b.low, b.high);
  }
  out += "curves:\n";
  for (const ProfileCurve& c : profile.curves) out += curve_text(c);
  return out;
}

std::string to_yaml(const NcclCalibration& c) {
  std::string out =
      "# What this machine was measured to do, made by `railyard nccl calibrate`.\n"
      "# Left out of the sweep and predicted from the rest, within 10 %:\n";
  const char* const what[] = {"channel counts", "every second size", "one point"};
  for (std::size_t i = 0; i < std::size(what); ++i) {
    const HeldOutSum large = sum_of(c, kParts[2 * i]), small = sum_of(c, kParts[2 * i + 1]);
    if (large.n + small.n > 0)
      out += fmt::format("#   {}: {} of {} points from 1 MiB on, {} of {} below\n", what[i],
                         large.within, large.n, small.within, small.n);
  }
  return out + to_yaml(c.profile);
}

Table table_of(const NcclCalibration& c) {
  Table out{.columns = {{"curve", "curve"},
                        {"channels", "channels", Align::left, 2},
                        {"points", "points", Align::right, 1}}};
  for (const Part& part : kParts) out.columns.push_back({part.key, part.title, Align::right});
  for (std::size_t i = 0; i < c.profile.curves.size(); ++i)
    add(out, c, show(c.profile.curves[i].way), i);
  add(out, c, "all", kAll);
  return out;
}

std::string to_text(const NcclCalibration& c, int width) {
  std::string out = fmt::format("{} ranks on {} {}, {}{}{}\n", c.profile.ranks, c.profile.nodes,
                                c.profile.nodes == 1 ? "node" : "nodes", word(c.profile.mode),
                                c.profile.fingerprint.empty() ? "" : ": ", c.profile.fingerprint);
  out += "left out of the sweep and predicted from the rest within 10 %\n\n";
  Table table{.columns = {{"curve", "curve"}, {"channels", "channels", Align::left, 1}}};
  for (const Part& part : kParts)
    if (part.what != LeftOut::point) table.columns.push_back({part.key, part.title, Align::right});
  const Table all = table_of(c);
  for (const auto& row : all.rows) table.add({row[0], row[1], row[3], row[4], row[5], row[6]});
  out += to_text(table, width);
  for (const std::string& remark : c.remarks) out += '\n' + remark;
  return c.remarks.empty() ? out : out + '\n';
}

void to_json(const NcclCalibration& c, json::Writer& out) {
  out.begin_object();
  write(c.profile, out.key("profile"));
  out.key("left_out").begin_object();
  for (const Part& part : kParts) {
    const HeldOutSum sum = sum_of(c, part);
    out.key(part.key)
        .begin_object()
        .field("n", sum.n)
        .field("within_10pct", sum.within)
        .field("median", sum.median)
        .field("worst", sum.worst)
        .end_object();
  }
  out.end_object().key("points").begin_array();
  for (const HeldOut& h : c.held_out) {
    out.begin_object()
        .field("curve", show(c.profile.curves[h.curve].way))
        .field("left_out", word(h.what));
    write_channels(h.measured.channels, out);
    out.field("bytes", h.measured.bytes)
        .field("measured_us", h.measured.us)
        .field("predicted_us", h.predicted_us)
        .field("error", h.error())
        .end_object();
  }
  out.end_array().key("remarks").begin_array();
  for (const std::string& remark : c.remarks) out.value(remark);
  out.end_array().end_object();
}

}  // namespace railyard::report

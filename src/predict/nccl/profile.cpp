#include "predict/nccl/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "base/yaml.h"
#include "predict/words.h"

namespace railyard::predict::nccl {

namespace {

const ProfileCurve* find(const Profile& profile, const ProfileQuestion& q) {
  const ProfileCurve* best = nullptr;
  int score = -1;
  for (const ProfileCurve& c : profile.curves) {
    Way way = c.way;
    way.in_place = q.way.in_place;
    if (way != q.way) continue;
    const bool own = c.curve.points().front().channels == 0;
    const int s = 2 * (c.way.in_place == q.way.in_place) + (own == (q.channels == 0));
    if (s > score) {
      score = s;
      best = &c;
    }
  }
  return best;
}

/// The reader of one profile.
class Reader {
 public:
  Reader(const yaml::Document& document, Problems& problems)
      : document_(document), problems_(problems) {}

  Profile read() {
    Profile out;
    yaml::Fields top(document_, document_.root(), problems_, "a profile of collectives");
    if (!top.is_map()) return out;
    int format = 1;
    if (top.need("nccl_profile")) top.integer("nccl_profile", format, 1, 1);
    top.text("fingerprint", out.fingerprint);
    top.choice<Mode>("mode", {{"eager", Mode::eager}, {"graph", Mode::graph}}, out.mode);
    if (top.need("ranks")) top.integer("ranks", out.ranks, 1);
    top.integer("nodes", out.nodes, 1);
    top.list("bands", [&](const yaml::Node& item) { out.bands.push_back(band(item)); });
    if (top.need("curves"))
      top.list("curves", [&](const yaml::Node& item) {
        if (auto one = curve(item)) out.curves.push_back(*std::move(one));
      });
    top.done();
    if (out.curves.empty() && problems_.empty()) top.report(document_.root(), "at least one curve");
    return out;
  }

 private:
  // Far beyond what is measured, and within what doubles and integers hold.
  static constexpr double kLeast = 1e-9, kMost = 1e18;
  static constexpr double kLargest = 1ull << 44;

  static void time(yaml::Fields& fields, const char* key, double& value) {
    Seconds t = {};
    if (!fields.need(key) || !fields.seconds(key, t)) return;
    value = kept(t.in(us));
    if (!(value >= kLeast && value <= kMost)) fields.report(*fields.get(key), "a time above zero");
  }

  static void size(yaml::Fields& fields, const char* key, std::int64_t& bytes) {
    Bytes b = {};
    if (!fields.bytes(key, b)) return;
    if (b.in(B) >= 1 && b.in(B) <= kLargest)
      bytes = std::llround(b.in(B));
    else
      fields.report(*fields.get(key), "a size from 1 B to 16 TiB");
  }

  ProfileBand band(const yaml::Node& item) {
    ProfileBand out;
    yaml::Fields fields(document_, item, problems_, "a band");
    if (!fields.is_map()) return out;
    size(fields, "up_to", out.up_to);
    constexpr double kFarthest = 100;  // beyond the logarithm of kMost / kLeast
    fields.number("low", out.low, -kFarthest, kFarthest);
    fields.number("high", out.high, -kFarthest, kFarthest);
    fields.done();
    return out;
  }

  void law(const yaml::Node& item, CurveLaw& out) {
    yaml::Fields fields(document_, item, problems_, "a law");
    if (!fields.is_map()) return;
    const auto rate = [&](const char* key, double& value) {
      Bandwidth b = {};
      if (!fields.bandwidth(key, b)) return;
      value = kept(b.in(GBps));
      if (!(value >= kLeast && value <= kMost))
        fields.report(*fields.get(key), "a rate above zero");
    };
    time(fields, "floor", out.floor_us);
    if (fields.need("rate")) rate("rate", out.gb_per_s);
    Bytes ramp = {};
    if (fields.need("ramp") && fields.bytes("ramp", ramp)) {
      out.ramp_bytes = kept(ramp.in(B));
      if (!(out.ramp_bytes >= kLeast && out.ramp_bytes <= kMost))
        fields.report(*fields.get("ramp"), "a size above zero");
    }
    fields.number("ramp_power", out.ramp_power, 0, 10);
    time(fields, "fill", out.fill_us);
    rate("channel", out.channel_gb_per_s);
    fields.number("softness", out.softness, 0.1, 100);
    fields.done();
  }

  std::optional<CurvePoint> point(const yaml::Node& item) {
    const std::size_t before = problems_.size();
    yaml::Fields fields(document_, item, problems_, "a point");
    if (!fields.is_map()) return std::nullopt;
    CurvePoint out;
    fields.integer("channels", out.channels, 1, kMostCurveChannels);
    if (fields.need("size")) size(fields, "size", out.bytes);
    time(fields, "time", out.us);
    fields.done();
    if (problems_.size() > before) return std::nullopt;
    return out;
  }

  Way way(yaml::Fields& fields) {
    Way out;
    std::string word;
    if (fields.need("collective") && fields.text("collective", word)) {
      if (const auto what = collective_named(word))
        out.what = *what;
      else
        fields.report(*fields.get("collective"), "a collective by nccl-tests' name, as all_reduce");
    }
    if (fields.text("algorithm", word)) {
      out.algorithm = algorithm_named(word);
      if (!out.algorithm) fields.report(*fields.get("algorithm"), "an algorithm of NCCL, as Ring");
    }
    if (fields.text("protocol", word)) {
      out.protocol = protocol_named(word);
      if (!out.protocol) fields.report(*fields.get("protocol"), "LL, LL128 or Simple");
    }
    fields.flag("in_place", out.in_place);
    return out;
  }

  std::optional<ProfileCurve> curve(const yaml::Node& item) {
    const std::size_t before = problems_.size();
    yaml::Fields fields(document_, item, problems_, "a curve");
    if (!fields.is_map()) return std::nullopt;
    const Way key = way(fields);
    CurveLaw parameters;
    if (const yaml::Node* node = fields.need("law")) law(*node, parameters);
    std::vector<CurvePoint> points;
    std::set<std::pair<int, std::int64_t>> seen;
    if (fields.need("points"))
      fields.list("points", [&](const yaml::Node& one) {
        const auto p = point(one);
        if (!p) return;
        if (!seen.emplace(p->channels, p->bytes).second)
          fields.report(one, "each size once for a number of channels");
        else
          points.push_back(*p);
      });
    fields.done();
    if (points.empty() && problems_.size() == before) fields.report(item, "at least one point");
    const bool unknown = std::ranges::any_of(points, [](auto& p) { return p.channels == 0; });
    const bool known = std::ranges::any_of(points, [](auto& p) { return p.channels > 0; });
    if (unknown && known) fields.report(item, "channels at all points of a curve, or at none");
    if (problems_.size() > before) return std::nullopt;
    return ProfileCurve{.way = key, .curve = Curve(parameters, std::move(points))};
  }

  const yaml::Document& document_;
  Problems& problems_;
};

}  // namespace

double kept(double value) {
  const std::string text = fmt::format("{:.6g}", value);
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

std::optional<ProfileTime> time_of(const Profile& profile, const ProfileQuestion& question) {
  if (question.bytes < 1) return std::nullopt;
  const ProfileCurve* found = find(profile, question);
  if (!found) return std::nullopt;
  ProfileTime out{
      .us = found->curve.time_us(static_cast<double>(question.bytes), question.channels),
      .measured = found->curve.covers(question.bytes, question.channels)};
  ProfileBand band;
  for (const ProfileBand& b : profile.bands) {
    band = b;
    if (b.up_to == 0 || question.bytes < b.up_to) break;
  }
  out.low_us = out.us * std::exp(band.low);
  out.high_us = out.us * std::exp(band.high);
  return out;
}

Checked<Profile> read_profile(std::string file, std::string bytes) {
  const yaml::Document document = RY_TRY(yaml::Document::parse(std::move(file), std::move(bytes)));
  Problems problems;
  Profile out = Reader(document, problems).read();
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return out;
}

Checked<Profile> load_profile(const std::string& path) {
  auto bytes = read_file(path);
  if (!bytes) return as_problems(std::move(bytes).error());
  return read_profile(path, *std::move(bytes));
}

}  // namespace railyard::predict::nccl

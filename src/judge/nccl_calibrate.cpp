#include "judge/nccl_calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "predict/words.h"

namespace railyard::judge {

namespace {

using facts::BusbwRow;
using predict::nccl::Curve;
using predict::nccl::CurveLaw;
using predict::nccl::CurvePoint;
using predict::nccl::Mode;
using predict::nccl::Profile;
using predict::nccl::ProfileBand;
using predict::nccl::Way;

// ---- The fit of one law.

/// floor, rate, ramp, ramp_power, fill; where channels vary also channel, softness.
constexpr std::size_t kMost = 7, kOneChannelCount = 5;
using Vector = std::array<double, kMost>;

/// Relative scatter of a time between repetitions. [h200_nccl_sweep, same settings twice: 2 % from
/// 1 MiB on; below, two modes of the host at 13 and 19 us]
double scatter(std::int64_t bytes) { return bytes >= kLongFrom ? 0.02 : 0.10; }
constexpr double kCut = 8;            // squared scatters at which a residual counts half
constexpr double kPriorWeight = 0.3;  // of the starting values, against one point each
constexpr int kMostIterations = 60;
constexpr double kStep = 1e-4;    // of a parameter's logarithm, for differences
constexpr double kLongest = 0.7;  // of a step in a parameter's logarithm
constexpr double kConverged = 1e-7;

/// How far (one sigma, in logarithms) the fit moves each parameter away from its start.
constexpr Vector kSpread{0.5, 0.5, 1.0, 0.25, 1.0, 0.5, 0.4};

class Fit {
 public:
  explicit Fit(const std::vector<CurvePoint>& points) : points_(points) {
    std::set<int> counts;
    double least = std::numeric_limits<double>::infinity(), best = 0, narrow = 0, longest = 1;
    for (const CurvePoint& p : points) counts.insert(p.channels);
    for (const CurvePoint& p : points) {
      const double rate = static_cast<double>(p.bytes) / p.us * 1e-3;
      least = std::min(least, p.us);
      best = std::max(best, rate);
      if (p.channels == *counts.begin()) narrow = std::max(narrow, rate / std::max(p.channels, 1));
      longest = std::max(longest, static_cast<double>(p.bytes));
      measured_.push_back(std::log(p.us));
    }
    count_ = counts.size() > 1 ? kMost : kOneChannelCount;
    // What the points themselves say; the shape is that of an NVLink pair's ring, whose rate still
    // grows at the longest sizes. [h200_nccl_sweep]
    const double ramp = 1.3e3 * least * best, power = 0.6;
    const double rate = best * (1 + std::pow(ramp / longest, power));
    prior_ = {std::log(least), std::log(rate),         std::log(ramp),
              std::log(power), std::log(0.35 * least), std::log(std::max(narrow, 1e-9)),
              std::log(2.6)};
  }

  CurveLaw run(const CurveLaw* start) const {
    if (start) return law_of(descend(vector_of(*start)).first);
    // The ramp and its power can stand in for each other: start on both sides.
    std::pair<Vector, double> best{prior_, std::numeric_limits<double>::infinity()};
    for (const double ramp : {0.0, -2.0}) {
      Vector from = prior_;
      from[2] += ramp;
      const auto found = descend(from);
      if (found.second < best.second) best = found;
    }
    return law_of(best.first);
  }

 private:
  CurveLaw law_of(const Vector& v) const {
    CurveLaw law{.floor_us = std::exp(v[0]),
                 .gb_per_s = std::exp(v[1]),
                 .ramp_bytes = std::exp(v[2]),
                 .ramp_power = std::exp(v[3]),
                 .fill_us = std::exp(v[4])};
    if (count_ == kMost) {
      law.channel_gb_per_s = std::exp(v[5]);
      law.softness = std::exp(v[6]);
    }
    return law;
  }

  Vector vector_of(const CurveLaw& law) const {
    Vector v{std::log(law.floor_us),   std::log(law.gb_per_s), std::log(law.ramp_bytes),
             std::log(law.ramp_power), std::log(law.fill_us),  prior_[5],
             std::log(law.softness)};
    if (law.channel_gb_per_s > 0) v[5] = std::log(law.channel_gb_per_s);
    return v;
  }

  std::vector<double> residuals(const Vector& v) const {
    const CurveLaw law = law_of(v);
    std::vector<double> out(points_.size());
    for (std::size_t i = 0; i < points_.size(); ++i)
      out[i] = (measured_[i] -
                std::log(law.time_us(static_cast<double>(points_[i].bytes), points_[i].channels))) /
               scatter(points_[i].bytes);
    return out;
  }

  double cost_of(const Vector& v, const std::vector<double>& residuals) const {
    double sum = 0;
    for (const double r : residuals) sum += kCut * std::log1p(r * r / kCut);
    for (std::size_t k = 0; k < count_; ++k) {
      const double off = (v[k] - prior_[k]) / kSpread[k];
      sum += kPriorWeight * off * off;
    }
    return sum;
  }

  /// Damped Gauss-Newton steps from `now`, rows weighed down by how far off they are.
  std::pair<Vector, double> descend(Vector now) const {
    std::vector<double> r = residuals(now);
    double cost = cost_of(now, r), damping = 1e-2;
    for (int iteration = 0; iteration < kMostIterations; ++iteration) {
      std::array<Vector, kMost> hessian{};
      Vector gradient{};
      std::array<std::vector<double>, kMost> slopes;
      for (std::size_t k = 0; k < count_; ++k) {
        Vector moved = now;
        moved[k] += kStep;
        slopes[k] = residuals(moved);
        for (std::size_t i = 0; i < r.size(); ++i) slopes[k][i] = (r[i] - slopes[k][i]) / kStep;
      }
      for (std::size_t a = 0; a < count_; ++a) {
        const double stiff = kPriorWeight / (kSpread[a] * kSpread[a]);
        hessian[a][a] += stiff;
        gradient[a] -= stiff * (now[a] - prior_[a]);
        for (std::size_t i = 0; i < r.size(); ++i) {
          const double weight = 1 / (1 + r[i] * r[i] / kCut);
          gradient[a] += weight * slopes[a][i] * r[i];
          for (std::size_t b = 0; b < count_; ++b)
            hessian[a][b] += weight * slopes[a][i] * slopes[b][i];
        }
      }
      double gain = 0;
      for (int attempt = 0; attempt < 8 && gain <= 0; ++attempt) {
        auto damped = hessian;
        for (std::size_t k = 0; k < count_; ++k) damped[k][k] *= 1 + damping;
        const Vector step = solve(damped, gradient);
        Vector trial = now;
        for (std::size_t k = 0; k < count_; ++k)
          trial[k] += std::clamp(step[k], -kLongest, kLongest);
        std::vector<double> then = residuals(trial);
        const double lower = cost_of(trial, then);
        if (lower < cost) {
          gain = cost - lower;
          cost = lower;
          now = trial;
          r = std::move(then);
          damping = std::max(damping / 5, 1e-7);
        } else {
          damping *= 6;
        }
      }
      if (gain <= kConverged * std::max(1.0, cost)) break;
    }
    return {now, cost};
  }

  /// a x = b for a symmetric positive matrix, by elimination.
  Vector solve(std::array<Vector, kMost> a, Vector b) const {
    for (std::size_t i = 0; i < count_; ++i)
      for (std::size_t row = i + 1; row < count_; ++row) {
        const double q = a[row][i] / a[i][i];
        for (std::size_t c = i; c < count_; ++c) a[row][c] -= q * a[i][c];
        b[row] -= q * b[i];
      }
    for (std::size_t i = count_; i-- > 0;) {
      for (std::size_t c = i + 1; c < count_; ++c) b[i] -= a[i][c] * b[c];
      b[i] /= a[i][i];
    }
    return b;
  }

  const std::vector<CurvePoint>& points_;
  std::vector<double> measured_;
  std::size_t count_ = kMost;
  Vector prior_ = {};
};

CurveLaw as_kept(CurveLaw law) {
  for (double* v : {&law.floor_us, &law.gb_per_s, &law.ramp_bytes, &law.ramp_power, &law.fill_us,
                    &law.channel_gb_per_s, &law.softness})
    *v = predict::nccl::kept(*v);
  return law;
}

// ---- What is left out and predicted.

constexpr std::size_t kFewest = 3;  // channel counts, sizes, points that a part may leave

/// Predicts the points that `out` selects from the others.
void hold_out(const Curve& whole, std::size_t curve, LeftOut what,
              const std::function<bool(const CurvePoint&)>& out, std::vector<HeldOut>& held) {
  std::vector<CurvePoint> seen, unseen;
  for (const CurvePoint& p : whole.points()) (out(p) ? unseen : seen).push_back(p);
  if (seen.size() < kFewest || unseen.empty()) return;
  // One point less moves the law little, and the way there is short.
  const Curve part(fit_curve(seen, what == LeftOut::point ? &whole.law() : nullptr), seen);
  for (const CurvePoint& p : unseen)
    held.push_back({.curve = curve,
                    .what = what,
                    .measured = p,
                    .predicted_us = part.time_us(static_cast<double>(p.bytes), p.channels)});
}

void hold_out_all(const Curve& whole, std::size_t curve, std::vector<HeldOut>& held) {
  const std::vector<int> counts = whole.channels();
  if (counts.size() >= kFewest)
    for (const int c : counts)
      hold_out(whole, curve, LeftOut::channels, [&](auto& p) { return p.channels == c; }, held);
  std::set<std::int64_t> sizes;
  for (const CurvePoint& p : whole.points()) sizes.insert(p.bytes);
  const auto rank = [&](const CurvePoint& p) {
    return std::distance(sizes.begin(), sizes.find(p.bytes));
  };
  if (sizes.size() >= 2 * kFewest)
    for (const int half : {1, 0})
      hold_out(whole, curve, LeftOut::sizes, [&](auto& p) { return rank(p) % 2 == half; }, held);
  for (const CurvePoint& one : whole.points())
    hold_out(whole, curve, LeftOut::point, [&](auto& p) { return p == one; }, held);
}

/// Upper ends of the classes of size that have a band each; 0: no end.
constexpr std::int64_t kClasses[] = {64 << 10, 1 << 20, 32 << 20, 0};
constexpr std::size_t kEnough = 10;  // points of a class; fewer share the band of all

ProfileBand band_of(std::vector<double> off, std::int64_t up_to) {
  if (off.empty()) return {.up_to = up_to};
  std::ranges::sort(off);
  const auto at = [&](double share) {
    const auto n = static_cast<double>(off.size());
    return off[static_cast<std::size_t>(std::clamp(std::ceil(share * n) - 1, 0.0, n - 1))];
  };
  return {.up_to = up_to,
          .low = predict::nccl::kept(std::min(at(0.1), 0.0)),
          .high = predict::nccl::kept(std::max(at(0.9), 0.0))};
}

std::vector<ProfileBand> bands_of(const std::vector<HeldOut>& held) {
  std::vector<ProfileBand> out;
  std::vector<double> all;
  for (const HeldOut& h : held)
    if (h.what == LeftOut::point) all.push_back(-std::log1p(h.error()));
  std::int64_t from = 0;
  for (const std::int64_t up_to : kClasses) {
    std::vector<double> off;
    for (const HeldOut& h : held)
      if (h.what == LeftOut::point && h.measured.bytes >= from &&
          (up_to == 0 || h.measured.bytes < up_to))
        off.push_back(-std::log1p(h.error()));
    out.push_back(band_of(off.size() < kEnough ? all : std::move(off), up_to));
    from = up_to;
  }
  return out;
}

// ---- From rows to points.

/// Rows of one machine in one mode, by way and whether their channels are known.
class Sorted {
 public:
  Sorted(const std::vector<BusbwRow>& rows, const CalibrateOptions& options) : options_(options) {
    for (const BusbwRow& row : rows) {
      if (!row.transport.empty()) {
        ++of_transport_[row.transport];
        continue;
      }
      read(row);
    }
  }

  Problems take_problems() { return std::move(problems_); }

  NcclCalibration take() {
    NcclCalibration out;
    Profile& profile = out.profile;
    profile.fingerprint = options_.fingerprint;
    const auto mode =
        single(modes_, options_.mode, "--mode eager or --mode graph", "rows of both modes");
    const auto ranks = single(ranks_, options_.ranks, "--ranks N",
                              fmt::format("rows of {} ranks", fmt::join(ranks_, " and ")));
    const auto nodes = single(nodes_, options_.nodes, "--nodes N",
                              fmt::format("rows of {} nodes", fmt::join(nodes_, " and ")));
    if (!mode || !ranks || !nodes) return out;
    profile.mode = *mode;
    profile.ranks = *ranks;
    profile.nodes = *nodes;
    std::map<std::pair<Way, bool>, std::map<std::pair<int, std::int64_t>, std::vector<double>>> by;
    for (const Read& r : read_)
      if (r.mode == *mode && r.ranks == *ranks && r.nodes == *nodes)
        by[{r.way, r.point.channels > 0}][{r.point.channels, r.point.bytes}].push_back(r.point.us);
    for (auto& [key, times] : by) {
      std::vector<CurvePoint> points;
      for (auto& [at, several] : times)
        points.push_back(
            {.channels = at.first, .bytes = at.second, .us = predict::nccl::kept(median(several))});
      const CurveLaw law = as_kept(fit_curve(points));
      profile.curves.push_back({.way = key.first, .curve = Curve(law, std::move(points))});
    }
    if (by.empty())
      problems_.push_back({.expected = "rows to calibrate on", .found = "none of that kind"});
    remark(out);
    return out;
  }

 private:
  struct Read {
    Way way = {};
    CurvePoint point = {};
    Mode mode = Mode::eager;
    int ranks = 2, nodes = 1;
  };

  void problem(const BusbwRow& row, std::string expected, const std::string& found,
               std::string hint = {}) {
    problems_.push_back(
        {.at = row.at, .expected = std::move(expected), .found = found, .hint = std::move(hint)});
  }

  void read(const BusbwRow& row) {
    Read out;
    const std::size_t before = problems_.size();
    if (const auto what = predict::collective_named(row.collective))
      out.way.what = *what;
    else
      problem(row, "all_reduce, all_gather, reduce_scatter, alltoall, broadcast or sendrecv",
              "'" + row.collective + "'");
    if (!row.algorithm.empty()) {
      out.way.algorithm = predict::nccl::algorithm_named(row.algorithm);
      if (!out.way.algorithm)
        problem(row, "an algorithm of NCCL, as ring or tree", "'" + row.algorithm + "'",
                "leave it empty where NCCL chooses");
    }
    if (!row.protocol.empty()) {
      out.way.protocol = predict::nccl::protocol_named(row.protocol);
      if (!out.way.protocol)
        problem(row, "LL, LL128 or Simple", "'" + row.protocol + "'",
                "leave it empty where NCCL chooses");
    }
    const auto within = [&](const char* what, std::optional<int> value, int least, int most) {
      if (value && *value >= least && *value <= most) return *value;
      problem(row, fmt::format("{} from {} to {}", what, least, most),
              value ? std::to_string(*value) : "nothing");
      return least;
    };
    out.ranks = within("ranks", row.ranks, 2, 1 << 20);
    out.nodes = row.nodes ? within("nodes", row.nodes, 1, 100'000) : 1;
    // Where NCCL chooses the whole call the number of channels is part of the choice, and sends go
    // over channels of their own.
    const bool own = (out.way.algorithm || out.way.protocol) &&
                     out.way.what != predict::Collective::all_to_all &&
                     out.way.what != predict::Collective::send;
    out.point.channels = within("channels",
                                row.channels ? row.channels
                                : own        ? options_.own_channels.value_or(0)
                                             : 0,
                                0, predict::nccl::kMostCurveChannels);
    constexpr std::uint64_t kLargest = std::uint64_t{1} << 44;
    if (row.bytes < 1 || row.bytes > kLargest)
      problem(row, "a size from 1 B to 16 TiB", std::to_string(row.bytes));
    if (!row.time_us || !(*row.time_us > 0 && *row.time_us < 1e12))
      problem(row, "a time above zero", row.time_us ? fmt::format("{}", *row.time_us) : "nothing");
    if (problems_.size() > before) return;
    out.way.in_place = row.buffers == facts::Buffers::in_place;
    out.mode = row.mode == facts::LaunchMode::graph ? Mode::graph : Mode::eager;
    unsaid_ += row.mode == facts::LaunchMode::unknown;
    out.point.bytes = static_cast<std::int64_t>(row.bytes);
    out.point.us = *row.time_us;
    modes_.insert(out.mode);
    ranks_.insert(out.ranks);
    nodes_.insert(out.nodes);
    read_.push_back(out);
  }

  /// The one value that the rows have, or that the user picks.
  template <class T>
  std::optional<T> single(const std::set<T>& found, const std::optional<T>& asked,
                          const char* option, std::string what) {
    if (asked) return asked;
    if (found.size() == 1) return *found.begin();
    if (found.empty()) return T{};
    problems_.push_back(
        {.expected = std::string(option) + ": a profile is of one kind", .found = std::move(what)});
    return std::nullopt;
  }

  static double median(std::vector<double>& times) {
    std::ranges::sort(times);
    const std::size_t half = times.size() / 2;
    return times.size() % 2 ? times[half] : std::sqrt(times[half - 1] * times[half]);
  }

  void remark(NcclCalibration& out) const {
    for (const auto& [transport, n] : of_transport_)
      out.remarks.push_back(
          fmt::format("{} rows left aside: NCCL was held to the transport '{}'", n, transport));
    if (unsaid_ > 0)
      out.remarks.push_back(
          fmt::format("{} rows do not say how they were launched: eager", unsaid_));
  }

  const CalibrateOptions& options_;
  Problems problems_;
  std::vector<Read> read_;
  std::set<Mode> modes_;
  std::set<int> ranks_, nodes_;
  std::map<std::string, int> of_transport_;
  int unsaid_ = 0;
};

}  // namespace

CurveLaw fit_curve(const std::vector<CurvePoint>& points, const CurveLaw* start) {
  return Fit(points).run(start);
}

HeldOutSum NcclCalibration::sum(const std::function<bool(const HeldOut&)>& of) const {
  HeldOutSum out;
  std::vector<double> errors;
  for (const HeldOut& h : held_out)
    if (of(h)) errors.push_back(std::abs(h.error()));
  if (errors.empty()) return out;
  std::ranges::sort(errors);
  out.n = static_cast<int>(errors.size());
  out.within = static_cast<int>(std::ranges::count_if(errors, [](double e) { return e <= 0.1; }));
  out.median = errors[(errors.size() - 1) / 2];
  out.worst = errors.back();
  return out;
}

Checked<NcclCalibration> calibrate_nccl(const std::vector<BusbwRow>& rows,
                                        const CalibrateOptions& options) {
  Sorted sorted(rows, options);
  if (Problems problems = sorted.take_problems(); !problems.empty())
    return std::unexpected(std::move(problems));
  NcclCalibration out = sorted.take();
  if (Problems problems = sorted.take_problems(); !problems.empty())
    return std::unexpected(std::move(problems));
  for (std::size_t i = 0; i < out.profile.curves.size(); ++i)
    hold_out_all(out.profile.curves[i].curve, i, out.held_out);
  out.profile.bands = bands_of(out.held_out);
  return out;
}

}  // namespace railyard::judge

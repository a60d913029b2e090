#include "predict/nccl/curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace railyard::predict::nccl {

namespace {

constexpr double kFinest = 0.25;  // octaves between sizes of the table, between measured ones
constexpr double kSmallest = 8;   // bytes; below, the time of that
constexpr double kLargest = 1ull << 40;  // above, time grows as size
constexpr double kRepeats = 1 << 20;     // bytes from which a time repeats well
constexpr double kWeight = 25;  // of such a time: 2 % of scatter against 10 % [h200_nccl_sweep]

/// Between the measured channel counts the law is bent; these keep the steps of the table small.
constexpr int kRows[] = {1,  2,  3,  4,  5,  6,  7,  8,  10, 12,
                         14, 16, 20, 24, 28, 32, 40, 48, 56, kMostCurveChannels};

/// The points of one channel count, in logarithms.
struct Series {
  int channels = 0;
  std::vector<double> size = {}, time = {}, weight = {};
};

/// Replaces `values` by the nearest that never fall: neighbours that do are pooled.
void make_rise(std::vector<double>& values, const std::vector<double>& weights) {
  struct Pool {
    double mean = 0, weight = 0;
    std::size_t n = 0;
  };
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Pool last{values[i], weights[i], 1};
    while (!pools.empty() && pools.back().mean > last.mean) {
      const Pool& p = pools.back();
      const double weight = p.weight + last.weight;
      last = {(p.mean * p.weight + last.mean * last.weight) / weight, weight, p.n + last.n};
      pools.pop_back();
    }
    pools.push_back(last);
  }
  std::size_t i = 0;
  for (const Pool& p : pools)
    for (std::size_t k = 0; k < p.n; ++k) values[i++] = p.mean;
}

std::vector<Series> series_of(const std::vector<CurvePoint>& points) {
  std::vector<Series> out;
  for (const CurvePoint& p : points) {
    if (out.empty() || out.back().channels != p.channels) out.push_back({.channels = p.channels});
    Series& s = out.back();
    s.size.push_back(std::log(static_cast<double>(p.bytes)));
    s.time.push_back(std::log(p.us));
    s.weight.push_back(static_cast<double>(p.bytes) >= kRepeats ? kWeight : 1);
  }
  return out;
}

/// The same over sizes, then at each size over channel counts: the fewest channels come last.
void make_rise(std::vector<Series>& all, const std::vector<double>& sizes) {
  for (Series& s : all) make_rise(s.time, s.weight);
  for (const double size : sizes) {
    std::vector<double*> at;
    for (auto s = all.rbegin(); s != all.rend(); ++s)
      for (std::size_t i = 0; i < s->size.size(); ++i)
        if (s->size[i] == size) at.push_back(&s->time[i]);
    std::vector<double> values;
    for (const double* v : at) values.push_back(*v);
    make_rise(values, std::vector<double>(values.size(), 1.0));
    for (std::size_t i = 0; i < at.size(); ++i) *at[i] = values[i];
  }
}

/// The first of `x` (rising) that is not below `at`.
std::size_t index_from(const std::vector<double>& x, double at) {
  return static_cast<std::size_t>(std::ranges::lower_bound(x, at) - x.begin());
}

/// Linear between the points, constant outside. `x` rises.
double between(const std::vector<double>& x, const std::vector<double>& y, double at) {
  if (at <= x.front()) return y.front();
  if (at >= x.back()) return y.back();
  const std::size_t i = index_from(x, at);
  return y[i - 1] + (y[i] - y[i - 1]) * (at - x[i - 1]) / (x[i] - x[i - 1]);
}

/// Measured sizes, steps between them, octaves beyond.
std::vector<double> sizes_of(const std::vector<Series>& all) {
  std::set<double> measured;
  for (const Series& s : all) measured.insert(s.size.begin(), s.size.end());
  const double octave = std::log(2.0);
  std::vector<double> out;
  for (double x = *measured.begin() - octave; x > std::log(kSmallest) - octave; x -= octave)
    out.push_back(x);
  std::ranges::reverse(out);
  for (const double size : measured) {
    if (size != *measured.begin()) {
      const double from = out.back();
      const int steps = static_cast<int>(std::ceil((size - from) / (kFinest * octave) - 1e-9));
      for (int i = 1; i < steps; ++i) out.push_back(from + (size - from) * i / steps);
    }
    out.push_back(size);
  }
  for (double x = out.back() + octave; x < std::log(kLargest) + octave; x += octave)
    out.push_back(x);
  return out;
}

/// Logarithms of time over the sizes of the table, at one channel count.
using Row = std::vector<double>;

double log_time(const CurveLaw& law, double size, int channels) {
  return std::log(law.time_us(std::exp(size), channels));
}

void never_fall_with_size(Row& row) {
  for (std::size_t i = 1; i < row.size(); ++i) row[i] = std::max(row[i], row[i - 1]);
}

/// `rows` from the fewest channels to the most.
void never_fall_with_fewer_channels(std::vector<Row>& rows) {
  for (std::size_t r = rows.size() - 1; r-- > 0;)
    for (std::size_t i = 0; i < rows[r].size(); ++i)
      rows[r][i] = std::max(rows[r][i], rows[r + 1][i]);
}

/// The channel counts that were measured: exact there, and between two points the law shifted
/// onto both, without a bulge beyond either.
std::vector<Row> measured_rows(const CurveLaw& law, const std::vector<Series>& all,
                               const std::vector<double>& sizes) {
  std::vector<Row> out;
  for (const Series& s : all) {
    std::vector<double> off;
    for (std::size_t i = 0; i < s.size.size(); ++i)
      off.push_back(s.time[i] - log_time(law, s.size[i], s.channels));
    Row& row = out.emplace_back();
    for (const double x : sizes) {
      double t = log_time(law, x, s.channels) + between(s.size, off, x);
      const std::size_t next = index_from(s.size, x);
      if (next > 0) t = std::max(t, s.time[next - 1]);
      if (next < s.size.size()) t = s.size[next] == x ? s.time[next] : std::min(t, s.time[next]);
      row.push_back(t);
    }
    never_fall_with_size(row);
  }
  never_fall_with_fewer_channels(out);
  return out;
}

/// What a table is made from.
struct Ground {
  const CurveLaw& law;
  const std::vector<Series>& all;
  const std::vector<double>& sizes;
};

/// All rows of the table: between measured channel counts the law with what it misses at its
/// neighbours, and never outside of those. `channels` in logarithms.
std::vector<Row> rows_between(const Ground& from, const std::vector<Row>& measured,
                              const std::vector<double>& channels) {
  const auto& [law, all, sizes] = from;
  std::vector<double> known, off(all.size());
  for (const Series& s : all) known.push_back(std::log(s.channels));
  std::vector<Row> out;
  for (const double c : channels) {
    const std::size_t next = index_from(known, c);
    if (next < known.size() && known[next] == c) {
      out.push_back(measured[next]);
      continue;
    }
    const int count = static_cast<int>(std::lround(std::exp(c)));
    Row& row = out.emplace_back();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      for (std::size_t k = 0; k < all.size(); ++k)
        off[k] = measured[k][i] - log_time(law, sizes[i], all[k].channels);
      double t = log_time(law, sizes[i], count) + between(known, off, c);
      if (next > 0) t = std::min(t, measured[next - 1][i]);
      if (next < known.size()) t = std::max(t, measured[next][i]);
      row.push_back(t);
    }
    never_fall_with_size(row);
  }
  never_fall_with_fewer_channels(out);
  return out;
}

}  // namespace

double CurveLaw::time_us(double bytes, int channels) const {
  const double kb = bytes * 1e-3;  // us at 1 GB/s
  double transfer = kb / gb_per_s * (1 + std::pow(ramp_bytes / bytes, std::min(ramp_power, 1.0)));
  if (channel_gb_per_s > 0 && channels > 0) {
    const double narrow = kb / (channels * channel_gb_per_s);
    const double high = std::max(narrow, transfer), low = std::min(narrow, transfer);
    transfer = high * std::pow(1 + std::pow(low / high, softness), 1 / softness);
  }
  const double busy = transfer + fill_us;
  return std::cbrt(floor_us * floor_us * floor_us + busy * busy * busy);
}

Curve::Curve(const CurveLaw& law, std::vector<CurvePoint> points)
    : law_(law), points_(std::move(points)) {
  std::ranges::sort(points_, [](const CurvePoint& a, const CurvePoint& b) {
    return std::pair(a.channels, a.bytes) < std::pair(b.channels, b.bytes);
  });
  std::vector<Series> all = series_of(points_);
  sizes_ = sizes_of(all);
  most_channels_ = all.back().channels;
  make_rise(all, sizes_);
  const std::vector<Row> measured = measured_rows(law_, all, sizes_);
  if (measured.size() == 1) {
    rows_ = {0};
    table_ = measured.front();
    return;
  }
  std::set<int> wanted(std::begin(kRows), std::end(kRows));
  for (const Series& s : all) wanted.insert(s.channels);
  for (const int channels : wanted) rows_.push_back(std::log(channels));
  for (const Row& row : rows_between({law_, all, sizes_}, measured, rows_))
    table_.insert(table_.end(), row.begin(), row.end());
}

double Curve::time_us(double bytes, int channels) const {
  const double x = std::clamp(std::log(bytes), sizes_.front(), sizes_.back());
  const std::size_t width = sizes_.size();
  const std::size_t i = std::clamp<std::size_t>(
      static_cast<std::size_t>(std::ranges::upper_bound(sizes_, x) - sizes_.begin()), 1, width - 1);
  const double part = (x - sizes_[i - 1]) / (sizes_[i] - sizes_[i - 1]);
  const auto at = [&](std::size_t row) {
    const double* const t = &table_[row * width + i];
    return t[-1] + (t[0] - t[-1]) * part;
  };
  const double beyond = std::max(0.0, std::log(bytes) - sizes_.back());
  if (rows_.size() == 1) return std::exp(at(0) + beyond);
  const double c =
      std::clamp(std::log(channels > 0 ? channels : most_channels_), rows_.front(), rows_.back());
  const std::size_t r = std::clamp<std::size_t>(
      static_cast<std::size_t>(std::ranges::upper_bound(rows_, c) - rows_.begin()), 1,
      rows_.size() - 1);
  const double share = (c - rows_[r - 1]) / (rows_[r] - rows_[r - 1]);
  return std::exp(at(r - 1) + (at(r) - at(r - 1)) * share + beyond);
}

std::vector<int> Curve::channels() const {
  std::vector<int> out;
  for (const CurvePoint& p : points_)
    if (out.empty() || out.back() != p.channels) out.push_back(p.channels);
  return out;
}

bool Curve::covers(std::int64_t bytes, int channels) const {
  const auto [low, high] = std::ranges::minmax(points_, {}, &CurvePoint::bytes);
  if (bytes < low.bytes || bytes > high.bytes) return false;
  return channels == 0 || points_.front().channels == 0 ||
         (channels >= points_.front().channels && channels <= most_channels_);
}

}  // namespace railyard::predict::nccl

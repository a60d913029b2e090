#pragma once
// The measured time of one collective done in one way (algorithm and protocol), at the sizes and
// channel counts of a sweep, between them and beyond.
//
// A law with seven parameters carries over the gaps:
//
//   t(s, c) = (floor^3 + (T + fill)^3)^(1/3),   T = ((s / (c channel))^q + (s / R(s))^q)^(1/q)
//   R(s) = rate / (1 + (ramp / s)^p)
//
// `channel` is what one channel (one SM on each GPU) moves, `rate` what the machine moves. What the
// law misses at the measured points is carried along: as a factor, linear between points in the
// logarithms of size and channels, constant beyond them. docs/nccl-time.md has how far that holds.
//
// Time never falls with size, and never falls with fewer channels. Measurements that say otherwise
// are scatter: they are replaced by the nearest values that rise (isotonic regression, long
// transfers weighing more because they repeat better). All of that happens when the curve is made;
// a question costs two look-ups.

#include <cstdint>
#include <vector>

namespace railyard::predict::nccl {

/// `channels` 0: as many as NCCL takes.
struct CurvePoint {
  int channels = 0;
  std::int64_t bytes = 0;
  double us = 0;
  bool operator==(const CurvePoint&) const = default;
};

struct CurveLaw {
  double floor_us = 15;
  double gb_per_s = 300;  ///< rate
  double ramp_bytes = 5e6;
  double ramp_power = 0.6;  ///< p, at most 1: beyond, time would fall with size
  double fill_us = 5;
  double channel_gb_per_s = 0;  ///< 0: measured at one channel count only, c does not enter
  double softness = 2.6;        ///< q

  double time_us(double bytes, int channels) const;
  bool operator==(const CurveLaw&) const = default;
};

/// NCCL's channels end there. [NCCL 2.28: MAXCHANNELS of src/include/device.h]
inline constexpr int kMostCurveChannels = 64;

class Curve {
 public:
  /// At least one point; no two of the same size and channel count; times above zero.
  Curve(const CurveLaw& law, std::vector<CurvePoint> points);

  /// `channels` 0: the most that were measured.
  double time_us(double bytes, int channels = 0) const;

  const CurveLaw& law() const { return law_; }
  /// By channel count, then by size.
  const std::vector<CurvePoint>& points() const { return points_; }
  /// Channel counts that were measured, rising; 0 alone where they are not known.
  std::vector<int> channels() const;
  /// Whether size and channels lie within those that were measured.
  bool covers(std::int64_t bytes, int channels) const;
  bool operator==(const Curve& other) const {
    return law_ == other.law_ && points_ == other.points_;
  }

 private:
  CurveLaw law_;
  std::vector<CurvePoint> points_;
  int most_channels_ = 0;
  std::vector<double> sizes_;  ///< logarithms, rising
  std::vector<double> rows_;   ///< logarithms of channel counts, rising
  std::vector<double> table_;  ///< [row x size] logarithm of us
};

}  // namespace railyard::predict::nccl

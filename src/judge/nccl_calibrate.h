#pragma once
// From a measured sweep to a profile of the machine: a curve for each collective and way, and how
// far each can be trusted. Trust is measured, not assumed: parts of the sweep are left out, the
// curve is made from the rest and asked for what was left out.
//
// Small sizes and few repetitions scatter, so the fit cuts the tails of outliers, and parameters
// that the points leave open stay near what such curves look like elsewhere.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "facts/busbw_row.h"
#include "predict/nccl/profile.h"

namespace railyard::judge {

struct CalibrateOptions {
  std::optional<predict::nccl::Mode> mode = {};  ///< needed where the rows have both
  std::optional<int> ranks = {}, nodes = {};     ///< needed where the rows have several
  /// Channels of the rows that leave them to NCCL, as its log says ("24 coll channels").
  std::optional<int> own_channels = {};
  std::string fingerprint = {};
};

enum class LeftOut : std::uint8_t {
  channels,  ///< all points of one channel count; curves with three of them and more
  sizes,     ///< every second size, of all channel counts; then the other half
  point      ///< one point
};

/// A point that its curve did not see.
struct HeldOut {
  std::size_t curve = 0;  ///< index in the profile
  LeftOut what = LeftOut::point;
  predict::nccl::CurvePoint measured = {};
  double predicted_us = 0;

  double error() const { return predicted_us / measured.us - 1; }
};

struct HeldOutSum {
  int n = 0, within = 0;  ///< of n points, within 10 %
  double median = 0, worst = 0;

  double share() const { return n > 0 ? static_cast<double>(within) / n : 0; }
};

struct NcclCalibration {
  predict::nccl::Profile profile = {};
  std::vector<HeldOut> held_out = {};
  std::vector<std::string> remarks = {};  ///< what was left aside, what was taken for granted

  HeldOutSum sum(const std::function<bool(const HeldOut&)>& of) const;
};

/// Sizes that the bars are set for.
inline constexpr std::int64_t kLongFrom = 1 << 20;

/// All rows that cannot be used are problems, those of another transport remarks.
Checked<NcclCalibration> calibrate_nccl(const std::vector<facts::BusbwRow>& rows,
                                        const CalibrateOptions& options);

/// The law that fits the points best; `start`: the law of nearly the same points.
predict::nccl::CurveLaw fit_curve(const std::vector<predict::nccl::CurvePoint>& points,
                                  const predict::nccl::CurveLaw* start = nullptr);

}  // namespace railyard::judge

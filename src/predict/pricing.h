#pragma once
// From what a pass costs alone to what it costs in a step: host launches beside device time, and
// what of a collective stays exposed when compute runs beside it.
//
// Two things that run at once slow each other: what hides behind compute costs `overlap_slowdown` -
// 1 of itself. Never is communication counted at full speed beside compute at full speed.

#include "base/quantity.h"
#include "model/job.h"
#include "predict/calibration.h"
#include "predict/layer.h"

namespace railyard::predict {

/// The price of a pass: what the device does, what the host needs to launch it, what is exposed.
struct Priced {
  Seconds device = {}, host = {};
  Seconds tensor = {}, context = {}, expert = {};

  Seconds compute() const { return max(device, host); }
  Seconds exposed() const { return tensor + context + expert; }
};

class Pricer {
 public:
  /// The software-era factor applies to fp8 and fp4 recipes.
  Pricer(const model::Job& job, const Calibration& calibration, const Device& device);

  Priced operator()(const Pass& pass) const;

  /// What remains of `comm` when it runs beside `window` of compute.
  Seconds exposed_behind(Seconds comm, Seconds window) const;

  double era() const { return era_; }

 private:
  const model::Job& job_;
  const Constants& c_;
  double era_;
  Seconds launch_;
};

/// What recomputation repeats of a block in backward.
Pass repeated(const model::Job& job, const Block& block);

}  // namespace railyard::predict

#pragma once
// Two set-ups side by side, and what each change between them gives.
//
// The changes are applied to A in a fixed order until it is B; what a change takes from the step
// time at its turn is its contribution, and the contributions sum to the whole. Alone on A a change
// may give more or less: a faster card helps little behind a slow slot. The difference of the two
// is the interaction, and it is shown.
//
// Where the two sides train different amounts a step, times are of A's amount.

#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "base/quantity.h"
#include "plan/differences.h"
#include "predict/calibration.h"
#include "predict/outlook.h"

namespace railyard::plan {

struct Contribution {
  std::string what = {};
  std::string from = {}, to = {};
  std::optional<Seconds> alone = {};  ///< change of the step time when only this is applied to A
  Seconds in_order = {};              ///< the same at its turn; negative is faster
  Seconds step = {};                  ///< step time after it
  std::string limited_by = {};        ///< after it
};

struct Comparison {
  predict::Outlook a = {}, b = {};
  Seconds time_a = {}, time_b = {};  ///< of A's amount of work
  std::vector<Contribution> changes = {};

  Seconds gain() const { return time_b - time_a; }  ///< negative is faster
  /// What the changes give together beyond what they give alone; nothing where one cannot stand
  /// alone.
  std::optional<Seconds> interaction() const;
};

/// A change that leaves a job which does not fit the cluster in between (more accelerators than the
/// layout divides) is applied together with the next ones. Problems: a side that cannot be.
Checked<Comparison> compare(const Workload& a, const Workload& b,
                            const predict::Calibration& calibration);

}  // namespace railyard::plan

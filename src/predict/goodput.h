#pragma once
// How much of the wall time ends up as finished steps, when accelerators fail and checkpoints are
// written.
//
// A job works for an interval d, then saves for w. Failures come at random with mean time M = (that
// of one accelerator) / N; each throws away what was done since the last save, then takes a restart
// u, during which another failure may come. The mean wall time of one interval is
//   T = M e^(u/M) (e^((d + w)/M) - 1)
// and the goodput d / T. To first order this is the published 1 - w/d - (d/2 + u)/M, which is wrong
// where it matters: at M of 18 minutes and u of 10 it says 0.40, the exact form and a simulation
// 0.54. Real failures come in bursts, which costs a little less.  [Daly, FGCS 22 (2006), section 3]

#include <optional>

#include "base/quantity.h"
#include "model/job.h"

namespace railyard::predict {

/// Shares of the wall time; they sum to one.
struct Goodput {
  double useful = 1;
  double checkpoint = 0;  ///< saving
  double lost = 0;        ///< work that is done again
  double restart = 0;
  Seconds interval = {};            ///< between the starts of two saves, less the save
  bool interval_is_chosen = false;  ///< by us: sqrt(2 w M), Young's; else given
  Seconds between_failures = {};    ///< M of the whole job; zero: no failures are given
};

/// Nothing when the job says nothing that costs time: no failure rate, and no save at an interval.
std::optional<Goodput> goodput(const model::Reliability& given, int accelerators);

}  // namespace railyard::predict

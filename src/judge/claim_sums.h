#pragma once
// The sums that a reader of performance claims is owed. Each is a law of a line or two, with
// nothing of a particular claim in it; claims.h puts the printed numbers in.
//
// Gains are relative: +0.35 is 35 % more throughput.

#include <vector>

#include "base/quantity.h"
#include "judge/printed.h"
#include "predict/collective.h"

namespace railyard::judge {

// ---- Shares of a step. A step is compute + communication, and compute does not change. ----

/// Throughput gained when the share of communication falls: a step is compute / (1 - share).
double gain_of_shares(Change<double> share);
/// How many times as fast communication must get for that.
double speedup_for_shares(Change<double> share);
/// The share that is left of `share` when all of its communication takes `factor` of its time.
struct Scaled {
  double share = 0, factor = 1;
};
double share_after(Scaled s);
/// Throughput gained by the same.
double gain_of_communication(Scaled s);
/// The share that communication must have had, for `factor` of its time to give `gain`. Above one:
/// impossible.
struct Wanted {
  double gain = 0, factor = 1;
};
double share_for_gain(Wanted w);
/// Utilisation is useful time over all time, so throughput follows it.
double gain_of_utilisation(Change<double> utilisation);
/// The same work in less time.
double gain_of_duration(Change<Seconds> duration);

// ---- The size of an all-reduce. ----

/// A ring over servers: each moves 2 (n - 1) / n of the message through its own link.
struct Ring {
  int members = 2;
  Bandwidth link = {};
};
Seconds ring_time(Bytes message, Ring ring);
Bytes ring_size(Seconds time, Ring ring);
/// The rate that a link must have.
Bandwidth ring_rate(Bytes message, Seconds time, int members);

/// The message whose all-reduce takes `time` by a model of collectives; zero when even the smallest
/// takes longer.
Bytes all_reduce_size(Seconds time, const predict::CollectiveModel& model,
                      const predict::Group& group);
/// Time against size before and after a change.
struct SizePoint {
  Bytes size = {};
  Change<Seconds> time = {};
};
std::vector<SizePoint> all_reduce_curve(Change<const predict::CollectiveModel*> model,
                                        Change<predict::Group> group);

// ---- Scale and cost. ----

struct Scale {
  double gain = 0;
  double accelerators = 1;  ///< after / before
};
/// Gain of one accelerator when the cluster gains `gain` with so many times the accelerators.
double gain_per_accelerator(Scale s);
/// Gain of the cluster when one accelerator gains `gain`.
double gain_of_cluster(Scale s);

/// Accelerator-hours of a run.
double accelerator_hours(int accelerators, Seconds duration);

/// Bytes that a host moves to update one parameter by Adam: moments and master weight read and
/// written in fp32 (24), the 16-bit gradient read, the 16-bit weight written.
inline constexpr double kHostAdamBytes = 28;

}  // namespace railyard::judge

#include "judge/claim_sums.h"

#include <cmath>

namespace railyard::judge {

double gain_of_shares(Change<double> share) { return (1 - share.after) / (1 - share.before) - 1; }

double speedup_for_shares(Change<double> share) {
  return share.before / (1 - share.before) / (share.after / (1 - share.after));
}

double share_after(Scaled s) { return s.share * s.factor / (1 - s.share + s.share * s.factor); }

double gain_of_communication(Scaled s) { return 1 / (1 - s.share + s.share * s.factor) - 1; }

double share_for_gain(Wanted w) { return (1 - 1 / (1 + w.gain)) / (1 - w.factor); }

double gain_of_utilisation(Change<double> utilisation) {
  return utilisation.after / utilisation.before - 1;
}

double gain_of_duration(Change<Seconds> duration) { return duration.before / duration.after - 1; }

namespace {
double moved(int members) { return 2.0 * (members - 1) / members; }
}  // namespace

Seconds ring_time(Bytes message, Ring ring) { return moved(ring.members) * message / ring.link; }

Bytes ring_size(Seconds time, Ring ring) { return time * ring.link / moved(ring.members); }

Bandwidth ring_rate(Bytes message, Seconds time, int members) {
  return moved(members) * message / time;
}

Bytes all_reduce_size(Seconds time, const predict::CollectiveModel& model,
                      const predict::Group& group) {
  // Time rises with size, so the answer lies between two sizes that bracket it. Halving the ratio
  // of the two sixty times leaves less than a billionth of it.
  Bytes low = 1.0 * B, high = 1e6 * GB;
  constexpr int kHalvings = 60;
  const auto of = [&](Bytes size) {
    return model.time(predict::Collective::all_reduce, size, group).time;
  };
  if (of(low) > time) return {};
  for (int i = 0; i < kHalvings; ++i) {
    const Bytes middle = low * std::sqrt(high / low);
    (of(middle) > time ? high : low) = middle;
  }
  return low;
}

std::vector<SizePoint> all_reduce_curve(Change<const predict::CollectiveModel*> model,
                                        Change<predict::Group> group) {
  std::vector<SizePoint> out;
  for (Bytes decade = 1.0 * MB; decade <= 10.0 * GB; decade *= 10)
    for (const double step : {1.0, 2.0, 5.0}) {
      const Bytes size = step * decade;
      const auto time = [&](const predict::CollectiveModel& m, const predict::Group& g) {
        return m.time(predict::Collective::all_reduce, size, g).time;
      };
      out.push_back({size, {time(*model.before, group.before), time(*model.after, group.after)}});
    }
  return out;
}

double gain_per_accelerator(Scale s) { return (1 + s.gain) / s.accelerators - 1; }

double gain_of_cluster(Scale s) { return (1 + s.gain) * s.accelerators - 1; }

double accelerator_hours(int accelerators, Seconds duration) {
  return accelerators * duration.in(hour);
}

}  // namespace railyard::judge

#include "predict/goodput.h"

#include <cmath>

namespace railyard::predict {

namespace {

/// Without failures, only the saves cost.
Goodput saves_only(Seconds interval, Seconds save) {
  Goodput out{.interval = interval};
  out.checkpoint = save / (interval + save);
  out.useful = 1 - out.checkpoint;
  return out;
}

}  // namespace

std::optional<Goodput> goodput(const model::Reliability& given, int accelerators) {
  const Seconds save = given.checkpoint_save;
  if (given.accelerator_mtbf <= Seconds{}) {
    if (save <= Seconds{} || given.checkpoint_interval <= Seconds{}) return std::nullopt;
    return saves_only(given.checkpoint_interval, save);
  }
  const Seconds between = given.accelerator_mtbf / accelerators;
  Goodput out{.interval = given.checkpoint_interval, .between_failures = between};
  if (out.interval <= Seconds{}) {
    out.interval_is_chosen = true;
    out.interval = Seconds::si(std::sqrt(2 * save.si() * between.si()));
  }
  // Of all time, the restarts take 1 - e^(-u/M) whatever the interval.
  out.restart = -std::expm1(-given.restart / between);
  const double span = (out.interval + save) / between;
  if (span <= 0) {  // saves are free and all the time: nothing is lost
    out.useful = 1 - out.restart;
    return out;
  }
  const double attempts = std::expm1(span);             // failed ones, for each that succeeds
  const double working = (1 - out.restart) / attempts;  // share of the time for one unit of M
  out.useful = working * (out.interval / between);
  out.checkpoint = working * (save / between);
  out.lost = working * (attempts - span);
  return out;
}

}  // namespace railyard::predict

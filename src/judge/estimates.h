#pragma once
// What we predict about a claim: a number with its 80 % band, and both in words.

#include <string>

#include "base/quantity.h"
#include "predict/step.h"

namespace railyard::judge {

struct Estimate {
  std::string what = {};  ///< "network alone"
  double value = 0, low = 0, high = 0;
  std::string unit = {};  ///< "s", "B", "B/s", "FLOP/s"; empty for a ratio or a count
  std::string text =
      {};  ///< for people, with the band where there is one: "+73.0 % (+36 to +110 %)"
};

// Without a band: what the parts give, or a count.
Estimate exact(std::string what, Bytes value);
Estimate exact(std::string what, Bandwidth value);        ///< in bits, as networks are labelled
Estimate exact_bytes(std::string what, Bandwidth value);  ///< in bytes
Estimate exact(std::string what, FlopRate value);

/// The band of a time that the step's band is taken for.
Estimate estimate(std::string what, Seconds time, const predict::Prediction& band);

/// The share of a step that takes `part`. The error of the step time may lie all in that part or
/// all in the rest; the band holds both.
Estimate share_of(std::string what, Seconds part, const predict::Prediction& of);
/// A ratio over the step time, such as MFU: it falls as the step grows.
Estimate rate_ratio(std::string what, double ratio, const predict::Prediction& of);

/// Throughput of `to` over that of `from`, less one. The errors of the two are taken as
/// independent: the widths of their bands add as squares.
struct Pair {
  const predict::Prediction& from;
  const predict::Prediction& to;
};
Estimate gain(std::string what, Pair p);
/// The same for one accelerator when there are `factor` times as many.
Estimate per_accelerator(const Estimate& gain, double factor);

}  // namespace railyard::judge

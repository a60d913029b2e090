#pragma once
// What to expect of a collective on a system, size by size: time and bus bandwidth as a band, what
// sets them, and how near that is to what the hardware allows at all.

#include <optional>
#include <vector>

#include "predict/nccl/communicator.h"
#include "predict/nccl/profile.h"
#include "predict/nccl/time_law.h"

namespace railyard::predict::nccl {

struct ExpectedSize {
  std::int64_t bytes = 0;
  TimeParts parts = {};  ///< of the fastest way that the settings allow
  double low_us = 0, high_us = 0;
  std::optional<Candidate> pick = {};  ///< NCCL's own choice, with its own estimate
  /// The law's time of that choice, where the law has one.
  std::optional<double> pick_us = {};
  std::optional<ProfileTime> measured = {};  ///< of that choice by this machine's own sweep

  /// Measured where it is, else of the law.
  double us() const { return measured ? measured->us : parts.total; }
  double busbw(double us, double factor) const {
    return static_cast<double>(bytes) * factor / us / 1e3;
  }
};

struct Expectation {
  Platform platform = {};
  Collective what = Collective::all_reduce;
  Mode mode = Mode::eager;
  double bus_factor = 1;
  SpeedOfLight light = {};
  std::vector<ExpectedSize> sizes = {};
};

struct ExpectQuestion {
  Collective what = Collective::all_reduce;
  Mode mode = Mode::eager;
  bool in_place = false;
};

/// The function that NCCL's table has for it; none for send and all-to-all.
std::optional<Function> function_of(Collective what);

Expectation expect(const Platform& platform, const Communicator& comm,
                   const ExpectQuestion& question, const std::vector<std::int64_t>& sizes,
                   const Priors& priors);

/// Puts what the machine's own sweep says of NCCL's choice in place of the law, where the sweep has
/// it. Rows that left the choice to NCCL come first, while nothing forces another choice.
void calibrate(Expectation& expectation, const Communicator& comm, const ExpectQuestion& question,
               const Profile& profile);

/// One size, without a communicator: the fastest way of all.
ExpectedSize expect_size(const Platform& platform, const TimeQuestion& question,
                         const Priors& priors);

}  // namespace railyard::predict::nccl

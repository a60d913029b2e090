#pragma once
// One function per claim. Each reads its own figure and whatever others it needs for its sums, and
// gives nothing where the case does not make the claim.

#include <optional>
#include <string>
#include <vector>

#include "judge/claims.h"

namespace railyard::judge {

using Row = std::optional<ClaimRow>;

/// What all rules look at.
struct Bench {
  const ClaimInputs& in;
  const Claims& claims;
  const CaseSet& first;  ///< the set that the text is read with
  const CaseRun* before = nullptr;
  const CaseRun* after = nullptr;
  std::vector<const CaseRun*> readings = {};
};
Bench bench_of(const ClaimInputs& in);

/// Two claims that cannot both be true.
struct Conflict {
  std::string one = {}, other = {};
  std::string sum = {};  ///< name of the sum, in the row of `one`
};
/// All of them: gains derived in five ways, shares that exceed the whole, sizes against times.
std::vector<Conflict> conflicts(const Claims& claims);
/// Puts `row`'s conflicts into it: the verdict becomes `contradicts`.
void contradict(ClaimRow& row, const std::vector<Conflict>& all);

/// A gain of throughput that follows from one of the claims.
struct ImpliedGain {
  std::string id = {};   ///< of the claim
  std::string sum = {};  ///< name of the sum
  Derived gain = {};
  std::string line = {};
};
std::vector<ImpliedGain> implied_gains(const Claims& claims);

// shares.cpp
Row judge_communication_share(const Bench& b);
Row judge_utilisation(const Bench& b);
Row judge_throughput(const Bench& b);
Row judge_training_time(const Bench& b);
// network.cpp
Row judge_network(const Bench& b);
Row judge_gradients(const Bench& b);
Row judge_all_reduce(const Bench& b);
// memory.cpp
Row judge_host_memory(const Bench& b);
Row judge_overflow(const Bench& b);
Row judge_offload(const Bench& b);
// platform.cpp
Row judge_platform(const Bench& b);
Row judge_accelerators(const Bench& b);
Row judge_slots(const Bench& b);
Row judge_rent(const Bench& b);
// measurements.cpp: three rows a line of the table
std::vector<ClaimRow> judge_measurements(const Bench& b);
// layout.cpp
Row judge_out_of_memory(const Bench& b);
Row judge_software(const Bench& b);
Row judge_communication_gains(const Bench& b);
Row judge_scale_up(const Bench& b);
Row judge_peak(const Bench& b);

}  // namespace railyard::judge

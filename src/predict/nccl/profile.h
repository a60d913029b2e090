#pragma once
// What one machine was measured to do: a curve for each collective, algorithm and protocol of a
// sweep, and the band that the points fell into when each was predicted from the others. Made by
// `railyard nccl calibrate`, kept as YAML.

#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "predict/collective.h"
#include "predict/nccl/curve.h"
#include "predict/nccl/terms.h"
#include "predict/nccl/time_law.h"

namespace railyard::predict::nccl {

/// One way to do a collective. No algorithm and no protocol: as NCCL itself chooses.
struct Way {
  Collective what = Collective::all_reduce;
  std::optional<Algorithm> algorithm = {};
  std::optional<Protocol> protocol = {};
  bool in_place = false;
  auto operator<=>(const Way&) const = default;
};

struct ProfileCurve {
  Way way = {};
  Curve curve;
  bool operator==(const ProfileCurve&) const = default;
};

/// Natural logarithms of measured over predicted time that hold eight of ten points.
struct ProfileBand {
  std::int64_t up_to = 0;  ///< bytes, exclusive; 0: no end
  double low = -0.1, high = 0.1;
  bool operator==(const ProfileBand&) const = default;
};

struct Profile {
  std::string fingerprint = {};  ///< free text: NCCL, GPU, driver
  Mode mode = Mode::eager;
  int ranks = 2, nodes = 1;
  std::vector<ProfileBand> bands = {};    ///< by size
  std::vector<ProfileCurve> curves = {};  ///< by way; of one way two where channels are 0 and known
  bool operator==(const Profile&) const = default;
};

struct ProfileQuestion {
  Way way = {};
  int channels = 0;  ///< 0: NCCL's own number
  std::int64_t bytes = 0;
};

struct ProfileTime {
  double us = 0, low_us = 0, high_us = 0;
  bool measured = true;  ///< size and channels lie within those of the sweep
};

/// Nothing where the sweep had no such way. A way that was measured in place only answers for out
/// of place, and the other way round.
std::optional<ProfileTime> time_of(const Profile& profile, const ProfileQuestion& question);

/// Reads what report/nccl_profile.h writes.
Checked<Profile> load_profile(const std::string& path);
Checked<Profile> read_profile(std::string file, std::string bytes);

/// Six significant digits: what a profile keeps of a number, so that the file says all of it.
double kept(double value);

}  // namespace railyard::predict::nccl

#pragma once
// How long a collective takes on a healthy system, from its hardware terms. docs/nccl-time.md has
// the equations, what each parameter was fitted on, and the errors.
//
//   t = (host^m + gpu^m)^(1/m)
//   gpu = least over ways (ring, tree, NVLS; LL, LL128, Simple) of
//         steps x hop + bytes / rate + fill of the pipeline
//
// The host needs its time to launch, whatever the GPUs do; with CUDA graphs that falls away, and
// inside the kernel also the gap between kernels. Rates are those of the parts times an efficiency
// shared by all systems of a class.

#include <cstdint>
#include <optional>
#include <string>

#include "predict/collective.h"
#include "predict/nccl/platform.h"
#include "predict/nccl/priors.h"
#include "predict/nccl/terms.h"

namespace railyard::predict::nccl {

/// What the clock includes.
enum class Mode : std::uint8_t {
  eager,  ///< launched one by one, as nccl-tests does: the host's time counts
  graph,  ///< replayed from a CUDA graph, or launched far enough ahead
  kernel  ///< inside the kernel, as NCCL's Inspector and profilers measure
};

struct TimeQuestion {
  Collective what = Collective::all_reduce;
  double bytes = 0;  ///< nccl-tests' size
  bool in_place = false;
  Mode mode = Mode::eager;
  /// Only this way, where it is known; otherwise the fastest.
  std::optional<Algorithm> algorithm = {};
  std::optional<Protocol> protocol = {};
  int channels = 0;  ///< 0: NCCL's own number; fewer cap the rate
};

/// The terms of an answer, us.
struct TimeParts {
  double total = 0;
  double host = 0, latency = 0, transfer = 0, fill = 0, copy = 0;
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  bool network_binds = false;  ///< the ports, not the links inside, set the transfer
  bool channels_bind = false;
};

/// Time of a healthy system, us. No way allowed: infinity.
TimeParts time_of(const Platform& platform, const TimeQuestion& question, const Priors& priors);

/// What a byte of the call weighs on the bus, in nccl-tests' sense: 2(n-1)/n for all-reduce.
double bus_factor(Collective what, int ranks);

/// No system can be faster, and what says so.
struct SpeedOfLight {
  double bus_gb_per_s = 0;
  std::string why = {};
};
SpeedOfLight speed_of_light(const Platform& platform, Collective what);

}  // namespace railyard::predict::nccl

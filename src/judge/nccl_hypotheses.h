#pragma once
// What could make a curve slow: each known pathology as a change of the platform or of the
// question, its whole curve from the time law, and how well that explains what was measured.
//
// A curve rarely proves a cause, because several give the same plateau. What a log shows raises a
// hypothesis or rules it out.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "predict/nccl/time_law.h"

namespace railyard::judge {

/// A measured point of a curve.
struct MeasuredTime {
  double bytes = 0;
  bool in_place = false;
  double us = 0;
};

struct MeasuredCurve {
  predict::Collective what = predict::Collective::all_reduce;
  predict::nccl::Mode mode = predict::nccl::Mode::eager;
  std::vector<MeasuredTime> points = {};
};

enum class Standing : std::uint8_t { open, shown, ruled_out };

struct NcclHypothesis {
  std::string_view id = {};     ///< stable: "gpudirect-off"
  std::string_view topic = {};  ///< class of the cause
  std::string what = {};        ///< with the value that fits best: "4 of 8 NICs' worth of ports"
  std::string_view fix = {}, settle = {};
  double misfit = 0;   ///< weighted mean of |log(measured / expected)|, each at most 3
  double plateau = 0;  ///< GB/s of bus bandwidth that it expects at the largest size
  double loss = 1;     ///< its time over the healthy one, at the largest size
  Standing standing = Standing::open;
  std::string why = {};  ///< of the standing
};

/// What the logs say for and against hypotheses, by id.
struct NcclWitness {
  std::set<std::string, std::less<>> shown = {};
  std::map<std::string, std::string, std::less<>> ruled_out = {};  ///< and why
};

/// How far a curve is from what a platform should give. Large messages weigh most: their band is
/// narrow.
double misfit(const MeasuredCurve& curve, const predict::nccl::Platform& platform, int channels,
              const predict::nccl::Priors& priors);

/// Best first; those that are ruled out last. `nics`: of a node, 0 where that is not known.
std::vector<NcclHypothesis> hypotheses_of(const MeasuredCurve& curve,
                                          const predict::nccl::Platform& healthy, int nics,
                                          const NcclWitness& witness,
                                          const predict::nccl::Priors& priors);

}  // namespace railyard::judge

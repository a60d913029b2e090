#pragma once
// What holds a step back: every part of its time with the resource behind it, the number of that
// resource, and why it is no larger.
//
// Matrix multiplication, attention and the kernels that stream memory are the work itself;
// everything else is loss. A loss that takes `kHoldsBack` of the step or more is what limits it;
// below that the work does, by its largest kind.

#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "fabric/machine.h"
#include "model/job.h"
#include "predict/step.h"

namespace railyard::predict {

/// The share from which a loss is worth more than anything that could be done about the work: a
/// step without it would be at least 1.18 times as fast.
inline constexpr double kHoldsBack = 0.15;

struct Bottleneck {
  std::string_view part = {};  ///< key in time_parts()
  std::string what = {};       ///< "data-parallel communication over the network"
  std::string number = {};     ///< "5.4 GiB of gradients a rank, 198 Gb/s a server"
  std::string reason = {};     ///< "ports of cx6dx: 2 x 100 Gb/s, TCP at MTU 9000 leaves 198 Gb/s"
  Seconds time = {};
  double share = 0;  ///< of the step
  bool work = false;
};

/// All parts that take time; the first one limits the step, the others follow by size.
std::vector<Bottleneck> bottlenecks(const model::Job& job, const StepModel& model,
                                    const Prediction& prediction, const StepModel::Pieces& pieces);

/// What overhead consists of; the three sum to StepTime::overhead.
struct Overhead {
  Seconds launches = {};    ///< the device waits for the host to launch kernels
  Seconds fixed = {};       ///< data loader, logging, scalar reductions
  Seconds stragglers = {};  ///< the step waits for the slowest accelerator
};
Overhead overhead(const StepModel& model, const Prediction& prediction,
                  const StepModel::Pieces& pieces);

/// The limit of the machine that a collective of this binding meets; nullptr: latency, or nothing.
const fabric::Limit* limit_of(const fabric::Machine& machine, Binding binding);

}  // namespace railyard::predict

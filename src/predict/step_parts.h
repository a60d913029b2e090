#pragma once
// The parts of a step and of an accelerator's memory by name. Screen, JSON, CSV and comparison all
// read these two lists, so that a part has one name and one place in the order.

#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "predict/memory.h"
#include "predict/step.h"

namespace railyard::predict {

/// Which part of StepTime; the order is that of all outputs.
struct TimePart {
  std::string_view key;    ///< in JSON and CSV: "tensor_communication"
  std::string_view title;  ///< for people: "tensor communication"
  Seconds StepTime::* member;
};
/// All parts; they sum to StepTime::total.
const std::vector<TimePart>& time_parts();
/// The time of a part; what is only the rounding of a sum is zero.
Seconds time_of(const StepTime& time, const TimePart& part);

struct MemoryPart {
  std::string_view key, title;
  Bytes MemoryTerms::* member;
};
/// All kinds; they sum to MemoryTerms::total().
const std::vector<MemoryPart>& memory_parts();

}  // namespace railyard::predict

#pragma once
// The timeline of a step for a trace viewer: a pipeline stage is a process, its compute, sends,
// data-parallel communication and host work are threads.

#include <string>
#include <string_view>

#include "predict/step_timeline.h"

namespace railyard::report {

std::string chrome_trace(const predict::StepTimeline& timeline, std::string_view title);

}  // namespace railyard::report

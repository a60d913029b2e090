#pragma once
// Timelines for ui.perfetto.dev and chrome://tracing: the "JSON Array" Trace Event Format (Google,
// "Trace Event Format", complete events `X` and metadata events `M`).
//
// That format knows processes and threads; here they are groups and tracks: a pipeline stage with
// its compute and network streams, a switch with its ports.

#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"

namespace railyard::report {

/// One bar.
struct TraceEvent {
  std::string name = {};
  std::string category = {};  ///< colours and filters: "forward", "all-reduce"
  std::string group = {};     ///< "stage 0"
  std::string track = {};     ///< "compute"
  Seconds start = {}, duration = {};
};

/// The whole file. Groups and tracks stand in the order of their first event; times are written in
/// microseconds, as the format wants, with picoseconds behind the point.
std::string chrome_trace(const std::vector<TraceEvent>& events, std::string_view title);

}  // namespace railyard::report

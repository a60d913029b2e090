#include "report/step_trace.h"

#include <utility>
#include <vector>

#include "report/chrome_trace.h"

namespace railyard::report {

namespace {

using predict::Event;
using predict::EventKind;

struct Kind {
  std::string_view name, track;
};
Kind kind_of(EventKind kind) {
  switch (kind) {
    case EventKind::forward: return {"forward", "compute"};
    case EventKind::backward: return {"backward", "compute"};
    case EventKind::weight: return {"weight gradient", "compute"};
    case EventKind::send: return {"send", "sends"};
    case EventKind::gradients: return {"data parallel", "data parallel"};
    case EventKind::optimizer: return {"optimizer", "compute"};
    case EventKind::other: return {"fixed work", "host"};
  }
  return {};
}

/// "forward 3", "forward 3 of part 1": micro-batch, and the part where a stage has several.
std::string name_of(const Event& e, bool several_parts) {
  std::string out(kind_of(e.kind).name);
  if (e.kind > EventKind::send) return out;
  out += ' ' + std::to_string(e.micro_batch);
  return several_parts ? out + " of part " + std::to_string(e.chunk) : out;
}

}  // namespace

std::string chrome_trace(const predict::StepTimeline& timeline, std::string_view title) {
  bool several = false;
  for (const Event& e : timeline.events) several = several || e.chunk > 0;
  std::vector<TraceEvent> bars;
  bars.reserve(timeline.events.size());
  for (const Event& e : timeline.events) {
    const Kind kind = kind_of(e.kind);
    bars.push_back({.name = name_of(e, several),
                    .category = std::string(kind.name),
                    .group = "stage " + std::to_string(e.stage),
                    .track = std::string(kind.track),
                    .start = e.start,
                    .duration = e.end - e.start});
  }
  return chrome_trace(bars, title);
}

}  // namespace railyard::report

#include "report/chrome_trace.h"

#include <cmath>
#include <map>
#include <utility>

#include "base/json.h"

namespace railyard::report {

namespace {

/// Numbers things from 1 in the order of their first appearance.
class Numbering {
 public:
  /// The number, and whether it was given just now.
  std::pair<int, bool> of(const std::string& name) {
    const auto [at, fresh] = numbers_.try_emplace(name, static_cast<int>(numbers_.size()) + 1);
    return {at->second, fresh};
  }

 private:
  std::map<std::string, int> numbers_;
};

// Trace files of long steps are large: no line breaks inside an event, so no json::Writer here.
std::string quoted(std::string_view text) { return '"' + json::escape(text) + '"'; }

std::string microseconds(Seconds t) {
  const auto ps = std::llround(t.si() * 1e12);
  std::string fraction = std::to_string(std::abs(ps) % 1'000'000);
  fraction.insert(0, 6 - fraction.size(), '0');
  return (ps < 0 ? "-" : "") + std::to_string(std::abs(ps) / 1'000'000) + '.' + fraction;
}

std::string metadata(std::string_view what, int pid, int tid, std::string_view name) {
  return "{\"ph\":\"M\",\"name\":" + quoted(what) + ",\"pid\":" + std::to_string(pid) +
         ",\"tid\":" + std::to_string(tid) + ",\"args\":{\"name\":" + quoted(name) + "}}";
}

}  // namespace

std::string chrome_trace(const std::vector<TraceEvent>& events, std::string_view title) {
  Numbering groups, tracks;
  std::string out = "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":" + quoted(title) +
                    "},\"traceEvents\":[";
  const char* between = "\n";
  const auto add = [&](const std::string& event) {
    out += between + event;
    between = ",\n";
  };
  for (const TraceEvent& e : events) {
    const auto [pid, new_group] = groups.of(e.group);
    const auto [tid, new_track] = tracks.of(e.group + '\n' + e.track);
    if (new_group) add(metadata("process_name", pid, 0, e.group));
    if (new_track) add(metadata("thread_name", pid, tid, e.track));
    add("{\"ph\":\"X\",\"name\":" + quoted(e.name) + ",\"cat\":" + quoted(e.category) +
        ",\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid) +
        ",\"ts\":" + microseconds(e.start) + ",\"dur\":" + microseconds(e.duration) + '}');
  }
  return out + "\n]}\n";
}

}  // namespace railyard::report

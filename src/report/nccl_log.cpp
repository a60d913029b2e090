#include "report/nccl_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "report/width.h"

namespace railyard::report {

using facts::NcclCommunicator;
using facts::NcclRun;

namespace {

constexpr std::size_t kKeyWidth = 14;
/// Communicators and warnings told one by one; the rest is counted.
constexpr std::size_t kMostCommunicators = 8, kMostWarnings = 5;
constexpr std::size_t kMostRanks = 32;  // of a ring that is printed whole

struct Line {
  std::string key, value;
};

std::string plural(std::size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

/// All ranks of one communicator: equal id, or equal size where the release prints none.
struct Group {
  const NcclCommunicator* first = nullptr;
  const NcclCommunicator* told = nullptr;  ///< the rank that says how many channels
  const NcclCommunicator* ringed = nullptr;
  std::size_t printed = 0;
  std::size_t complete = 0;
};

std::vector<Group> groups_of(const NcclRun& run) {
  std::map<std::pair<std::string, int>, std::size_t> at;
  std::vector<Group> out;
  for (const NcclCommunicator& c : run.communicators) {
    const auto [it, is_new] = at.emplace(std::pair(c.id, c.ranks.value_or(0)), out.size());
    if (is_new) out.push_back({.first = &c});
    Group& group = out[it->second];
    ++group.printed;
    group.complete += c.state == facts::NcclCommState::complete;
    if (!group.told && c.coll_channels) group.told = &c;
    if (!group.ringed && !c.rings.empty()) group.ringed = &c;
  }
  std::ranges::stable_sort(out, std::ranges::greater{},
                           [](const Group& g) { return g.first->ranks.value_or(0); });
  return out;
}

std::string ring_text(const facts::NcclRing& ring) {
  std::vector<int> shown = ring.ranks;
  const bool cut = shown.size() > kMostRanks;
  if (cut) shown.resize(kMostRanks);
  return fmt::format("{}{}", fmt::join(shown, " "),
                     cut ? fmt::format(" ... ({} ranks)", ring.ranks.size()) : "");
}

std::string group_text(const Group& group) {
  const NcclCommunicator& c = *group.first;
  std::string out = c.ranks ? plural(static_cast<std::size_t>(std::max(0, *c.ranks)), "rank")
                            : std::string("ranks not told");
  if (c.nodes) out += " on " + plural(static_cast<std::size_t>(std::max(0, *c.nodes)), "node");
  out += fmt::format(", {} of them in the log", group.printed);
  if (group.complete > 0 && group.complete < group.printed)
    out += fmt::format(", {} set up to the end", group.complete);
  if (!c.network.empty()) out += ", network " + c.network;
  if (group.told) {
    const NcclCommunicator& t = *group.told;
    out += fmt::format("; {} channels for rings and trees", *t.coll_channels);
    if (t.nvls_channels) out += fmt::format(", {} for NVLS", *t.nvls_channels);
    if (t.p2p_channels) out += fmt::format(", {} for send and receive", *t.p2p_channels);
  }
  return out;
}

std::string device_text(const facts::NcclDeviceList& list) {
  if (list.none_found) return list.network + " found no device";
  std::vector<std::string> names;
  for (const facts::NcclDevice& d : list.devices)
    names.push_back(d.link.empty() ? d.name : fmt::format("{} ({})", d.name, d.link));
  return fmt::format("{}: {}", list.network, fmt::join(names, " "));
}

/// Connections by what carries them; from NCCL's own words.
std::string transports_text(const NcclRun& run) {
  std::map<std::string, std::pair<int, int>> by_via;
  for (const facts::NcclConnection& c : run.connections) {
    const bool net = c.transport == facts::NcclTransport::net;
    auto& [all, direct] = by_via[net ? "NET/" + c.network : c.via];
    ++all;
    direct += c.gpu_direct;
  }
  std::vector<std::string> out;
  for (const auto& [via, count] : by_via)
    out.push_back(via.starts_with("NET")
                      ? fmt::format("{} x {}, {} with GPUDirect", via, count.first, count.second)
                      : fmt::format("{} x {}", via, count.first));
  return fmt::format("{}", fmt::join(out, "; "));
}

std::vector<Line> lines_of(const NcclRun& run) {
  std::vector<Line> out;
  const auto add = [&](std::string key, std::string value) {
    out.push_back({std::move(key), std::move(value)});
  };
  for (const facts::NcclVersion& v : run.versions) add(v.rccl ? "RCCL" : "NCCL", v.text);
  if (run.cuda_driver) add("CUDA driver", std::to_string(run.cuda_driver->value));
  const std::vector<Group> groups = groups_of(run);
  for (std::size_t i = 0; i < std::min(groups.size(), kMostCommunicators); ++i) {
    add("communicator", group_text(groups[i]));
    if (i == 0 && groups[i].ringed) add("ring 0", ring_text(groups[i].ringed->rings.front()));
  }
  if (groups.size() > kMostCommunicators)
    add("", plural(groups.size() - kMostCommunicators, "smaller communicator") + " more");
  std::set<std::string> seen;
  for (const facts::NcclDeviceList& list : run.devices)
    if (seen.insert(device_text(list)).second) add("devices", device_text(list));
  for (const facts::NcclGpuDirect& g : run.gpu_direct) {
    if (g.gpu.empty()) continue;
    add("GPUDirect", fmt::format("{} for GPU {} and NIC {}{}", g.enabled ? "used" : "not used",
                                 g.gpu, g.nic, g.reason.empty() ? "" : ": " + g.reason));
    break;
  }
  if (const std::string text = transports_text(run); !text.empty()) add("connections", text);
  for (const facts::NcclVariable& v : run.environment) add("variable", v.name + "=" + v.value);
  for (const facts::NcclPluginLine& p : run.plugins) add("plugin", p.text);
  for (std::size_t i = 0; i < std::min(run.warnings.size(), kMostWarnings); ++i) {
    const facts::NcclWarning& w = run.warnings[i];
    add("warning",
        fmt::format("line {}{}: {}", w.where.at.line,
                    w.count > 1 ? fmt::format(" and {} more", w.count - 1) : "", w.text));
  }
  if (run.warnings.size() > kMostWarnings)
    add("", plural(run.warnings.size() - kMostWarnings, "other warning"));
  if (!run.completion_errors.empty()) {
    const facts::NcclCompletionError& e = run.completion_errors.front();
    add("completion", fmt::format("{} with error, first at line {}: status {}, vendor error {}",
                                  plural(run.completion_errors.size(), "work request"), e.at.line,
                                  e.status, e.vendor_error));
  }
  add("read", skipped_text(run));
  return out;
}

}  // namespace

std::string skipped_text(const NcclRun& run) {
  std::string out =
      fmt::format("{} lines, {} not of NCCL", run.lines, std::max(0, run.lines - run.nccl_lines));
  std::vector<std::string> kinds;
  for (const facts::Skipped& s : run.skipped) {
    std::string one = fmt::format("{} x {}", s.count, s.what);
    if (!s.first.empty()) one += fmt::format(" (line {})", s.first.front().line);
    kinds.push_back(std::move(one));
  }
  if (!kinds.empty()) out += fmt::format("; passed over: {}", fmt::join(kinds, ", "));
  return out;
}

Table table_of(const NcclLogStory& story) {
  Table out{.columns = {{"what", "what"}, {"value", "value"}}};
  for (Line& line : lines_of(story.run)) out.add({std::move(line.key), std::move(line.value)});
  return out;
}

std::string to_text(const NcclLogStory& story, int width) {
  std::string out = story.subject + ": what NCCL said\n\n";
  const int room = std::max(20, width - static_cast<int>(kKeyWidth));
  std::string last;
  for (const Line& line : lines_of(story.run)) {
    bool first = line.key != last;
    last = line.key;
    for (const std::string& part : wrap(line.value, room)) {
      out += fmt::format("{:<{}}{}\n", first ? line.key : "", kKeyWidth, part);
      first = false;
    }
  }
  if (std::ranges::any_of(story.run.versions, &facts::NcclVersion::rccl))
    return out + "\nAMD's RCCL has rules of its own; what it chooses is not modelled.\n";
  out +=
      "\nWithout the lines '=== System' the choice cannot be made again: run with NCCL_DEBUG=INFO\n"
      "NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,TUNING, or explain the file of NCCL_TOPO_DUMP_FILE.\n";
  return out;
}

void to_json(const NcclLogStory& story, json::Writer& out) {
  out.begin_object().field("subject", story.subject).field("system_known", false);
  out.key("said").begin_array();
  for (const Line& line : lines_of(story.run))
    out.begin_object().field("what", line.key).field("value", line.value).end_object();
  out.end_array()
      .field("lines", story.run.lines)
      .field("nccl_lines", story.run.nccl_lines)
      .end_object();
}

}  // namespace railyard::report

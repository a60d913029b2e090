#include "judge/nccl/hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace railyard::judge::nccl {

namespace {

using facts::NcclRun;

/// The library must be the same on all ranks. Without a failure these may be two jobs in one file.
std::optional<NcclFinding> version_mix(const NcclRun& log) {
  std::set<std::string> versions;
  for (const auto& v : log.versions) versions.insert(v.text);
  if (versions.size() < 2) return std::nullopt;
  const bool failed =
      std::ranges::any_of(log.warnings, [](const auto& w) { return w.text.contains("AF_INET"); });
  NcclFinding f = nccl_finding(
      "nccl-version-mix",
      fmt::format("versions of NCCL differ: {} and {}", *versions.begin(), *versions.rbegin()),
      "the same container or library on all hosts");
  f.confidence = failed ? 0.95 : 0.6;
  if (!failed) f.severity = NcclSeverity::warning;
  add_evidence(f, {.at = log.versions[0].at});
  add_evidence(f, {.at = log.versions[1].at});
  return f;
}

/// The CUDA device in a connection's brackets; bus ids (before 2.18) are no number of a device.
std::optional<int> device(const std::string& text) {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

/// Neighbouring ranks on neighbouring devices with a network in between, where a node is said to
/// have fewer ranks than such a device number needs: one server was counted as several.
std::optional<NcclFinding> split_node(const NcclRun& log) {
  // Only some ranks print it, and it is the same for all.
  const auto told = std::ranges::find_if(
      log.communicators, [](const auto& c) { return c.local_ranks && c.nodes && *c.nodes > 1; });
  if (told == log.communicators.end()) return std::nullopt;
  const facts::NcclCommunicator& comm = *told;
  for (const auto& c : log.connections) {
    if (c.transport != facts::NcclTransport::net) continue;
    const auto from = device(c.from_device), to = device(c.to_device);
    if (!from || !to) continue;
    if (*to != *from + 1 || c.to != c.from + 1 || *to < *comm.local_ranks) continue;
    NcclFinding f = nccl_finding(
        "nccl-split-node",
        fmt::format("NCCL counts {} nodes of {} ranks and uses the network between GPUs of one "
                    "server",
                    *comm.nodes, *comm.local_ranks),
        "the same host name, /proc/sys/kernel/random/boot_id and /dev/shm for all ranks of a "
        "server (containers); NCCL_HOSTID");
    f.confidence = 0.7;
    add_evidence(f, {.at = comm.at});
    add_evidence(f, {.at = c.at});
    return f;
  }
  return std::nullopt;
}

}  // namespace

std::vector<NcclFinding> compare_hosts(const NcclRun& log) {
  std::vector<NcclFinding> out;
  if (auto f = version_mix(log)) out.push_back(*std::move(f));
  if (auto f = split_node(log)) out.push_back(*std::move(f));
  return out;
}

}  // namespace railyard::judge::nccl

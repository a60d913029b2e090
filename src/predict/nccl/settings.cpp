#include "predict/nccl/settings.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "base/suggest.h"

namespace railyard::predict::nccl {

namespace {

constexpr std::array<const char*, 12> kPathNames{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                                 "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t end = text.find(at);
    if (end != 0 && !text.empty()) out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::optional<long long> number(std::string_view text) {
  long long out = 0;
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  const auto [next, error] =
      std::from_chars(text.data(), text.data() + text.size(), out, hex ? 16 : 10);
  if (error != std::errc() || next != text.data() + text.size()) return std::nullopt;
  return out;
}

/// Reads one variable into the settings, or says what it expected.
using Reader = std::function<std::optional<std::string>(std::string_view, Settings&)>;

template <class Set>
Reader integer(int low, int high, Set set) {
  return [=](std::string_view text, Settings& s) -> std::optional<std::string> {
    const auto value = number(text);
    if (!value || *value < low || *value > high)
      return "a number from " + std::to_string(low) + " to " + std::to_string(high);
    set(s, static_cast<int>(*value));
    return std::nullopt;
  };
}

template <class Set>
Reader level(Set set) {
  return [=](std::string_view text, Settings& s) -> std::optional<std::string> {
    const auto type = path_type_named(text);
    if (!type) return "LOC, NVL, PIX, PXB, PHB, SYS or a level from 0 to 5";
    set(s, *type);
    return std::nullopt;
  };
}

/// `ring,tree;allreduce:^nvls`: an optional list for all functions, then lists by function; a caret
/// turns a list into "all but these". [NCCL 2.24: parseList in src/graph/tuning.cc]
template <class Name, class Set>
std::optional<std::string> each_of_list(std::string_view text, std::size_t elements, Name element,
                                        const std::string& known, Set set) {
  bool first = true;
  for (std::string_view group : split(text, ';')) {
    std::optional<Function> only;
    if (const std::size_t colon = group.find(':'); colon != std::string_view::npos) {
      only = function_named(group.substr(0, colon));
      if (!only) return "a collective before ':', such as allreduce";
      group.remove_prefix(colon + 1);
    } else if (!first) {
      return "a collective and ':' in every list but the first";
    }
    first = false;
    const bool except = group.starts_with('^');
    if (except) group.remove_prefix(1);
    std::vector<bool> named(elements, false);
    for (const std::string_view word : split(group, ',')) {
      const auto e = element(word);
      if (!e) return known;
      named[static_cast<std::size_t>(*e)] = true;
    }
    for (int f = 0; f < kFunctions; ++f)
      if (!only || static_cast<int>(*only) == f)
        for (std::size_t e = 0; e < elements; ++e)
          set(static_cast<std::size_t>(f), e, named[e] != except);
  }
  return std::nullopt;
}

std::optional<std::string> read_algorithms(std::string_view text, Settings& s) {
  return each_of_list(text, kAlgorithms, algorithm_named,
                      "Tree, Ring, CollNetDirect, CollNetChain, NVLS, NVLSTree or PAT",
                      [&](std::size_t f, std::size_t a, bool on) { s.algorithms[f][a] = on; });
}
std::optional<std::string> read_protocols(std::string_view text, Settings& s) {
  return each_of_list(text, kProtocols, protocol_named, "LL, LL128 or Simple",
                      [&](std::size_t f, std::size_t p, bool on) { s.protocols[f][p] = on; });
}

std::optional<std::string> read_net_devices(std::string_view text, Settings& s) {
  const std::string word = upper(text);
  if (word == "AUTO") {
    s.net_devices = {};
  } else if (word == "ALL") {
    s.net_devices = {.policy = NetDevices::Policy::all};
  } else {
    const auto most = word.starts_with("MAX:") ? number(std::string_view(word).substr(4))
                                               : std::optional<long long>();
    if (!most || *most < 1 || *most > 1024) return "AUTO, ALL or MAX:n";
    s.net_devices = {.policy = NetDevices::Policy::most, .most = static_cast<int>(*most)};
  }
  return std::nullopt;
}

std::optional<std::string> read_thresholds(std::string_view text, Settings& s) {
  std::size_t i = 0;
  for (const std::string_view word : split(text, ' ')) {
    const auto value = number(word);
    if (!value || i >= 6) return "up to six numbers: tree LL LL128 Simple, ring LL LL128 Simple";
    if (*value >= 0)
      s.thread_thresholds[i / 3][i % 3] = static_cast<int>(std::min(*value, 1LL << 30));
    ++i;
  }
  return std::nullopt;
}

const std::map<std::string, Reader, std::less<>>& readers() {
  static const std::map<std::string, Reader, std::less<>> kReaders{
      {"NCCL_ALGO", read_algorithms},
      {"NCCL_PROTO", read_protocols},
      {"NCCL_NVLS_ENABLE", integer(0, 2, [](Settings& s, int v) { s.nvls_enable = v; })},
      {"NCCL_NVLS_NCHANNELS", integer(1, 64, [](Settings& s, int v) { s.nvls_channels = v; })},
      {"NCCL_COLLNET_ENABLE", integer(0, 1, [](Settings& s, int v) { s.collnet_enable = v != 0; })},
      {"NCCL_CROSS_NIC", integer(0, 2, [](Settings& s, int v) { s.cross_nic = v; })},
      {"NCCL_P2P_DISABLE", integer(0, 1,
                                   [](Settings& s, int v) {
                                     if (v == 1) s.p2p_level = PathType::loc;
                                   })},
      {"NCCL_P2P_LEVEL", level([](Settings& s, PathType t) {
         if (!s.p2p_level) s.p2p_level = t;
       })},
      {"NCCL_NET_GDR_LEVEL", level([](Settings& s, PathType t) { s.gdr_level = t; })},
      {"NCCL_NET_GDR_C2C", integer(0, 1, [](Settings& s, int v) { s.gdr_c2c = v != 0; })},
      {"NCCL_PXN_DISABLE", integer(0, 1, [](Settings& s, int v) { s.pxn = v == 0; })},
      {"NCCL_PXN_C2C", integer(0, 1, [](Settings& s, int v) { s.pxn_c2c = v != 0; })},
      {"NCCL_NVB_DISABLE", integer(0, 1, [](Settings& s, int v) { s.nvb = v == 0; })},
      {"NCCL_LL128_C2C", integer(0, 1, [](Settings& s, int v) { s.ll128_c2c = v != 0; })},
      {"NCCL_NETDEVS_POLICY", read_net_devices},
      {"NCCL_MIN_NRINGS", integer(0, 64, [](Settings& s, int v) { s.min_channels = v; })},
      {"NCCL_MIN_NCHANNELS", integer(0, 64, [](Settings& s, int v) { s.min_channels = v; })},
      {"NCCL_MIN_CTAS", integer(1, 64, [](Settings& s, int v) { s.min_channels = v; })},
      {"NCCL_MAX_NRINGS", integer(1, 64, [](Settings& s, int v) { s.max_channels = v; })},
      {"NCCL_MAX_NCHANNELS", integer(1, 64, [](Settings& s, int v) { s.max_channels = v; })},
      {"NCCL_MAX_CTAS", integer(1, 64, [](Settings& s, int v) { s.max_channels = v; })},
      {"NCCL_NET_OVERHEAD",
       integer(0, 1'000'000, [](Settings& s, int v) { s.net_overhead_us = v / 1000.0; })},
      {"NCCL_NTHREADS", integer(64, 512, [](Settings& s, int v) { s.threads = v; })},
      {"NCCL_LL128_NTHREADS", integer(160, 640, [](Settings& s, int v) { s.ll128_threads = v; })},
      {"NCCL_PAT_ENABLE", integer(0, 2,
                                  [](Settings& s, int v) {
                                    if (v != 2) s.pat_enable = v;
                                  })},
      {"NCCL_THREAD_THRESHOLDS", read_thresholds},
      {"NCCL_IB_DISABLE", integer(0, 1,
                                  [](Settings& s, int v) {
                                    if (v == 1) s.sockets = true;
                                  })},
      {"NCCL_NET",
       [](std::string_view text, Settings& s) -> std::optional<std::string> {
         if (upper(text) == "SOCKET") s.sockets = true;
         return std::nullopt;
       }},
      {"NCCL_SHM_DISABLE", integer(0, 1, [](Settings& s, int v) { s.shared_memory = v == 0; })},
      {"NCCL_GRAPH_FILE",
       [](std::string_view text, Settings& s) -> std::optional<std::string> {
         s.graph_file = text;
         return std::nullopt;
       }},
      {"NCCL_TOPO_FILE",
       [](std::string_view text, Settings& s) -> std::optional<std::string> {
         s.topology_file = text;
         return std::nullopt;
       }},
  };
  return kReaders;
}

}  // namespace

const char* name(PathType type) { return kPathNames[static_cast<std::size_t>(type)]; }

std::optional<PathType> path_type_named(std::string_view text) {
  const std::string word = upper(text);
  for (std::size_t i = 0; i < kPathNames.size(); ++i)
    if (word == kPathNames[i]) return static_cast<PathType>(i);
  // The levels of NCCL before 2.4. [NCCL 2.28: levelsOldToNew in src/graph/paths.cc]
  constexpr std::array<PathType, 6> kOldLevels{PathType::loc, PathType::pix, PathType::pxb,
                                               PathType::phb, PathType::sys, PathType::sys};
  if (const auto level = number(text); level && *level >= 0)
    return kOldLevels[static_cast<std::size_t>(std::min(*level, 5LL))];
  return std::nullopt;
}

Settings::Settings() {
  for (auto& of_function : algorithms) of_function.fill(true);
}

Checked<ReadSettings> read_settings(const std::vector<Variable>& variables) {
  ReadSettings out;
  Problems problems;
  for (const Variable& variable : variables) {
    const auto reader = readers().find(variable.name);
    if (reader == readers().end()) {
      if (!variable.name.starts_with("NCCL_"))
        problems.push_back({.at = variable.at,
                            .expected = "a variable of NCCL: NCCL_NAME=value",
                            .found = "'" + variable.name + "'"});
      else
        out.without_effect.push_back(variable.name);
      continue;
    }
    if (auto expected = reader->second(variable.value, out.settings))
      problems.push_back({.at = variable.at,
                          .expected = variable.name + ": " + *expected,
                          .found = "'" + variable.value + "'"});
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return out;
}

}  // namespace railyard::predict::nccl

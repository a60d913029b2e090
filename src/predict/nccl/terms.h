#pragma once
// The words of NCCL's decisions: functions, algorithms, protocols, versions. Order of the
// enumerators is NCCL's own, because the first of equal costs wins.
// [NCCL 2.28: src/include/nccl_common.h]

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace railyard::predict::nccl {

/// Collectives that go through the cost table. Send, receive and all-to-all do not.
enum class Function : std::uint8_t { broadcast, reduce, all_gather, reduce_scatter, all_reduce };
inline constexpr int kFunctions = 5;

enum class Algorithm : std::uint8_t {
  tree,
  ring,
  collnet_direct,
  collnet_chain,
  nvls,
  nvls_tree,
  pat
};
inline constexpr int kAlgorithms = 7;

enum class Protocol : std::uint8_t { ll, ll128, simple };
inline constexpr int kProtocols = 3;

/// "AllReduce", "Ring", "LL128": as NCCL prints them.
const char* name(Function f);
const char* name(Algorithm a);
const char* name(Protocol p);
/// Without regard to case, dashes and underscores; also nccl-tests' "all_reduce_perf".
std::optional<Function> function_named(std::string_view text);
std::optional<Algorithm> algorithm_named(std::string_view text);
std::optional<Protocol> protocol_named(std::string_view text);

struct Version {
  int major = 2, minor = 28, patch = 9;
  auto operator<=>(const Version&) const = default;
  std::string text() const;
};
/// "2.28.9", "2.28", "2.28.9+cuda13.0".
std::optional<Version> version_named(std::string_view text);
/// The releases whose rules are in constants.cpp.
inline constexpr Version kOldest{2, 18, 0}, kNewest{2, 30, 7};

}  // namespace railyard::predict::nccl

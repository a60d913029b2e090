#include "predict/nccl/terms.h"

#include <array>
#include <charconv>

namespace railyard::predict::nccl {

namespace {

constexpr std::array<const char*, kFunctions> kFunctionNames{"Broadcast", "Reduce", "AllGather",
                                                             "ReduceScatter", "AllReduce"};
constexpr std::array<const char*, kAlgorithms> kAlgorithmNames{
    "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"};
constexpr std::array<const char*, kProtocols> kProtocolNames{"LL", "LL128", "Simple"};

/// Letters and digits in lower case.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text)
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      out += c;
    else if (c >= 'A' && c <= 'Z')
      out += static_cast<char>(c - 'A' + 'a');
  return out;
}

template <class Enum, std::size_t N>
std::optional<Enum> look_up(const std::array<const char*, N>& names, std::string_view wanted) {
  for (std::size_t i = 0; i < N; ++i)
    if (plain(names[i]) == wanted) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace

const char* name(Function f) { return kFunctionNames[static_cast<std::size_t>(f)]; }
const char* name(Algorithm a) { return kAlgorithmNames[static_cast<std::size_t>(a)]; }
const char* name(Protocol p) { return kProtocolNames[static_cast<std::size_t>(p)]; }

std::optional<Function> function_named(std::string_view text) {
  std::string wanted = plain(text);
  if (wanted.ends_with("perf")) wanted.resize(wanted.size() - 4);
  return look_up<Function>(kFunctionNames, wanted);
}
std::optional<Algorithm> algorithm_named(std::string_view text) {
  return look_up<Algorithm>(kAlgorithmNames, plain(text));
}
std::optional<Protocol> protocol_named(std::string_view text) {
  return look_up<Protocol>(kProtocolNames, plain(text));
}

std::string Version::text() const {
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

std::optional<Version> version_named(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  std::array<int, 3> parts{0, 0, 0};
  const char *at = text.data(), *end = at + text.size();
  std::size_t n = 0;
  for (; n < parts.size(); ++n) {
    const auto [next, error] = std::from_chars(at, end, parts[n]);
    if (error != std::errc() || parts[n] < 0) return std::nullopt;
    at = next;
    if (at == end || *at != '.') {
      ++n;
      break;
    }
    ++at;
  }
  if (n < 2 || (at != end && *at != '+' && *at != '-')) return std::nullopt;
  return Version{parts[0], parts[1], parts[2]};
}

}  // namespace railyard::predict::nccl

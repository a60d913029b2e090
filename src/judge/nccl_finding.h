#pragma once
// A finding on a measured collective or on NCCL's log: a rule, what it costs, and what shows it.
//
// Three kinds stand side by side. A line of a log is evidence. A shape of a curve is a hypothesis:
// several causes give the same shape, and the finding says so. What the numbers contradict among
// themselves (wrong results, two levels, a slow pair) needs neither machine nor log.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "facts/seen.h"

namespace railyard::judge {

enum class NcclSeverity : std::uint8_t { note, warning, error };
std::string_view name(NcclSeverity severity);

/// What a finding may cost where nothing was measured.
enum class NcclKind : std::uint8_t {
  speed,  ///< a loss of speed: only a note where the measured curve is healthy
  fault,  ///< a failure, whatever the speed
  word    ///< said for its own sake
};

struct NcclFinding {
  std::string rule = {};   ///< stable: "nccl-sockets"
  std::string topic = {};  ///< class of the cause: "rdma-not-used"
  NcclSeverity severity = NcclSeverity::warning;
  NcclKind kind = NcclKind::speed;
  std::string cause = {};
  std::vector<facts::Where> evidence = {};
  std::string expected = {};  ///< the healthy value, and where it comes from
  double loss = 0;            ///< factor on the time of large messages; 0: not known
  std::string fix = {};
  double confidence = 0.5;  ///< 0 to 1
  std::string settle = {};  ///< what further file or test would decide it
};

/// A rule, for the documentation and for scripts that choose among them.
struct NcclRule {
  std::string_view id = {};
  NcclSeverity severity = NcclSeverity::warning;
  NcclKind kind = NcclKind::speed;
  std::string_view topic = {};
  std::string_view summary = {};
};
const std::vector<NcclRule>& nccl_rules();
/// With what nccl_rules() says of it. An unknown rule is our mistake.
NcclFinding nccl_finding(std::string_view rule, std::string cause, std::string fix);

/// One more line that shows it; the first four are kept, each once.
void add_evidence(NcclFinding& finding, facts::Where where);

}  // namespace railyard::judge

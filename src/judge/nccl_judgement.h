#pragma once
// Is this collective as fast as it should be? Measured runs of nccl-tests or of NCCL's Inspector
// against the time law, size by size, with what the logs of the same run say.
//
// Each size has a band in which eight of ten healthy systems lie, and a flag above which none
// should. One flagged size means little; a run is called slow when half of its large messages are
// flagged. 'Nothing wrong' is an answer: what looks odd and is normal is said as a remark.

#include <optional>
#include <string>
#include <vector>

#include "facts/collective_timing.h"
#include "facts/nccl_run.h"
#include "judge/nccl_finding.h"
#include "judge/nccl_hypotheses.h"
#include "model/nccl/system.h"
#include "predict/nccl/communicator.h"

namespace railyard::judge {

enum class NcclVerdict : std::uint8_t {
  unknown,  ///< nothing to compare with
  ok,
  fast,     ///< faster than nine of ten
  suspect,  ///< slower than the band, not yet beyond a healthy system's scatter
  slow
};
std::string_view name(NcclVerdict verdict);

struct NcclJudgedSize {
  Place at = {};
  std::int64_t bytes = 0;
  facts::Buffers buffers = facts::Buffers::unknown;
  double us = 0, busbw = 0;
  double spread = 1;                                ///< slowest over fastest, where the run tells
  double expected_us = 0, low_us = 0, high_us = 0;  ///< 0: unknown
  double expected_busbw = 0;
  NcclVerdict verdict = NcclVerdict::unknown;

  double ratio() const { return expected_us > 0 ? us / expected_us : 0; }
};

/// A smaller size that takes longer than a larger one.
struct NcclDip {
  Place at = {};
  facts::Buffers buffers = facts::Buffers::unknown;
  std::int64_t bytes = 0, faster_bytes = 0;
  double us = 0, faster_us = 0;
  std::string change = {};  ///< "Ring LL128 to Ring Simple at 1 MiB", where NCCL changes its way
  std::string better = {};  ///< the way that the law calls faster

  double gain() const { return us / faster_us; }
};

struct NcclPlateau {
  std::int64_t bytes = 0;
  double busbw = 0, expected = 0;  ///< expected 0: unknown
  double light = 0;                ///< GB/s that the hardware allows at all; 0: unknown
  std::string light_why = {};
};

struct NcclJudgedRun {
  Place at = {};
  std::string collective = {};
  int ranks = 0, nodes = 0;
  std::vector<std::string> hosts = {};
  std::string version = {};
  std::optional<predict::nccl::Platform> platform = {};
  std::string known_from = {};  ///< "the file topo.xml", "the header of nccl-tests"
  std::vector<std::string> assumed = {};
  std::vector<NcclJudgedSize> sizes = {};       ///< by buffers, then by size
  std::vector<NcclDip> dips = {};               ///< worst first
  std::optional<std::int64_t> first_slow = {};  ///< from here on most sizes are slow
  std::optional<NcclPlateau> plateau = {};
  bool in_job = false;  ///< of a job, not of a test: times hold the wait for late ranks
  bool slow = false;
  double healthy_misfit = 0;
  std::vector<NcclHypothesis> hypotheses = {};  ///< best first, where the run is slow
  std::vector<std::string> remarks = {};        ///< odd and normal
};

struct NcclJudgement {
  std::vector<NcclJudgedRun> runs = {};
  std::vector<NcclFinding> findings = {};  ///< by how much they explain
  int logs = 0;
};

/// What is known of the machine before a run is read.
struct NcclMachine {
  const model::nccl::System* system = nullptr;
  std::string from = {};
  predict::nccl::Version version = {};
  std::optional<predict::nccl::Network> network = {};  ///< as the user says
};

struct NcclMaterial {
  std::vector<facts::CollectiveRun> runs = {};
  std::vector<facts::NcclRun> logs = {};
  NcclMachine machine = {};
};

NcclJudgement judge_nccl(const NcclMaterial& material, const predict::nccl::Priors& priors);

}  // namespace railyard::judge

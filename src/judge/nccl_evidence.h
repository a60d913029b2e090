#pragma once
// What NCCL's log says against the speed or the health of a job. Every finding names its lines.
//
// What is harmless is not found: sockets on one node, GPUDirect lines where no network is used, the
// noise of a shutdown. Of a chain of failures the first is the cause; the others are consequences.

#include <optional>
#include <vector>

#include "facts/nccl_run.h"
#include "judge/nccl_finding.h"
#include "judge/nccl_hypotheses.h"

namespace railyard::judge {

/// What is known of the machine from elsewhere.
struct NcclSite {
  int nodes = 0;        ///< 0: not known
  int gpus = 0;         ///< of a node in the job; 0: not known
  int sm = 0;           ///< 0: not known
  bool nvlink = false;  ///< joins the GPUs of a node
  bool nvswitch = false;
  int channels = 0;  ///< that the engine expects; 0: not known
};

struct NcclEvidence {
  std::vector<NcclFinding> findings = {};
  NcclWitness witness = {};
};

NcclEvidence evidence_of(const facts::NcclRun& log, const NcclSite& site);

/// Nodes of the job as the log tells; 0 where it does not.
int nodes_of(const facts::NcclRun& log);
/// The kind of network between nodes; nothing where the log does not tell, or fell back to sockets.
std::optional<predict::nccl::Network> network_of(const facts::NcclRun& log);
/// NICs of a node that the log offers for data; 0: not told, or the list was cut short by a
/// variable.
int nics_of(const facts::NcclRun& log);
/// Whether a variable is set, and to what; null: it is not.
const facts::NcclVariable* variable(const facts::NcclRun& log, std::string_view name);

}  // namespace railyard::judge

#pragma once
// The machine that a run was measured on: from a file that describes it, from the system lines of a
// log, or, with assumptions that are said, from the device names in the header of nccl-tests.

#include <optional>
#include <string>
#include <vector>

#include "judge/gpu_class.h"
#include "judge/nccl_judgement.h"

namespace railyard::judge::nccl {

struct RunMachine {
  std::optional<predict::Collective> what = {};
  predict::nccl::Mode mode = predict::nccl::Mode::eager;
  int ranks = 0, nodes = 0;  ///< 0: not known
  std::vector<std::string> hosts = {};
  std::optional<predict::nccl::Platform> platform = {};
  /// What NCCL decides on it; only where its topology is known.
  std::optional<predict::nccl::Communicator> comm = {};
  std::string from = {};
  std::vector<std::string> assumed = {};
  int nics = 0;  ///< of a node; 0: not known
  /// InfiniBand or RoCE is not known, which is worth 15 %.
  bool network_unsure = false;
  /// Rates of all NICs of a domain that such servers are sold with too, largest first; only where
  /// the NICs are assumed.
  struct Other {
    Bandwidth ports = {};
    std::string what = {};
  };
  std::vector<Other> other_nics = {};
  std::string unused = {};  ///< why the system that was given is not it
  bool rccl = false;
};

RunMachine machine_of(const facts::CollectiveRun& run, const NcclMaterial& material);

}  // namespace railyard::judge::nccl

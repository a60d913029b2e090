#pragma once
// What an `nccl` command talks about: a system that NCCL would see, from whatever describes it (a
// topology file, a cluster file, a log of NCCL itself), and the options that change the decision.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/io.h"
#include "base/problem.h"
#include "facts/nccl_run.h"
#include "model/cluster.h"
#include "model/nccl/system.h"
#include "predict/nccl/communicator.h"
#include "predict/nccl/platform.h"
#include "report/envelope.h"

namespace railyard::app {

/// One change of what is decided: `NAME=value`, `nccl=2.30.7`, `nodes=4`, `topology=FILE`,
/// `graph=FILE`.
struct NcclVariant {
  std::string file = {};
  std::optional<int> nodes = {};
  std::optional<predict::nccl::Version> version = {};
  std::vector<predict::nccl::Variable> environment = {};
  std::string graph_file = {};
};

/// A system and how NCCL is set up on it.
struct NcclSubject {
  std::string shown = {};  ///< the file, as the user named it
  model::nccl::System system = {};
  predict::nccl::CommunicatorOptions options = {};
  std::vector<std::string> notes = {};         ///< variables without effect on the decision, ...
  std::optional<model::Cluster> cluster = {};  ///< where the file is one
  std::optional<facts::NcclRun> log = {};      ///< where the file is one
  int communicator = -1;                       ///< of the log: the one that is told
  bool system_known = true;                    ///< not for a log without NCCL's GRAPH lines
};

/// The variant that the command line describes.
Checked<NcclVariant> variant_of(const Given& given);
/// The variant with the changes of `--vs` on top.
Checked<NcclVariant> changed(NcclVariant base, const std::vector<std::string>& changes);

/// Reads the files of a variant; every file read is added to `inputs`. A log that does not say what
/// NCCL saw of the machine is a problem, or with `Need::log` a subject without a system.
enum class Need : std::uint8_t { system, log };
Checked<NcclSubject> open_subject(const NcclVariant& variant, const Given& given, const Io& io,
                                  std::vector<report::Input>& inputs, Need need = Need::system);

/// The subject in hardware terms: a cluster file knows its network, for the others --network says.
predict::nccl::Platform platform_of(const NcclSubject& subject, const Given& given);
/// --network.
Option network_option();

/// --nodes, --nccl, --env, --graph.
std::vector<Option> subject_options();
/// -b, -e, -f: sizes as nccl-tests takes them.
std::vector<Option> size_options();
Checked<std::vector<std::int64_t>> sizes_of(const Given& given);
/// "8", "8K", "8KiB", "8 KiB", "1G".
std::optional<std::int64_t> size_named(std::string_view text);

}  // namespace railyard::app

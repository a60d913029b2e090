#pragma once
// What a published table does not print and its source is known for: which software ran, how it
// counts FLOPs, what its cluster is made of. Facts with sources (validation/sources.yaml), never
// fitted numbers: a convention may say "this framework does not overlap gradients", not "8 %
// slower".

#include <string>
#include <vector>

#include "base/problem.h"
#include "base/quantity.h"
#include "facts/training_run.h"
#include "model/cluster.h"
#include "model/job.h"

namespace railyard::judge {

/// How a source counts attention in its FLOP figures.
enum class AttentionFlops : std::uint8_t { half, whole };

struct Convention {
  std::string source = {};         ///< prefix of the source's name
  std::string table = {};          ///< part of the table's name; empty: any
  std::string stack = {};          ///< id in catalog/stacks.yaml
  bool sequence_parallel = false;  ///< where tensor > 1 and the line does not say
  AttentionFlops attention_flops = AttentionFlops::whole;
  bool reserved_test = false;  ///< never looked at for design: "untouched test"
  bool fit = false;            ///< may be fitted on (with the conditions that planner.md names)
  int vocab = 0;               ///< where the line has none
  model::Recompute recompute = model::Recompute::none;  ///< where the line has none
  int recompute_modules = 0;
  bool device_memory = false;  ///< prints memory as nvidia-smi shows it, not as torch allocates it
  bool fsdp = false;           ///< shards everything, also where the line does not say so
  bool local_batch = false;    ///< `micro_batch` is a data-parallel rank's whole batch, which the
                               ///< pipeline splits into single sequences (torchtitan)
  bool interleaves = false;    ///< uses virtual stages where the line does not print their number
  int virtual_stages = 1;      ///< where the line has none and the pipeline is interleaved
  std::string note = {};
};

/// A phrase of an `inter_node` field and the network that it stands for.
struct NetworkPhrase {
  std::string text = {};
  int nics = 0;
  Bandwidth port_rate = {};
  model::Transport transport = model::Transport::infiniband;
};

struct MachinePhrase {
  std::string accelerator = {}, server = {};
};

struct Conventions {
  std::vector<Convention> sources = {};
  std::vector<NetworkPhrase> networks = {};
  std::vector<MachinePhrase> machines = {};

  const Convention* of(const facts::TrainingRun& run) const;
};

Checked<Conventions> load_conventions(const std::string& path);

}  // namespace railyard::judge

#pragma once
// What a command about a cluster and a job works with: the catalogue, the software stacks, the
// calibration, and the user's files read against them. It remembers every file that it read, for
// the `inputs` of the answer.
//
// This is where the rooms meet: a job file may name a config.json, whose reader is in intake, and
// may itself be the log or the launch script of a Megatron-LM run.

#include <string>
#include <string_view>
#include <vector>

#include "app/command.h"
#include "app/io.h"
#include "base/problem.h"
#include "facts/model_config.h"
#include "model/catalog.h"
#include "model/cluster.h"
#include "model/job.h"
#include "model/stacks.h"
#include "predict/calibration.h"
#include "report/envelope.h"

namespace railyard::app {

class Workbench {
 public:
  /// Reads the folder that --catalog or the surroundings name.
  static Checked<Workbench> open(const Given& given, const Io& io);

  Checked<model::Cluster> cluster(const std::string& path);
  /// As the file says it; model::fit_to() then settles it on a cluster.
  Checked<model::Job> job(const std::string& path);

  const model::Catalog& catalog() const { return catalog_; }
  const model::Stacks& stacks() const { return stacks_; }
  const predict::Calibration& calibration() const { return calibration_; }
  /// How the answer names a file: one that ships from the folder that the catalogue stands in,
  /// wherever that is ("examples/case-512/case.yaml"); any other as it was given.
  std::string shown(const std::string& path) const;
  /// The user's files in the order of reading, then those of the catalogue, named from its folder.
  std::vector<report::Input> inputs() const;

 private:
  Workbench() = default;
  Result<std::string> read(const std::string& path);
  Checked<facts::ModelConfig> config(const std::string& path);

  std::string folder_ = {};
  model::Catalog catalog_ = {};
  model::Stacks stacks_ = {};
  predict::Calibration calibration_ = {};
  std::vector<report::Input> own_ = {}, shipped_ = {};
};

}  // namespace railyard::app

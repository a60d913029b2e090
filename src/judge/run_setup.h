#pragma once
// From a line of a published table to the cluster and job that the predictor takes, and back from
// the printed metric to a step time.

#include <expected>
#include <string>

#include "facts/training_run.h"
#include "judge/conventions.h"
#include "model/catalog.h"
#include "model/cluster.h"
#include "model/job.h"
#include "model/stacks.h"

namespace railyard::judge {

struct RunSetup {
  model::Cluster cluster = {};
  model::Job job = {};
  Seconds measured = {};  ///< step time that the metric stands for; zero for memory and failed runs
  /// What the line leaves open: the best value that fits is taken, as whoever published a table of
  /// best results did.
  bool open_micro_batch = false, open_virtual_stages = false;
  bool open_recompute = false;  ///< the least recomputation that fits
  bool full = false;            ///< every field that the model needs is printed, none assumed
};

/// The reason why a line cannot be predicted is a sentence for people.
std::expected<RunSetup, std::string> set_up(const facts::TrainingRun& run,
                                            const model::Catalog& catalog,
                                            const model::Stacks& stacks,
                                            const Conventions& conventions);

}  // namespace railyard::judge

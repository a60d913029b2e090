#pragma once
// The pieces of set_up: each reads one side of a published line. What a piece cannot read it says
// in a sentence for people.

#include <expected>
#include <string>
#include <string_view>

#include "judge/run_setup.h"

namespace railyard::judge::detail {

template <class T>
using Read = std::expected<T, std::string>;
using Why = std::unexpected<std::string>;

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// What the line prints over what the model's family is known for.
Read<model::Architecture> read_architecture(const facts::TrainingRun& run,
                                            const model::Catalog& catalog,
                                            const Convention& convention);

/// The job with parallelism, sharding, recomputation and batch; it comes with its architecture.
Read<model::Job> read_layout(const facts::TrainingRun& run, const Convention& convention,
                             model::Job job);

Read<model::Cluster> read_cluster(const facts::TrainingRun& run, const model::Catalog& catalog,
                                  const Conventions& conventions);

/// Step time that the printed metric stands for.
Read<Seconds> read_metric(const facts::TrainingRun& run, const RunSetup& setup,
                          const Convention& convention);

}  // namespace railyard::judge::detail

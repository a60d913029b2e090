#pragma once
// The commonest mistake with two files is to swap them; the next is to hand in a model's
// config.json for a job. Both are told from the keys, before a reader complains about each of them.

#include <optional>

#include "base/problem.h"
#include "base/yaml.h"

namespace railyard::app {

/// A problem when the map is plainly something else than a cluster file.
std::optional<Problem> not_a_cluster(const yaml::Document& document);
/// The same for a job file.
std::optional<Problem> not_a_job(const yaml::Document& document);

}  // namespace railyard::app
